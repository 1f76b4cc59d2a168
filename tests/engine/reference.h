/* SPDX-License-Identifier: MIT */
/*
 * Executes a program as the reference: one thread at a time, decoded words and nothing else, no warps, no token queue,
 * no page tables. A thread runs until it ends, waits at a barrier, or comes to an operation of the whole warp (scalar,
 * or across lanes): that is done when all threads of the warp that have not ended stand there. A segment that all
 * threads of a warp come to together is run part by part, with registers that the parts share; into another one each
 * thread goes for itself, which is the same where it neither looks at other lanes nor reads shared registers it has
 * not written.
 *
 * It runs programs that are free of data races between threads. Divergence operations are what they mean for one
 * thread: pushes do nothing, waits and branches go to their target. An exit token holds until the thread has gone to
 * it: that a yield or a long jump between the two drops it (E12) is not modelled. Memory is one range of global
 * addresses that may be written, shared, local and parameters.
 */
#ifndef TESTS_ENGINE_REFERENCE_H
#define TESTS_ENGINE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/tmd.h"

struct reference {
    const uint64_t *code;
    uint32_t insns;
    const struct ppu_tmd *tmd;
    const uint8_t *params; /* tmd->param_bytes */
    uint8_t *global;
    uint64_t global_va;
    uint64_t global_bytes;
    uint64_t *accesses;     /* counts instructions that load or store, but of parameters; NULL: nobody wants to know */
    uint64_t *thread_insns; /* NULL, or where to say how many instructions the threads executed */
    uint64_t *counts;       /* of each instruction, by how many threads it was executed; NULL: nobody wants to know */
    /* Called before each instruction of a thread, numbered in its CTA; NULL: nobody wants to know. */
    void (*watch)(void *opaque, uint32_t thread, uint32_t insn, const uint8_t *local);
    void *opaque;
    bool reads_code; /* the code is memory too, which can be read at tmd->code_va */
};

/* Runs all CTAs of the task, one after the other. NULL, or why it gave up. */
const char *reference_run(const struct reference *r);

#endif
