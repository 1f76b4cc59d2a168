/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/loss.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/enqueue_flag.h"
#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/calls.h"
#include "compiler/irpass/sanitize/emit.h"
#include "compiler/irpass/sanitize/guard.h"
#include "ppu/macros.h"
#include "ppu/sanitizer.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#define CREATE "__ppu_create_user_event"
#define SET "__ppu_set_user_event_status"
#define MARK "ppu.loss." /* begins the names of functions that stand for a report until loss_check() */
#define NO_EVENTS (-1)
#define FAILED (-1)   /* status of an event */
#define STEPS_MOST 3u /* from the variable that an event is put into to that which a task waits for */

/* Functions of the device library that enqueue; lower_enqueue.c calls them. */
static const struct enqueuer {
    const char *name, *source;   /* as the source has it */
    int8_t flags, events, event; /* operands: flags, number of events that it waits for, where its own event goes */
} enqueuers[] = {
    { "__ppu_enqueue_p", "enqueue_kernel", 1, 6, 8 },
    { "__ppu_enqueue_g", "enqueue_kernel", 1, 6, 8 },
    { "__ppu_enqueue_checked_p", "enqueue_kernel", 1, 6, 8 },
    { "__ppu_enqueue_checked_g", "enqueue_kernel", 1, 6, 8 },
    { "__ppu_enqueue_work", "enqueue_kernel", 1, NO_EVENTS, NO_EVENTS },
    { "__ppu_enqueue_entry", "enqueue_kernel", 1, NO_EVENTS, NO_EVENTS },
    { "__ppu_enqueue_marker", "enqueue_marker", 0, 2, 4 },
};

/* What is lost, and how the report shows it. */
static const struct loss {
    const char *phrase;
    enum ppu_sanitizer_number shown;
} losses[] = {
    { "it was not enqueued, and nobody looks at the result", PPU_SANITIZER_ALONE },
    { "nobody looks at the event, which is never released", PPU_SANITIZER_NOTHING },
    { "no kernel of the program sets an event, so what waits for this one never runs", PPU_SANITIZER_NOTHING },
};
enum { NOT_ENQUEUED, EVENT_LOST, NEVER_SET };

static const struct enqueuer *enqueuer_of(LLVMValueRef insn)
{
    const char *name = ir_is_instruction(insn, LLVMCall) ? ir_callee(insn) : "";

    for (size_t i = 0; i < PPU_ARRAY_SIZE(enqueuers); i++) {
        if (strcmp(name, enqueuers[i].name) == 0) {
            return &enqueuers[i];
        }
    }
    return NULL;
}

/* ---- what nobody looks at ---- */

static bool is_lifetime(LLVMValueRef user)
{
    const char *name = ir_is_instruction(user, LLVMCall) ? ir_callee(user) : "";

    return strncmp(name, "llvm.lifetime.", 14) == 0 || strncmp(name, "llvm.dbg.", 9) == 0;
}

/* True when the variable is written alone: by stores, and where tasks that are enqueued put their events. */
static bool is_only_written(LLVMValueRef pointer)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        const struct enqueuer *enqueuer = enqueuer_of(user);
        const bool casts = ir_is_instruction(user, LLVMAddrSpaceCast) || ir_is_instruction(user, LLVMBitCast);
        const bool stores = ir_is_instruction(user, LLVMStore) && LLVMGetOperand(user, 0) != pointer;
        bool puts = enqueuer && enqueuer->event != NO_EVENTS;

        for (uint32_t i = 0; puts && i < LLVMGetNumArgOperands(user); i++) {
            puts = i == (uint32_t)enqueuer->event || LLVMGetOperand(user, i) != pointer;
        }
        if (!is_lifetime(user) && !stores && !puts && !(casts && is_only_written(user))) {
            return false;
        }
    }
    return true;
}

static bool is_own_variable(LLVMValueRef pointer)
{
    LLVMValueRef base = ir_base(pointer);

    return ir_is_instruction(base, LLVMAlloca) && is_only_written(base);
}

/* True when the result is dropped, or put where nobody reads it. */
static bool is_ignored(LLVMValueRef result)
{
    for (LLVMUseRef use = LLVMGetFirstUse(result); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!ir_is_instruction(user, LLVMStore) || !is_own_variable(LLVMGetOperand(user, 1))) {
            return false;
        }
    }
    return true;
}

/* ---- before the library is linked ---- */

static void put_loss(const struct emitter *e, LLVMValueRef call, uint32_t loss, const char *source, LLVMValueRef number)
{
    char name[sizeof(MARK) + 64];

    snprintf(name, sizeof(name), MARK "%u.%s", loss, source);
    LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(call));
    emit_call(e, name, LLVMVoidTypeInContext(e->compilation->llvm), &number, 1);
}

/* The builder goes behind the call, to where only those come whose result is, or is not, an error. */
static void go_behind(const struct emitter *e, LLVMValueRef call, LLVMIntPredicate result)
{
    LLVMValueRef next = LLVMGetNextInstruction(call);

    emit_before(e, next);
    LLVMValueRef holds = LLVMBuildICmp(e->builder, result, call, LLVMConstNull(LLVMTypeOf(call)), "");
    guard_beside(e->compilation, e->builder, next, holds);
}

