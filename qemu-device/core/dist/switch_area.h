/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides the switch areas of address spaces into chunks for CTAs that leave their SM for others (context switch). */
#ifndef QEMU_DEVICE_CORE_DIST_SWITCH_AREA_H
#define QEMU_DEVICE_CORE_DIST_SWITCH_AREA_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_task;

/* The area of an address space. */
#define SWITCH_NONE UINT32_MAX

struct switch_area {
    uint32_t place;  /* VRAM offset */
    uint32_t chunks; /* 0: there is no area */
    uint32_t first;  /* free chunk; those behind it follow by next[], to beyond the last */
    uint32_t held;   /* chunks that CTAs which have begun may need */
    uint32_t *next;
};

uint32_t switch_bytes(const struct core *core); /* [any] of an area on this machine */
/* False: no area can lie there, or the host has no memory. Nothing of the address space runs. */
bool switch_open(struct core *core, uint32_t context, uint32_t place);
void switch_close(struct core *core, uint32_t context);
/* CTAs of the task go there when they are taken off. */
bool switch_has(struct core *core, const struct dist_task *task);
/* A CTA of a slot of that rank may begin, as far as the area goes. */
bool switch_room(struct core *core, const struct dist_task *task, bool wide, uint32_t rank);
/* It begins, of a slot of that rank; false: it must wait until others have ended. One that was let
 * begin has ended. */
bool switch_hold(struct core *core, const struct dist_task *task, bool wide, uint32_t rank);
void switch_let_go(struct core *core, const struct dist_task *task, bool wide);
/* Chunks for a CTA that has begun, the first of a chain; SWITCH_NONE: there are none, which cannot be. */
uint32_t switch_take(struct core *core, const struct dist_task *task, bool wide);
/* Takes the chunks that a snapshot names; false: they cannot be had. */
bool switch_take_at(struct core *core, const struct dist_task *task, bool wide, const uint32_t *chunk);
void switch_give(struct core *core, const struct dist_task *task, uint32_t first);
/* The SM that has taken a chain reads it without the lock. */
uint32_t switch_next(struct core *core, const struct dist_task *task, uint32_t chunk);
uint8_t *switch_chunk(struct core *core, const struct dist_task *task, uint32_t chunk);
/* Nothing of the address space runs. False: see switch_open(). */
bool dist_area(struct core *core, uint32_t context, uint32_t place);

#endif
