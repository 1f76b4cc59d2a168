/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/race.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/primitive.h"
#include "compiler/irpass/lower_enqueue.h"
#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/emit.h"
#include "compiler/irpass/sanitize/guard.h"
#include "compiler/irpass/sanitize/race_free.h"
#include "compiler/irpass/sanitize/tag.h"
#include "ppu/image.h"
#include "ppu/isa.h"
#include "ppu/macros.h"
#include "ppu/sanitizer.h"

#include <string.h>

#define READS "__ppu_sanitizer_reads"
#define WRITES "__ppu_sanitizer_writes"
#define UPDATES "__ppu_sanitizer_updates"
#define LOOKS "__ppu_sanitizer_looks"
#define ACQUIRES "__ppu_sanitizer_acquires"
#define ARRIVES "__ppu_sanitizer_arrives"
#define PASSES "__ppu_sanitizer_passes"
#define MET "__ppu_sanitizer_met"
#define WAITS "__ppu_sanitizer_waits"
#define WAITED "__ppu_sanitizer_waited"
#define INTERNAL "ppu.internal"

#define A_BARRIER (1u << (PPU_SANITIZER_NOTE_BARRIERS - PPU_SANITIZER_NOTE_WHEN)) /* of `when` */

#define WORD_BYTES 4u
#define MOST_WORDS 4u /* of an access that are looked at one by one; of wider ones the first and the last */

struct racer {
    struct emitter emitter;
    LLVMValueRef kernel;
    LLVMValueRef when;   /* variable: barriers that this work-item has passed, and what it has enqueued */
    LLVMValueRef launch; /* PPU_SANITIZER_*, of the launch */
    struct race_free reached;
    uint32_t what[2]; /* PPU_SANITIZER_NOTE_*: of global and of local memory */
};

static bool checks(const struct racer *r, uint32_t what)
{
    return (r->emitter.compilation->options->sanitize & what) != 0;
}

static LLVMTypeRef nothing(const struct racer *r)
{
    return LLVMVoidTypeInContext(r->emitter.compilation->llvm);
}

static LLVMValueRef when_now(const struct racer *r)
{
    return LLVMBuildLoad2(r->emitter.builder, emit_i32(&r->emitter), r->when, "");
}

/* Adds to it as long as that is true. */
static void go_on(const struct racer *r, LLVMValueRef now, LLVMValueRef more, uint32_t by)
{
    const struct emitter *e = &r->emitter;
    LLVMValueRef next = LLVMBuildAdd(e->builder, now, emit_word(e, by), "");

    LLVMBuildStore(e->builder, LLVMBuildSelect(e->builder, more, next, now, ""), r->when);
}

/* ---- barriers ---- */

static bool is_barrier(LLVMValueRef insn)
{
    return ir_is_instruction(insn, LLVMCall) && primitive_find(ir_callee(insn)) == PRIMITIVE_BARRIER;
}

static bool is_wait(LLVMValueRef insn)
{
    return ir_is_instruction(insn, LLVMCall) && primitive_find(ir_callee(insn)) == PRIMITIVE_WAIT;
}

static bool has_barrier(LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (is_barrier(i)) {
                return true;
            }
        }
    }
    return false;
}

bool race_is_blind(const struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!ir_is_kernel(f) && has_barrier(f)) {
            return true;
        }
    }
    return false;
}

static void note_barrier(const struct racer *r, LLVMValueRef barrier)
{
    const struct emitter *e = &r->emitter;
    LLVMValueRef most = emit_word(e, PPU_SANITIZER_EPOCHS * A_BARRIER);
    LLVMValueRef arguments[2] = {
        emit_word(e, access_format(e->compilation, barrier, "barrier", PPU_SANITIZER_GROUP, 0, "")),
    };

    emit_before(e, barrier);
    arguments[1] = when_now(r);
    if (checks(r, PPU_SANITIZE_BARRIER)) {
        emit_call(e, ARRIVES, nothing(r), arguments, 2);
    }
    emit_behind(e, barrier);
    if (checks(r, PPU_SANITIZE_BARRIER)) {
        emit_call(e, PASSES, nothing(r), arguments, 2);
    }
    go_on(r, arguments[1], LLVMBuildICmp(e->builder, LLVMIntULT, arguments[1], most, ""), A_BARRIER);
}

static bool is_meeting(LLVMValueRef insn)
{
    return ir_is_instruction(insn, LLVMCall) && primitive_find(ir_callee(insn)) == PRIMITIVE_MEET;
}

