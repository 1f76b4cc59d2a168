/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/attacker.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/save.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"

#define MOST_THREADS 768u
#define KILL_TURNS 400u
#define MOST_STARTS 4u

static struct ppuasm_image prologue;

static const char prologue_text[] =
    ".kernel k\n.vregs 4\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nldp.b64 s4, [16]\nldp.b64 s6, [24]\n"
    "rdsr v0, %tid\nmul v1, v0, 4\nmul v2, v0, 16\nrdsr v3, %lane\n";

struct sm *attacker_sm(const struct attacker *attacker)
{
    return &(*core_sm_pool(attacker->board->core))->sm[0];
}

/* ---- the machine, as it is for each input ---- */

struct core_config attacker_config(uint32_t vregs)
{
    struct core_config config = board_small_config(0);

    config.sms = 1;
    config.sm_vregs = vregs;
    config.test_hooks = false;
    config.engine_level = 1;
    return config;
}

static void map_odd(struct board *board, uint32_t kind)
{
    static const struct {
        uint64_t frame, bits;
    } odd[] = {
        { ODD_AT, PPU_PTE_WRITE | PPU_PTE_ATOMIC },
        { SYS_BASE + PPU_PAGE_64K, PPU_PTE_SYSTEM | PPU_PTE_WRITE | PPU_PTE_ATOMIC },
        { ODD_AT, 0 },
        { PROT_BASE, PPU_PTE_WRITE },
        { MACHINE_VRAM, PPU_PTE_WRITE },
        { DATA_AT, PPU_PTE_WRITE },
    };

    kind %= PPU_ARRAY_SIZE(odd);
    map_page(board, ATTACKER, ODD_VA, odd[kind].frame, PPU_PTE_64K, odd[kind].bits);
}

static void map_all(struct board *board)
{
    for (uint32_t page = 0; page < 3; page++) {
        map_page(board, ATTACKER, DATA_VA + page * PPU_PAGE_64K, DATA_AT + page * PPU_PAGE_64K, PPU_PTE_64K,
                 PPU_PTE_WRITE | PPU_PTE_ATOMIC);
    }
    map_odd(board, 0);
    map_page(board, ATTACKER, LOCAL_VA, LOCAL_AT, PPU_PTE_64K, PPU_PTE_WRITE | PPU_PTE_ATOMIC);
    for (uint32_t page = 0; page < 2; page++) {
        map_page(board, ATTACKER, SYS_VA + page * PPU_PAGE_4K, SYS_BASE + page * PPU_PAGE_4K, PPU_PTE_4K,
                 PPU_PTE_WRITE | PPU_PTE_ATOMIC | PPU_PTE_SYSTEM);
    }
    neighbour_map(board);
}

void attacker_board_again(struct board *board)
{
    core_pause(board->core);
    core_reset_parts(board->core);
    core_resume(board->core);
    board_settle(board);
    board->bus_works = true;
    board->now_ns = 1000;
    board_boot(board);
    memset(board->vram + DATA_AT, 0, OWN_BYTES);
    memset(board->sys, 0x33, 2 * PPU_PAGE_4K);
    memset(board->vram + SAVE_AT, 0, sizeof(struct ppu_save));
    map_all(board);
}

/* ---- the task ---- */

/*
 * What there is in segments: their begin, with some of the shared registers, open or not, their end, and what looks at
 * other lanes, of the registers that parts share and of those next to them.
 */
static uint64_t segment_word(struct fuzz_input *in, const struct ppu_tmd *tmd)
{
    static const uint8_t ops[] = {
        PPU_OP_SHFL, PPU_OP_SHFLUP, PPU_OP_SHFLDN, PPU_OP_SHFLX, PPU_OP_READLANE, PPU_OP_READFIRST,
    };
    const uint32_t what = fuzz_u8(in), lane = fuzz_below(in, 2 * PPU_MAX_WAVE);
    const uint32_t op = ops[what / 4 % sizeof(ops)], shared = fuzz_below(in, tmd->shared_vregs + 1u);
    const uint64_t scalar = op == PPU_OP_READLANE || op == PPU_OP_READFIRST ? 1ull << 8 : 0;

    if (what % 4 == 0) {
        return PPU_OP_SVENTER | 1ull << 31 | (uint64_t)((what % 8 ? PPU_SUBVECTOR_MAY : 0) + shared) << 32;
    }
    if (what % 16 == 1) {
        return PPU_OP_SVLEAVE;
    }
    return op | scalar | (uint64_t)(what / 32u) << 14 | (uint64_t)(tmd->vregs + shared - 1u) << 22 |
           (op == PPU_OP_READFIRST ? 0 : 1ull << 31 | (uint64_t)lane << 32);
}

