/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/tier/heads.h"
#include "ppu/macros.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/straight.h"
#include "qemu-device/core/sm/thread_number.h"
#include "qemu-device/core/tier/tier.h"
#include "qemu-device/core/tier/unit.h"

#include <stdlib.h>
#include <string.h>

struct tier_heads *tier_heads_new(struct tier *tier)
{
    struct tier_heads *const heads = tier ? calloc(1, sizeof(*heads)) : NULL;

    if (heads) {
        heads->tier = tier;
        heads->threshold = tier_kept_threshold(tier);
        heads->misses = heads->threshold == 0 ? 1 : HEAD_MISSES;
    }
    return heads;
}

/* What a translation costs follows from how long the loop is. */
static uint32_t times_of(const struct tier_head *head)
{
    return head->spent / head->insns;
}

static void head_clear(struct tier_heads *heads, struct tier_head *head)
{
    if (head->entry) {
        tier_give(heads->tier, head->entry, times_of(head));
    }
    memset(head, 0, sizeof(*head));
}

void tier_heads_forget(struct tier_heads *heads)
{
    if (!heads) {
        return;
    }
    for (uint32_t i = 0; i < TIER_HEADS; i++) {
        if (heads->head[i].code) {
            head_clear(heads, &heads->head[i]);
        }
    }
    heads->start = 0;
}

/* What is made for warps of some kinds is tried again for them first. */
static bool may_stay(const struct tier_head *head, const struct code_insn *insns, uint32_t wave)
{
    const size_t in_page = (size_t)(head->code - insns) % SM_PAGE_INSNS;

    return head->translation && head->translation->wave == wave && in_page + head->insns <= SM_PAGE_INSNS &&
           (head->straight == TIER_LOOP || tier_is_for_some(head->straight));
}

void tier_heads_doubt(struct tier_heads *heads, const struct code_insn *insns, uint32_t wave)
{
    if (!heads) {
        return;
    }
    const bool crowded = tier_is_crowded(heads->tier);
    for (uint32_t i = 0; i < TIER_HEADS; i++) {
        struct tier_head *const head = &heads->head[i];
        if (head->code && (crowded || !may_stay(head, insns, wave))) {
            head_clear(heads, head);
        }
    }
    heads->start = 0;
}

void tier_heads_keep(struct tier_heads *heads, uint64_t start, uint32_t pc)
{
    if (heads->start != start) {
        heads->start = start;
        memset(heads->loop, 0xff, sizeof(heads->loop)); /* no instruction has this number */
    }
    heads->loop[heads->next_loop] = pc;
    heads->next_loop = (heads->next_loop + 1) % TIER_LOOPS;
}

void tier_heads_free(struct tier_heads *heads)
{
    tier_heads_forget(heads);
    free(heads);
}

/* Warps that lie in several lines want code for lanes anywhere from the first on. */
void tier_head_replace(const struct exec *x, struct tier_heads *heads, struct tier_head *head,
                       const struct code_insn *code, enum tier_straight straight)
{
    const bool anywhere = straight == TIER_ROWS && !thread_warps_in_line(x->cta->size, x->wave);

    head_clear(heads, head);
    head->code = code;
    head->straight = anywhere ? TIER_ANYWHERE : straight;
    head->wait = PPU_MIN(HEAD_FIRST_LOOK, heads->threshold);
}

/* The code is hot, as it was translated. */
void tier_head_ask_more(struct tier_heads *heads, struct tier_head *head)
{
    const struct tier_head before = *head;

    head_clear(heads, head);
    head->code = before.code;
    head->insns = before.insns;
    head->spent = before.insns * tier_hot_times(before.translation->wave);
    head->straight = tier_for_all(before.straight);
}

uint32_t tier_segment_insns(const struct code_insn *code, uint32_t most)
{
    uint32_t n = 0;

    while (n < most && n < TIER_MAX_INSNS && code[n].known) {
        const bool leaves = ppu_isa_row(code[n].insn.op)->flags & PPU_IF_B;
        const uint32_t target = straight_target_back(&code[n].insn, n);
        if (code[n].insn.op == PPU_OP_BAR) {
            return n;
        }
        if (target <= n) {
            return target; /* where a loop begins */
        }
        if (leaves && (code[n].insn.op != PPU_OP_EXIT || code[n].insn.guard == 0)) {
            return n + 1;
        }
        n++;
    }
    return n == most || n == TIER_MAX_INSNS ? n : 0;
}

