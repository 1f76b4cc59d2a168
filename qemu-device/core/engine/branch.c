/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Divergence: the token queue of a warp and the operations on it (E1 to E12).
 *
 * Every disabled lane knows why it is disabled and where it goes on; a token says which lanes go on together, and when.
 * A token lets a lane go on only when reason and address agree with the lane's, so that no lane can be sent astray by a
 * stale token, and lanes that no token names any more go on by themselves when the queue is empty.
 */
#include "qemu-device/core/engine/branch.h"
#include "ppu/regs.h"
#include "qemu-device/core/engine/barrier.h"
#include "qemu-device/core/engine/recentre.h"
#include "qemu-device/core/engine/slow.h"
#include "qemu-device/core/engine/subvector.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/decode.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/lane_rows.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/registers.h"
#include "qemu-device/core/sm/step.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/warp.h"

#include <string.h>

#define TOKEN_FRONT_ROOM 1u
#define TOKEN_BACK_ROOM 0u

static uint8_t *token_at(const struct exec *x, uint32_t entry)
{
    return sm_file_tokens(x->sm, x->cta, x->w->number) + (size_t)entry * PPU_TOKEN_WORDS(x->wave) * sizeof(uint32_t);
}

/* The n-th token from the front. */
static void token_get(const struct exec *x, uint32_t n, struct ppu_token *token)
{
    const uint8_t *at = token_at(x, x->w->token_first + n);
    uint32_t words[PPU_TOKEN_MAX_WORDS] = { 0 };

    for (uint32_t i = 0; i < PPU_TOKEN_WORDS(x->wave); i++) {
        words[i] = vram_read32(at + i * sizeof(uint32_t));
    }
    ppu_token_unpack(x->wave, words, token);
}

static void token_put(struct exec *x, uint32_t n, const struct ppu_token *token)
{
    uint8_t *at = token_at(x, x->w->token_first + n);
    uint32_t words[PPU_TOKEN_MAX_WORDS] = { 0 };

    ppu_token_pack(x->wave, token, words);
    for (uint32_t i = 0; i < PPU_TOKEN_WORDS(x->wave); i++) {
        vram_write32(at + i * sizeof(uint32_t), words[i]);
    }
}

void engine_tokens_move(struct exec *x, uint32_t first)
{
    struct warp *w = x->w;
    size_t token_bytes = PPU_TOKEN_WORDS(x->wave) * sizeof(uint32_t);

    for (uint32_t i = 0; i < w->token_count; i++) {
        uint32_t n = first < w->token_first ? i : w->token_count - 1 - i; /* no token is overwritten before it moved */
        vram_copy(token_at(x, first + n), token_at(x, w->token_first + n), token_bytes);
    }
    w->token_first = first;
}

static void tokens_centre(struct exec *x, uint32_t front)
{
    engine_tokens_move(x, ppu_token_middle(x->w->token_cap, x->w->token_count, front));
}

/* False: the queue is full. */
static bool token_push_front(struct exec *x, uint32_t type, const struct lanes *mask, uint32_t address)
{
    struct ppu_token token = { .type = type, .address = address };
    struct warp *w = x->w;

    if (w->token_count == w->token_cap) {
        return false;
    }
    if (w->token_count != 0) {
        struct ppu_token next;
        token_get(x, 0, &next);
        token.summary = next.summary | ppu_token_sum_bit(next.type);
    }
    if (w->token_first == 0) {
        tokens_centre(x, TOKEN_FRONT_ROOM);
    }
    memcpy(token.mask, mask->m, sizeof(token.mask));
    w->token_first--;
    w->token_count++;
    token_put(x, 0, &token);
    return true;
}

static bool token_push_back(struct exec *x, uint32_t type, const struct lanes *mask, uint32_t address)
{
    struct ppu_token token = { .type = type, .address = address };
    struct warp *w = x->w;

    if (w->token_count == w->token_cap) {
        return false;
    }
    if (w->token_first + w->token_count == w->token_cap) {
        tokens_centre(x, TOKEN_BACK_ROOM);
    }
    memcpy(token.mask, mask->m, sizeof(token.mask));
    w->token_count++;
    token_put(x, w->token_count - 1, &token);
    return true;
}

