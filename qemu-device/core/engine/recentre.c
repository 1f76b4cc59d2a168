/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the firmware for room at an end of a token queue (E7).
 *
 * The exception comes before the instruction has any effect, so that a warp which waits for the answer stands between
 * two instructions: it can be killed, saved, flushed and put into a snapshot like any other. What is lost on the way,
 * or answers something else by now, does no harm: where a queue lies in its space cannot be seen by a program, and a
 * warp that has still no room asks again.
 */
#include "qemu-device/core/engine/recentre.h"
#include "ppu/isa.h"
#include "ppu/macros.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/branch.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

/* The most tokens that an instruction pushes at either end. */
struct pushes {
    uint32_t front;
    uint32_t back;
};

static struct pushes most_pushes(const struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    switch (insn->op) {
    case PPU_OP_BRA:
    case PPU_OP_JMP:
        return (struct pushes){ .front = !lanes_equal(mask, &x->w->active) };
    case PPU_OP_SSY:
    case PPU_OP_PBRK:
    case PPU_OP_PCONT:
    case PPU_OP_PEXIT:
    case PPU_OP_SYNC:
    case PPU_OP_BRK:
    case PPU_OP_CONT:
        return (struct pushes){ .front = 1 };
    case PPU_OP_CALL:
        return (struct pushes){ .front = 2 };
    case PPU_OP_BRX:
    case PPU_OP_JMX:
    case PPU_OP_RET:
    case PPU_OP_LONGJMP:
        return (struct pushes){ .front = lanes_count(mask) };
    case PPU_OP_YIELD:
    case PPU_OP_YIELDN:
    case PPU_OP_YIELDP:
    case PPU_OP_YIELDQ:
    case PPU_OP_WSYNC:
        return (struct pushes){ .back = 1 };
    default:
        return (struct pushes){ 0 };
    }
}

/* False: tokens that fit the queue may not fit at their end. A queue that is full is the instruction's own fault. */
static bool has_room(const struct warp *w, struct pushes *most)
{
    const uint32_t left = w->token_cap - w->token_count;

    most->front = PPU_MIN(most->front, left);
    most->back = PPU_MIN(most->back, left - most->front);
    return w->token_first >= most->front && left - w->token_first >= most->back;
}

/* False: no answer yet. One that cannot be is dropped. */
static bool take_answer(struct exec *x)
{
    const uint32_t answer = __atomic_exchange_n(&x->sm->token_answer[x->index], 0, __ATOMIC_ACQUIRE);

    if (answer == 0) {
        return false;
    }
    x->w->asked = false;
    if (answer - 1 <= x->w->token_cap - x->w->token_count) {
        engine_tokens_move(x, answer - 1);
    }
    return true;
}

static void ask(struct exec *x, const struct pushes *most)
{
    const struct warp *w = x->w;
    const struct ppu_token_event event = {
        .sm = x->sm->number,
        .warp = x->index,
        .first = w->token_first,
        .count = w->token_count,
        .entries = w->token_cap,
        .front = most->front,
        .back = most->back,
        .slot = x->task->slot,
        .context = x->task->tmd.context,
        .correlation = x->task->tmd.correlation,
    };

    __atomic_store_n(&x->sm->token_answer[x->index], 0, __ATOMIC_RELAXED); /* one for a warp that was here before */
    x->w->asked = ring_push(x->core, PPU_RING_TOKEN, &event);
}

bool engine_recentre_waits(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct warp *w = x->w;

    if (reg_get(x->core, PPU_REG_TOKEN_HANDLER) != PPU_TOKEN_BY_FIRMWARE) {
        w->asked = false;
        return false;
    }
    if (!w->asked || take_answer(x)) {
        struct pushes most = most_pushes(x, insn, mask);

        if (has_room(w, &most)) {
            return false;
        }
        ask(x, &most);
    }
    w->state = WARP_STALLED;
    return true;
}
