/* SPDX-License-Identifier: MIT */
/*
 * Keeps variants (specialisations) of a program's kernels: they are compiled again for what is known of launches (F3,
 * F5). The program's own code is the base variant, which is right for every launch.
 *
 * A variant is compiled once, by a thread of its own, and used by launches from then on. Who has one in use keeps it
 * loaded; the table forgets the oldest of a kernel when there are too many.
 */
#ifndef OPENCL_VARIANTS_VARIANT_H
#define OPENCL_VARIANTS_VARIANT_H

#include <pthread.h>

#include "opencl/api/program.h"
#include "opencl/variants/variant_key.h"

#define VARIANTS_MOST 8u        /* of a kernel, beside the base variant */
#define VARIANTS_REMEMBERED 64u /* hashes of keys, to tell what is compiled again */

enum variant_state {
    VARIANT_COMPILING,
    VARIANT_READY,
    VARIANT_FAILED, /* the compiler has refused, or its result cannot take the base variant's place */
};

/* Time on the device, as far as it was measured. */
struct variant_time {
    uint64_t ns, items;
};

struct variants;

struct variant {
    struct variants *owner;
    uint32_t kernel; /* in the image */
    uint32_t number; /* of the kernel's, from 1 on */
    struct variant_key key;

    /* Under the owner's lock. */
    uint32_t users; /* the table is one */
    enum variant_state state;
    struct ppu_program *loaded;
    const struct ppu_kernel *code;
    const char *why; /* FAILED: a sentence */
    bool cached;     /* found on disk */
    struct variant_time time;
};

/* A value that ends loops, or the work-group's size, in the launch before. */
struct variant_seen {
    uint64_t value;
    uint32_t times; /* that it was the same, one after the other */
};

/* Keeps the variants of one kernel; under the owner's lock. */
struct kernel_variants {
    struct variant *list[VARIANTS_MOST]; /* oldest first */
    uint32_t count;
    uint32_t compiled, recompiled; /* those that are found in the cache too */
    uint32_t cached;
    uint64_t hashes[VARIANTS_REMEMBERED]; /* of the keys compiled last */
    struct variant_seen seen[OVERLAP_ARGUMENTS], seen_work_group;
    struct variant_time time; /* of the base variant */
};

/* Keeps the variants of one loaded program. Settings are those of the environment when it was loaded. */
struct variants {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a variant is no longer compiling */
    uint32_t users;         /* the program, and each variant */
    enum variant_level level;
    bool waits;  /* a launch waits for its variant */
    bool prints; /* decisions, to standard error */
    char *options;
    uint32_t kernel_count;
    struct kernel_variants kernels[];
};

/* NULL: no memory. */
struct variants *variants_new(const struct _cl_program *program);
/* The program does not need them any more; NULL is none. */
void variants_drop(struct variants *variants);

/* The following with the lock. */

/* The kernel's variant for that key, in use for the caller; NULL: there is none. */
struct variant *variant_find(struct variants *variants, uint32_t kernel, const struct variant_key *key);
/*
 * A new one, which is being compiled from the program's source, in use for the caller; NULL: no memory, or no thread.
 * `vregs`: registers it may use, so that all work-groups that the base variant can have are possible.
 */
struct variant *variant_start(struct variants *variants, cl_program program, uint32_t kernel,
                              const struct variant_key *key, uint32_t vregs);
/* Returns when it is no longer being compiled. Gives the lock up meanwhile. */
void variant_await(struct variant *variant);

/* Without the lock. */

void variant_drop(struct variant *variant);
/* Notes the time that a launch has taken; `variant` NULL: of the base variant. */
void variant_note(struct variants *variants, uint32_t kernel, struct variant *variant, struct variant_time time);

#endif