static void token_drop_front(struct exec *x, const struct ppu_token *token)
{
    x->w->yield_count -= token->type == PPU_TOKEN_YIELD && x->w->yield_count != 0;
    x->w->token_first++;
    x->w->token_count--;
    if (x->w->token_count == 0) {
        x->w->token_first = x->w->token_cap / 2;
        x->w->yield_count = 0;
    }
}

static struct lanes token_mask(const struct ppu_token *token)
{
    struct lanes mask;

    memcpy(mask.m, token->mask, sizeof(mask.m));
    return mask;
}

/* Lanes of the token that are disabled for its reason and go on at its address; in a segment, of the running part. */
static struct lanes token_waiting(const struct warp *w, const struct ppu_token *token)
{
    const struct lanes own = w->segment.on ? subvector_running(w) : w->live;
    struct lanes mask = token_mask(token), waiting = { { 0 } };

    mask = lanes_and(&mask, &own);
    for (uint32_t pass = 0; pass < w->passes; pass++) {
        const uint32_t first = pass * PPU_LANES;

        if (mask.m[pass] != 0) {
            waiting.m[pass] = mask.m[pass] & lanes_equal_to(w->reason + first, (uint8_t)token->type, w->wait_pc + first,
                                                            token->address);
        }
    }
    return waiting;
}

static enum step token_queue_full(struct exec *x, const struct lanes *mask)
{
    uint32_t pass = lanes_first(mask) / PPU_LANES;

    return engine_fault(x, PPU_FAULT_TOKEN_FULL, PPU_ACCESS_READ, x->w->token_cap, pass, mask->m[pass]);
}

void engine_disable(struct warp *w, const struct lanes *set, uint32_t reason, uint32_t pc)
{
    for (uint32_t pass = 0; pass < w->passes; pass++) {
        uint32_t first = pass * PPU_LANES;

        if (set->m[pass] == UINT32_MAX) {
            memset(w->reason + first, (int)reason, PPU_LANES);
            for (uint32_t i = 0; i < PPU_LANES && reason != PPU_REASON_ENDED; i++) {
                w->wait_pc[first + i] = pc;
            }
            continue;
        }
        if (lanes_are_many(set->m[pass])) {
            lanes_put_byte(w->reason + first, set->m[pass], (uint8_t)reason);
            lanes_put_word(w->wait_pc + first, set->m[pass], pc);
            continue;
        }
        for (uint32_t left = set->m[pass]; left != 0; left &= left - 1) {
            uint32_t lane = first + (uint32_t)__builtin_ctz(left);
            w->reason[lane] = (uint8_t)reason;
            w->wait_pc[lane] = pc;
        }
    }
    w->active = lanes_without(&w->active, set);
    w->turned = true;
}

void engine_enable(struct warp *w, const struct lanes *set, uint32_t pc)
{
    for (uint32_t pass = 0; pass < w->passes; pass++) {
        if (lanes_are_many(set->m[pass])) {
            lanes_put_byte(w->reason + pass * PPU_LANES, set->m[pass], PPU_REASON_ACTIVE);
            continue;
        }
        for (uint32_t left = set->m[pass]; left != 0; left &= left - 1) {
            w->reason[pass * PPU_LANES + (uint32_t)__builtin_ctz(left)] = PPU_REASON_ACTIVE;
        }
    }
    w->active = lanes_or(&w->active, set);
    w->turned = true;
    w->pc = pc;
}

/* Tokens that are not the running part's: they were queued before its segment. */
static uint32_t token_floor(const struct warp *w)
{
    return w->segment.on ? w->segment.floor : 0;
}

/* Lanes that no token names: the lowest, and all that go on with it. */
static bool pop_unnamed(struct warp *w)
{
    const struct lanes own = w->segment.on ? subvector_running(w) : w->live;
    struct lanes set = { { 0 } };
    uint32_t pc = 0;
    bool found = false;

    LANES_EACH(&own, lane)
    {
        if (w->reason[lane] == PPU_REASON_BARRIER || (found && w->wait_pc[lane] != pc)) {
            continue;
        }
        found = true;
        pc = w->wait_pc[lane];
        lanes_set(&set, lane);
    }
    if (found) {
        engine_enable(w, &set, pc);
    }
    return found;
}

/* False: no token of the running part has a lane that waits for it. */
static bool pop_token(struct exec *x)
{
    struct warp *w = x->w;

    while (w->token_count > token_floor(w)) {
        struct ppu_token token;

        token_get(x, 0, &token);
        struct lanes waiting = token_waiting(w, &token);
        token_drop_front(x, &token);
        if (lanes_any(&waiting)) {
            engine_enable(w, &waiting, token.address);
            return true;
        }
    }
    return false;
}