/*
 * An access to memory that is mapped: one of the kernel's four areas, each thread at its own word of it, or all at a
 * few near each other. Random words hardly ever make one, and system memory is reached by nothing else.
 */
static uint64_t memory_word(struct fuzz_input *in, const struct ppu_tmd *tmd)
{
    static const uint8_t ops[] = { PPU_OP_LDG, PPU_OP_STG, PPU_OP_GATHER, PPU_OP_ATOMG };
    const uint32_t what = fuzz_u8(in), how = fuzz_u8(in);
    struct ppu_insn insn = {
        .op = ops[what % 4],
        .format = ppu_isa_row(ops[what % 4])->format,
        .rd = (uint8_t)fuzz_below(in, tmd->vregs),
        .ra = (uint8_t)(2 * (what / 4 % 4)),
        .a_scalar = 1,
        .rb = (uint8_t)(how & 1u ? 1 : fuzz_below(in, 4)),
        .imm = (int8_t)fuzz_u8(in),
        .width = (uint8_t)(how / 2 % 8),
        .lane_off = 1,
        .indexed = (uint8_t)(what / 16 % 8 == 0),
        .aop = (uint8_t)(how / 16),
        .scope = (uint8_t)(what / 64),
    };

    if (insn.op == PPU_OP_ATOMG) {
        insn.rc = insn.rb;
        insn.rb = insn.rd;
        insn.no_old = (uint8_t)(how & 8u ? 1 : 0);
        insn.rd = insn.no_old ? 0 : insn.rd;
        insn.imm = 0;
        insn.width = 0;
    }
    return ppu_isa_encode(&insn);
}

/* An instruction of a kind that there is, with registers that there may be; else any word. */
uint64_t attacker_word(struct fuzz_input *in, const struct ppu_tmd *tmd)
{
    const uint32_t kind = fuzz_u8(in), op = fuzz_u8(in);
    const struct ppu_isa_row *const row = ppu_isa_row(op % PPU_ISA_OPS);

    if (kind >= 0xc0u && (kind & 1u)) {
        return segment_word(in, tmd);
    }
    if (kind >= 0x90u && (kind & 1u)) {
        return memory_word(in, tmd);
    }
    uint64_t word = fuzz_u64(in);
    if (kind & 1u || !row->mnemonic) {
        return word;
    }
    struct ppu_isa_shape shape = ppu_isa_shape(row);
    if (shape.forms == PPU_FORM_IMMEDIATE || (shape.forms == PPU_FORM_BOTH && (kind & 2u))) {
        word = (word & (shape.bits[1] | 0xe00ull)) | 1ull << 31;
    } else {
        word &= shape.bits[0] | 0xe00ull;
        word &= ~(0xe0ull << 32 | 0xe0ull << 41);
    }
    word &= ~(0xe0ull << 14 | 0xe0ull << 22);
    word |= kind & 4u ? (uint64_t)PPU_GUARD_ON << 9 : 0;
    word &= kind & 4u ? ~0ull : ~(0x1full << 9);
    return word | (op % PPU_ISA_OPS) | (row->flags & PPU_IF_V || kind & 8u ? 1ull << 8 : 0);
}

uint64_t *attacker_code(const struct attacker *attacker, uint32_t copy)
{
    return (uint64_t *)(void *)(attacker->board->vram + CODE_AT + copy * PPU_PAGE_64K);
}

void attacker_prologue(struct attacker *attacker)
{
    struct ppu_program_view view;

    neighbour_assembled(prologue_text, &prologue, &view);
    attacker->words = view.header->code_bytes / PPU_INSN_BYTES;
    memcpy(attacker_code(attacker, 0), view.code, view.header->code_bytes);
}

