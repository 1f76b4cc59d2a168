/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "qemu-device/remote/vector_events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void vector_events_init(struct vector_events *events)
{
    *events = (struct vector_events){ .masked = 0 };
    for (uint32_t i = 0; i < PPU_MAX_VECTORS; i++) {
        events->event[i] = -1;
    }
}

static void disarm(struct vector_events *events, uint32_t vector)
{
    if (events->event[vector] >= 0) {
        close(events->event[vector]);
        events->event[vector] = -1;
    }
}

void vector_events_clear(struct vector_events *events)
{
    for (uint32_t i = 0; i < PPU_MAX_VECTORS; i++) {
        disarm(events, i);
    }
    events->masked = events->pending = 0;
}

/*
 * The client has the same open file, so its flags may be others than they were. A counter that is full has been raised
 * often enough.
 */
static void signal_event(int event)
{
    const uint64_t one = 1;

    (void)fcntl(event, F_SETFL, O_RDWR | O_NONBLOCK);
    (void)!write(event, &one, sizeof(one));
}

void vector_events_raise(struct vector_events *events, uint32_t vector)
{
    if (vector >= PPU_MAX_VECTORS || events->event[vector] < 0) {
        return;
    }
    if ((events->masked >> vector & 1u) != 0) {
        events->pending |= 1u << vector;
    } else {
        signal_event(events->event[vector]);
    }
}

static void mask(struct vector_events *events, uint32_t vector)
{
    events->masked |= 1u << vector;
}

static void unmask(struct vector_events *events, uint32_t vector)
{
    const uint32_t bit = 1u << vector;
    bool late = (events->pending & bit) != 0;

    events->masked &= ~bit;
    events->pending &= ~bit;
    if (late) {
        vector_events_raise(events, vector);
    }
}

/* Anything else could make this process wait when it is written to. */
static bool is_eventfd(int fd)
{
    char path[32], name[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, name, sizeof(name) - 1);
    if (length < 0) {
        return false;
    }
    name[length] = '\0';
    return strcmp(name, "anon_inode:[eventfd]") == 0;
}

/* Without descriptors the vectors lose theirs. */
static int arm(struct vector_events *events, const struct vfio_irq_set *set, int *fds, uint32_t fd_count)
{
    if (fd_count != 0 && fd_count != set->count) {
        return EINVAL;
    }
    for (uint32_t i = 0; i < fd_count; i++) {
        if (!is_eventfd(fds[i])) {
            return EBADF;
        }
    }
    for (uint32_t i = 0; i < set->count; i++) {
        disarm(events, set->start + i);
        if (fd_count != 0) {
            events->event[set->start + i] = fds[i];
            fds[i] = -1;
        }
    }
    return 0;
}

typedef void vector_action(struct vector_events *events, uint32_t vector);

static vector_action *action_of(uint32_t flags)
{
    switch (flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) {
    case VFIO_IRQ_SET_ACTION_MASK:
        return mask;
    case VFIO_IRQ_SET_ACTION_UNMASK:
        return unmask;
    case VFIO_IRQ_SET_ACTION_TRIGGER:
        return vector_events_raise;
    default:
        return NULL;
    }
}

int vector_events_set(struct vector_events *events, const struct vfio_irq_set *set, const uint8_t *data, size_t bytes,
                      int *fds, uint32_t fd_count)
{
    const uint32_t kind = set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
    vector_action *action = action_of(set->flags);

    if (!action || set->start > PPU_MAX_VECTORS || set->count > PPU_MAX_VECTORS - set->start) {
        return EINVAL;
    }
    if (kind == VFIO_IRQ_SET_DATA_EVENTFD) {
        return action == vector_events_raise ? arm(events, set, fds, fd_count) : EINVAL;
    }
    if (kind == VFIO_IRQ_SET_DATA_NONE && action == vector_events_raise && set->count == 0) {
        vector_events_clear(events);
        return 0;
    }
    if (kind != VFIO_IRQ_SET_DATA_NONE && (kind != VFIO_IRQ_SET_DATA_BOOL || bytes < set->count)) {
        return EINVAL;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        if (kind == VFIO_IRQ_SET_DATA_NONE || data[i] != 0) {
            action(events, set->start + i);
        }
    }
    return 0;
}
