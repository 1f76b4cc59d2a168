/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says where in its CTA a thread is: threads are numbered x first. */
#ifndef QEMU_DEVICE_CORE_SM_THREAD_NUMBER_H
#define QEMU_DEVICE_CORE_SM_THREAD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"

/*
 * The quotient of two numbers of threads is a product with an inverse, without its lower THREAD_QUOTIENT_BITS bits:
 * both are below 2^THREAD_QUOTIENT_BITS when they are multiplied.
 */
#define THREAD_QUOTIENT_BITS 20u
_Static_assert(PPU_MAX_CTA_THREADS *PPU_MAX_CTA_THREADS <= 1u << THREAD_QUOTIENT_BITS,
               "quotients of threads are exact");

struct thread_shape {
    uint32_t line, lines;       /* threads of a line, lines of a plane */
    uint32_t of_line, of_plane; /* their inverses */
};

static inline struct thread_shape thread_shape_of(const uint32_t size[3])
{
    return (struct thread_shape){ size[0], size[1], (1u << THREAD_QUOTIENT_BITS) / size[0] + 1,
                                  (1u << THREAD_QUOTIENT_BITS) / size[1] + 1 };
}

/* Thread n's number in the dimension `which`. */
static inline uint32_t thread_number(const struct thread_shape *shape, uint32_t n, uint32_t which)
{
    const uint32_t line = n * shape->of_line >> THREAD_QUOTIENT_BITS;
    const uint32_t plane = line * shape->of_plane >> THREAD_QUOTIENT_BITS;

    return which == 0 ? n - line * shape->line : which == 1 ? line - plane * shape->lines : plane;
}

/* Each warp of a CTA of this size lies in one of its lines. */
static inline bool thread_warps_in_line(const uint32_t size[3], uint32_t wave)
{
    return size[0] % wave == 0 || (size[1] == 1 && size[2] == 1);
}

#endif
