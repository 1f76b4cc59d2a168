/* SPDX-License-Identifier: MIT */
/*
 * Takes a record for printf in the launch's buffer (struct ppu_printf_buffer in ppu/image.h); 0 is the address of a
 * lost one.
 */
#include "primitive.h"

ulong __attribute__((always_inline)) __ppu_printf_begin(uint words, uint format)
{
    ulong va = __ppu_launch(IMPLICIT_PRINTF_VA) | (ulong)__ppu_launch(IMPLICIT_PRINTF_VA + 4) << 32;
    __global uint *buffer = (__global uint *)va;
    uint at;

    if (va == 0) {
        return 0;
    }
    at = __opencl_atomic_fetch_add((volatile __global atomic_uint *)&buffer[1], words, memory_order_relaxed,
                                   memory_scope_device);
    if (at > buffer[0] || words > buffer[0] - at) {
        return 0;
    }
    buffer[2 + at] = words;
    buffer[3 + at] = format;
    return (ulong)&buffer[2 + at];
}

void __attribute__((always_inline)) __ppu_printf_word(ulong record, uint index, uint value)
{
    if (record != 0) {
        ((__global uint *)record)[index] = value;
    }
}

int __attribute__((always_inline)) __ppu_printf_end(ulong record)
{
    return record != 0 ? 0 : -1;
}
