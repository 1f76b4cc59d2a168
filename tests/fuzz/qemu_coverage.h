/* SPDX-License-Identifier: MIT */
/* Names the memory in which a QEMU that is built for fuzzing counts, for the target `qemu`. */
#ifndef TESTS_FUZZ_QEMU_COVERAGE_H
#define TESTS_FUZZ_QEMU_COVERAGE_H

#define QEMU_COUNTERS 65536u                      /* bytes */
#define QEMU_COUNTERS_FD "PPU_FUZZ_QEMU_COUNTERS" /* environment: the descriptor of that memory, inherited */

#endif
