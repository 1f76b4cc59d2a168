/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/bounds.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/sanitize/sanitize.h"
#include "ppu/image.h"

/* ---- what the launch says ---- */

static LLVMValueRef launch_word(const struct emitter *e, uint32_t offset)
{
    LLVMValueRef at = emit_word(e, offset);

    return LLVMBuildZExt(e->builder, emit_call(e, "__ppu_launch", emit_i32(e), &at, 1), emit_i64(e), "");
}

static LLVMValueRef launch_number(const struct emitter *e, uint32_t offset)
{
    LLVMValueRef high = LLVMBuildShl(e->builder, launch_word(e, offset + 4), emit_number(e, 32), "");

    return LLVMBuildOr(e->builder, high, launch_word(e, offset), "");
}

static bool is_bounded(const struct emitter *e, LLVMValueRef function, LLVMValueRef argument)
{
    return LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && !ir_is_byval(argument) &&
           LLVMGetFirstUse(argument) && sanitize_is_bounded(e->compilation, function);
}

/* A pointer to shared virtual memory may lead into a piece of it. */
static LLVMValueRef bytes_before(const struct emitter *e, LLVMValueRef argument, LLVMValueRef base)
{
    if (ir_pointer_space(argument) == SPACE_LOCAL) {
        return NULL;
    }
    return LLVMBuildSub(e->builder, LLVMBuildPtrToInt(e->builder, argument, emit_i64(e), ""), base, "");
}

struct bounds *bounds_read(const struct emitter *e, LLVMValueRef function)
{
    const uint32_t count = LLVMCountParams(function);
    struct bounds *bounds = arena_new(&e->compilation->arena, struct bounds, count + 1);

    LLVMPositionBuilderBefore(e->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)(sizeof(struct ppu_implicit_args) + i * sizeof(struct ppu_sanitizer_bounds));
        if (is_bounded(e, function, LLVMGetParam(function, i))) {
            bounds[i].base = launch_number(e, at + offsetof(struct ppu_sanitizer_bounds, base));
            bounds[i].bytes = launch_number(e, at + offsetof(struct ppu_sanitizer_bounds, bytes));
            bounds[i].marks = launch_number(e, at + offsetof(struct ppu_sanitizer_bounds, marks));
            bounds[i].before = bytes_before(e, LLVMGetParam(function, i), bounds[i].base);
        }
    }
    return bounds;
}

/* ---- comparisons ---- */

LLVMValueRef bounds_length(const struct emitter *e, const struct access *access)
{
    return access->bytes == 0 ? LLVMBuildZExtOrBitCast(e->builder, access_length(access), emit_i64(e), "")
                              : emit_number(e, access->bytes);
}

/* offset < bytes and length <= bytes - offset, where the length may be anything */
static LLVMValueRef holds_length(const struct emitter *e, LLVMValueRef offset, LLVMValueRef bytes, LLVMValueRef length)
{
    LLVMValueRef begins = LLVMBuildICmp(e->builder, LLVMIntULE, offset, bytes, "");
    LLVMValueRef left = LLVMBuildSub(e->builder, bytes, offset, "");
    LLVMValueRef ends = LLVMBuildICmp(e->builder, LLVMIntULE, length, left, "");

    return LLVMBuildAnd(e->builder, begins, ends, "");
}

/* The first offset at which an access of so many bytes is no longer inside. */
static LLVMValueRef limit_of(const struct emitter *e, LLVMValueRef bytes, uint64_t length)
{
    LLVMValueRef less = emit_number(e, length - 1);
    LLVMValueRef fits = LLVMBuildICmp(e->builder, LLVMIntUGT, bytes, less, "");

    return LLVMBuildSelect(e->builder, fits, LLVMBuildSub(e->builder, bytes, less, ""), emit_number(e, 0), "");
}

LLVMValueRef bounds_hold(const struct emitter *e, const struct access *access, LLVMValueRef offset, LLVMValueRef bytes)
{
    return access->bytes == 0 ? holds_length(e, offset, bytes, bounds_length(e, access))
                              : LLVMBuildICmp(e->builder, LLVMIntULT, offset, limit_of(e, bytes, access->bytes), "");
}