/* How many warps the file has room for beside the victim. */
static uint32_t room_of(const struct attacker *attacker)
{
    const struct ppu_tmd *const tmd = &attacker->tmd;
    const uint32_t words = attacker->board->config.sm_vregs - NEIGHBOUR_VREGS * NEIGHBOUR_WAVE;

    return words / ppu_tmd_warp_vregs(tmd, ppu_tmd_may_be_wide(tmd));
}

/* As many warps as there is room for, and no more than wanted. */
static uint32_t threads_of(const struct attacker *attacker, uint32_t wanted, uint32_t missing)
{
    const struct ppu_tmd *const tmd = &attacker->tmd;
    const uint32_t room = room_of(attacker), most = MOST_THREADS / tmd->wave;
    const uint32_t fit = PPU_MIN(room, most);
    const uint32_t threads = PPU_MIN(wanted, fit) * tmd->wave;

    return threads > missing ? threads - missing : threads;
}

void attacker_make_task(struct attacker *attacker, uint32_t least_vregs)
{
    static const uint64_t params[4] = { DATA_VA, CODE_VA, SYS_VA, ODD_VA };
    struct fuzz_input *const in = &attacker->in;
    struct ppu_tmd *const tmd = &attacker->tmd;

    *tmd = good_tmd(1, 1, 1, 1);
    attacker->starts = MOST_STARTS;
    tmd->context = ATTACKER;
    tmd->code_va = CODE_VA;
    tmd->code_bytes = 2 * PPU_PAGE_64K;
    tmd->wave = (uint8_t)(PPU_LANES << fuzz_below(in, 3));
    tmd->vregs = (uint16_t)(4 * (1 + fuzz_below(in, 12)));
    tmd->vregs = (uint16_t)PPU_MAX(tmd->vregs, least_vregs);
    tmd->shared_vregs = (uint16_t)fuzz_below(in, 20);
    tmd->flags |= fuzz_below(in, 8) == 1 ? PPU_TMD_SUBVECTOR : 0;
    tmd->flags |= tmd->shared_vregs % 2 ? PPU_TMD_MAY_SHARE : 0;
    tmd->mode = (uint8_t)fuzz_below(in, PPU_MODES);
    tmd->shared_bytes = fuzz_below(in, 64) * 48;
    tmd->local_bytes = fuzz_below(in, 4) * 16;
    tmd->local_va = tmd->local_bytes != 0 ? LOCAL_VA : 0;
    tmd->local_size = tmd->local_bytes != 0 ? PPU_PAGE_64K : 0;
    tmd->token_count = (uint16_t)fuzz_below(in, 40);
    tmd->grid[0] = 1 + fuzz_below(in, 3);
    if (room_of(attacker) == 0) {
        tmd->flags &= (uint16_t)~PPU_TMD_MAY_SHARE; /* a warp whose registers are all private does not fit */
    }
    uint32_t threads = threads_of(attacker, 1 + fuzz_below(in, 8), fuzz_below(in, 32));
    tmd->cta[0] = threads % 2 == 0 && fuzz_below(in, 2) ? threads / 2 : threads;
    tmd->cta[1] = threads / tmd->cta[0];
    memcpy(attacker->board->vram + PARAMS_AT, params, sizeof(params));
    if (fuzz_below(in, 2)) {
        tmd->save_vram = SAVE_AT;
        tmd->save_bytes = SAVE_BYTES;
        tmd->save_count = 1;
    }
}

void attacker_start(struct attacker *attacker)
{
    if (attacker->starts != 0 && !attacker->runs) {
        attacker->starts--;
        attacker->runs = true;
        start_task(attacker->board, 0, &attacker->tmd);
        board_settle(attacker->board);
    }
}

/* ---- what happens ---- */

/* The attacker's slot says that its task waits, or has left. */
static void slot_event(struct attacker *attacker, uint32_t kind)
{
    struct ppu_tmd *const copy = (struct ppu_tmd *)(void *)(attacker->board->vram + TMD_AT(0));

    if (kind == PPU_SLOT_WAITS) {
        mcu_write(attacker->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_RESUME);
    } else {
        attacker->runs = !attacker->ends && (kind == PPU_SLOT_STOPPED || kind == PPU_SLOT_PARKED);
    }
    if (attacker->runs && kind != PPU_SLOT_WAITS) {
        copy->resume = kind == PPU_SLOT_PARKED;
        mcu_write(attacker->board, PPU_REG_SLOT_START, TMD_AT(0));
    }
    board_settle(attacker->board);
}

