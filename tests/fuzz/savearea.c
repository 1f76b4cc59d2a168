/* SPDX-License-Identifier: MIT */
/*
 * Surface: save areas of tasks and of address spaces, written over while CTAs are saved in them and come back.
 *
 * The hostile context has a task with places for its CTAs, which leave because they wait for children or are evicted,
 * and one without, whose CTAs leave to the area of the address space when a third context claims a place. An input says
 * what the tasks are, and what happens: steps of some instructions, evictions, claims, and what is stored into the
 * areas: words, or what another CTA left there. On the same SM a victim counts: its registers, its shared memory and
 * its progress must be what they are without the others. The tasks must end when they are killed, with all chunks of
 * the area free again. The address sanitizer sees accesses outside of a CTA's own blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/ring.h"
#include "ppu/save.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/engine/levels.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/neighbour.h"

#define HOSTILE 1u  /* contexts */
#define CLAIMANT 3u /* NEIGHBOUR_CONTEXT is between them */
#define SAVED 0u    /* slots: the task with places, NEIGHBOUR_SLOT, the claimant's, the task without */
#define CLAIMS 2u
#define SWITCHED 3u
#define DATA_VA 0x20000000ull
#define CODE_VA (DATA_VA + PPU_PAGE_64K)
#define SYS_VA 0x60000000ull
#define DATA_AT HEAP_AT
#define CODE_AT (DATA_AT + PPU_PAGE_64K) /* of each kernel one page */
#define PLACES_AT 0x200000u
#define PLACES 4u
#define PLACE_BYTES 0x8000u
#define AREA_AT (HEAP_AT + 2u * PPU_PAGE_2M)
#define VREGS 8u
#define SHARED_VREGS 4u
#define SHARED_BYTES 512u
#define MOST_CTAS 6u
#define MOST_ACTIONS 64u
#define RUN_INSNS 600u
#define KILL_TURNS 400u

#define BEGIN "ldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %tid\nmul v1, v0, 4\nmov v2, 0\nagain: add v2, v2, 1\n"
static const char *const texts[] = {
    /* This kernel has divergence, tokens, barriers and yields. */
    ".kernel k\n" BEGIN "and v3, v2, v0\nisetp.ne p0, v3, 0\nssy join\n@p0 bra odd\natomg.add v4, [s0+v1], v2\n"
    "sync join\nodd: yield\nsts.b32 v2, [v1]\nsync join\njoin: bar 0\nbra again\n",
    /* segments */
    ".kernel k\n.vregs 8\n.shared_vregs 4\n" BEGIN "sventer 4\nadd v8, v2, 1\nstg.b32 v8, [s0+v1]\n"
    "ldg.b32 v9, [s0+v1]\nadd v3, v9, v8\nsvleave\nsventer 260\nadd v8, v2, 1\nstg.b32 v8, [s0+v1]\nsvleave\nbar 1\n"
    "bra again\n",
    ".kernel k\n.vregs 8\n" BEGIN
    "svbegin64 s20, behind\nhalf: svbegin s22, end\nhead: add v3, v2, 1\nstg.b32 v3, [s0+v1]\n"
    "svend s22, head\nend: svend64 s20, half\nbehind: isetp.ltu p1, v0, 40\n@p1 yield\nbra again\n",
    /* children */
    ".kernel k\n" BEGIN "stg.b32 v2, [s0+v1]\ncwait\nlds.b32 v5, [v1]\nbra again\n",
    /* system memory */
    ".kernel k\n" BEGIN "stg.b32 v2, [s2+v1]\nldg.b32 v3, [s2+v1]\nadd v4, v3, v4\nbra again\n",
    /* This kernel ends. */
    ".kernel k\n" BEGIN "isetp.ltu p0, v2, 40\n@p0 bra again\nexit\n",
};
#define TEXTS PPU_ARRAY_SIZE(texts)

static struct board *board;
static struct neighbour victim = { .magic = 0x5ec2e700u, .shared_magic = 0xa5c3a500u };
static uint32_t code_bytes[TEXTS];

/* One input being run. */
static struct {
    struct fuzz_input in;
    struct ppu_tmd tmd[SWITCHED + 1];
    uint32_t starts; /* that are left */
    uint32_t runs;   /* slots that do, a bit each */
    bool ends;
} play;

/* ---- the machine, as it is for each input ---- */

static void load_texts(void)
{
    static struct ppuasm_image images[TEXTS];
    struct ppu_program_view view;

    for (uint32_t i = 0; i < TEXTS; i++) {
        neighbour_assembled(texts[i], &images[i], &view);
        code_bytes[i] = view.header->code_bytes;
        memcpy(board->vram + CODE_AT + i * PPU_PAGE_4K, view.code, code_bytes[i]);
    }
}

