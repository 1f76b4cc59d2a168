/* SPDX-License-Identifier: MIT */
/*
 * Keeps a program: source or an image, built for the device into an image that is loaded into the context. What a build
 * made is shared by the kernels made from it, so that a program can be built again when it has none.
 */
#ifndef OPENCL_API_PROGRAM_H
#define OPENCL_API_PROGRAM_H

#include "opencl/api/context.h"
#include "opencl/build/binary.h"
#include "ppu/image.h"

struct variants;

struct _cl_program {
    struct object object;
    cl_context context;
    char *source; /* with a final zero; NULL: made from a binary, or linked */
    size_t source_bytes;
    uint8_t *il;          /* SPIR-V that is not wrong; NULL: made from something else */
    uint8_t *specialized; /* the same with its specialization constants set; under the lock */
    size_t il_bytes;
    struct farewell *farewells; /* under the context's lock */

    pthread_mutex_t lock; /* of what follows; held shortly, also while it is built */
    bool building;        /* somebody is; what the binary and the kernels were is gone */
    cl_build_status status;
    char *options;
    uint32_t threshold; /* of the device for segments, when it was built */
    char *log;
    struct binary binary;
    struct ppu_compiled saved;           /* the executable as it is saved; no bytes: as `binary` */
    bool saves;                          /* `saved` is what it is, until it is built again */
    struct ppu_program_view view;        /* of the binary, when it is loaded */
    struct ppu_program *on[MAX_DEVICES]; /* loaded on each device of the context */
    struct ppu_program *loaded;          /* on the first; NULL: it cannot run */
    char *names;                         /* of its kernels, with semicolons between */
    struct variants *variants;           /* of its kernels, when it is loaded; NULL: none but what was built */
    uint32_t kernels;                    /* that use it */
};

/* With neither source nor binary; NULL: no memory. */
cl_program program_new(cl_context context);
/* A kernel uses what was built, or has ended. */
void program_count_kernel(cl_program program, int by);
/* With the lock, or known to nobody else: gets its executable ready to run. */
cl_int program_load(cl_program program);
/* With the lock: what was built is given up. */
void program_forget(cl_program program);
/* Replaces a text of the program. */
void program_set_text(char **to, const char *text);

#endif
