/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/address.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/emit.h"
#include "compiler/irpass/sanitize/guard.h"
#include "compiler/irpass/sanitize/object.h"
#include "compiler/irpass/sanitize/sanitize.h"
#include "ppu/image.h"
#include "ppu/macros.h"

#define REPORT "__ppu_sanitizer_report"
#define ALLOWS "__ppu_sanitizer_allows"

/* Where the object of an argument lies, as the launch says. */
struct bounds {
    LLVMValueRef base, bytes; /* 64 bits; NULL: the kernel is not told */
    LLVMValueRef before;      /* bytes of it that lie before the argument; NULL: none */
};

struct checker {
    struct emitter emitter;
    LLVMValueRef function;
    struct bounds *bounds; /* of each argument */
};

/* ---- what the launch says ---- */

static LLVMValueRef launch_word(struct checker *c, uint32_t offset)
{
    LLVMValueRef at = emit_word(&c->emitter, offset);

    return LLVMBuildZExt(c->emitter.builder, emit_call(&c->emitter, "__ppu_launch", emit_i32(&c->emitter), &at, 1),
                         emit_i64(&c->emitter), "");
}

static LLVMValueRef launch_number(struct checker *c, uint32_t offset)
{
    LLVMValueRef high = LLVMBuildShl(c->emitter.builder, launch_word(c, offset + 4), emit_number(&c->emitter, 32), "");

    return LLVMBuildOr(c->emitter.builder, high, launch_word(c, offset), "");
}

static bool is_bounded(const struct checker *c, LLVMValueRef argument)
{
    return LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && !ir_is_byval(argument) &&
           LLVMGetFirstUse(argument) && sanitize_is_bounded(c->emitter.compilation, c->function);
}

/* A pointer to shared virtual memory may lead into a piece of it. */
static LLVMValueRef bytes_before(struct checker *c, LLVMValueRef argument, LLVMValueRef base)
{
    LLVMBuilderRef builder = c->emitter.builder;

    if (ir_pointer_space(argument) == SPACE_LOCAL) {
        return NULL;
    }
    return LLVMBuildSub(builder, LLVMBuildPtrToInt(builder, argument, emit_i64(&c->emitter), ""), base, "");
}

static void read_bounds(struct checker *c)
{
    const uint32_t count = LLVMCountParams(c->function);

    c->bounds = arena_new(&c->emitter.compilation->arena, struct bounds, count + 1);
    LLVMPositionBuilderBefore(c->emitter.builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(c->function)));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)(sizeof(struct ppu_implicit_args) + i * sizeof(struct ppu_sanitizer_bounds));
        if (is_bounded(c, LLVMGetParam(c->function, i))) {
            c->bounds[i].base = launch_number(c, at + offsetof(struct ppu_sanitizer_bounds, base));
            c->bounds[i].bytes = launch_number(c, at + offsetof(struct ppu_sanitizer_bounds, bytes));
            c->bounds[i].before = bytes_before(c, LLVMGetParam(c->function, i), c->bounds[i].base);
        }
    }
}

/* ---- one access ---- */

/* What is known of the access's object. False: nothing. */
static bool find_object(struct checker *c, const struct access *access, struct bounds *object)
{
    uint64_t bytes = access->root ? object_bytes(c->emitter.compilation, access->root) : 0;

    *object = (struct bounds){ .base = NULL };
    if (bytes != 0) {
        object->bytes = emit_number(&c->emitter, bytes);
        return true;
    }
    for (uint32_t i = 0; access->root && i < LLVMCountParams(c->function); i++) {
        if (LLVMGetParam(c->function, i) == access->root && c->bounds[i].bytes) {
            *object = c->bounds[i];
            return true;
        }
    }
    return false;
}

static LLVMValueRef length_of(struct checker *c, const struct access *access)
{
    return access->bytes == 0
               ? LLVMBuildZExtOrBitCast(c->emitter.builder, access_length(access), emit_i64(&c->emitter), "")
               : emit_number(&c->emitter, access->bytes);
}

/* offset < bytes and length <= bytes - offset, where the length may be anything */
static LLVMValueRef holds_length(struct checker *c, LLVMValueRef offset, LLVMValueRef bytes, LLVMValueRef length)
{
    LLVMValueRef begins = LLVMBuildICmp(c->emitter.builder, LLVMIntULE, offset, bytes, "");
    LLVMValueRef left = LLVMBuildSub(c->emitter.builder, bytes, offset, "");
    LLVMValueRef ends = LLVMBuildICmp(c->emitter.builder, LLVMIntULE, length, left, "");

    return LLVMBuildAnd(c->emitter.builder, begins, ends, "");
}