static void map_all(void)
{
    const uint64_t write = PPU_PTE_WRITE | PPU_PTE_ATOMIC;

    map_page(board, HOSTILE, DATA_VA, DATA_AT, PPU_PTE_64K, write);
    map_page(board, HOSTILE, CODE_VA, CODE_AT, PPU_PTE_64K, 0);
    map_page(board, HOSTILE, SYS_VA, SYS_BASE, PPU_PTE_4K, write | PPU_PTE_SYSTEM);
    map_page(board, CLAIMANT, DATA_VA, DATA_AT, PPU_PTE_64K, write);
    map_page(board, CLAIMANT, CODE_VA, CODE_AT, PPU_PTE_64K, 0);
    neighbour_map(board);
}

static void board_again(void)
{
    static const uint64_t params[2] = { DATA_VA, SYS_VA };

    core_pause(board->core);
    core_reset_parts(board->core);
    core_resume(board->core);
    board_settle(board);
    board->now_ns = 1000;
    board_boot(board);
    memset(board->vram + DATA_AT, 0, PPU_PAGE_64K);
    memset(board->vram + PLACES_AT, 0, PLACES * PLACE_BYTES);
    memset(board->vram + AREA_AT, 0, PPU_PAGE_64K);
    memcpy(board->vram + PARAMS_AT, params, sizeof(params));
    map_all();
    mcu_write(board, PPU_REG_CTX_SAVE + 4 * HOSTILE, AREA_AT);
    if (board->core->dist.area[HOSTILE].chunks == 0) {
        fuzz_found("the address space has no area: %u bytes of VRAM are too few", (unsigned)board->config.vram_bytes);
    }
}

/* ---- the tasks ---- */

static struct ppu_tmd make_task(uint32_t context, uint32_t text)
{
    struct ppu_tmd tmd = good_tmd(1 + fuzz_below(&play.in, MOST_CTAS), 1, 1, 1);

    tmd.context = context;
    tmd.code_va = CODE_VA + text * PPU_PAGE_4K;
    tmd.code_bytes = code_bytes[text];
    tmd.wave = (uint8_t)(PPU_LANES << fuzz_below(&play.in, 3));
    tmd.vregs = VREGS;
    tmd.shared_vregs = SHARED_VREGS;
    tmd.shared_bytes = SHARED_BYTES;
    tmd.cta[0] = 1 + fuzz_below(&play.in, 128);
    tmd.mode = (uint8_t)fuzz_below(&play.in, PPU_MODES);
    tmd.flags |= PPU_TMD_MAY_SHARE;
    tmd.miss_rate = tmd.cta[0] % 2 ? PPU_MISS_ABOVE : PPU_MISS_UNSAID;
    return tmd;
}

static void make_tasks(void)
{
    struct ppu_tmd *const saved = &play.tmd[SAVED];

    *saved = make_task(HOSTILE, fuzz_below(&play.in, TEXTS));
    saved->save_vram = PLACES_AT;
    saved->save_bytes = fuzz_below(&play.in, 4) != 1 ? PLACE_BYTES : 64u * (1 + fuzz_below(&play.in, 256));
    saved->save_count = (uint8_t)(1 + fuzz_below(&play.in, PLACES));
    saved->flags |= fuzz_below(&play.in, 4) == 1 ? PPU_TMD_CORESIDENT : 0;
    play.tmd[SWITCHED] = make_task(HOSTILE, fuzz_below(&play.in, TEXTS));
    play.tmd[CLAIMS] = make_task(CLAIMANT, TEXTS - 1);
}

static void start(uint32_t slot, bool resume)
{
    if (play.starts != 0 && !play.ends && !(play.runs & 1u << slot)) {
        play.starts--;
        play.runs |= 1u << slot;
        play.tmd[slot].resume = resume;
        start_task(board, slot, &play.tmd[slot]);
        board_settle(board);
    }
}

/* The third context wants the SM, now: those of others that can leave do. */
static void claim(void)
{
    start(CLAIMS, false);
    mcu_write(board, PPU_REG_SLOT_RANK + 4 * CLAIMS, PPU_SLOT_CLAIMS | 2u);
    mcu_write(board, PPU_REG_SLOT_RANK + 4 * NEIGHBOUR_SLOT, 3u);
}

