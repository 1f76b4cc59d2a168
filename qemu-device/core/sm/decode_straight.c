/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what each warp executes once, as far as it has been decoded. */
#include "ppu/macros.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/decode.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/straight.h"
#include "qemu-device/core/tier/heads.h"

#define WORTH 4u /* instructions: to enter a translation takes as long as some of them */

uint32_t straight_target_back(const struct ppu_insn *insn, uint32_t pc)
{
    const bool relative =
        (ppu_isa_row(insn->op)->flags & PPU_IF_B) && insn->immed && insn->op != PPU_OP_JMP && insn->op != PPU_OP_CALL;

    return relative && insn->imm < 0 ? pc + (uint32_t)insn->imm : UINT32_MAX;
}

static struct program_straight straight_from(const struct sm *sm, const struct dist_task *task, uint32_t first)
{
    const uint32_t begin = task->tmd.entry / PPU_INSN_BYTES + first;
    const struct code_insn *code;
    uint32_t pc = begin, end = UINT32_MAX; /* of what is looked at; where a loop begins */
    bool ends = false;

    while (pc - begin < TIER_MAX_INSNS && (code = decode_known(sm, task, pc))) {
        const uint32_t target = straight_target_back(&code->insn, pc);
        if (code->insn.op == PPU_OP_BAR) {
            break;
        }
        end = PPU_MIN(end, target);
        pc++;
        ends = code->insn.op == PPU_OP_EXIT && code->insn.guard == 0;
        if (ends) {
            break;
        }
    }
    ends = ends && end >= pc;
    end = PPU_MIN(end, pc);
    const bool worth = end >= begin + WORTH;
    return (struct program_straight){ first, worth ? end - begin : 0, worth && ends };
}

struct program_straight decode_straight(const struct sm *sm, const struct dist_task *task, uint32_t prologue)
{
    const struct program_straight all = straight_from(sm, task, 0);

    return all.ends || prologue == 0 ? all : straight_from(sm, task, prologue);
}
