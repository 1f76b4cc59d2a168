/* SPDX-License-Identifier: MIT */
/*
 * Writes reports of kernels that check themselves (ppu/sanitizer.h). Functions that do are called, not written into the
 * kernel, since almost none of the calls is ever made. Loops have a known number of turns: else they would yield, and
 * the kernel's lanes would not stay together.
 */
#ifndef DEVICE_LIB_OPENCL_SANITIZE_REPORT_H
#define DEVICE_LIB_OPENCL_SANITIZE_REPORT_H

#include "ppu/sanitizer.h"
#include "primitive.h"

#define CALLED __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

/* One word a format: places that were reported. The compiler makes as many as there are. */
extern global uint __ppu_sanitizer_seen[];

INLINE ulong launch64(uint offset)
{
    return __ppu_launch(offset) | (ulong)__ppu_launch(offset + 4) << 32;
}

INLINE void put64(global uint *words, uint at, ulong value)
{
    words[at] = (uint)value;
    words[at + 1] = (uint)(value >> 32);
}

INLINE uint word_add(global uint *word, uint value)
{
    return __opencl_atomic_fetch_add((volatile global atomic_uint *)word, value, memory_order_relaxed,
                                     memory_scope_device);
}

/* Where the words of a new record are; 0: the place was reported before, or there is no room. */
INLINE global uint *record_begin(uint format)
{
    const uint words = 2 + PPU_SANITIZER_WORDS;
    global uint *buffer = (global uint *)launch64(IMPLICIT_PRINTF_VA);

    if (buffer == 0 || __ppu_sanitizer_seen[format] != 0 || word_add(&__ppu_sanitizer_seen[format], 1) != 0) {
        return 0;
    }
    uint at = word_add(&buffer[1], words);
    if (at > buffer[0] || words > buffer[0] - at) {
        return 0;
    }
    buffer[2 + at] = words;
    buffer[3 + at] = format;
    return &buffer[4 + at];
}

INLINE void put_ids(global uint *words)
{
    const uint tid[3] = { __ppu_sr(PPU_SR_TID_X), __ppu_sr(PPU_SR_TID_Y), __ppu_sr(PPU_SR_TID_Z) };
    const uint cta[3] = { __ppu_sr(PPU_SR_CTA_X), __ppu_sr(PPU_SR_CTA_Y), __ppu_sr(PPU_SR_CTA_Z) };
    const uint size[3] = { __ppu_sr(PPU_SR_NTID_X), __ppu_sr(PPU_SR_NTID_Y), __ppu_sr(PPU_SR_NTID_Z) };
    const ulong offset[3] = { launch64(LAUNCH_GLOBAL_OFFSET(0)), launch64(LAUNCH_GLOBAL_OFFSET(1)),
                              launch64(LAUNCH_GLOBAL_OFFSET(2)) };

#pragma unroll
    for (uint i = 0; i < 3; i++) {
        put64(words, PPU_SANITIZER_GLOBAL_ID + 2 * i, offset[i] + (ulong)cta[i] * size[i] + tid[i]);
        words[PPU_SANITIZER_LOCAL_ID + i] = tid[i];
        words[PPU_SANITIZER_GROUP_ID + i] = cta[i];
    }
}

/* A report with one side. */
INLINE void put_report(global uint *words, ulong address, ulong base, ulong bytes, ulong value)
{
    put64(words, PPU_SANITIZER_ADDRESS, address);
    put64(words, PPU_SANITIZER_BASE, base);
    put64(words, PPU_SANITIZER_BYTES, bytes);
    put64(words, PPU_SANITIZER_VALUE, value);
    put_ids(words);
    words[PPU_SANITIZER_OTHER_FORMAT] = 0;
}

INLINE void report(uint format, ulong address, ulong base, ulong bytes, ulong value)
{
    global uint *words = record_begin(format);

    if (words != 0) {
        put_report(words, address, base, bytes, value);
    }
}

/* Behind the words of the launch's printf buffer; only there when the launch says so. */
INLINE global struct ppu_sanitizer_table *ranges(void)
{
    global uint *buffer = (global uint *)launch64(IMPLICIT_PRINTF_VA);

    return (global struct ppu_sanitizer_table *)&buffer[2 + buffer[0]];
}

#endif
