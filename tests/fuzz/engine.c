/* SPDX-License-Identifier: MIT */
/*
 * Surface: instruction words, of all bits, in a task beside a task of another context on the same SM.
 *
 * An input says what the attacker's task is like (wave, registers, mode, memory), what its code is, and what happens
 * while it runs: steps of some instructions, answers of the main loop, code written over, flushes, pages that become
 * others, saves, a snapshot, kills. It may write its own code, which lies twice so far apart that one copy makes the SM
 * forget the other, and registers may end where the file ends. The victim counts in a register and compares its shared
 * memory with what it wrote: its registers, its memory and its progress must be what they are without the attacker,
 * none of its words may come to the attacker's memory, and the attacker must end when it is killed. The victim's words
 * follow from the whole input, so that no input can have them by itself; a word that looks like one of them counts when
 * the same input, run beside a victim with other words, has those. The address sanitizer sees accesses outside of a
 * warp's own blocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/save.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/engine/levels.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/neighbour.h"

#define ATTACKER 1u           /* context; the victim's is NEIGHBOUR_CONTEXT */
#define DATA_VA 0x20000000ull /* data, the code and its copy, the odd page: 64 KiB each */
#define CODE_VA (DATA_VA + PPU_PAGE_64K)
#define ODD_VA (CODE_VA + 2u * PPU_PAGE_64K)
#define SYS_VA 0x60000000ull
#define LOCAL_VA 0x70000000ull
#define DATA_AT HEAP_AT
#define CODE_AT (DATA_AT + PPU_PAGE_64K)
#define ODD_AT (CODE_AT + 2u * PPU_PAGE_64K)
#define LOCAL_AT (ODD_AT + PPU_PAGE_64K)
#define OWN_BYTES (5u * PPU_PAGE_64K) /* all that the attacker has in VRAM */
#define SAVE_AT 0x200000u
#define SAVE_BYTES 0x40000u
#define FILE_WORDS (PPU_LANES * PPU_MAX_VREGS)
#define MOST_WORDS 48u
#define MOST_THREADS 768u
#define MOST_ACTIONS 64u
#define MOST_STARTS 4u
#define KILL_TURNS 400u
#define RUN_INSNS 600u

static struct board *machines[2]; /* without and with a model of the caches */
static struct ppuasm_image prologue;

/* One input being run. */
struct play {
    struct fuzz_input in;
    struct board *board;
    struct ppu_tmd tmd;
    uint32_t words;  /* of the attacker's code */
    uint32_t starts; /* that are left */
    struct neighbour victim;
    bool runs, moved, ends;
};

static const char prologue_text[] =
    ".kernel k\n.vregs 4\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nldp.b64 s4, [16]\nldp.b64 s6, [24]\n"
    "rdsr v0, %tid\nmul v1, v0, 4\nmul v2, v0, 16\nrdsr v3, %lane\n";
static struct sm *sm_of(const struct play *play)
{
    return &(*core_sm_pool(play->board->core))->sm[0];
}

/* ---- the machine, as it is for each input ---- */

static struct board *board_of(bool cache_model)
{
    struct core_config config = board_small_config(0);

