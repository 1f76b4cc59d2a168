/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses registers of the warp being executed. */
#ifndef QEMU_DEVICE_CORE_SM_REGISTERS_H
#define QEMU_DEVICE_CORE_SM_REGISTERS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

/* Registers as the warp has them in normal mode. */
static inline void exec_rows(struct exec *x)
{
    x->steady = 0;
    x->plain = x->vregs = x->task->tmd.vregs;
    x->rows = x->sm->rows[x->passes - 1];
}

/* Checked in builds with the address sanitizer: what an instruction names was checked before it is executed. */
static inline void exec_has(const struct exec *x, uint32_t reg)
{
#if SM_FILE_SHADED
    assert(reg < x->vregs);
#else
    (void)x, (void)reg;
#endif
}

static inline uint32_t *exec_vreg(const struct exec *x, uint32_t reg)
{
    exec_has(x, reg);
    return x->vreg + x->rows[reg];
}

/* Value of a source register of one lane. */
static inline uint32_t exec_read(const struct exec *x, uint32_t reg, bool scalar, uint32_t lane)
{
    return scalar ? x->w->sreg[reg] : exec_vreg(x, reg)[lane];
}

static inline uint64_t exec_read64(const struct exec *x, uint32_t reg, bool scalar, uint32_t lane)
{
    return exec_read(x, reg, scalar, lane) | (uint64_t)exec_read(x, reg + 1, scalar, lane) << 32;
}

static inline void exec_write(struct exec *x, uint32_t reg, bool scalar, uint32_t lane, uint32_t value)
{
    if (scalar) {
        x->w->sreg[reg] = value;
    } else {
        exec_vreg(x, reg)[lane] = value;
    }
}

#endif