static void mark_enqueue(const struct emitter *e, LLVMValueRef call, const struct enqueuer *enqueuer)
{
    const bool ignored = is_ignored(call);
    LLVMValueRef event = enqueuer->event != NO_EVENTS ? LLVMGetOperand(call, (unsigned)enqueuer->event) : NULL;

    if (event && !LLVMIsNull(event) && is_own_variable(event)) {
        go_behind(e, call, LLVMIntEQ);
        put_loss(e, call, EVENT_LOST, enqueuer->source, emit_number(e, 0));
    }
    if (ignored) { /* the reason can be told, as nobody compares it with CLK_ENQUEUE_FAILURE */
        emit_before(e, call);
        LLVMValueRef flags = LLVMGetOperand(call, (unsigned)enqueuer->flags), why = emit_word(e, ENQUEUE_SAYS_WHY);
        LLVMSetOperand(call, (unsigned)enqueuer->flags, LLVMBuildOr(e->builder, flags, why, ""));
        go_behind(e, call, LLVMIntNE);
        put_loss(e, call, NOT_ENQUEUED, enqueuer->source, LLVMBuildSExt(e->builder, call, emit_i64(e), ""));
    }
}

/* The event fails, as the command would else never end. */
static void mark_create(const struct emitter *e, LLVMValueRef call)
{
    LLVMValueRef arguments[2] = { call, LLVMConstInt(emit_i32(e), (uint64_t)FAILED, 1) };

    emit_behind(e, call);
    put_loss(e, call, NEVER_SET, "create_user_event", emit_number(e, 0));
    emit_call(e, SET, LLVMVoidTypeInContext(e->compilation->llvm), arguments, 2);
}

/* True when a task waits for what the variable, or one of its elements, holds. */
static bool waits_on(const struct call_list *list, LLVMValueRef variable)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct enqueuer *enqueuer = enqueuer_of(list->insns[i]);
        if (!enqueuer || enqueuer->events == NO_EVENTS) {
            continue;
        }
        LLVMValueRef count = LLVMGetOperand(list->insns[i], (unsigned)enqueuer->events);
        LLVMValueRef events = LLVMGetOperand(list->insns[i], (unsigned)enqueuer->events + 1);
        if (ir_base(events) == variable && !(LLVMIsAConstantInt(count) && LLVMConstIntGetZExtValue(count) == 0)) {
            return true;
        }
    }
    return false;
}

/* True when the event is stored where a task waits for it, or copied to there in so many steps. */
static bool is_waited_for(const struct call_list *list, LLVMValueRef event, uint32_t steps)
{
    bool waited = false;

    for (LLVMUseRef use = LLVMGetFirstUse(event); use && !waited; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!ir_is_instruction(user, LLVMStore) || LLVMGetOperand(user, 0) != event) {
            continue;
        }
        LLVMValueRef variable = ir_base(LLVMGetOperand(user, 1));
        waited = waits_on(list, variable);
        for (LLVMUseRef read = LLVMGetFirstUse(variable); read && steps > 0 && !waited; read = LLVMGetNextUse(read)) {
            waited =
                ir_is_instruction(LLVMGetUser(read), LLVMLoad) && is_waited_for(list, LLVMGetUser(read), steps - 1);
        }
    }
    return waited;
}

static bool sets_nothing(const struct compilation *compilation)
{
    LLVMValueRef set = LLVMGetNamedFunction(compilation->module, SET);

    return !set || !LLVMGetFirstUse(set);
}

static void mark_creates(const struct emitter *e, const struct call_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(ir_callee(list->insns[i]), CREATE) == 0 && is_waited_for(list, list->insns[i], STEPS_MOST)) {
            mark_create(e, list->insns[i]);
        }
    }
}

void loss_mark(struct compilation *compilation)
{
    struct emitter e = { compilation, NULL };
    struct call_list list = { .compilation = compilation };

    if ((compilation->options->sanitize & PPU_SANITIZE_LOST) == 0) {
        return;
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        calls_add(&list, f);
    }
    e.builder = LLVMCreateBuilderInContext(compilation->llvm);
    if (sets_nothing(compilation)) {
        mark_creates(&e, &list);
    }
    for (uint32_t i = 0; i < list.count; i++) {
        const struct enqueuer *enqueuer = enqueuer_of(list.insns[i]);
        if (enqueuer) {
            mark_enqueue(&e, list.insns[i], enqueuer);
        }
    }
    LLVMDisposeBuilder(e.builder);
}

/* ---- when all has been inlined ---- */

static void lower_loss(LLVMValueRef insn, void *opaque)
{
    const struct emitter *e = opaque;
    const char *name = ir_is_instruction(insn, LLVMCall) ? ir_callee(insn) : "";
    uint32_t loss = 0;
    int len = 0;

    if (strncmp(name, MARK, strlen(MARK)) != 0 || sscanf(name + strlen(MARK), "%u.%n", &loss, &len) != 1 ||
        loss >= PPU_ARRAY_SIZE(losses)) {
        return;
    }
    emit_before(e, insn);
    LLVMValueRef none = emit_number(e, 0);
    emit_report(
        e,
        access_format(e->compilation, insn, "lost", name + strlen(MARK) + len, losses[loss].shown, losses[loss].phrase),
        LLVMGetOperand(insn, 0), none, none, NULL);
    LLVMInstructionEraseFromParent(insn);
}

void loss_check(struct compilation *compilation, LLVMValueRef function)
{
    struct emitter e = { compilation, LLVMCreateBuilderInContext(compilation->llvm) };

    ir_each_instruction(function, lower_loss, &e);
    LLVMDisposeBuilder(e.builder);
}
