/* SPDX-License-Identifier: MIT */
/* Keeps what is known of one kernel: its arguments, and what its image entry will say. */
#ifndef COMPILER_BASE_KERNEL_H
#define COMPILER_BASE_KERNEL_H

#include "compiler/base/compilation.h"
#include "ppu/image.h"

/* Says what the kernel, as it is when this is asked, may do with the memory behind an argument. */
struct access_summary {
    uint8_t access;       /* PPU_REFERENCE_*; 0: nothing */
    uint8_t element_log2; /* size of the smallest access */
    struct ppu_reach reach;
};

struct kernel_argument {
    uint32_t offset; /* as ppu_argument_entry has it */
    uint32_t bytes;
    struct access_summary references;
};

struct debug_code;
struct function;
struct segment_plan;

struct kernel_info {
    LLVMValueRef function;
    const char *name;
    struct kernel_argument *arguments;
    uint32_t argument_count;
    uint32_t explicit_bytes;    /* of all arguments in the parameters, and of the address of those outside */
    bool has_block;             /* some are outside, and among them all structures by value */
    uint32_t bounds_bytes;      /* of struct ppu_sanitizer_bounds behind the implicit arguments */
    uint32_t implicit_at;       /* where struct ppu_implicit_args lies; 0: the kernel does not read it */
    struct function *functions; /* that it calls, callees first */
    uint32_t function_count;
    unsigned function_cap;
    struct data_symbol *shared; /* variables in shared memory, and their offsets */
    uint32_t shared_count;
    unsigned shared_cap;
    uint32_t shared_bytes;
    uint32_t local_begin; /* in local memory: behind the frames of what the code in work calls; 0: it calls nothing */
    uint32_t local_bytes;
    uint32_t cta[3];
    bool loops_diverge;                  /* threads of a warp may leave its loops at different turns */
    uint16_t flags;                      /* PPU_TMD_* that its instructions need */
    uint32_t entry;                      /* byte offset into the code */
    uint32_t vregs;                      /* that each part has for itself */
    uint32_t shared_vregs;               /* behind them: that all parts have together inside segments */
    const struct segment_plan *segments; /* NULL: not looked for */
    struct ppu_line_entry *lines;        /* instructions count from the kernel's entry */
    uint32_t line_count;
    unsigned line_cap;
    struct debug_code *debug; /* NULL: no debug information is wanted */
};

#endif
