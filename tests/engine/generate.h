/* SPDX-License-Identifier: MIT */
/*
 * Random programs that end, are free of races between threads, and touch only the memory described here, so that the
 * reference and the engine must agree on every byte of it.
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
#define GEN_VREGS 64u
#define GEN_LOCAL 32u
#define GEN_TEXT_BYTES 131072u

/*
 * Text of a kernel "k" for CTAs of `cta_threads`. Loose programs yield and branch without tokens, so that their warps
 * may stay divergent; the others have scalar and cross-lane operations where all lanes of a warp meet.
 */
void generate(uint64_t *random, bool loose, uint32_t cta_threads, char text[GEN_TEXT_BYTES]);
/* Bytes of shared memory of such a CTA. */
uint32_t generate_shared(uint32_t cta_threads);

#endif
