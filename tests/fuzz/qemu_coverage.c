/* SPDX-License-Identifier: MIT */
/*
 * Counts in a QEMU how often it comes by each branch of the sources that are compiled with
 * -fsanitize-coverage=trace-pc, in memory that the target `qemu` gives it.
 */
#include "tests/fuzz/qemu_coverage.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

extern const char __executable_start[];

static uint8_t nowhere[QEMU_COUNTERS];
static uint8_t *counters = nowhere;

__attribute__((constructor)) static void share_counters(void)
{
    const char *fd = getenv(QEMU_COUNTERS_FD);
    void *at = fd ? mmap(NULL, QEMU_COUNTERS, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0) : MAP_FAILED;

    counters = at != MAP_FAILED ? at : nowhere;
}

/* Called by the compiler's code. Two branches may share a counter: there are some ten thousand. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    const uintptr_t from = (uintptr_t)__builtin_return_address(0) - (uintptr_t)__executable_start;
    uint8_t *counter = &counters[(uint32_t)from * 0x9e3779b1u >> 16];

    *counter += *counter != UINT8_MAX;
}
