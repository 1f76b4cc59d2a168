/* SPDX-License-Identifier: MIT */
/* Finds what instructions access: pointers, sizes, objects, and the text of a report. */
#ifndef COMPILER_IRPASS_SANITIZE_ACCESS_H
#define COMPILER_IRPASS_SANITIZE_ACCESS_H

#include "compiler/base/compilation.h"

/* One access; an instruction that copies has two. */
struct access {
    LLVMValueRef insn;
    LLVMValueRef root;                      /* of the pointer; NULL: it is not known */
    uint64_t bytes;                         /* 0 when the program computes it */
    int8_t pointer_at, value_at, length_at; /* operands; no value, no length to compute: NO_OPERAND */
    uint32_t format;                        /* of the report; 0 unless access_find() was given a check */
};

#define NO_OPERAND (-1)

struct accesses {
    struct access *list;
    uint32_t count;
    unsigned cap;
};

/* Operands as they are now; checks that were put in may have changed them. NULL: there is none. */
LLVMValueRef access_pointer(const struct access *access);
LLVMValueRef access_value(const struct access *access);
LLVMValueRef access_length(const struct access *access);

/* Number of a kernel's argument. */
uint32_t access_argument(LLVMValueRef argument);

/* Before the device library is linked: marks what the program itself accesses. */
void access_mark(struct compilation *compilation, LLVMValueRef function);
/* True when the program itself does it, false for the device library. */
bool access_is_programs(const struct compilation *compilation, LLVMValueRef insn);
/* Number of the format that describes a report of the instruction. */
uint32_t access_format(struct compilation *compilation, LLVMValueRef insn, const char *check, const char *action,
                       uint64_t bytes, const char *object);
/* True when the pointer may lead to global memory. */
bool access_reaches_global(const struct access *access);
/* True for memory of the library's own. */
bool access_is_librarys(LLVMValueRef root);
/* True for a kernel of the library's own, as that which ends an event: its launch has room for nothing more. */
bool access_is_library_kernel(LLVMValueRef function);
/* Number of the format of a report about it; `check`: its word. */
uint32_t access_describe(struct compilation *compilation, const struct access *access, const char *check);
/* Sets the instruction apart as one that a check has put in: it is no access of anybody. */
void access_hide(struct compilation *compilation, LLVMValueRef insn);
/* Sets apart what a function of the library accesses by pointers that it was not given: memory of the library's own. */
void access_hide_own(struct compilation *compilation, LLVMValueRef function);
/*
 * All accesses of a kernel or a function that it calls, in their order. `check`: the word of reports, NULL: they are
 * described later. A copy's destination comes before its source.
 */
void access_find(struct compilation *compilation, LLVMValueRef function, const char *check, struct accesses *to);

#endif