/* What the whole sub-group has to come to. */
static void note_meeting(const struct racer *r, LLVMValueRef meeting)
{
    const struct emitter *e = &r->emitter;
    LLVMValueRef format =
        emit_word(e, access_format(e->compilation, meeting, "barrier", PPU_SANITIZER_SUB_GROUP, 0, ""));

    emit_behind(e, meeting);
    emit_call(e, MET, nothing(r), &format, 1);
}

/* ---- what is enqueued ---- */

static bool is_call_of(LLVMValueRef insn, const char *name)
{
    return ir_is_instruction(insn, LLVMCall) && strcmp(ir_callee(insn), name) == 0;
}

static void lower_clock(LLVMValueRef insn, void *opaque)
{
    const struct racer *r = opaque;
    const struct emitter *e = &r->emitter;
    LLVMValueRef most = emit_word(e, PPU_SANITIZER_ENQUEUES);

    if (!is_call_of(insn, RACE_CLOCK)) {
        return;
    }
    emit_behind(e, insn);
    LLVMValueRef now = when_now(r), enqueued = LLVMBuildAnd(e->builder, now, most, "");
    LLVMReplaceAllUsesWith(insn, LLVMBuildOr(e->builder, now, emit_word(e, PPU_SANITIZER_CLOCK), ""));
    go_on(r, now, LLVMBuildICmp(e->builder, LLVMIntULT, enqueued, most, ""), 1);
}

void race_forget_clocks(struct compilation *compilation)
{
    LLVMValueRef function = LLVMGetNamedFunction(compilation->module, RACE_CLOCK);
    LLVMValueRef unknown = LLVMConstInt(LLVMInt32TypeInContext(compilation->llvm), 0, 0);

    for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL, next; use; use = next) {
        LLVMValueRef call = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        LLVMReplaceAllUsesWith(call, unknown);
        LLVMInstructionEraseFromParent(call);
    }
}

/* What the group has enqueued before it waits has ended behind that. */
static void note_wait(const struct racer *r, LLVMValueRef wait)
{
    const struct emitter *e = &r->emitter;

    emit_before(e, wait);
    LLVMValueRef nodes = emit_call(e, WAITS, emit_i32(e), NULL, 0);
    emit_behind(e, wait);
    emit_call(e, WAITED, nothing(r), &nodes, 1);
}

/* ---- what a work-item learns of others ---- */

static bool acquires(LLVMAtomicOrdering order)
{
    return order == LLVMAtomicOrderingAcquire || order == LLVMAtomicOrderingAcquireRelease ||
           order == LLVMAtomicOrderingSequentiallyConsistent;
}

static bool call_acquires(LLVMValueRef call)
{
    const enum primitive primitive = primitive_find(ir_callee(call));

    if (primitive != PRIMITIVE_FENCE) {
        return primitive == PRIMITIVE_MEET;
    }
    LLVMValueRef order = LLVMGetOperand(call, 0);
    return !LLVMIsAConstantInt(order) || LLVMConstIntGetZExtValue(order) != PPU_ORDER_RELEASE;
}

static void mark_internal(LLVMValueRef insn, void *opaque)
{
    tag_set(opaque, insn, INTERNAL);
}

void race_mark_internal(struct compilation *compilation)
{
    static const struct {
        const char *name; /* its begin */
        bool own;         /* what it finds by itself is memory of its own: records, blocks, events */
    } functions[] = {
        { "__ppu_enqueue_", true },
        { "__ppu_child_", true },
        { "__ppu_kernel_end", true },
        { "__ppu_create_user_event", false },
        { "__ppu_set_user_event_status", false }, /* writes the program's memory, where times are captured */
        { "__ppu_retain_event", false },
        { "__ppu_release_event", false },
        { "__ppu_is_valid_event", false },
        { "__ppu_capture_event", false },
        { "ppu_create_stream", false },
        { "ppu_destroy_stream", false },
    };

    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        for (size_t i = 0; i < PPU_ARRAY_SIZE(functions) && !LLVMIsDeclaration(f); i++) {
            if (strncmp(name, functions[i].name, strlen(functions[i].name)) == 0) {
                ir_each_instruction(f, mark_internal, compilation);
                if (functions[i].own) {
                    access_hide_own(compilation, f);
                }
            }
        }
    }
}