/* Instructions that are not decoded, or fault, or whose registers depend on the wave, stay zeros. */
static void unit_make(const struct exec *x, const struct tier_head *head, struct tier_unit *unit)
{
    memset(unit, 0, sizeof(*unit));
    unit->wave = x->wave;
    unit->modelled = x->sm->l2 ? 1 : 0;
    unit->insns = head->insns;
    unit->straight = head->straight;
    for (uint32_t i = 0; i < unit->insns; i++) {
        const struct code_insn *const code = &head->code[i];
        struct tier_insn *const to = &unit->insn[i];

        if (!code->known || code->fault != 0 || code->plain == CODE_NOT_PLAIN) {
            continue;
        }
        to->insn = code->insn;
        to->vregs = code->vregs;
        to->kinds = code->kinds;
        to->steady = code->steady;
        to->known = 1;
        if ((ppu_isa_row(code->insn.op)->flags & PPU_IF_B) == 0 && code->insn.format != PPU_FMT_MEM &&
            code->insn.format != PPU_FMT_ATOM && code->insn.format != PPU_FMT_GATHER) {
            memcpy(to->imm, code->imm, sizeof(to->imm));
        }
    }
}

/*
 * A page of code that has given way to another comes back without what was decoded. What has been executed since is
 * there again: of a loop its first instruction, of straight code, which is looked at before it is executed, all.
 */
static bool is_decoded(const struct tier_head *head)
{
    const uint32_t insns = head->straight != TIER_LOOP ? head->insns : 1;
    bool known = true;

    for (uint32_t i = 0; i < insns; i++) {
        known = known && head->code[i].known;
    }
    return known;
}

/* The unit as it is known now. False: it is too long for a translation. */
static bool find_unit(const struct exec *x, struct tier_head *head, struct tier_unit *unit)
{
    head->never = head->insns > TIER_MAX_INSNS;
    if (!head->never) {
        unit_make(x, head, unit);
    }
    return !head->never;
}

/* The loop is counted from now on. False: it never will be. */
static bool take_entry(const struct exec *x, struct tier_head *head)
{
    struct tier_unit unit;

    if (find_unit(x, head, &unit)) {
        head->entry = tier_count(x->sm->heads->tier, &unit);
        head->never = !head->entry;
    }
    return head->entry;
}

/* More of the loop may be decoded than when it was counted first. False: there will be no translation. */
static bool seek(const struct exec *x, struct tier_head *head)
{
    struct tier_unit unit;

    if (find_unit(x, head, &unit)) {
        head->entry = tier_seek(x->sm->heads->tier, &unit, head->entry, x->task->tmd.context);
        head->never = !head->entry;
    }
    return !head->never;
}

/* A program that is launched again has its translations at once. What is made or on disk is for loops that are warm. */
const struct tier_translation *tier_head_look(const struct exec *x, struct tier_head *head)
{
    const struct tier_heads *const heads = x->sm->heads;

    if (!head->entry && (!is_decoded(head) || !take_entry(x, head))) {
        return NULL;
    }
    enum tier_state state = tier_look(head->entry, &head->translation);
    if (state == TIER_IS_COUNTED) {
        if (!tier_is_warm(heads->tier, head->entry, times_of(head))) {
            head->wait = heads->threshold * head->insns;
            return NULL;
        }
        if (!is_decoded(head) || !seek(x, head)) {
            return NULL;
        }
    }
    head->wait = 0;
    tier_await(heads->tier, head->entry, &x->sm->attention);
    state = tier_look(head->entry, &head->translation);
    if (state == TIER_IS_ABSENT) {
        tier_translate(heads->tier, head->entry, times_of(head), x->task->tmd.context);
        tier_await(heads->tier, head->entry, &x->sm->attention);
        state = tier_look(head->entry, &head->translation);
    }
    head->never = state == TIER_IS_NEVER;
    return head->translation;
}
