/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/address.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/bounds.h"
#include "compiler/irpass/sanitize/emit.h"
#include "compiler/irpass/sanitize/guard.h"
#include "compiler/irpass/sanitize/object.h"

#define ALLOWS "__ppu_sanitizer_allows"

struct checker {
    struct emitter emitter;
    LLVMValueRef function;
    struct bounds *bounds; /* of each argument */
};

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
        if (LLVMGetParam(c->function, i) == access->root) {
            *object = c->bounds[i];
        }
    }
    return object->bytes;
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
    LLVMValueRef ok = bounds_hold(&c->emitter, access, offset, object->bytes);
    if (LLVMIsAConstantInt(ok) && LLVMConstIntGetZExtValue(ok) != 0) {
        return;
    }
    guard_instruction(c->emitter.compilation, c->emitter.builder, access->insn, ok);
    LLVMValueRef address = address_of(c, access);
    LLVMValueRef base = object->base ? object->base : LLVMBuildSub(c->emitter.builder, address, offset, "");
    emit_report(&c->emitter, access->format, address, base, object->bytes, access_value(access));
}

/* It is not known: the launch has a list of what nothing may reach. */
static void check_ranges(struct checker *c, const struct access *access)
{
    emit_before(&c->emitter, access->insn);
    LLVMValueRef arguments[EMIT_ARGUMENTS_MOST] = { emit_word(&c->emitter, access->format), address_of(c, access),
                                                    bounds_length(&c->emitter, access),
                                                    emit_report_value(&c->emitter, access_value(access)) };
    LLVMValueRef allowed = emit_call(&c->emitter, ALLOWS, emit_i32(&c->emitter), arguments, 4);
    LLVMValueRef ok = LLVMBuildICmp(c->emitter.builder, LLVMIntNE, allowed, LLVMConstNull(emit_i32(&c->emitter)), "");
    guard_instruction(c->emitter.compilation, c->emitter.builder, access->insn, ok);
}

void address_check(struct compilation *compilation, LLVMValueRef function)
{
    struct checker c = { { compilation, LLVMCreateBuilderInContext(compilation->llvm) }, function, NULL };
    struct accesses accesses = { .count = 0 };
    struct bounds object;

    access_find(compilation, function, "address", &accesses);
    c.bounds = bounds_read(&c.emitter, function);
    for (uint32_t i = 0; i < accesses.count; i++) {
        const struct access *access = &accesses.list[i];
        if (access->bytes == 0 && !access_length(access)) {
            continue;
        }
        if (find_object(&c, access, &object)) {
            check_object(&c, access, &object);
        } else if ((!access->root || object.none) && access_reaches_global(access) &&
                   access_is_programs(compilation, access->insn)) {
            check_ranges(&c, access);
        }
    }
    LLVMDisposeBuilder(c.emitter.builder);
}