/* An operation whose result nobody looks at tells nothing. */
static bool is_acquire(const struct compilation *compilation, LLVMValueRef insn)
{
    if (tag_has(compilation, insn, INTERNAL)) {
        return false;
    }
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMCall:
        return call_acquires(insn);
    case LLVMFence:
        return true;
    case LLVMLoad:
        return acquires(LLVMGetOrdering(insn));
    case LLVMAtomicRMW:
        return LLVMGetFirstUse(insn) && acquires(LLVMGetOrdering(insn));
    case LLVMAtomicCmpXchg:
        return LLVMGetFirstUse(insn) && acquires(LLVMGetCmpXchgSuccessOrdering(insn));
    default:
        return false;
    }
}

/* ---- accesses ---- */

/* False: not memory that others reach, or it is not known which. */
static bool find_memory(const struct access *access, bool *is_local)
{
    uint32_t space = ir_pointer_space(access_pointer(access));

    if (space == SPACE_GENERIC && access->root) {
        space = ir_pointer_space(access->root);
    }
    *is_local = space == SPACE_LOCAL;
    return space == SPACE_GLOBAL || space == SPACE_LOCAL;
}

/* True when the source says that the argument is a pointer: not a pipe, an image or a queue. */
static bool is_pointer(const struct racer *r, LLVMValueRef root)
{
    static const char kind_name[] = "kernel_arg_type";
    uint32_t kind = LLVMGetMDKindIDInContext(r->emitter.compilation->llvm, kind_name, (unsigned)strlen(kind_name));
    LLVMValueRef node = LLVMGetMetadata(r->kernel, kind);
    uint32_t len = 0;

    if (lower_enqueue_child(r->emitter.compilation, r->kernel)) { /* the block, and pointers to local memory */
        return access_argument(root) != 0;
    }
    if (!node || LLVMGetMDNodeNumOperands(node) != LLVMCountParams(r->kernel)) {
        return false;
    }
    LLVMValueRef *types = arena_new(&r->emitter.compilation->arena, LLVMValueRef, LLVMGetMDNodeNumOperands(node));
    LLVMGetMDNodeOperands(node, types);
    const char *type = LLVMGetMDString(types[access_argument(root)], &len);
    return type && len > 0 && type[len - 1] == '*';
}

static bool is_atomic(LLVMValueRef insn)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(insn);

    return (opcode != LLVMLoad && opcode != LLVMStore) || LLVMGetOrdering(insn) != LLVMAtomicOrderingNotAtomic;
}

/*
 * True for an atomic operation by a pointer that the program has loaded, as from what a block captures. Other functions
 * of the library may be given queues, which are theirs.
 */
static bool is_of_loaded(const struct racer *r, const struct access *access)
{
    LLVMValueRef pointer = access_pointer(access);

    if (!is_atomic(access->insn) || tag_has(r->emitter.compilation, access->insn, INTERNAL)) {
        return false;
    }
    while (ir_is_instruction(pointer, LLVMGetElementPtr) || ir_is_instruction(pointer, LLVMBitCast) ||
           ir_is_instruction(pointer, LLVMAddrSpaceCast)) {
        pointer = LLVMGetOperand(pointer, 0);
    }
    return ir_is_instruction(pointer, LLVMLoad) && access_is_programs(r->emitter.compilation, pointer);
}

/* What the library does with memory of its own is right, and what it does with the program's is the program's. */
static bool is_noted(const struct racer *r, const struct access *access)
{
    if (access->root &&
        (access_is_librarys(access->root) || (LLVMIsAArgument(access->root) && !is_pointer(r, access->root)))) {
        return false;
    }
    return access->root || access_is_programs(r->emitter.compilation, access->insn) || is_of_loaded(r, access);
}

static bool is_seen(const struct racer *r, const struct access *access, bool *is_local)
{
    return !ir_is_instruction(access->insn, LLVMCall) && find_memory(access, is_local) && is_noted(r, access);
}

/* What all accesses reach, before the first is noted. */
static void look_at(struct racer *r, const struct access *access)
{
    bool is_local = false;

    if (!is_seen(r, access, &is_local)) {
        return;
    }
    if (!is_atomic(access->insn)) {
        r->what[is_local] |= access->value_at == NO_OPERAND ? PPU_SANITIZER_NOTE_READS : 0;
    } else if (access->value_at != NO_OPERAND) {
        r->what[is_local] |= PPU_SANITIZER_NOTE_UPDATES;
    }
    if (!is_local) {
        race_free_add(&r->reached, access);
    }
}