/* The first offset at which an access of so many bytes is no longer inside. */
static LLVMValueRef limit_of(struct checker *c, LLVMValueRef bytes, uint64_t length)
{
    LLVMValueRef less = emit_number(&c->emitter, length - 1);
    LLVMValueRef fits = LLVMBuildICmp(c->emitter.builder, LLVMIntUGT, bytes, less, "");

    return LLVMBuildSelect(c->emitter.builder, fits, LLVMBuildSub(c->emitter.builder, bytes, less, ""),
                           emit_number(&c->emitter, 0), "");
}

static LLVMValueRef address_of(struct checker *c, const struct access *access)
{
    return LLVMBuildPtrToInt(c->emitter.builder, access_pointer(access), emit_i64(&c->emitter), "");
}

/* The object is known: its bounds are compared. */
static void check_object(struct checker *c, const struct access *access, const struct bounds *object)
{
    emit_before(&c->emitter, access->insn);
    LLVMValueRef offset =
        object_offset(c->emitter.compilation, c->emitter.builder, access_pointer(access), access->root);
    if (object->before) {
        offset = LLVMBuildAdd(c->emitter.builder, offset, object->before, "");
    }
    LLVMValueRef ok = access->bytes == 0 ? holds_length(c, offset, object->bytes, length_of(c, access))
                                         : LLVMBuildICmp(c->emitter.builder, LLVMIntULT, offset,
                                                         limit_of(c, object->bytes, access->bytes), "");
    if (LLVMIsAConstantInt(ok) && LLVMConstIntGetZExtValue(ok) != 0) {
        return;
    }
    guard_instruction(c->emitter.compilation, c->emitter.builder, access->insn, ok);
    LLVMValueRef address = address_of(c, access);
    LLVMValueRef base = object->base ? object->base : LLVMBuildSub(c->emitter.builder, address, offset, "");
    LLVMValueRef arguments[EMIT_ARGUMENTS_MOST] = { emit_word(&c->emitter, access->format), address, base,
                                                    object->bytes,
                                                    emit_report_value(&c->emitter, access_value(access)) };
    emit_call(&c->emitter, REPORT, LLVMVoidTypeInContext(c->emitter.compilation->llvm), arguments, 5);
}

/* It is not known: the launch has a list of what nothing may reach. */
static void check_ranges(struct checker *c, const struct access *access)
{
    emit_before(&c->emitter, access->insn);
    LLVMValueRef arguments[EMIT_ARGUMENTS_MOST] = { emit_word(&c->emitter, access->format), address_of(c, access),
                                                    length_of(c, access),
                                                    emit_report_value(&c->emitter, access_value(access)) };
    LLVMValueRef allowed = emit_call(&c->emitter, ALLOWS, emit_i32(&c->emitter), arguments, 4);
    LLVMValueRef ok = LLVMBuildICmp(c->emitter.builder, LLVMIntNE, allowed, LLVMConstNull(emit_i32(&c->emitter)), "");
    guard_instruction(c->emitter.compilation, c->emitter.builder, access->insn, ok);
}

static bool reaches_global(LLVMValueRef pointer)
{
    uint32_t space = ir_pointer_space(pointer);

    return space == SPACE_GLOBAL || space == SPACE_CONSTANT || space == SPACE_GENERIC;
}

void address_check(struct compilation *compilation, LLVMValueRef function)
{
    struct checker c = { { compilation, LLVMCreateBuilderInContext(compilation->llvm) }, function, NULL };
    struct accesses accesses = { .count = 0 };
    struct bounds object;

    access_find(compilation, function, "address", &accesses);
    read_bounds(&c);
    for (uint32_t i = 0; i < accesses.count; i++) {
        const struct access *access = &accesses.list[i];
        if (access->bytes == 0 && !access_length(access)) {
            continue;
        }
        if (find_object(&c, access, &object)) {
            check_object(&c, access, &object);
        } else if (!access->root && reaches_global(access_pointer(access)) &&
                   access_is_programs(compilation, access->insn)) {
            check_ranges(&c, access);
        }
    }
    LLVMDisposeBuilder(c.emitter.builder);
}
