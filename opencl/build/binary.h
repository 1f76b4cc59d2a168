/* SPDX-License-Identifier: MIT */
/*
 * Defines what a program saves and loads. A compiled object or a library is bitcode behind a header of ours, with a
 * checksum, by which a damaged one is refused, and a tag (origin.h), by which one is recognised that this user's
 * programs have made: any other is not for LLVM to read in this process. An executable is a program image
 * (ppu/image.h), and behind it, where it is known, what it was made of: a header like that one, options, and bitcode.
 */
#ifndef OPENCL_BUILD_BINARY_H
#define OPENCL_BUILD_BINARY_H

#include "compiler/ppu_compiler.h"
#include "opencl/api/object.h"

/* malloc()ed bytes; NULL: none. */
struct binary {
    uint8_t *at; /* of an executable the image alone */
    size_t bytes;
    cl_program_binary_type type; /* CL_PROGRAM_BINARY_TYPE_NONE: none */
    bool foreign;                /* what it was made of comes from elsewhere */
    struct ppu_compiled
        module;         /* of an executable: the bitcode it was made of, `foreign` or not; NULL bytes: not kept */
    char *options;      /* of an executable that was loaded with its bitcode: those it was built with; else NULL */
    uint32_t threshold; /* with them: of the device for segments */
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
/* Gives a copy of an executable all that is known of how it was made. False: no memory. */
bool binary_copy_recipe(struct binary *to, const struct binary *from);
/*
 * Saves an executable with the bitcode, the options and the threshold it was made of, which are not yet in it or the
 * same. False: no memory.
 */
bool binary_save(struct ppu_compiled *saved, const struct binary *executable, const struct ppu_compile_module *module,
                 const char *options, uint32_t threshold);

#endif
