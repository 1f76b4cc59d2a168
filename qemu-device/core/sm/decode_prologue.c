/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds prologues: the straight code from a program's entry on that does the same for every warp of a CTA (struct
 * prologue), as far as it has been decoded.
 */
#include "ppu/macros.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/decode.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/core/sm/sm.h"

#define WORTH 2u /* instructions: what it takes to do without them is about one */

/* Made of scalar registers, parameters, and what is known of the CTA. */
static bool insn_is_scalar(const struct ppu_insn *insn)
{
    if (!insn->scalar) {
        return false;
    }
    switch (insn->format) {
    case PPU_FMT_DA:
    case PPU_FMT_DB:
    case PPU_FMT_DAB:
    case PPU_FMT_DABC:
    case PPU_FMT_CVT:
        return true;
    case PPU_FMT_SR:
        return ppu_sr_of(insn->ra) >= PPU_SR_OF_CTA;
    case PPU_FMT_MEM:
        return insn->op == PPU_OP_LDP;
    default:
        return false;
    }
}

/* The number of the thread, or one that is known plus something that is the same for all. */
static bool is_thread(const struct dist_task *task, uint32_t known, const struct code_insn *code)
{
    const struct ppu_insn *const insn = &code->insn;

    if (insn->scalar || insn->rd >= EXEC_STEADY) {
        return false;
    }
    if (insn->op == PPU_OP_RDSR) {
        return insn->ra == PPU_SR_TID || (insn->ra == PPU_SR_TID_X && task->tmd.cta[1] * task->tmd.cta[2] == 1);
    }
    if (code->steady) {
        const uint32_t reg = code->kinds & CODE_SAME_A ? insn->rb : insn->ra;
        return reg < EXEC_STEADY && (known >> reg & 1u) != 0;
    }
    return false;
}

struct prologue decode_prologue(const struct sm *sm, const struct dist_task *task)
{
    struct prologue prologue = { 0, 0, 0 };
    const struct code_insn *code;

    if (task->cta_threads % task->tmd.wave != 0 || (task->tmd.flags & PPU_TMD_SUBVECTOR)) {
        return prologue;
    }
    for (uint32_t pc = task->tmd.entry / PPU_INSN_BYTES; (code = decode_known(sm, task, pc)); pc++) {
        const struct ppu_insn *const insn = &code->insn;

        if (insn->guard != 0) {
            break;
        }
        if (insn_is_scalar(insn)) {
            const uint32_t end = insn->rd + insn->wd;
            prologue.sregs = PPU_MAX(end, prologue.sregs);
        } else if (is_thread(task, prologue.vregs, code)) {
            prologue.vregs |= 1u << insn->rd;
        } else {
            break;
        }
        prologue.insns++;
    }
    return prologue.insns >= WORTH ? prologue : (struct prologue){ 0, 0, 0 };
}
