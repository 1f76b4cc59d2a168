/* SPDX-License-Identifier: MIT */
/* Keeps the state of one compilation: what all passes share, and how they fail. */
#ifndef COMPILER_BASE_COMPILATION_H
#define COMPILER_BASE_COMPILATION_H

#include "compiler/base/arena.h"
#include "compiler/base/bytes.h"
#include "compiler/ppu_compiler.h"
#include "ppu/limits.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <setjmp.h>
#include <stdbool.h>

#define LLVM_VERSION 19u /* the release whose modules are read */

/* Address spaces of the IR: clang's for spir64. */
enum address_space {
    SPACE_PRIVATE = 0,
    SPACE_GLOBAL = 1,
    SPACE_CONSTANT = 2,
    SPACE_LOCAL = 3,
    SPACE_GENERIC = 4,
    SPACE_COUNT,
};

/* Constant data behind the code, and where it lies in it. */
struct data_symbol {
    LLVMValueRef variable;
    uint32_t offset; /* into compilation.data */
};

/* A variable's address that another holds at first. */
struct data_address {
    LLVMValueRef of;
    uint32_t at;  /* where it lies: in compilation.data, or */
    bool written; /* in compilation.written_data */
};

/* An instruction to whose immediate a variable's offset from the code's base is added, once the code's
 * size is known. */
struct code_fixup {
    uint32_t insn;     /* in compilation.code */
    uint32_t variable; /* index */
};

struct kernel_info;
struct enqueued_child;
struct site;

/* Places of the source (compiler/debug/site.h), and a hash table of them. */
struct sites {
    struct site *site;
    uint32_t count;
    unsigned cap;
    uint32_t *bucket; /* numbers of sites; 0: it is free */
    uint32_t buckets; /* a power of two, or 0 */
};

/* A format string of printf. */
struct format {
    const char *text;
    size_t bytes; /* with the zero at its end */
};

struct compilation {
    struct arena arena;
    const struct ppu_compile_options *options;
    struct ppu_compile_options settled; /* the same, with what build options say */
    LLVMContextRef llvm;
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    const char *source_name;
    uint32_t wave;
    bool private_escapes; /* a generic pointer may point to private memory */
    bool large;           /* there are many instructions */
    FILE *dump;

    struct kernel_info *kernels; /* in the order of the module */
    uint32_t kernel_count;
    struct code_fixup *fixups;
    uint32_t fixup_count;
    unsigned fixup_cap;
    struct data_symbol *variables;
    uint32_t variable_count;
    unsigned variable_cap;
    struct enqueued_child *children; /* kernels that threads enqueue */
    uint32_t child_count;
    unsigned child_cap;
    struct bytes code;           /* of all kernels */
    struct bytes data;           /* of constant variables */
    uint32_t data_alignment;     /* the most that any of them needs */
    struct data_symbol *written; /* program-scope variables that kernels write, and their offsets */
    uint32_t written_count;
    unsigned written_cap;
    struct bytes written_data; /* what they hold at first, before those that hold zeros */
    bool written_laid_out;     /* those of the image have their places */
    uint32_t zero_bytes;       /* of what lies behind it and is not kept: variables that hold zeros */
    struct data_address *addresses;
    uint32_t address_count;
    unsigned address_cap;
    struct format *formats;
    uint32_t format_count;
    unsigned format_cap;

    struct sites sites;

    struct bytes log;
    jmp_buf no_memory;
    jmp_buf escape;
    enum ppu_compile_status status;
};

/* Ends the compilation with a sentence in the log; does not return. */
_Noreturn void compilation_fail(struct compilation *compilation, enum ppu_compile_status status, const char *format,
                                ...) __attribute__((format(printf, 3, 4)));

/* The same, at the place of an instruction in the source, or where a variable is first used. */
_Noreturn void compilation_fail_at(struct compilation *compilation, enum ppu_compile_status status, LLVMValueRef at,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same, naming the IR that has no code; `what` begins the sentence. */
_Noreturn void compilation_fail_value(struct compilation *compilation, const char *what, LLVMValueRef value);

/* True when each variable of the source is to have a value at each line. */
static inline bool compilation_keeps_variables(const struct compilation *compilation)
{
    return compilation->options->unoptimised != 0 && compilation->options->debug != 0;
}

/* True when the options ask for what is called so. */
bool compilation_dumps(const struct compilation *compilation, const char *name);

#endif
