/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/bounds.h"

#include "compiler/analysis/ir.h"
#include "compiler/analysis/kernel_argument.h"
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

/* A pointer to shared virtual memory may lead into a piece of it. */
static LLVMValueRef bytes_before(const struct emitter *e, LLVMValueRef argument, LLVMValueRef base)
{
    if (ir_pointer_space(argument) == SPACE_LOCAL) {
        return NULL;
    }
    return LLVMBuildSub(e->builder, LLVMBuildPtrToInt(e->builder, argument, emit_i64(e), ""), base, "");
}

static struct bounds bounds_at(const struct emitter *e, LLVMValueRef argument, uint32_t number)
{
    const uint32_t at = (uint32_t)(sizeof(struct ppu_implicit_args) + number * sizeof(struct ppu_sanitizer_bounds));
    struct bounds bounds = { .base = launch_number(e, at + offsetof(struct ppu_sanitizer_bounds, base)) };

    bounds.bytes = launch_number(e, at + offsetof(struct ppu_sanitizer_bounds, bytes));
    bounds.marks = launch_number(e, at + offsetof(struct ppu_sanitizer_bounds, marks));
    bounds.before = bytes_before(e, argument, bounds.base);
    return bounds;
}

struct bounds *bounds_read(const struct emitter *e, LLVMValueRef function)
{
    const uint32_t count = LLVMCountParams(function);
    struct bounds *bounds = arena_new(&e->compilation->arena, struct bounds, count + 1);
    uint32_t number = 0;

    LLVMPositionBuilderBefore(e->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    for (uint32_t i = 0; sanitize_is_bounded(e->compilation, function) && i < count; i++) {
        LLVMValueRef argument = LLVMGetParam(function, i);
        if (!ppu_argument_is_memory(kernel_argument_kind(e->compilation, function, i))) {
            continue;
        }
        if (number >= PPU_SANITIZER_BOUNDED) {
            bounds[i].none = true;
        } else if (LLVMGetFirstUse(argument)) {
            bounds[i] = bounds_at(e, argument, number);
        }
        number++;
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

/* An access that is aligned, in an object that begins at a multiple of PPU_SANITIZER_ALIGN, is so within it. */
static bool is_aligned(const struct access *access)
{
    const bool moves = ir_is_instruction(access->insn, LLVMLoad) || ir_is_instruction(access->insn, LLVMStore);

    return moves && (access->bytes & (access->bytes - 1)) == 0 && access->bytes <= PPU_SANITIZER_ALIGN &&
           LLVMGetAlignment(access->insn) >= access->bytes;
}

/* Whole pieces of so many bytes, where the launch tells how many there are: at the function's begin, for all lanes. */
static LLVMValueRef whole_pieces(const struct emitter *e, LLVMValueRef bytes, LLVMValueRef less)
{
    struct emitter at = { e->compilation, LLVMCreateBuilderInContext(e->compilation->llvm) };

    emit_behind(&at, bytes);
    LLVMValueRef whole = LLVMBuildAnd(at.builder, bytes, LLVMConstNot(less), "");
    LLVMDisposeBuilder(at.builder);
    return whole;
}

/* The first offset at which the access is no longer inside. */
static LLVMValueRef limit_of(const struct emitter *e, const struct access *access, LLVMValueRef bytes)
{
    LLVMValueRef less = emit_number(e, access->bytes - 1);

    if (LLVMIsAInstruction(bytes) && is_aligned(access)) {
        return whole_pieces(e, bytes, less);
    }
    LLVMValueRef fits = LLVMBuildICmp(e->builder, LLVMIntUGT, bytes, less, "");
    return LLVMBuildSelect(e->builder, fits, LLVMBuildSub(e->builder, bytes, less, ""), emit_number(e, 0), "");
}

LLVMValueRef bounds_hold(const struct emitter *e, const struct access *access, LLVMValueRef offset, LLVMValueRef bytes)
{
    return access->bytes == 0 ? holds_length(e, offset, bytes, bounds_length(e, access))
                              : LLVMBuildICmp(e->builder, LLVMIntULT, offset, limit_of(e, access, bytes), "");
}