void attacker_take_events(struct attacker *attacker)
{
    struct ppu_fault_event fault;
    struct ppu_start_event start;
    struct ppu_token_event token;
    struct ppu_slot_event slot;

    while (ring_pop(attacker->board, PPU_RING_START, &start)) {
    }
    while (ring_pop(attacker->board, PPU_RING_TOKEN, &token)) {
        mcu_write(attacker->board, PPU_REG_TOKEN_MOVE,
                  PPU_TOKEN_MOVE(token.sm, token.warp, ppu_token_middle(token.entries, token.count, token.front)));
    }
    while (ring_pop(attacker->board, PPU_RING_FAULT, &fault)) {
        if (fault.slot == NEIGHBOUR_SLOT) {
            fuzz_found("the victim has fault 0x%x at 0x%llx", fault.code, (unsigned long long)fault.pc);
        }
    }
    while (ring_pop(attacker->board, PPU_RING_SLOT, &slot)) {
        if (slot.kind == PPU_SLOT_FLUSHED) {
            continue;
        }
        if (slot.slot == NEIGHBOUR_SLOT) {
            fuzz_found("the victim's slot has event %u", slot.kind);
        }
        slot_event(attacker, slot.kind);
    }
}

static void snapshot(struct attacker *attacker)
{
    const char *error = NULL;
    size_t len;

    if (attacker->moved) {
        return; /* it takes long */
    }
    attacker->moved = true;
    core_pause(attacker->board->core);
    uint8_t *state = core_save(attacker->board->core, &len);
    if (!state || !core_load(attacker->board->core, state, len, &error)) {
        fuzz_found("its own snapshot is refused: %s", error ? error : "there is none");
    }
    free(state);
    core_resume(attacker->board->core);
    board_settle(attacker->board);
}

static void change_code(struct attacker *attacker)
{
    const uint32_t at = fuzz_below(&attacker->in, attacker->words), copy = fuzz_below(&attacker->in, 2);

    attacker_code(attacker, copy)[at] = attacker_word(&attacker->in, &attacker->tmd);
}

void attacker_act(struct attacker *attacker)
{
    struct board *const board = attacker->board;

    switch (fuzz_below(&attacker->in, 16)) {
    case 0:
        change_code(attacker);
        break;
    case 1:
        mcu_write(board, PPU_REG_MMU_FLUSH, ATTACKER);
        break;
    case 2:
        map_odd(board, fuzz_u8(&attacker->in));
        break;
    case 3:
        if (attacker->runs && attacker->tmd.save_count != 0) {
            mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_SAVE);
        }
        break;
    case 4:
        snapshot(attacker);
        break;
    case 5:
        mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
        break;
    case 6:
        attacker_start(attacker);
        break;
    case 7:
        board->bus_works = !board->bus_works;
        break;
    case 8: /* answers are late, lost, wrong, and for those who have not asked */
        mcu_write(board, PPU_REG_TOKEN_MOVE, PPU_TOKEN_MOVE(0, fuzz_u8(&attacker->in), fuzz_u8(&attacker->in)));
        break;
    case 9:
        mcu_write(board, PPU_REG_TOKEN_HANDLER, fuzz_below(&attacker->in, 2));
        break;
    case 10:
    case 11:
        board_settle(board);
        attacker_take_events(attacker);
        break;
    default:
        neighbour_run(attacker->board, 1 + fuzz_below(&attacker->in, 256));
        break;
    }
}

static bool is_on_sm(const struct attacker *attacker)
{
    const struct sm *const sm = attacker_sm(attacker);
    bool is_there = false;

    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        is_there = is_there || (sm->cta[i].used && sm->cta[i].cta.task->tmd.context == ATTACKER);
    }
    return is_there;
}

void attacker_end(struct attacker *attacker)
{
    attacker->board->bus_works = true;
    attacker->ends = true;
    for (uint32_t turns = 0; is_on_sm(attacker) || attacker->runs; turns++) {
        if (turns == KILL_TURNS) {
            fuzz_found("the attacker does not end");
        }
        mcu_write(attacker->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
        board_settle(attacker->board);
        neighbour_run(attacker->board, 64);
        attacker_take_events(attacker);
    }
    attacker->ends = false;
}