bool engine_pop(struct exec *x)
{
    struct warp *w = x->w;

    while (!pop_token(x) && !pop_unnamed(w)) {
        if (!w->segment.on) {
            w->state = lanes_any(&w->live) ? WARP_BARRIER : WARP_DONE;
            return false;
        }
        if (subvector_next(x)) {
            return true;
        }
    }
    return true;
}

/* E5: tokens at the front that nobody waits for, up to a yield token. */
void engine_drop_stale(struct exec *x)
{
    while (x->w->token_count > token_floor(x->w)) {
        struct ppu_token token;

        token_get(x, 0, &token);
        struct lanes waiting = token_waiting(x->w, &token);
        if (token.type == PPU_TOKEN_YIELD || lanes_any(&waiting)) {
            return;
        }
        token_drop_front(x, &token);
    }
}

static enum step after(struct exec *x)
{
    return lanes_any(&x->w->active) || engine_pop(x) ? STEP_MOVED : STEP_ENDED;
}

/* The lanes of `mask` go to `target`, the other active ones to the next instruction; those go first (E9). */
static enum step go(struct exec *x, const struct lanes *mask, uint32_t target)
{
    struct warp *w = x->w;

    if (lanes_equal(mask, &w->active)) {
        w->pc = target;
        return STEP_MOVED;
    }
    if (!token_push_front(x, PPU_TOKEN_DIVERGE, mask, target)) {
        return token_queue_full(x, mask);
    }
    x->cta->count[PPU_COUNTER_DIVERGENT]++;
    engine_disable(w, mask, PPU_TOKEN_DIVERGE, target);
    w->pc++;
    return STEP_MOVED;
}

/* As go(), each lane to its own target: one token for each target but the one that goes first. */
static enum step scatter(struct exec *x, const struct lanes *mask, const uint32_t target[PPU_MAX_WAVE])
{
    struct warp *w = x->w;
    struct lanes left = *mask;
    bool others = !lanes_equal(mask, &w->active), split = false;

    while (lanes_any(&left)) {
        uint32_t first = target[lanes_first(&left)];
        struct lanes alike = { { 0 } };

        LANES_EACH(&left, lane)
        {
            if (target[lane] == first) {
                lanes_set(&alike, lane);
            }
        }
        left = lanes_without(&left, &alike);
        if (!lanes_any(&left) && !others) {
            w->pc = first;
            x->cta->count[PPU_COUNTER_DIVERGENT] += split;
            return STEP_MOVED;
        }
        if (!token_push_front(x, PPU_TOKEN_DIVERGE, &alike, first)) {
            return token_queue_full(x, &alike);
        }
        split = true;
        engine_disable(w, &alike, PPU_TOKEN_DIVERGE, first);
    }
    w->pc++;
    x->cta->count[PPU_COUNTER_DIVERGENT] += split;
    return STEP_MOVED;
}

/*
 * Whether a token of the type may lie behind this one. Only yields are pushed at the back, so the bits of all other
 * types stay true (E10); break, continue and exit tokens share one.
 */
static bool more_behind(const struct ppu_token *token, uint32_t type)
{
    return (token->summary & ppu_token_sum_bit(type)) != 0;
}

/* Lanes of `mask` that one of the first `tokens` of this type and address names. */
static struct lanes matched(struct exec *x, const struct lanes *mask, uint32_t tokens, uint32_t type, uint32_t address)
{
    struct lanes all = { { 0 } };
    bool more = true;

    for (uint32_t n = 0; n < tokens && more; n++) {
        struct ppu_token token;
        token_get(x, n, &token);
        more = more_behind(&token, type);
        if (token.type == type && token.address == address) {
            struct lanes named = token_mask(&token);
            all = lanes_or(&all, &named);
            named = lanes_and(&all, mask);
            if (lanes_equal(&named, mask)) {
                break;
            }
        }
    }
    return lanes_and(&all, mask);
}

/* Lanes of `mask` that a queued token names; false: one of before the segment, for which a part cannot wait. */
static bool find_waiting(struct exec *x, const struct lanes *mask, uint32_t type, uint32_t address,
                         struct lanes *waiting)
{
    const uint32_t inside = x->w->token_count - token_floor(x->w);

