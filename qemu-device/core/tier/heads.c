/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/tier/heads.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/sm.h"
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
    for (uint32_t i = 0; heads && i < TIER_HEADS; i++) {
        if (heads->head[i].code) {
            head_clear(heads, &heads->head[i]);
        }
    }
}

void tier_heads_free(struct tier_heads *heads)
{
    tier_heads_forget(heads);
    free(heads);
}

void tier_head_replace(struct tier_heads *heads, struct tier_head *head, const struct code_insn *code)
{
    head_clear(heads, head);
    head->code = code;
}

/* Instructions that are not decoded, or fault, or whose registers depend on the wave, stay zeros. */
static void unit_make(const struct exec *x, const struct tier_head *head, struct tier_unit *unit)
{
    memset(unit, 0, sizeof(*unit));
    unit->wave = x->wave;
    unit->modelled = x->sm->l2 ? 1 : 0;
    unit->insns = head->insns;
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

/* False: there will be no translation. */
static bool take_entry(const struct exec *x, struct tier_head *head)
{
    struct tier_unit unit;

    if (head->insns > TIER_MAX_INSNS) {
        return false;
    }
    unit_make(x, head, &unit);
    head->entry = tier_take(x->sm->heads->tier, &unit);
    return head->entry;
}

const struct tier_translation *tier_head_look(const struct exec *x, struct tier_head *head)
{
    const struct tier_heads *const heads = x->sm->heads;

    if (!head->entry) {
        if (times_of(head) < heads->threshold) {
            return NULL;
        }
        head->never = !take_entry(x, head);
        if (head->never) {
            return NULL;
        }
    }
    tier_await(heads->tier, head->entry, &x->sm->attention);
    enum tier_state state = tier_look(head->entry, &head->translation);
    if (state == TIER_IS_ABSENT) {
        tier_translate(heads->tier, head->entry, times_of(head));
        tier_await(heads->tier, head->entry, &x->sm->attention);
        state = tier_look(head->entry, &head->translation);
    }
    head->never = state == TIER_IS_NEVER;
    return head->translation;
}
