/* SPDX-License-Identifier: MIT */
/*
 * Surface: the box through which a debugger asks the device (ppu/debug.h).
 *
 * An input is what happens: requests, whose members are near what can be asked or any bytes; time; owners that come, go
 * and forget to say that they are alive; tasks that are started, killed and evicted. Meanwhile one task runs in each of
 * two contexts. When the debugger has gone nothing may stand still: tasks that are killed end, and a new one ends well.
 * Sanitizers see accesses outside of what a warp has.
 */
#include <stdlib.h>
#include <string.h>

#include "ppu/debug.h"
#include "ppu/macros.h"
#include "ppu/ring.h"
#include "ppu/state.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/debugger.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/neighbour.h"

#define CONTEXTS 2u /* from 1 on; each has the same memory */
#define AREA_AT 0x280000u
#define DATA_VA 0x20000000ull
#define CODE_VA (DATA_VA + PPU_PAGE_64K)
#define LOCAL_VA (DATA_VA + 2u * PPU_PAGE_64K)
#define DATA_AT HEAP_AT
#define CODE_AT (DATA_AT + PPU_PAGE_64K)
#define LOCAL_AT (DATA_AT + 2u * PPU_PAGE_64K)
#define SLOTS 3u
#define MOST_ACTIONS 64u
#define END_TURNS 4000u
#define TURN_NS 300u

static const char text[] = ".kernel k\n.vregs 8\n.shared_vregs 4\n.shared 512\n.local 16\n"
                           "ldp.b64 s0, [0]\nldp.b32 s2, [8]\nrdsr v0, %tid\nmul v1, v0, 4\n"
                           "again: sub s2, s2, 1\nsts.b32 v2, [v1]\nstl.b32 v0, [8]\nbar 0\nand v3, v0, 1\n"
                           "isetp.ne p0, v3, 0\n@p0 bra odd\nadd v2, v2, 1\nodd: sventer 4\nadd v8, v2, 1\n"
                           "stg.b32 v8, [s0+v1]\nsvleave\nisetp.ne p1, s2, 0\n@p1 bra again\nexit\n";

static struct board *board;
static struct ppu_tmd kernel;

/* One input being run. */
static struct {
    struct fuzz_input in;
    uint64_t now_ns;
    uint32_t runs; /* slots that do, a bit each */
    struct ppu_debug_at at[4];
} play;

static struct ppu_debug_box *box(void)
{
    return &((struct ppu_state *)(void *)(board->vram + AREA_AT))->debug;
}

/* ---- the machine, as it is for each input ---- */

static void board_again(void)
{
    const uint64_t write = PPU_PTE_WRITE | PPU_PTE_ATOMIC;
    static const struct {
        uint64_t address;
        uint32_t turns;
    } params[2] = { { DATA_VA, 0 }, { DATA_VA, 3 } };

    core_pause(board->core);
    core_reset_parts(board->core);
    core_resume(board->core);
    board_settle(board);
    board->now_ns = 1000;
    board_boot(board);
    memset(board->vram + AREA_AT, 0, sizeof(struct ppu_state));
    for (uint32_t i = 0; i < 2; i++) {
        memcpy(board->vram + PARAMS_AT + i * 64u, &params[i], sizeof(params[i]));
    }
    for (uint32_t context = 1; context <= CONTEXTS; context++) {
        map_page(board, context, DATA_VA, DATA_AT, PPU_PTE_64K, write);
        map_page(board, context, CODE_VA, CODE_AT, PPU_PTE_64K, 0);
        map_page(board, context, LOCAL_VA, LOCAL_AT, PPU_PTE_64K, write);
    }
    mcu_write(board, PPU_REG_STATE_BASE, AREA_AT);
}

static void start(uint32_t slot, bool endless)
{
    struct ppu_tmd tmd = kernel;

    if ((play.runs & 1u << slot) == 0) {
        tmd.context = 1 + slot % CONTEXTS;
        tmd.task = 1 + slot;
        tmd.params_vram = PARAMS_AT + (endless ? 0u : 64u);
        tmd.wave = (uint8_t)(PPU_LANES << slot);
        play.runs |= 1u << slot;
        start_task(board, slot, &tmd);
        board_settle(board);
    }
}

/* How the task of a slot has ended, when one has; PPU_SLOT_FLUSHED: none has. */
static uint32_t take_events(uint32_t of_slot)
{
    struct ppu_fault_event fault;
    struct ppu_slot_event event;
    uint32_t kind = PPU_SLOT_FLUSHED;

    board_advance(board, TURN_NS);
    while (ring_pop(board, PPU_RING_FAULT, &fault)) {
    }
    while (ring_pop(board, PPU_RING_SLOT, &event)) {
        if (event.kind != PPU_SLOT_FLUSHED) {
            play.runs &= ~(1u << event.slot);
            kind = event.slot == of_slot ? event.kind : kind;
        }
    }
    return kind;
}

/* ---- requests ---- */

static void send(const struct ppu_debug_request *request)
{
    memcpy(&box()->request, request, sizeof(*request));
    box()->asked++;
    if (core_debug(board->core, play.now_ns) && box()->answered != box()->asked) {
        fuzz_found("request %u is not answered", request->op);
    }
}