static void slot_event(const struct ppu_slot_event *event)
{
    struct ppu_tmd *const copy = (struct ppu_tmd *)(void *)(board->vram + TMD_AT(event->slot));

    if (event->kind == PPU_SLOT_FLUSHED) {
        return;
    }
    if (event->slot == NEIGHBOUR_SLOT) {
        fuzz_found("the victim's slot has event %u", event->kind);
    }
    if (event->kind == PPU_SLOT_WAITS) {
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * event->slot, PPU_SLOT_CMD_RESUME);
    } else {
        play.runs &= ~(1u << event->slot);
        if (event->kind == PPU_SLOT_STOPPED || event->kind == PPU_SLOT_PARKED) {
            play.tmd[event->slot] = *copy;
            start(event->slot, event->kind == PPU_SLOT_PARKED);
        }
    }
    board_settle(board);
}

static void take_events(void)
{
    struct ppu_fault_event fault;
    struct ppu_slot_event slot;

    board_settle(board);
    while (ring_pop(board, PPU_RING_FAULT, &fault)) {
        if (fault.slot == NEIGHBOUR_SLOT) {
            fuzz_found("the victim has fault 0x%x at 0x%llx", fault.code, (unsigned long long)fault.pc);
        }
    }
    while (ring_pop(board, PPU_RING_SLOT, &slot)) {
        slot_event(&slot);
    }
}

/* ---- what is stored into the areas ---- */

/* A CTA's state, as sm_snapshot.c writes it: counts of barriers, and its warps; behind the last, registers. */
#define BARRIER_BYTES (4u * SM_WAITS)
#define WARP_TOKENS_AT 972u /* where they are, how many, how many of yields */
#define WARP_PARTS_AT 1496u /* what the warp knows of segments, and what comes before */
#define WARP_BYTES 1904u    /* without tokens */

/* Where a CTA left its state, or might have. */
struct left {
    uint8_t *at;
    uint32_t head;  /* bytes before the state */
    uint32_t bytes; /* in use */
};

/* A place, or chunks from one on. */
static struct left choose_place(void)
{
    const uint32_t n = fuzz_u8(&play.in);
    struct left place = { .at = board->vram + AREA_AT + n % 32u * PPU_SWITCH_CHUNK, .head = sizeof(uint32_t) };

    if (n & 0x80u) {
        memcpy(&place.bytes, place.at, sizeof(place.bytes));
    } else {
        place.at = board->vram + PLACES_AT + n % PLACES * play.tmd[SAVED].save_bytes;
        place.head = sizeof(struct ppu_save);
        memcpy(&place.bytes, place.at + offsetof(struct ppu_save, len_bytes), sizeof(place.bytes));
    }
    place.bytes = place.bytes - 1 < PLACE_BYTES - place.head ? place.head + place.bytes : PLACE_BYTES;
    return place;
}

/* Offset of the n-th warp's state. */
static uint32_t warp_at(const struct left *place, uint32_t n)
{
    const uint32_t token_bytes = PPU_TOKEN_WORDS(play.tmd[SAVED].wave) * sizeof(uint32_t);
    uint32_t at = place->head + BARRIER_BYTES;

    for (; n != 0 && at + WARP_BYTES < place->bytes; n--) {
        uint32_t tokens = 0;

        memcpy(&tokens, place->at + at + WARP_TOKENS_AT + sizeof(tokens), sizeof(tokens));
        at += WARP_BYTES + tokens % PPU_MAX_WAVE * token_bytes;
    }
    return at;
}

/* Offset of a word: what is looked at when a CTA comes back rather than what its threads compute with. */
static uint32_t choose_word(const struct left *place)
{
    const uint32_t how = fuzz_u8(&play.in), n = fuzz_u8(&play.in), warp = warp_at(place, how / 8 % 4);
    uint32_t at = 0;

    switch (how % 8) {
    case 0:
        at = n * 4u % (n & 0x80u ? 20u : place->head + BARRIER_BYTES); /* what leads to the state, and how long it is */
        break;
    case 1:
    case 2:
        at = warp + n % 51u * 4u; /* state, lanes, predicates */
        break;
    case 3:
        at = warp + 204u + n % 192u * 4u; /* what each lane waits for, and where */
        break;
    case 4:
        at = warp + WARP_TOKENS_AT + n % 3u * 4u;
        break;
    case 5:
        at = warp + WARP_PARTS_AT + n % 21u * 4u;
        break;
    case 6:
        at = warp + WARP_PARTS_AT + 84u + n * 4u; /* tokens, fault, scalar registers */
        break;
    default:
        at = (n << 8 | fuzz_u8(&play.in)) * 4u;
        break;
    }
    return at % place->bytes / 4u * 4u;
}

