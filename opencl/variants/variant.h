/* SPDX-License-Identifier: MIT */
/*
 * Keeps variants (specialisations) of a program's kernels: they are compiled again for what is known of launches (F3,
 * F5). The program's own code is the base variant, which is right for every launch.
 *
 * A variant that is in the cache is loaded by the launch that asks for it first. Another one is compiled once, by a
 * thread of its own, when the kernel's launches have taken long enough to be worth it, and used by launches from then
 * on. Who has one in use keeps it loaded; the table forgets the
 * oldest of a kernel when there are too many.
 */
#ifndef OPENCL_VARIANTS_VARIANT_H
#define OPENCL_VARIANTS_VARIANT_H

#include <pthread.h>

#include "opencl/api/program.h"
#include "opencl/variants/variant_key.h"
#include "opencl/variants/variant_patience.h"

#define VARIANTS_MOST 8u        /* of a kernel, beside the base variant */
#define VARIANTS_REMEMBERED 64u /* hashes of keys, to tell what is compiled again */

enum variant_state {
    VARIANT_SOUGHT,   /* in the cache, by the launch that has started it */
    VARIANT_DEFERRED, /* until its compilation is worth it */
    VARIANT_COMPILING,
    VARIANT_READY,
    VARIANT_FAILED, /* the compiler has refused, or its result cannot take the base variant's place */
};

struct variants;

/* Says what was made of a variant. */
struct variant_code {
    struct ppu_compiled image;
    struct ppu_program_view view;                 /* of the image */
    struct ppu_program *on[MAX_DEVICES];          /* loaded on each device of the context */
    const struct ppu_kernel *kernel[MAX_DEVICES]; /* there */
};

struct variant {
    struct variants *owner;
    uint32_t kernel; /* in the image */
    uint32_t vregs;  /* that it may use: all work-groups that the base variant can have are possible then */
    struct variant_key key;

    /* The owner's lock guards these. */
    uint32_t users; /* the table is one */
    enum variant_state state;
    uint32_t number;          /* of the kernel's, from 1 on, once it has code or is compiled */
    struct variant_code code; /* READY */
    const char *why;          /* FAILED: a sentence */
    uint64_t began_ns;        /* COMPILING: when that began, by the host's clock */
    bool cached;              /* found on disk */
    struct variant_time time;
};

/* Keeps what compilations have taken. */
struct compile_time {
    uint64_t ns;
    uint32_t count;
};

/* A value that ends loops, what arguments have in common, or the work-group's size, in the launch before. */
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
    struct variant_seen seen[OVERLAP_ARGUMENTS], seen_common, seen_work_group;
    struct variant_time time; /* of the base variant */
    struct compile_time compile;
};

/* Keeps the variants of one loaded program. Settings are those of the environment when it was loaded. */
struct variants {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the state of a variant; by the host's clock */
    uint32_t users;         /* the program, and each variant */
    enum variant_level level;
    struct variant_patience patience; /* of launches whose variant is being compiled */
    bool prints;                      /* decisions, to standard error */
    char *options;
    uint32_t threshold;          /* of the device for segments, when the program was built */
    struct ppu_compiled module;  /* bitcode of the program; no bytes: not made from the source yet. Stays */
    bool foreign;                /* it comes from elsewhere: nothing of it is cached */
    struct compile_time compile; /* of all kernels */
    uint32_t kernel_count;
    struct kernel_variants kernels[];
};

/* With the program's bitcode, when there is any. NULL: no memory. */
struct variants *variants_new(const struct _cl_program *program);
/* The program does not need them any more; NULL is none. */
void variants_drop(struct variants *variants);
/* One more user, beside one that there is; without the lock. */
void variants_use(struct variants *variants);
/* Gives one use back. The last one frees. */
void variants_release(struct variants *variants);
/*
 * Finds the program's bitcode, or makes it from the source; for as long as they are used. The program is in use. False:
 * there is none.
 */
bool variants_module(struct variants *variants, cl_program program, struct ppu_compile_module *module);

/* The following with the lock. */

/* The kernel's variant for that key, in use for the caller; NULL: there is none. */
struct variant *variant_find(struct variants *variants, uint32_t kernel, const struct variant_key *key);
/*
 * A new one, ready when the cache has it, else deferred, in use for the caller; NULL: no memory. Gives the lock up
 * meanwhile.
 */
struct variant *variant_start(struct variants *variants, cl_program program, uint32_t kernel,
                              const struct variant_key *key, uint32_t vregs);
/* Begins to compile one that is deferred, from the program's bitcode. Gives the lock up meanwhile. */
void variant_compile(struct variant *variant, cl_program program);
/* Returns when it is no longer sought. Gives the lock up meanwhile. */
void variant_await_search(struct variant *variant);
/* Returns when it is no longer being compiled, or that time has gone. Gives the lock up meanwhile. */
void variant_await(struct variant *variant, uint64_t ns);
/* Sets what is known of the kernel's launches, and of the variant's compilation. */
void variant_forecast(const struct variant *variant, struct variant_forecast *forecast);

/* Without the lock. */

/* One more user, beside one that there is. */
void variant_use(struct variant *variant);
void variant_drop(struct variant *variant);
/*
 * Notes the time that a launch has taken; `variant` NULL: of the base variant. Begins to compile a variant for which
 * the kernel's launches have taken long enough now.
 */
void variant_note(struct variants *variants, cl_program program, uint32_t kernel, struct variant *variant,
                  struct variant_time time);

#endif