    *waiting = matched(x, mask, x->w->token_count, type, address);
    if (inside != x->w->token_count && lanes_any(waiting)) {
        struct lanes near = matched(x, waiting, inside, type, address);
        return lanes_equal(&near, waiting);
    }
    return true;
}

/* SYNC, BRK, CONT: wait for the token, or go there (E5). */
static enum step wait_or_go(struct exec *x, const struct lanes *mask, uint32_t type, uint32_t target)
{
    struct lanes waiting;
    uint32_t next = x->w->pc + 1;

    if (!find_waiting(x, mask, type, target, &waiting)) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    struct lanes rest = lanes_without(mask, &waiting);
    engine_disable(x->w, &waiting, type, target);
    if (lanes_any(&rest)) {
        engine_drop_stale(x);
        return go(x, &rest, target);
    }
    x->w->pc = next;
    return after(x);
}

/*
 * As find_waiting() of calls, each lane at its own address. Tokens are gone through once for all lanes: there may be as
 * many addresses as lanes.
 */
static bool find_called(struct exec *x, const struct lanes *mask, const uint32_t target[PPU_MAX_WAVE],
                        struct lanes *waiting)
{
    const uint32_t inside = x->w->token_count - token_floor(x->w);
    struct lanes left = *mask;
    bool more = true;

    for (uint32_t n = 0; n < x->w->token_count && more && lanes_any(&left); n++) {
        struct lanes found = { { 0 } };
        struct ppu_token token;

        token_get(x, n, &token);
        more = more_behind(&token, PPU_TOKEN_CALL);
        if (token.type != PPU_TOKEN_CALL) {
            continue;
        }
        struct lanes named = token_mask(&token);
        named = lanes_and(&named, &left);
        LANES_EACH(&named, lane)
        {
            if (target[lane] == token.address) {
                lanes_set(&found, lane);
            }
        }
        if (n >= inside && lanes_any(&found)) {
            return false;
        }
        left = lanes_without(&left, &found);
    }
    *waiting = lanes_without(mask, &left);
    return true;
}

static enum step ret(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    uint32_t target[PPU_MAX_WAVE] = { 0 };
    struct lanes waiting;

    LANES_EACH(mask, lane)
    {
        target[lane] = exec_read(x, insn->ra, insn->a_scalar, lane);
    }
    if (!find_called(x, mask, target, &waiting)) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    LANES_EACH(&waiting, lane)
    {
        const struct lanes one = lanes_one(lane);
        engine_disable(x->w, &one, PPU_TOKEN_CALL, target[lane]);
    }
    struct lanes rest = lanes_without(mask, &waiting);
    if (lanes_any(&rest)) {
        engine_drop_stale(x);
        return scatter(x, &rest, target);
    }
    x->w->pc++;
    return after(x);
}

/* EXIT: lanes that an exit token names wait for the nearest; the others end (E12). */
static enum step leave_lanes(struct exec *x, const struct lanes *mask)
{
    struct warp *w = x->w;
    struct lanes rest = *mask;
    bool more = true;

    for (uint32_t n = 0; n < w->token_count && more && lanes_any(&rest); n++) {
        struct ppu_token token;
        token_get(x, n, &token);
        more = more_behind(&token, PPU_TOKEN_EXIT);
        if (token.type == PPU_TOKEN_EXIT) {
            struct lanes named = token_mask(&token);
            named = lanes_and(&named, &rest);
            if (lanes_any(&named) && n >= w->token_count - token_floor(w)) {
                return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask); /* one of before the segment */
            }
            engine_disable(w, &named, PPU_TOKEN_EXIT, token.address);
            rest = lanes_without(&rest, &named);
        }
    }
    if (lanes_any(&rest)) {
        engine_disable(w, &rest, PPU_REASON_ENDED, w->pc);
        w->live = lanes_without(&w->live, &rest);
        x->cta->threads_left -= lanes_count(&rest);
        engine_barrier_check(x, &rest);
        if (w->state == WARP_FAULTED) {
            return STEP_FAULT;
        }
    }
    w->pc++;
    return after(x);
}

/* xorshift64*: the upper half of its product. */
static uint32_t next_random(struct warp *w)
{
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (uint32_t)(w->random * 0x2545f4914f6cdd1dull >> 32);
}

