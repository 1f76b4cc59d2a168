/* SPDX-License-Identifier: MIT */
/*
 * Defines what a program saves and loads. An executable is a program image (ppu/image.h). A compiled object or a
 * library is bitcode behind a header of ours, with a checksum, by which a damaged one is refused, and a tag (origin.h),
 * by which one is recognised that this user's programs have made: any other is not for LLVM to read in this process.
 */
#ifndef OPENCL_BUILD_BINARY_H
#define OPENCL_BUILD_BINARY_H

#include "compiler/ppu_compiler.h"
#include "opencl/api/object.h"

/* malloc()ed bytes; NULL: none. */
struct binary {
    uint8_t *at;
    size_t bytes;
    cl_program_binary_type type; /* CL_PROGRAM_BINARY_TYPE_NONE: none */
    bool foreign;                /* an object or a library that comes from elsewhere, or from what does */
    struct ppu_compiled
        module; /* of an executable: the bitcode it was made of, `foreign` or not; NULL bytes: not kept */
};

/* Takes what the compiler made, `foreign` of what came from elsewhere. OUT_OF_HOST_MEMORY. */
cl_int binary_of_module(struct binary *binary, cl_program_binary_type type, const struct ppu_compiled *bitcode,
                        bool foreign);
/* Takes the image over. */
void binary_of_image(struct binary *binary, struct ppu_compiled *image);
/* A checked copy of bytes of unknown origin. OUT_OF_HOST_MEMORY; INVALID_BINARY, with a sentence in *why. */
cl_int binary_copy(struct binary *binary, const void *bytes, size_t count, const char **why);
/* The bitcode of an object or a library. */
struct ppu_compile_module binary_module(const struct binary *binary);
void binary_free(struct binary *binary);
/* Copies the bitcode that an executable was made of, when it has it. False: no memory. */
bool binary_copy_module(struct ppu_compiled *to, const struct binary *from);

#endif
