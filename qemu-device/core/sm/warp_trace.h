/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records what warps do in the trace buffer; for an SM that tells of them. */
#ifndef QEMU_DEVICE_CORE_SM_WARP_TRACE_H
#define QEMU_DEVICE_CORE_SM_WARP_TRACE_H

#include <stdint.h>

struct sm;

/* The warp was placed, or has had a turn: a record, when its state or its tokens are not what they were. */
void warp_trace(struct sm *sm, uint32_t index);
/* The warp leaves its SM, whatever its state says. */
void warp_trace_gone(struct sm *sm, uint32_t index);

#endif