/*
 * One of so many times as YIELD_CHANCE says: some of the lanes, by chance, go on and come here once more before the
 * others have their turn. Lanes that take turns for ever, as each undoes what the other waits for, part then. A queue
 * that is half full keeps its room for the program's own tokens.
 */
static void let_some_pass(struct exec *x, struct lanes *mask)
{
    const uint32_t chance = reg_get(x->core, PPU_REG_YIELD_CHANCE);
    struct warp *w = x->w;

    if (chance == 0 || (uint64_t)next_random(w) * chance > UINT32_MAX || w->token_count >= w->token_cap / 2) {
        return;
    }
    for (uint32_t pass = 0; pass < w->passes; pass++) {
        mask->m[pass] &= next_random(w);
    }
}

/* The lanes of `mask` make room for others (E6); later they go on at `at`. */
static enum step yield_lanes(struct exec *x, const struct lanes *mask, uint32_t at)
{
    struct warp *w = x->w;
    uint32_t next = w->pc + 1;

    if (w->token_count == 0 && w->token_cap != 0 && lanes_equal(mask, &w->active)) {
        w->pc = at; /* their token would be the only one: they go on at once */
        return STEP_MOVED;
    }
    for (uint32_t n = w->token_count; w->yield_count != 0 && n-- != 0;) {
        struct ppu_token token;
        token_get(x, n, &token);
        if (token.type == PPU_TOKEN_YIELD && token.address == at) {
            struct lanes named = token_mask(&token);
            named = lanes_or(&named, mask);
            memcpy(token.mask, named.m, sizeof(token.mask));
            token_put(x, n, &token);
            engine_disable(w, mask, PPU_TOKEN_YIELD, at);
            w->pc = next;
            return after(x);
        }
    }
    if (!token_push_back(x, PPU_TOKEN_YIELD, mask, at)) {
        return token_queue_full(x, mask);
    }
    w->yield_count++;
    engine_disable(w, mask, PPU_TOKEN_YIELD, at);
    w->pc = next;
    return after(x);
}

static enum step yield(struct exec *x, const struct lanes *mask)
{
    struct lanes yielding = *mask;

    if (x->w->segment.on) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    let_some_pass(x, &yielding);
    return lanes_any(&yielding) ? yield_lanes(x, &yielding, x->w->pc + 1) : STEP_NEXT;
}

/* True when some lane can only go on behind the one that executes this, which waits for it: nobody ever goes on. */
static bool meets_nobody(const struct exec *x, const struct lanes *mask)
{
    const struct warp *w = x->w;
    const struct lanes others = lanes_without(&w->live, mask);
    const struct lanes behind = lanes_and(&others, &w->active);
    bool elsewhere = false;

    if (lanes_any(&behind)) {
        return false;
    }
    LANES_EACH(&others, lane)
    {
        if (w->reason[lane] == PPU_TOKEN_YIELD && w->wait_pc[lane] == w->pc) {
            continue;
        }
        if (w->reason[lane] != PPU_REASON_BARRIER) {
            const struct code_insn *code = decode_known(x->sm, x->task, w->wait_pc[lane]);

            if (w->reason[lane] != PPU_TOKEN_YIELD || !code || code->insn.op != PPU_OP_WSYNC) {
                return false;
            }
        }
        elsewhere = true;
    }
    return elsewhere;
}

/* WSYNC: those that come first yield until the last one is here. */
static enum step meet(struct exec *x, const struct lanes *mask)
{
    const uint32_t pass = lanes_first(mask) / PPU_LANES;

    if (x->w->segment.on) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    if (lanes_equal(mask, &x->w->live)) {
        return STEP_NEXT;
    }
    if (meets_nobody(x, mask)) {
        return engine_fault(x, PPU_FAULT_BARRIER, PPU_ACCESS_READ, PPU_BARRIERS, pass, mask->m[pass]);
    }
    return yield_lanes(x, mask, x->w->pc);
}

/* True: the n-th turn of some lane. */
static bool turn_of_pass(uint32_t *turns, uint32_t mask, uint32_t n)
{
    uint32_t due = 0;

    if (mask == UINT32_MAX) {
        for (uint32_t i = 0; i < PPU_LANES; i++) {
            turns[i]++;
            due |= turns[i] >= n;
        }
        return due != 0;
    }
    for (; mask != 0; mask &= mask - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);

        turns[lane]++;
        due |= turns[lane] >= n;
    }
    return due != 0;
}

