/* SPDX-License-Identifier: MIT */
/*
 * A program: source or an image, built for the device into an image that is loaded into the context. What a build made
 * is shared by the kernels made from it, so that a program can be built again when it has none.
 */
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#include "context.h"
#include "ppu/image.h"

struct _cl_program {
    struct object object;
    cl_context context;
    char *source; /* with a final zero; NULL: made from a binary */
    size_t source_bytes;
    struct farewell *farewells; /* under the context's lock */

    pthread_mutex_t build_lock; /* of what follows */
    cl_build_status status;
    cl_program_binary_type type;
    char *options;
    char *log;
    uint8_t *image; /* NULL: none */
    size_t image_bytes;
    struct ppu_program_view view; /* of the image, when there is one */
    struct ppu_program *loaded;   /* NULL: not built */
    char *names;                  /* of its kernels, with semicolons between */
    uint32_t kernels;             /* that use it */
};

/* A kernel uses what was built, or has ended. */
void program_count_kernel(cl_program program, int by);
bool program_is_built(cl_program program);

#endif
