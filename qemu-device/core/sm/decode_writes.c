/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds programs that write their vector registers before they read them: whether those began as zeros does not matter.
 * Looked for in the straight code from the entry on, which every warp runs first, as far as it has been decoded.
 */
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/decode.h"
#include "qemu-device/core/sm/sm.h"

struct set {
    uint64_t m[PPU_MAX_VREGS / 64];
};

static void put_registers(struct set *set, uint32_t reg, uint32_t count)
{
    for (; count != 0; reg++, count--) {
        set->m[reg / 64] |= 1ull << reg % 64;
    }
}

static bool has(const struct set *set, uint32_t reg, uint32_t count)
{
    bool all = true;

    for (; count != 0; reg++, count--) {
        all = all && (set->m[reg / 64] >> reg % 64 & 1u) != 0;
    }
    return all;
}

/* Every active lane's destination is written, and not read. */
static bool writes(const struct ppu_insn *insn)
{
    switch (insn->format) {
    case PPU_FMT_DA:
    case PPU_FMT_DB:
    case PPU_FMT_DAB:
    case PPU_FMT_DABC:
    case PPU_FMT_SEL:
    case PPU_FMT_SR:
    case PPU_FMT_CVT:
        return true;
    case PPU_FMT_MEM:
        return insn->op == PPU_OP_LDG || insn->op == PPU_OP_LDS || insn->op == PPU_OP_LDL || insn->op == PPU_OP_LDP;
    default:
        return false;
    }
}

/* False: it may read a vector register that is not in the set. */
static bool reads_only(const struct set *written, const struct ppu_insn *insn)
{
    return (insn->a_scalar || has(written, insn->ra, insn->wa)) &&
           (insn->b_scalar || insn->immed || has(written, insn->rb, insn->wb)) &&
           (insn->c_scalar || has(written, insn->rc, insn->wc)) &&
           (insn->scalar || writes(insn) || has(written, insn->rd, insn->wd));
}

bool decode_writes_first(const struct sm *sm, const struct dist_task *task)
{
    struct set written = { { 0 } };
    const struct code_insn *code;

    if (task->cta_threads % task->tmd.wave != 0 || task->tmd.shared_vregs != 0 ||
        (task->tmd.flags & PPU_TMD_SUBVECTOR)) {
        return false;
    }
    for (uint32_t pc = task->tmd.entry / PPU_INSN_BYTES; (code = decode_known(sm, task, pc)); pc++) {
        const struct ppu_insn *const insn = &code->insn;

        if (!reads_only(&written, insn)) {
            return false;
        }
        if (insn->op == PPU_OP_EXIT && insn->guard == 0) {
            return true;
        }
        if (ppu_isa_row(insn->op)->flags & PPU_IF_B) {
            return has(&written, 0, task->tmd.vregs);
        }
        if (insn->guard == 0 && !insn->scalar && writes(insn)) {
            put_registers(&written, insn->rd, insn->wd);
        }
    }
    return false;
}