static void note_piece(const struct racer *r, const struct access *access, LLVMValueRef address, uint32_t bytes,
                       bool is_local)
{
    const struct emitter *e = &r->emitter;
    const bool writes = access->value_at != NO_OPERAND;
    const char *name = is_atomic(access->insn) ? (writes ? UPDATES : LOOKS) : writes ? WRITES : READS;
    LLVMValueRef arguments[EMIT_ARGUMENTS_MOST] = {
        emit_word(e, access->format),    address,     emit_word(e, (uint32_t)__builtin_ctz(bytes)),
        emit_word(e, r->what[is_local]), when_now(r),
    };

    arguments[5] = writes ? emit_report_value(e, access_value(access)) : NULL;
    emit_call(e, name, nothing(r), arguments, writes ? 6 : 5);
}

/* The builder goes where the access is noted: before it, or to where only launches come that may have a race. */
static void go_to_note(const struct racer *r, const struct access *access, bool is_local)
{
    const struct emitter *e = &r->emitter;
    const uint32_t when = is_local ? 0 : race_free_when(&r->reached, access);

    emit_before(e, access->insn);
    if (when != 0) {
        LLVMValueRef all = emit_word(e, when), known = LLVMBuildAnd(e->builder, r->launch, all, "");
        guard_beside(e->compilation, e->builder, access->insn, LLVMBuildICmp(e->builder, LLVMIntNE, known, all, ""));
    }
}

static void note_access(const struct racer *r, const struct access *access)
{
    const struct emitter *e = &r->emitter;
    const uint64_t bytes = access->bytes, words = bytes / WORD_BYTES;
    bool is_local = false;

    if (!is_seen(r, access, &is_local)) {
        return;
    }
    go_to_note(r, access, is_local);
    LLVMValueRef address = LLVMBuildPtrToInt(e->builder, access_pointer(access), emit_i64(e), "");
    if (bytes == 1 || bytes == 2) {
        note_piece(r, access, address, (uint32_t)bytes, is_local);
    }
    for (uint64_t i = 0; i < words; i++) {
        LLVMValueRef at = LLVMBuildAdd(e->builder, address, emit_number(e, i * WORD_BYTES), "");
        if (words <= MOST_WORDS || i == 0 || i == words - 1) {
            note_piece(r, access, at, WORD_BYTES, is_local);
        }
    }
}

/* ---- the kernel ---- */

static void begin(struct racer *r)
{
    LLVMBuilderRef builder = r->emitter.builder;

    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(r->kernel)));
    r->when = LLVMBuildAlloca(builder, emit_i32(&r->emitter), "");
    LLVMBuildStore(builder, emit_word(&r->emitter, 0), r->when);
    LLVMValueRef at = emit_word(&r->emitter, offsetof(struct ppu_implicit_args, tables));
    r->launch = emit_call(&r->emitter, "__ppu_launch", emit_i32(&r->emitter), &at, 1);
}

static void note_synchronization(LLVMValueRef insn, void *opaque)
{
    const struct racer *r = opaque;

    if (is_barrier(insn)) {
        note_barrier(r, insn);
    } else if (is_wait(insn) && lower_enqueue_has_children(r->emitter.compilation)) {
        note_wait(r, insn);
    }
    if (checks(r, PPU_SANITIZE_BARRIER) && is_meeting(insn)) {
        note_meeting(r, insn);
    }
    if (checks(r, PPU_SANITIZE_RACE) && is_acquire(r->emitter.compilation, insn)) {
        emit_behind(&r->emitter, insn);
        emit_call(&r->emitter, ACQUIRES, nothing(r), NULL, 0);
    }
}

void race_check(struct compilation *compilation, LLVMValueRef kernel)
{
    struct racer r = { .emitter = { compilation, LLVMCreateBuilderInContext(compilation->llvm) },
                       .kernel = kernel,
                       .reached = race_free_begin(compilation, kernel),
                       .what = { 0, PPU_SANITIZER_NOTE_LOCAL } };
    struct accesses accesses = { .count = 0 };

    if (checks(&r, PPU_SANITIZE_RACE)) {
        access_find(compilation, kernel, "race", &accesses);
    }
    begin(&r);
    if (lower_enqueue_has_children(compilation)) {
        r.what[false] = PPU_SANITIZER_NOTE_READS | PPU_SANITIZER_NOTE_UPDATES;
        race_free_share(&r.reached);
    }
    for (uint32_t i = 0; i < accesses.count; i++) {
        look_at(&r, &accesses.list[i]);
    }
    for (uint32_t i = 0; i < accesses.count; i++) {
        note_access(&r, &accesses.list[i]);
    }
    ir_each_instruction(kernel, lower_clock, &r);
    ir_each_instruction(kernel, note_synchronization, &r);
    LLVMDisposeBuilder(r.emitter.builder);
}