/* The warps that there are: requests name them. */
static void list_warps(void)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_WARPS, .slot = fuzz_below(&play.in, SLOTS) };
    struct ppu_debug_warp warp;

    send(&request);
    if (box()->answer.bytes > PPU_DEBUG_DATA) {
        fuzz_found("an answer has %u bytes", box()->answer.bytes);
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(play.at) && (i + 1) * sizeof(warp) <= box()->answer.bytes; i++) {
        memcpy(&warp, box()->answer.data + i * sizeof(warp), sizeof(warp));
        play.at[i] = warp.at;
    }
}

static uint64_t some_address(void)
{
    static const uint64_t near[] = { DATA_VA, CODE_VA, LOCAL_VA, 0 };
    const uint64_t base = near[fuzz_below(&play.in, PPU_ARRAY_SIZE(near))];

    return base + fuzz_below(&play.in, 64) * 8u;
}

static void near_request(void)
{
    struct ppu_debug_request request = { .op = fuzz_below(&play.in, 27) };

    request.slot = fuzz_below(&play.in, SLOTS + 1);
    request.at = play.at[fuzz_below(&play.in, PPU_ARRAY_SIZE(play.at))];
    request.number = fuzz_below(&play.in, 20);
    request.count = fuzz_below(&play.in, 64);
    request.context = fuzz_below(&play.in, CONTEXTS + 2);
    request.space = fuzz_below(&play.in, 7);
    request.lane = fuzz_below(&play.in, 129);
    request.lane = request.lane == 128 ? PPU_DEBUG_ANY_LANE : request.lane;
    request.flags = fuzz_below(&play.in, 17);
    request.ranges = fuzz_below(&play.in, 3);
    request.range[0] = (struct ppu_debug_range){ fuzz_u8(&play.in), fuzz_u8(&play.in) };
    request.address = some_address();
    request.value = fuzz_u8(&play.in);
    request.lanes[0] = fuzz_u32(&play.in);
    send(&request);
}

static void any_request(void)
{
    struct ppu_debug_request request;

    fuzz_bytes(&play.in, &request, sizeof(request));
    request.op = request.op % 28;
    send(&request);
}

/* ---- an input ---- */

static void act(void)
{
    const uint32_t what = fuzz_u8(&play.in), slot = what / 16 % SLOTS;

    switch (what % 16) {
    case 0:
        box()->owner = what / 16 % 3;
        break;
    case 1:
        play.now_ns += PPU_DEBUG_ALIVE_NS / 2 * (what / 16);
        break;
    case 2:
        box()->alive++;
        break;
    case 3:
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slot, what & 0x80u ? PPU_SLOT_CMD_KILL : PPU_SLOT_CMD_SAVE);
        break;
    case 4:
        start(slot, (what & 0x80u) != 0);
        break;
    case 5:
        any_request();
        break;
    case 6:
    case 7:
        list_warps();
        break;
    case 8:
    case 9:
    case 10:
        take_events(0);
        break;
    default:
        near_request();
        break;
    }
    core_debug(board->core, play.now_ns);
    board_settle(board);
}

/* Nobody stands still any more. */
static void end_all(void)
{
    box()->owner = 0;
    if (core_debug(board->core, play.now_ns)) {
        fuzz_found("a debugger is served that has left");
    }
    for (uint32_t turns = 0; play.runs != 0; turns++) {
        if (turns == END_TURNS) {
            fuzz_found("tasks that were killed do not end: slots 0x%x", play.runs);
        }
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slot, PPU_SLOT_CMD_KILL);
        }
        take_events(0);
    }
    uint32_t kind = PPU_SLOT_FLUSHED;
    start(0, false);
    for (uint32_t turns = 0; kind == PPU_SLOT_FLUSHED; turns++) {
        if (turns == END_TURNS) {
            fuzz_found("a new task does not end");
        }
        kind = take_events(0);
    }
    if (kind != PPU_SLOT_DONE) {
        fuzz_found("a new task ends with event %u", kind);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct core_config config = board_small_config(0);
    static struct ppuasm_image image;
    struct ppu_program_view view;

    (void)argc;
    (void)argv;
    config.test_hooks = false;
    config.engine_level = 1;
    board = board_new(&config);
    neighbour_assembled(text, &image, &view);
    memcpy(board->vram + CODE_AT, view.code, view.header->code_bytes);
    kernel = good_tmd(2, 1, 1, 70);
    kernel.code_va = CODE_VA;
    kernel.code_bytes = view.header->code_bytes;
    kernel.vregs = view.kernels[0].vregs;
    kernel.shared_vregs = view.kernels[0].shared_vregs;
    kernel.flags |= view.kernels[0].flags & (PPU_TMD_SUBVECTOR | PPU_TMD_MAY_SHARE);
    kernel.shared_bytes = view.kernels[0].shared_bytes;
    kernel.local_bytes = view.kernels[0].local_bytes;
    kernel.local_va = LOCAL_VA;
    kernel.local_size = PPU_PAGE_64K;
    kernel.param_bytes = 16;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    play.in = fuzz_input(bytes, count);
    play.now_ns = 1;
    play.runs = 0;
    memset(play.at, 0, sizeof(play.at));
    board_again();
    box()->owner = 1;
    core_debug(board->core, play.now_ns);
    start(0, true);
    start(1, true);
    for (uint32_t i = 0; i < MOST_ACTIONS && !fuzz_ended(&play.in); i++) {
        act();
    }
    end_all();
    return 0;
}
