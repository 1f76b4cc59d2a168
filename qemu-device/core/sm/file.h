/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the register file, shared memory and token queues of an SM: one block a CTA in each. */
#ifndef QEMU_DEVICE_CORE_SM_FILE_H
#define QEMU_DEVICE_CORE_SM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exec;
struct sm;
struct sm_cta;

enum sm_file_id {
    SM_FILE_VREGS = 0,
    SM_FILE_SHARED = 1,
    SM_FILE_OWN = 2,    /* files below lie in memory of the SM */
    SM_FILE_TOKENS = 2, /* in the protected range of VRAM */
    SM_FILE_COUNT = 3,
};

struct sm_block {
    size_t off;
    size_t len;
};

struct sm_file {
    uint8_t *bytes;
    size_t cap;
    size_t tail;           /* blocks lie below it */
    struct sm_block spare; /* below it too, and nobody's: what the last CTA left */
    uint64_t spare_for;    /* dist_task.start of the task that need not find zeros there; 0: none */
};

#ifdef __has_feature
#define SM_FILE_SHADED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SM_FILE_SHADED 1
#else
#define SM_FILE_SHADED 0
#endif

/* Zeros; by the host's library, whose way is sooner done than what compilers put in place of a call. */
void sm_file_clear(void *bytes, size_t len);
bool sm_file_init(struct sm *sm);
void sm_file_free(struct sm *sm);
/* Room in all files for a CTA that fits by count; other CTAs' blocks may move. */
void sm_file_take(struct sm *sm, struct sm_cta *cta);
void sm_file_give(struct sm *sm, struct sm_cta *cta);
/* The next CTA of a task begins with the blocks of one that has ended. */
void sm_file_renew(struct sm *sm, const struct sm_cta *cta);
/* CTAs have other blocks than before, which lie where sm->cta says: what is nobody's is forbidden (see below). */
void sm_file_shade(const struct sm *sm);

/*
 * In builds with the address sanitizer, what is nobody's in a file is forbidden, and while a warp runs all that is not
 * the warp's: an access to a neighbour's block is an error. From enter() to leave() x->w runs.
 */
#if SM_FILE_SHADED
void sm_file_enter(const struct exec *x);
void sm_file_leave(const struct sm *sm);
#else
static inline void sm_file_enter(const struct exec *x)
{
    (void)x;
}
static inline void sm_file_leave(const struct sm *sm)
{
    (void)sm;
}
#endif

#endif
