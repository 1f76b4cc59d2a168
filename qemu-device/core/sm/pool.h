/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs all SMs: on host threads, or in slices of the virtual clock. */
#ifndef QEMU_DEVICE_CORE_SM_POOL_H
#define QEMU_DEVICE_CORE_SM_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/counter.h"
#include "qemu-device/core/sm/gpc.h"

struct core;
struct sm_pool;

bool sm_pool_new(struct core *core);    /* SMs paused; false: out of memory */
void sm_pool_free(struct core *core);   /* joins the threads */
void sm_pool_reset(struct core *core);  /* drops all CTAs without telling the distributor; returns paused [lock] */
void sm_pool_pause(struct core *core);  /* returns when every SM stands still [lock] */
void sm_pool_resume(struct core *core); /* [lock] */
/* The firmware moves a warp's token queue (TOKEN_MOVE); false: there is no such warp. [lock] */
bool sm_move_tokens(struct core *core, uint32_t sm, uint32_t warp, uint32_t first);
/* Does the accesses to system memory that warps are parked on; from core_bottom_half(). [lock] */
void sm_service_system(struct core *core);
bool sm_waits_for_system(struct core *core); /* some warp is parked on such an access [any] */
void sm_service_slices(struct core *core);   /* sm_threads == 0: what threads would do when woken [lock] */
/* Sm_threads == 0: deadline of the next slice, UINT64_MAX when nothing is resident; and run it. [lock] */
uint64_t sm_slice_deadline(struct core *core);
void sm_slice_run(struct core *core);
uint64_t sm_time_ns(struct core *core, uint32_t context); /* spent on an address space, since reset [any] */
uint64_t sm_count(struct core *core, uint32_t sm, enum ppu_counter counter); /* since reset [any] */
/* What the SMs of a GPC have found in what they share, since reset; 0 without a model of the caches [any] */
uint64_t sm_gpc_count(struct core *core, uint32_t gpc, enum gpc_counter counter);
uint64_t sm_translations(struct core *core);  /* of loops to code of the host, that were made [any] */
uint64_t sm_whole_ctas(struct core *core);    /* that were run without being placed (whole.h) [any] */
uint64_t sm_replaced_ctas(struct core *core); /* that left their place to the next of their task (in_place.h) [any] */
void sm_pool_text(struct core *core, char *buf, size_t size); /* for core_state_text() [lock] */
/* State of the SM side; core.c keeps the pointer. */
struct sm_pool **core_sm_pool(struct core *core); /* [any] */

#endif
