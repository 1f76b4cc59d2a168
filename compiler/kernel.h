/* SPDX-License-Identifier: MIT */
/* What is known about one kernel: its arguments, and what its image entry will say. */
#ifndef COMPILER_KERNEL_H
#define COMPILER_KERNEL_H

#include "function.h"
#include "ppu/image.h"
#include "references.h"

struct unit_argument {
    uint32_t offset; /* into the parameters */
    uint32_t bytes;
    struct references references;
};

struct segment_plan;

struct unit_kernel {
    LLVMValueRef function;
    const char *name;
    struct unit_argument *arguments;
    uint32_t argument_count;
    uint32_t explicit_bytes;    /* of all arguments */
    uint32_t launch_at;         /* where struct ppu_launch_facts lies; 0: the kernel does not read it */
    struct function *functions; /* that it calls, callees first */
    uint32_t function_count;
    unsigned function_cap;
    struct unit_data *shared; /* variables in shared memory, and their offsets */
    uint32_t shared_count;
    unsigned shared_cap;
    uint32_t shared_bytes;
    uint32_t local_begin; /* in local memory: behind the frames of functions compiled so far; 0: nothing is there yet */
    uint32_t local_bytes;
    uint32_t cta[3];
    uint16_t flags;                      /* PPU_TMD_* that its instructions need */
    uint32_t entry;                      /* byte offset into the code */
    uint32_t vregs;                      /* that each part has for itself */
    uint32_t shared_vregs;               /* behind them: that all parts have together inside segments */
    const struct segment_plan *segments; /* NULL: not looked for */
    struct ppu_line_entry *lines;        /* instructions count from the kernel's entry */
    uint32_t line_count;
    unsigned line_cap;
};

/* Lays out arguments and reads the attributes of a kernel. */
void kernel_describe(struct unit *unit, struct unit_kernel *kernel, LLVMValueRef function);
/* IR of one kernel to code at the end of unit->code. */
void kernel_compile(struct unit *unit, struct unit_kernel *kernel);
/* True when mir_pass.def has a pass of that name. */
bool kernel_has_pass(const char *name);

#endif