    if (!machines[cache_model]) {
        config.sms = 1;
        config.sm_vregs = FILE_WORDS;
        config.cache_model = cache_model;
        config.test_hooks = false;
        config.engine_level = 1;
        machines[cache_model] = board_new(&config);
    }
    return machines[cache_model];
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

static void board_again(struct board *board)
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

/* ---- the two tasks ---- */

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

/* An instruction of a kind that there is, with registers that there may be; else any word. */
static uint64_t next_word(struct fuzz_input *in, const struct ppu_tmd *tmd)
{
    const uint32_t kind = fuzz_u8(in), op = fuzz_u8(in);
    const struct ppu_isa_row *const row = ppu_isa_row(op % PPU_ISA_OPS);

    if (kind >= 0xc0u && (kind & 1u)) {
        return segment_word(in, tmd);
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

static uint64_t *code_of(const struct play *play, uint32_t copy)
{
    return (uint64_t *)(void *)(play->board->vram + CODE_AT + copy * PPU_PAGE_64K);
}

static void write_code(struct play *play)
{
    struct ppu_program_view view;

    neighbour_assembled(prologue_text, &prologue, &view);
    play->words = view.header->code_bytes / PPU_INSN_BYTES;
    memcpy(code_of(play, 0), view.code, view.header->code_bytes);
    for (uint32_t most = 1 + fuzz_below(&play->in, MOST_WORDS); most != 0; most--) {
        code_of(play, 0)[play->words++] = next_word(&play->in, &play->tmd);
    }
    code_of(play, 0)[play->words++] = PPU_OP_EXIT;
    memcpy(code_of(play, 1), code_of(play, 0), play->words * PPU_INSN_BYTES);
}

/* How many warps the file has room for beside the victim. */
static uint32_t room_of(const struct ppu_tmd *tmd)
{
    return (FILE_WORDS - NEIGHBOUR_VREGS * NEIGHBOUR_WAVE) / ppu_tmd_warp_vregs(tmd, ppu_tmd_may_be_wide(tmd));
}

/* As many warps as there is room for, and no more than wanted. */
static uint32_t threads_of(const struct ppu_tmd *tmd, uint32_t wanted, uint32_t missing)
{
    const uint32_t room = room_of(tmd), most = MOST_THREADS / tmd->wave;
    const uint32_t fit = PPU_MIN(room, most);
    const uint32_t threads = PPU_MIN(wanted, fit) * tmd->wave;

    return threads > missing ? threads - missing : threads;
}

static void make_task(struct play *play)
{
    static const uint64_t params[4] = { DATA_VA, CODE_VA, SYS_VA, ODD_VA };
    struct fuzz_input *const in = &play->in;
    struct ppu_tmd *const tmd = &play->tmd;

    *tmd = good_tmd(1, 1, 1, 1);
    tmd->context = ATTACKER;
    tmd->code_va = CODE_VA;
    tmd->code_bytes = 2 * PPU_PAGE_64K;
    tmd->wave = (uint8_t)(PPU_LANES << fuzz_below(in, 3));
    tmd->vregs = (uint16_t)(4 * (1 + fuzz_below(in, 12)));
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
    if (room_of(tmd) == 0) {
        tmd->flags &= (uint16_t)~PPU_TMD_MAY_SHARE; /* a warp whose registers are all private does not fit */
    }
    uint32_t threads = threads_of(tmd, 1 + fuzz_below(in, 8), fuzz_below(in, 32));
    tmd->cta[0] = threads % 2 == 0 && fuzz_below(in, 2) ? threads / 2 : threads;
    tmd->cta[1] = threads / tmd->cta[0];
    memcpy(play->board->vram + PARAMS_AT, params, sizeof(params));
    if (fuzz_below(in, 2)) {
        tmd->save_vram = SAVE_AT;
        tmd->save_bytes = SAVE_BYTES;
        tmd->save_count = 1;
    }
}

static void start_attacker(struct play *play)
{
    if (play->starts != 0 && !play->runs) {
        play->starts--;
        play->runs = true;
        start_task(play->board, 0, &play->tmd);
        board_settle(play->board);
    }
}

/* ---- what happens ---- */

/* The attacker's slot says that its task waits, or has left. */
static void slot_event(struct play *play, uint32_t kind)
{
    struct ppu_tmd *const copy = (struct ppu_tmd *)(void *)(play->board->vram + TMD_AT(0));

    if (kind == PPU_SLOT_WAITS) {
        mcu_write(play->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_RESUME);
    } else {
        play->runs = !play->ends && (kind == PPU_SLOT_STOPPED || kind == PPU_SLOT_PARKED);
    }
    if (play->runs && kind != PPU_SLOT_WAITS) {
        copy->resume = kind == PPU_SLOT_PARKED;
        mcu_write(play->board, PPU_REG_SLOT_START, TMD_AT(0));
    }
    board_settle(play->board);
}

static void take_events(struct play *play)
{
    struct ppu_fault_event fault;
    struct ppu_start_event start;
    struct ppu_token_event token;
    struct ppu_slot_event slot;

    while (ring_pop(play->board, PPU_RING_START, &start)) {
    }
    while (ring_pop(play->board, PPU_RING_TOKEN, &token)) {
        mcu_write(play->board, PPU_REG_TOKEN_MOVE,
                  PPU_TOKEN_MOVE(token.sm, token.warp, ppu_token_middle(token.entries, token.count, token.front)));
    }
    while (ring_pop(play->board, PPU_RING_FAULT, &fault)) {
        if (fault.slot == NEIGHBOUR_SLOT) {
            fuzz_found("the victim has fault 0x%x at 0x%llx", fault.code, (unsigned long long)fault.pc);
        }
    }
    while (ring_pop(play->board, PPU_RING_SLOT, &slot)) {
        if (slot.kind == PPU_SLOT_FLUSHED) {
            continue;
        }
        if (slot.slot == NEIGHBOUR_SLOT) {
            fuzz_found("the victim's slot has event %u", slot.kind);
        }
        slot_event(play, slot.kind);
    }
}

static void snapshot(struct play *play)
{
    const char *error = NULL;
    size_t len;

    if (play->moved) {
        return; /* it takes long */
    }
    play->moved = true;
    core_pause(play->board->core);
    uint8_t *state = core_save(play->board->core, &len);
    if (!state || !core_load(play->board->core, state, len, &error)) {
        fuzz_found("its own snapshot is refused: %s", error ? error : "there is none");
    }
    free(state);
    core_resume(play->board->core);
    board_settle(play->board);
}

static void change_code(struct play *play)
{
    const uint32_t at = fuzz_below(&play->in, play->words), copy = fuzz_below(&play->in, 2);

    code_of(play, copy)[at] = next_word(&play->in, &play->tmd);
}

static void act(struct play *play)
{
    struct board *const board = play->board;

    switch (fuzz_below(&play->in, 16)) {
    case 0:
        change_code(play);
        break;
    case 1:
        mcu_write(board, PPU_REG_MMU_FLUSH, ATTACKER);
        break;
    case 2:
        map_odd(board, fuzz_u8(&play->in));
        break;
    case 3:
        if (play->runs && play->tmd.save_count != 0) {
            mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_SAVE);
        }
        break;
    case 4:
        snapshot(play);
        break;
    case 5:
        mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
        break;
    case 6:
        start_attacker(play);
        break;
    case 7:
        board->bus_works = !board->bus_works;
        break;
    case 8: /* answers are late, lost, wrong, and for those who have not asked */
        mcu_write(board, PPU_REG_TOKEN_MOVE, PPU_TOKEN_MOVE(0, fuzz_u8(&play->in), fuzz_u8(&play->in)));
        break;
    case 9:
        mcu_write(board, PPU_REG_TOKEN_HANDLER, fuzz_below(&play->in, 2));
        break;
    case 10:
    case 11:
        board_settle(board);
        take_events(play);
        break;
    default:
        neighbour_run(play->board, 1 + fuzz_below(&play->in, 256));
        break;
    }
}

/* ---- what must hold ---- */

/*
 * Returns the first word of the attacker's memory that may be one of the victim's, or NULL. Goes through much memory,
 * all of which is the machine's.
 */
__attribute__((no_sanitize("address"))) static const uint32_t *leaked(const struct play *play)
{
    const uint32_t *const words = (const uint32_t *)(const void *)(play->board->vram + DATA_AT);

    for (uint32_t i = 0; i < OWN_BYTES / sizeof(uint32_t); i++) {
        if ((words[i] & NEIGHBOUR_MASK) == play->victim.magic ||
            (words[i] & NEIGHBOUR_MASK) == play->victim.shared_magic) {
            return &words[i];
        }
    }
    return NULL;
}

static void end_attacker(struct play *play)
{
    play->board->bus_works = true;
    play->ends = true;
    for (uint32_t turns = 0; sm_of(play)->ctas_used != 1 || play->runs; turns++) {
        if (turns == KILL_TURNS) {
            fuzz_found("the attacker does not end");
        }
        mcu_write(play->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
        board_settle(play->board);
        neighbour_run(play->board, 64);
        take_events(play);
    }
}

/* FNV-1a. Differs with the salt, and with every byte of the input. */
static uint32_t hash_of(const uint8_t *bytes, size_t count, uint32_t salt)
{
    uint32_t hash = 0x811c9dc5u ^ salt;

    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 0x01000193u;
    }
    return hash;
}

/* Words that no instruction has by accident: neither a small number nor a small negative one. */
static uint32_t magic_of(const uint8_t *bytes, size_t count, uint32_t salt)
{
    return (hash_of(bytes, count, salt) & 0x3fffff00u) | 0x40000000u;
}

/* Runs an input beside a victim whose words follow from the input and the salt. Returns what leaked, or NULL. */
static const uint32_t *run_input(const uint8_t *bytes, size_t count, uint32_t salt)
{
    struct play play = { .in = fuzz_input(bytes, count), .starts = MOST_STARTS };
    const uint32_t first = fuzz_below(&play.in, 4);

    play.victim.magic = magic_of(bytes, count, salt);
    play.victim.shared_magic = play.victim.magic ^ 0xe1000000u;
    play.board = play.victim.board = board_of(first & 1u);
    board_again(play.board);
    make_task(&play);
    write_code(&play);
    if (first & 2u) {
        play.tmd.grid[0] = 1; /* so that there is room for the victim behind it */
        start_attacker(&play);
        neighbour_run(play.board, 1);
    }
    neighbour_start(&play.victim);
    neighbour_begin(&play.victim);
    start_attacker(&play);
    for (uint32_t left = MOST_ACTIONS; left != 0 && !fuzz_ended(&play.in); left--) {
        act(&play);
    }
    neighbour_run(play.board, RUN_INSNS);
    board_settle(play.board);
    take_events(&play);
    uint32_t before = neighbour_check(&play.victim);
    end_attacker(&play);
    neighbour_run(play.board, RUN_INSNS);
    if (neighbour_check(&play.victim) - before < RUN_INSNS / 10) {
        fuzz_found("the victim has not gone on");
    }
    return leaked(&play);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (run_input(bytes, count, 0)) {
        const uint32_t *const word = run_input(bytes, count, 1);

        if (word) {
            fuzz_found("a word of the attacker's memory is the victim's 0x%x", *word);
        }
    }
    return 0;
}
