/* SPDX-License-Identifier: MIT */
/*
 * Generates random programs that end, are free of races between threads, and touch only the memory described here, so
 * that the reference and the engine must agree on every byte of it.
 *
 *   global memory   from the first parameter on: GEN_BYTES, all of which are compared
 *   parameters      GEN_PARAMS bytes: the address of the global memory, then anything
 */
#ifndef TESTS_ENGINE_GENERATE_H
#define TESTS_ENGINE_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GEN_BYTES 0x14000u
#define GEN_PARAMS 64u
#define GEN_THREADS_MAX 320u /* of a task */
#define GEN_VREGS 80u
#define GEN_SHARED_VREGS 24u /* of programs that have segments for parts of warps (D4) */
#define GEN_LOCAL 32u
#define GEN_TEXT_BYTES 131072u
#define GEN_LOCKS_AT 0x12000u /* in global memory: GEN_LOCKS_BYTES that are zero at the start */
#define GEN_LOCKS_BYTES 64u
#define GEN_TOKENS 2048u /* entries of a warp's token queue that are enough */

enum gen_style {
    GEN_JOINED, /* scalar and cross-lane operations, where all lanes of a warp or part meet; segments by parts */
    GEN_LOOSE,  /* yields anywhere, locks, long jumps, branches without tokens: warps may stay divergent */
    GEN_GRAPH,  /* as loose, and without structure: blocks that go to any other by any transfer of control */
    GEN_STYLES,
};

/* Text of a kernel "k" for CTAs of `cta_threads`. */
void generate(uint64_t *random, enum gen_style style, uint32_t cta_threads, char text[GEN_TEXT_BYTES]);
/* Bytes of shared memory of such a CTA. */
uint32_t generate_shared(uint32_t cta_threads);

#endif
