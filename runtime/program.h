/* SPDX-License-Identifier: MIT */
/* Loads code to VRAM, and finds its kernels. */
#ifndef RUNTIME_PROGRAM_H
#define RUNTIME_PROGRAM_H

#include "ppu/image.h"
#include "runtime/context.h"

struct ppu_kernel {
    const struct ppu_program *program;
    const struct ppu_kernel_entry *entry; /* in the program's image */
    uint32_t recorded_name;               /* of the recorder */
};

struct ppu_program {
    struct ppu_context *context;
    void *image; /* the library's own copy, 4-byte aligned */
    struct ppu_program_view view;
    struct ppu_memory *code;
    ppu_va_t code_va;
    struct ppu_memory *variables; /* NULL: it has none */
    ppu_va_t variables_va;
    uint32_t profiled;           /* its number for the tool that profiles; 0: nobody does */
    struct program_files *files; /* that debuggers find; NULL: none are kept */
    struct ppu_kernel *kernels;  /* view.header->kernels of them */
};

#endif
