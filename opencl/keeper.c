/* SPDX-License-Identifier: MIT */
#include "keeper.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool threaded;
static struct errand *first;
static struct errand **last = &first;

static void *keep(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (first == NULL) {
            pthread_cond_wait(&changed, &lock);
        }
        struct errand *errand = first;
        first = errand->next;
        last = first == NULL ? &first : last;
        pthread_mutex_unlock(&lock);
        errand->run(errand);
        pthread_mutex_lock(&lock);
    }
    return unused;
}

static void start(void)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    threaded = pthread_create(&thread, NULL, keep, NULL) == 0;
    if (threaded) {
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void keeper_post(struct errand *errand)
{
    pthread_once(&started, start);
    if (!threaded) {
        errand->run(errand);
        return;
    }
    pthread_mutex_lock(&lock);
    errand->next = NULL;
    *last = errand;
    last = &errand->next;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

struct waited {
    struct errand errand;
    struct errand *inner;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
};

static void run_waited(struct errand *errand)
{
    struct waited *waited = (struct waited *)errand;

    waited->inner->run(waited->inner);
    pthread_mutex_lock(&waited->lock);
    waited->done = true;
    pthread_cond_signal(&waited->changed);
    pthread_mutex_unlock(&waited->lock);
}

void keeper_call(struct errand *errand)
{
    struct waited waited = { .errand = { run_waited, NULL }, .inner = errand };

    pthread_mutex_init(&waited.lock, NULL);
    pthread_cond_init(&waited.changed, NULL);
    keeper_post(&waited.errand);
    pthread_mutex_lock(&waited.lock);
    while (!waited.done) {
        pthread_cond_wait(&waited.changed, &waited.lock);
    }
    pthread_mutex_unlock(&waited.lock);
    pthread_cond_destroy(&waited.changed);
    pthread_mutex_destroy(&waited.lock);
}
