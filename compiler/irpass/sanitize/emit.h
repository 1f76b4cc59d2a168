/* SPDX-License-Identifier: MIT */
/* Emits what checks have in common: numbers, calls of the device library, values as reports have them. */
#ifndef COMPILER_IRPASS_SANITIZE_EMIT_H
#define COMPILER_IRPASS_SANITIZE_EMIT_H

#include "compiler/base/compilation.h"

#define EMIT_ARGUMENTS_MOST 6u

struct emitter {
    struct compilation *compilation;
    LLVMBuilderRef builder;
};

LLVMTypeRef emit_i32(const struct emitter *e);
LLVMTypeRef emit_i64(const struct emitter *e);
LLVMValueRef emit_word(const struct emitter *e, uint32_t value);
LLVMValueRef emit_number(const struct emitter *e, uint64_t value);
/* The builder goes to the instruction, or behind it, and takes its place in the source. */
void emit_before(const struct emitter *e, LLVMValueRef insn);
void emit_behind(const struct emitter *e, LLVMValueRef insn);
/* At most EMIT_ARGUMENTS_MOST arguments. */
LLVMValueRef emit_call(const struct emitter *e, const char *name, LLVMTypeRef result, LLVMValueRef *arguments,
                       uint32_t count);
/* A number of up to 64 bits, as a report has it; 0 for what is none, and for NULL. */
LLVMValueRef emit_report_value(const struct emitter *e, LLVMValueRef value);
/* Reports an access in or beside the object of so many bytes at `base`. `value`: to be stored, or NULL. */
void emit_report(const struct emitter *e, uint32_t format, LLVMValueRef address, LLVMValueRef base, LLVMValueRef bytes,
                 LLVMValueRef value);

#endif