/* Counts for every lane, so that one which passes n times yields whatever set of lanes it passes with. */
static bool turn_to_yield(struct warp *w, const struct lanes *mask, uint32_t n)
{
    bool due = false;

    warp_yields(w);
    for (uint32_t pass = 0; pass < w->passes; pass++) {
        due = turn_of_pass(&w->yield_turns[pass * PPU_LANES], mask->m[pass], n) || due;
    }
    if (due) {
        LANES_EACH(mask, lane)
        {
            w->yield_turns[lane] = 0;
        }
    }
    return due;
}

/* A yield not taken changes nothing else (E6). */
static enum step yield_if(struct exec *x, const struct lanes *mask, bool taken)
{
    return taken ? yield(x, mask) : STEP_NEXT;
}

static enum step push(struct exec *x, const struct lanes *mask, uint32_t type, uint32_t target)
{
    return token_push_front(x, type, mask, target) ? STEP_NEXT : token_queue_full(x, mask);
}

static enum step call(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask, uint32_t target)
{
    uint32_t next = x->w->pc + 1;

    if (!token_push_front(x, PPU_TOKEN_CALL, mask, next)) {
        return token_queue_full(x, mask);
    }
    LANES_EACH(mask, lane)
    {
        exec_write(x, insn->rd, insn->scalar, lane, next);
    }
    return go(x, mask, target);
}

static enum step indirect(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask, uint32_t base)
{
    uint32_t target[PPU_MAX_WAVE];

    LANES_EACH(mask, lane)
    {
        target[lane] = base + exec_read(x, insn->ra, insn->a_scalar, lane);
    }
    return scatter(x, mask, target);
}

static enum step longjmp_to(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    engine_drop_stale(x);
    return indirect(x, insn, mask, 0);
}

enum step engine_branch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    uint32_t target = x->w->pc + (uint32_t)insn->imm;

    if ((reg_get(x->core, PPU_REG_TOKEN_HANDLER) | x->w->asked) != 0 && engine_recentre_waits(x, insn, mask)) {
        return STEP_STOP;
    }
    switch (insn->op) {
    case PPU_OP_BRA:
        return go(x, mask, target);
    case PPU_OP_JMP:
        return go(x, mask, (uint32_t)insn->imm);
    case PPU_OP_BRX:
        return indirect(x, insn, mask, x->w->pc);
    case PPU_OP_JMX:
        return indirect(x, insn, mask, 0);
    case PPU_OP_SSY:
        return push(x, mask, PPU_TOKEN_SYNC, target);
    case PPU_OP_PBRK:
        return push(x, mask, PPU_TOKEN_BRK, target);
    case PPU_OP_PCONT:
        return push(x, mask, PPU_TOKEN_CONT, target);
    case PPU_OP_PEXIT:
        return push(x, mask, PPU_TOKEN_EXIT, target);
    case PPU_OP_SYNC:
        return wait_or_go(x, mask, PPU_TOKEN_SYNC, target);
    case PPU_OP_BRK:
        return wait_or_go(x, mask, PPU_TOKEN_BRK, target);
    case PPU_OP_CONT:
        return wait_or_go(x, mask, PPU_TOKEN_CONT, target);
    case PPU_OP_CALL:
        return call(x, insn, mask, target);
    case PPU_OP_RET:
        return ret(x, insn, mask);
    case PPU_OP_EXIT:
        return leave_lanes(x, mask);
    case PPU_OP_LONGJMP:
        return longjmp_to(x, insn, mask);
    case PPU_OP_SVENTER:
    case PPU_OP_SVLEAVE:
    case PPU_OP_SVBEGIN:
    case PPU_OP_SVEND:
    case PPU_OP_SVBEGIN64:
    case PPU_OP_SVEND64:
        return engine_subvector(x, insn, mask);
    case PPU_OP_YIELDN:
        return yield_if(x, mask, turn_to_yield(x->w, mask, (uint32_t)insn->imm));
    case PPU_OP_YIELDP:
        return yield_if(x, mask, next_random(x->w) < (uint32_t)insn->imm);
    case PPU_OP_YIELDQ:
        return yield_if(x, mask, next_random(x->w) >= (uint32_t)insn->imm);
    case PPU_OP_WSYNC:
        return meet(x, mask);
    default:
        return yield(x, mask);
    }
}
