/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records what happens to CTAs in the trace buffer. */
#ifndef QEMU_DEVICE_CORE_DIST_CTA_TRACE_H
#define QEMU_DEVICE_CORE_DIST_CTA_TRACE_H

#include <stdint.h>

#include "ppu/trace.h"

struct core;
struct dist_cta;

/* A record for each of `count` CTAs, of now. [any] */
void cta_trace(struct core *core, enum ppu_trace_type type, uint32_t sm, const struct dist_cta *cta, uint32_t count);

#endif
