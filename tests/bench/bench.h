/* SPDX-License-Identifier: MIT */
/* Gives benchmark programs what they share: a device, and rows as tests/bench/run wants them. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdint.h>

#include "ppu.h"

#define BENCH_WAIT_NS 10000000000ull
#define BENCH_WAITING 8u /* tasks that can wait at once in a depth */

struct bench {
    struct ppu_machine *machine;
    struct ppu_transport *transport;
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
    const struct ppu_kernel *kernel; /* counter */
    struct ppu_program *pressure;    /* of tests/kernels/pressure.s */
    struct ppu_memory *memory;
    uint64_t va;
};

/* Ends the program with the error's words when `err` is not PPU_OK. */
void bench_need(enum ppu_err err, const char *what);
/*
 * Starts a machine with properties of its PPU (NULL: defaults) and more arguments for ppu-run (NULL at the end), and
 * everything above. Threads of the context can launch.
 */
void bench_open(struct bench *bench, const char *ppu, const char *const *launcher_args);
/* The same on a PPU that is there. `folder`: where the kernels are. */
void bench_open_here(struct bench *bench, const char *folder);
const struct ppu_kernel *bench_kernel(struct ppu_program *program, const char *name);
void bench_close(struct bench *bench);

/* Values of one measurement, in any order. */
double bench_quantile(double *values, uint32_t count, double quantile);
/* One row of better-is-lower, or higher; budget 0: none. */
void bench_row(const char *name, double value, const char *unit, double budget, const char *note);
void bench_row_higher(const char *name, double value, const char *unit, double budget, const char *note);

#endif