static uint32_t other_word(uint32_t present)
{
    switch (fuzz_u8(&play.in) % 5) {
    case 0:
        return present ^ 1u << fuzz_u8(&play.in) % 32;
    case 1:
        return present + (fuzz_u8(&play.in) & 1 ? 1u : ~0u);
    case 2:
        return fuzz_u8(&play.in);
    case 3:
        return ~(uint32_t)fuzz_u8(&play.in);
    default:
        return fuzz_u32(&play.in);
    }
}

static void scribble(void)
{
    const struct left place = choose_place();
    const uint32_t at = choose_word(&place);
    uint32_t word = 0;

    memcpy(&word, place.at + at, sizeof(word));
    word = other_word(word);
    memcpy(place.at + at, &word, sizeof(word));
}

/* What one CTA left comes to where another's is, whole or in part. */
static void replay(void)
{
    const struct left to = choose_place(), from = choose_place();
    const uint32_t most = PPU_MIN(to.bytes, from.bytes), at = choose_word(&from) % most;

    memmove(to.at + at, from.at + at, fuzz_u8(&play.in) & 1 ? most - at : 4u);
}

/* ---- an input ---- */

static void start_tasks(void)
{
    start(SAVED, false);
    start(SWITCHED, false);
}

/* CTAs leave: those with places for good, the others until the claimant has ended. */
static void leave(uint32_t what)
{
    if (what & 0x10u) {
        claim();
    } else if (play.runs & 1u << SAVED) {
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * SAVED, PPU_SLOT_CMD_SAVE);
    }
    neighbour_run(board, 1 + fuzz_u8(&play.in));
}

static void act(void)
{
    const uint32_t what = fuzz_u8(&play.in);

    switch (what % 16) {
    case 0:
    case 1:
    case 2:
        leave(what);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        scribble();
        break;
    case 8:
        replay();
        break;
    case 9:
    case 10:
    case 11:
        take_events();
        neighbour_run(board, 1 + fuzz_u8(&play.in));
        break;
    case 12:
        start_tasks();
        break;
    case 13:
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * (what & 0x10u ? SAVED : SWITCHED), PPU_SLOT_CMD_KILL);
        break;
    default:
        neighbour_run(board, 1 + fuzz_u8(&play.in));
        break;
    }
}

static void end_tasks(void)
{
    static const uint32_t slots[] = { SAVED, CLAIMS, SWITCHED };

    play.ends = true;
    take_events();
    for (uint32_t turns = 0; (*core_sm_pool(board->core))->sm[0].ctas_used != 1 || play.runs != 0; turns++) {
        if (turns == KILL_TURNS) {
            fuzz_found("the tasks do not end: slots 0x%x", play.runs);
        }
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(slots); i++) {
            mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slots[i], PPU_SLOT_CMD_KILL);
        }
        neighbour_run(board, 64);
        take_events();
    }
}

static void check_area(void)
{
    const struct switch_area *const area = &board->core->dist.area[HOSTILE];
    uint32_t free = 0;

    for (uint32_t chunk = area->first; chunk < area->chunks && free <= area->chunks; chunk = area->next[chunk]) {
        free++;
    }
    if (area->held != 0 || free != area->chunks) {
        fuzz_found("%u chunks are held, %u of %u are free, and no CTA is left", area->held, free, area->chunks);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct core_config config = board_small_config(0);

    (void)argc;
    (void)argv;
    config.sms = 1;
    config.sm_vregs = PPU_LANES * PPU_MAX_VREGS;
    config.sm_ctas = 4; /* so that whoever claims a place finds none */
    config.test_hooks = false;
    config.engine_level = 1;
    config.vram_bytes = 2u * MACHINE_VRAM; /* the area alone is 11 MiB */
    board = victim.board = board_new(&config);
    board_boot(board);
    load_texts();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    memset(&play, 0, sizeof(play));
    play.in = fuzz_input(bytes, count);
    play.starts = MOST_ACTIONS;
    board_again();
    make_tasks();
    neighbour_start(&victim);
    neighbour_begin(&victim);
    start_tasks();
    for (uint32_t left = MOST_ACTIONS; left != 0 && !fuzz_ended(&play.in); left--) {
        act();
    }
    neighbour_run(board, RUN_INSNS);
    take_events();
    uint32_t before = neighbour_check(&victim);
    end_tasks();
    check_area();
    neighbour_run(board, RUN_INSNS);
    if (neighbour_check(&victim) - before < RUN_INSNS / 10) {
        fuzz_found("the victim has not gone on");
    }
    return 0;
}
