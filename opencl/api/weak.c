/* SPDX-License-Identifier: MIT */
#include "opencl/api/weak.h"

#include <pthread.h>
#include <stddef.h>

#include "opencl/api/object.h"

/* Guards all weak references and the lists of them. It is held for a few instructions. */
static pthread_mutex_t weak_lock = PTHREAD_MUTEX_INITIALIZER;

/* With the lock. An object that is not in the list of any weak reference may be freed at once: its head comes last. */
static void unlink_weak(struct weak *weak)
{
    if (!weak->object) {
        return;
    }
    if (weak->next) {
        weak->next->link = weak->link;
    }
    __atomic_store_n(weak->link, weak->next, __ATOMIC_RELEASE);
    weak->object = NULL;
}

void weak_set(struct weak *weak, void *object)
{
    pthread_mutex_lock(&weak_lock);
    unlink_weak(weak);
    *weak = (struct weak){ .object = object };
    if (object) {
        struct weak **head = &((struct object *)object)->weak;
        weak->next = *head;
        weak->link = head;
        if (weak->next) {
            weak->next->link = &weak->next;
        }
        __atomic_store_n(head, weak, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&weak_lock);
}

bool weak_take(const struct weak *weak, void **object)
{
    pthread_mutex_lock(&weak_lock);
    bool there = weak->object ? object_use_again(weak->object) : !weak->ended;
    *object = there ? weak->object : NULL;
    pthread_mutex_unlock(&weak_lock);
    return there;
}

void weak_end(void *object)
{
    struct weak **head = &((struct object *)object)->weak;

    /* Partner: unlink_weak(). */
    if (!__atomic_load_n(head, __ATOMIC_ACQUIRE)) {
        return;
    }
    pthread_mutex_lock(&weak_lock);
    while (*head) {
        (*head)->ended = true;
        unlink_weak(*head);
    }
    pthread_mutex_unlock(&weak_lock);
}
