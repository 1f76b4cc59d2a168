/* SPDX-License-Identifier: MIT */
/*
 * Tests the debug server of the device: the test is the debugger. It stops kernels, looks into them, changes them, lets
 * them go on, and goes away at the wrong moment.
 */
#include "ppu/debug.h"
#include "ppu/macros.h"
#include "ppu/save.h"
#include "ppu/state.h"
#include "ppu/task.h"
#include "qemu-device/core/debugger.h"
#include "tests/engine/client.h"

#include <stdlib.h>
#include <string.h>

#define SAVE_AT 0x200000u
#define SAVE_STRIDE 0x8000u
#define THREADS 64u /* two warps */
#define OTHER 2u    /* a second context */
#define CTAS 4u     /* more than there are SMs */

/* Numbers of instructions. */
enum {
    ADD = 4,
    STORE_SHARED = 6,
    STORE_LOCAL = 7,
    BARRIER = 8,
    LOAD_SHARED = 9,
    ODD = 12,
    STORE = 14,
    LAST = 15,
    AGAIN = 23,
    STORE_PART = 36
};

static const char text[] = ".kernel work\n"
                           ".param 16\n"
                           ".shared 256\n"
                           ".local 16\n"
                           "    ldp.b64 s0, [0]\n"
                           "    ldp.b32 s2, [8]\n"
                           "    rdsr v0, %tid.x\n"
                           "    mov v1, 7\n"
                           "    add v2, v0, v1\n"
                           "    shl v3, v0, 2\n"
                           "    sts.b32 v2, [v3]\n"
                           "    stl.b32 v2, [8]\n"
                           "    bar 0\n"
                           "    lds.b32 v4, [v3]\n"
                           "    isetp.ltu p0, v0, 3\n"
                           "    @p0 bra small\n"
                           "    add v4, v4, 100\n"
                           "small:\n"
                           "    mov v5, v4\n"
                           "    stg.b32 v5, [s0+v3]\n"
                           "    exit\n"
                           ".kernel wrong\n"
                           ".param 16\n"
                           "    mov v0, 64\n"
                           "    mov v1, 0\n"
                           "    ldu.b32 v2, [v0]\n"
                           "    exit\n"
                           ".kernel endless\n"
                           ".param 16\n"
                           ".shared 256\n"
                           ".local 16\n"
                           "    ldp.b64 s0, [0]\n"
                           "    rdsr v0, %tid.x\n"
                           "    shl v3, v0, 2\n"
                           "again:\n"
                           "    sts.b32 v2, [v3]\n"
                           "    stl.b32 v2, [8]\n"
                           "    bar 0\n"
                           "    isetp.ltu p0, v0, 3\n"
                           "    @p0 bra again\n"
                           "    stg.b32 v2, [s0+v3]\n"
                           "    bra again\n"
                           ".kernel parts\n"
                           ".param 16\n"
                           ".vregs 4\n"
                           ".shared_vregs 2\n"
                           "    ldp.b64 s0, [0]\n"
                           "    rdsr v0, %tid.x\n"
                           "    shl v3, v0, 2\n"
                           "    sventer 2\n"
                           "    add v4, v0, 100\n"
                           "    add v5, v0, 200\n"
                           "    stg.b32 v5, [s0+v3]\n"
                           "    svleave\n"
                           "    exit\n";

static int setup(void **state, uint32_t threads)
{
    struct rig *rig = rig_new(threads);

    client_now_ns = 1;
    rig_load_text(rig, text);
    client_attach(rig);
    *state = rig;
    return 0;
}

static int setup_slices(void **state)
{
    return setup(state, 0);
}

static int setup_threads(void **state)
{
    return setup(state, 2);
}

/* ---- tasks ---- */

static void start_named(struct rig *rig, uint32_t slot, const char *kernel, uint32_t context, uint32_t handle)
{
    const uint64_t params[] = { DATA_VA + 0x1000 * slot, 5 };
    struct ppu_tmd tmd = rig_tmd(rig, kernel);

    memset(rig_data(rig, 0x1000 * slot), 0, THREADS * sizeof(uint32_t));
    rig_shape(&tmd, 1, 1, THREADS, 1);
    rig_params(rig, slot, &tmd, params, sizeof(params));
    tmd.context = (uint16_t)context;
    tmd.task = handle;
    tmd.save_vram = SAVE_AT + slot * SAVE_STRIDE;
    tmd.save_bytes = SAVE_STRIDE;
    tmd.save_count = 1;
    *(struct ppu_save *)(void *)(rig->board->vram + tmd.save_vram) = (struct ppu_save){ .state = PPU_SAVE_FREE };
    rig_start(rig, slot, &tmd);
}

static uint32_t handle_of(uint32_t slot)
{
    return PPU_TASK_HANDLE(slot, 1);
}

static void start(struct rig *rig, uint32_t slot, const char *kernel, uint32_t context)
{
    start_named(rig, slot, kernel, context, handle_of(slot));
}

static uint32_t result(uint32_t thread)
{
    return thread + 7 + (thread < 3 ? 0 : 100);
}

static void results_are_right(struct rig *rig, uint32_t slot)
{
    const uint32_t *out = rig_data(rig, 0x1000 * slot);

    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(out[i], result(i));
    }
}

static void ends(struct rig *rig, uint32_t slot, uint32_t kind)
{
    struct outcome outcome;

    assert_true(rig_wait(rig, slot, &outcome));
    assert_int_equal(outcome.event.kind, kind);
}

/* Nothing of the task happens while time passes. */
static void stands_still(struct rig *rig, uint32_t slot)
{
    struct ppu_slot_event event;

    for (uint32_t i = 0; i < 20; i++) {
        rig_step(rig);
        assert_true(client_look(rig));
    }
    while (ring_pop(rig->board, PPU_RING_SLOT, &event)) {
        assert_int_not_equal(event.slot, slot);
    }
}

/* ---- tests ---- */

static void stops_at_breakpoint(void **state)
{
    struct rig *rig = *state;
    uint32_t values[PPU_LANES];

    client_break(rig, 3, STORE_SHARED, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    assert_int_equal(event.why, PPU_DEBUG_AT_BREAK);
    assert_int_equal(event.id, 3);
    assert_int_equal(event.pc, STORE_SHARED);
    assert_int_equal(event.slot, 0);
    stands_still(rig, 0);
    assert_int_equal(client_box(rig)->events, 1);
    struct ppu_debug_warp warp = client_warp(rig, &event.at);
    assert_int_equal(warp.pc, STORE_SHARED);
    assert_int_equal(warp.stopped, PPU_DEBUG_AT_BREAK);
    assert_int_equal(warp.active[0], UINT32_MAX);
    assert_int_equal(warp.threads[0], THREADS);
    client_vector(rig, &event.at, 2, values);
    for (uint32_t lane = 0; lane < PPU_LANES; lane++) {
        assert_int_equal(values[lane], warp.number * PPU_LANES + lane + 7);
    }
    /* The other warp comes there too, whichever was first. */
    client_go(rig);
    struct ppu_debug_event second = client_event(rig, 1);
    assert_int_equal(second.pc, STORE_SHARED);
    assert_int_not_equal(second.at.warp, event.at.warp);
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
    /* Not any more. */
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_UNBREAK, .number = 3 });
    start(rig, 0, "work", CONTEXT);
    ends(rig, 0, PPU_SLOT_DONE);
    assert_int_equal(client_box(rig)->events, 2);
}

static void stops_for_one_lane(void **state)
{
    struct rig *rig = *state;

    /* Lanes 0 to 2 of warp 0 do not come there. */
    client_break(rig, 0, ODD, 2);
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    struct ppu_debug_warp warp = client_warp(rig, &event.at);
    assert_int_equal(warp.number, 1);
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    assert_int_equal(client_box(rig)->events, 1);
    results_are_right(rig, 0);
}

static void stops_of_one_cta(void **state)
{
    struct rig *rig = *state;
    struct ppu_debug_request at = { .op = PPU_DEBUG_DO_BREAK,
                                    .context = CONTEXT,
                                    .address = CODE_VA,
                                    .lane = PPU_DEBUG_ANY_LANE,
                                    .flags = PPU_DEBUG_OF_ONE_CTA,
                                    .cta = { 1, 0, 0 } };

    client_order(rig, &at);
    start(rig, 0, "work", CONTEXT);
    ends(rig, 0, PPU_SLOT_DONE);
    assert_int_equal(client_box(rig)->events, 0);
    at.cta[0] = 0;
    client_order(rig, &at);
    start(rig, 0, "work", CONTEXT);
    assert_int_equal(client_event(rig, 0).pc, 0);
    client_detach(rig);
    ends(rig, 0, PPU_SLOT_DONE);
}

static struct ppu_debug_event step(struct rig *rig, const struct ppu_debug_at *at, uint32_t so_far)
{
    uint32_t events;

    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_STEP, .at = *at, .lane = PPU_DEBUG_ANY_LANE });
    assert_int_equal(client_box(rig)->answer.bytes, sizeof(events));
    memcpy(&events, client_box(rig)->answer.data, sizeof(events));
    assert_int_equal(events, so_far);
    return client_event(rig, so_far);
}

static void steps_to_the_end(void **state)
{
    struct rig *rig = *state;
    uint32_t ended = 0, insns = 0;

    client_stop_at(rig, PPU_DEBUG_AT_ENTRY);
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    assert_int_equal(event.why, PPU_DEBUG_ENTERED);
    assert_int_equal(event.pc, 0);
    const struct ppu_debug_at at = event.at;
    /* Over the barrier, to which the other warp comes alone; through both sides of the branch. */
    for (; ended == 0 && insns < 40; insns++) {
        uint32_t before = event.pc;
        event = step(rig, &at, event.number);
        assert_memory_equal(&event.at, &at, sizeof(at));
        ended = event.why == PPU_DEBUG_ENDED;
        if (!ended) {
            assert_int_equal(event.why, PPU_DEBUG_STEPPED);
            assert_true(event.pc > before || before == LAST);
        }
    }
    /* Warp 0 executes all 16, the last 3 twice at most. */
    assert_true(insns >= 16 && insns <= 20);
    assert_int_equal(ended, 1);
    assert_int_equal(((uint32_t *)rig_data(rig, 0))[0], result(0));
    assert_int_equal(((uint32_t *)rig_data(rig, 0))[PPU_LANES], 0);
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
}

static void steps_out_of_ranges(void **state)
{
    struct rig *rig = *state;
    struct ppu_debug_request request = { .op = PPU_DEBUG_DO_STEP,
                                         .lane = 2,
                                         .flags = PPU_DEBUG_IN_RANGE,
                                         .ranges = 2,
                                         .range = { { 0, ADD }, { ADD, STORE_LOCAL } } };

    client_stop_at(rig, PPU_DEBUG_AT_ENTRY);
    start(rig, 0, "work", CONTEXT);
    request.at = client_event(rig, 0).at;
    client_order(rig, &request);
    assert_int_equal(client_event(rig, 1).pc, STORE_LOCAL);
    /* Lane 2 goes around what lane 3 executes. */
    request.range[0] = (struct ppu_debug_range){ STORE_LOCAL, ODD };
    request.ranges = 1;
    client_order(rig, &request);
    assert_int_equal(client_event(rig, 2).pc, ODD + 1);
    client_detach(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
}

static void reads_and_writes_registers(void **state)
{
    struct rig *rig = *state;
    uint32_t values[PPU_LANES], scalar[PPU_SREGS];
    struct lanes {
        uint32_t m[PPU_MAX_WAVE_WORDS];
    } preds[PPU_PREDS];

    client_break(rig, 0, ODD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    struct ppu_debug_warp warp = client_warp(rig, &event.at);
    const uint32_t small = warp.number == 0 ? 7 : 0;
    assert_int_equal(warp.active[0], ~small);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_READ_SCALAR, .at = event.at });
    memcpy(scalar, client_box(rig)->answer.data, sizeof(scalar));
    assert_int_equal(scalar[0], (uint32_t)DATA_VA);
    assert_int_equal(scalar[2], 5);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_READ_PREDICATES, .at = event.at });
    memcpy(preds, client_box(rig)->answer.data, sizeof(preds));
    assert_int_equal(preds[0].m[0], small);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_LANES, .at = event.at });
    struct ppu_debug_lane lanes[PPU_LANES];
    assert_int_equal(client_box(rig)->answer.bytes, sizeof(lanes));
    memcpy(lanes, client_box(rig)->answer.data, sizeof(lanes));
    if (small != 0) {
        assert_int_equal(lanes[0].wait, ODD + 1);
    }
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_TOKENS, .at = event.at });
    assert_int_equal(client_box(rig)->answer.bytes / sizeof(struct ppu_token), small != 0);
    /* Lane 9 of this warp gets another value. */
    client_order(
        rig, &(struct ppu_debug_request){
                 .op = PPU_DEBUG_DO_WRITE_VECTOR, .at = event.at, .number = 4, .lanes = { 1u << 9 }, .value = 4000 });
    client_vector(rig, &event.at, 4, values);
    assert_int_equal(values[9], 4000);
    assert_int_equal(values[8], warp.number * PPU_LANES + 8 + 7);
    client_order(
        rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_WRITE_SCALAR, .at = event.at, .number = 2, .value = 77 });
    client_order(rig, &(struct ppu_debug_request){
                          .op = PPU_DEBUG_DO_WRITE_PREDICATE, .at = event.at, .number = 1, .lanes = { 0xff } });
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_READ_PREDICATES, .at = event.at });
    memcpy(preds, client_box(rig)->answer.data, sizeof(preds));
    assert_int_equal(preds[1].m[0], 0xff);
    client_detach(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    const uint32_t changed = warp.number * PPU_LANES + 9;
    assert_int_equal(((uint32_t *)rig_data(rig, 0))[changed], 4100);
    assert_int_equal(((uint32_t *)rig_data(rig, 0))[changed - 1], result(changed - 1));
}

/* Registers that parts share are those of the part that runs: lanes of the other have none, and read as 0. */
static void reads_registers_of_parts(void **state)
{
    struct rig *rig = *state;
    uint32_t values[2][2 * PPU_LANES];

    rig->wave = 2 * PPU_LANES;
    client_break(rig, 0, STORE_PART, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "parts", CONTEXT);
    for (uint32_t part = 0; part < 2; part++) {
        const struct ppu_debug_event event = client_event(rig, part);
        client_order(rig, &(struct ppu_debug_request){
                              .op = PPU_DEBUG_DO_READ_VECTOR, .at = event.at, .number = 4, .count = 2 });
        assert_int_equal(client_box(rig)->answer.bytes, sizeof(values));
        memcpy(values, client_box(rig)->answer.data, sizeof(values));
        for (uint32_t lane = 0; lane < 2 * PPU_LANES; lane++) {
            const bool has = lane / PPU_LANES == part;
            assert_int_equal(values[0][lane], has ? lane + 100 : 0);
            assert_int_equal(values[1][lane], has ? lane + 200 : 0);
        }
        client_go(rig);
    }
    ends(rig, 0, PPU_SLOT_DONE);
}

static void reads_and_writes_memory(void **state)
{
    struct rig *rig = *state;
    uint32_t word;

    client_break(rig, 0, LOAD_SHARED, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    struct ppu_debug_warp warp = client_warp(rig, &event.at);
    const struct ppu_debug_at *at = &event.at;
    const uint32_t first = warp.number * PPU_LANES;
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_CTA, 0, 4 * (first + 5), &word), PPU_DEBUG_OK);
    assert_int_equal(word, first + 5 + 7);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_LANE, 5, 8, &word), PPU_DEBUG_OK);
    assert_int_equal(word, first + 5 + 7);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_LAUNCH, 0, 8, &word), PPU_DEBUG_OK);
    assert_int_equal(word, 5);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_TASK, 0, CODE_VA, &word), PPU_DEBUG_OK);
    assert_memory_equal(&word, rig_code(rig), sizeof(word));
    assert_int_equal(client_write(rig, at, PPU_DEBUG_OF_CTA, 0, 4 * (first + 5), 900), PPU_DEBUG_OK);
    assert_int_equal(client_write(rig, at, PPU_DEBUG_OF_LANE, 5, 8, 901), PPU_DEBUG_OK);
    assert_int_equal(client_write(rig, at, PPU_DEBUG_OF_TASK, 0, DATA_VA + 0x800, 902), PPU_DEBUG_OK);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_LANE, 5, 8, &word), PPU_DEBUG_OK);
    assert_int_equal(word, 901);
    assert_int_equal(((uint32_t *)rig_data(rig, 0))[0x200], 902);
    /* What the task cannot reach, the debugger cannot either. */
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_CTA, 0, 253, &word), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_CTA, 0, UINT64_MAX, &word), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_LANE, 5, 13, &word), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_LANE, 32, 8, &word), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_LAUNCH, 0, 13, &word), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_TASK, 0, 64, &word), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_read(rig, at, PPU_DEBUG_OF_TASK, 0, PROT_VA, &word), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_write(rig, at, PPU_DEBUG_OF_TASK, 0, CODE_VA, 0), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_write(rig, at, PPU_DEBUG_OF_TASK, 0, RO_VA, 0), PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(client_write(rig, at, PPU_DEBUG_OF_LAUNCH, 0, 8, 0), PPU_DEBUG_NOT_MAPPED);
    client_detach(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    assert_int_equal(((uint32_t *)rig_data(rig, 0))[first + 5], first + 5 < 3 ? 900 : 1000);
}

static void stops_at_fault(void **state)
{
    struct rig *rig = *state;
    struct outcome outcome;

    client_stop_at(rig, PPU_DEBUG_AT_FAULT);
    start(rig, 0, "wrong", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    assert_int_equal(event.why, PPU_DEBUG_FAULTED);
    assert_int_equal(event.value[0], 64);
    assert_int_equal(client_warp(rig, &event.at).state, PPU_DEBUG_FAULT);
    stands_still(rig, 0);
    /* Nobody was told so far; once it goes on, it ends as any other. */
    client_stop_at(rig, 0);
    client_go(rig);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_true(outcome.faulted);
    assert_int_equal(outcome.fault.address, 64);
    assert_int_equal(outcome.fault.code, event.id);
}

static void stops_at_divergence(void **state)
{
    struct rig *rig = *state;

    client_stop_at(rig, PPU_DEBUG_AT_DIVERGENCE);
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    assert_int_equal(event.why, PPU_DEBUG_DIVERGED);
    assert_int_equal(client_warp(rig, &event.at).number, 0);
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    assert_int_equal(client_box(rig)->events, 1);
}

static void stops_at_writes(void **state)
{
    struct rig *rig = *state;

    start(rig, 1, "work", CONTEXT); /* pages are mapped, and the result of before is there */
    ends(rig, 1, PPU_SLOT_DONE);
    memset(rig_data(rig, 0), 0, 256);
    client_order(
        rig, &(struct ppu_debug_request){
                 .op = PPU_DEBUG_DO_WATCH, .number = 2, .context = CONTEXT, .address = DATA_VA + 4 * 40, .count = 4 });
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    assert_int_equal(event.why, PPU_DEBUG_AT_WATCH);
    assert_int_equal(event.id, 2);
    assert_int_equal(event.value[0], 0);
    assert_int_equal(event.value[1], result(40));
    struct ppu_debug_warp warp = client_warp(rig, &event.at);
    assert_int_equal(warp.number, 1);
    assert_int_equal(event.pc, STORE + 1);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_UNWATCH, .number = 2 });
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
}

static void map_other(struct rig *rig)
{
    for (uint64_t at = 0; at < CODE_BYTES; at += PPU_PAGE_64K) {
        map_page(rig->board, OTHER, CODE_VA + at, CODE_AT + at, PPU_PTE_64K, 0);
    }
    map_page(rig->board, OTHER, DATA_VA, DATA_AT, PPU_PTE_64K, PPU_PTE_WRITE | PPU_PTE_ATOMIC);
    for (uint64_t at = 0; at < LOCAL_SIZE; at += PPU_PAGE_64K) {
        map_page(rig->board, OTHER, LOCAL_VA + at, LOCAL_AT + at, PPU_PTE_64K, PPU_PTE_WRITE);
    }
}

static uint32_t run_us(struct rig *rig, uint32_t slot)
{
    return mcu_read(rig->board, PPU_REG_SLOT_RUN_US + 4 * slot);
}

static void others_go_on(void **state)
{
    struct rig *rig = *state;

    map_other(rig);
    client_break(rig, 0, ADD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    (void)client_event(rig, 0);
    const uint32_t before = run_us(rig, 0);
    start(rig, 1, "work", OTHER);
    ends(rig, 1, PPU_SLOT_DONE);
    results_are_right(rig, 1);
    /* A task of the stopped program that comes later waits, and no time of either counts. */
    start(rig, 2, "work", CONTEXT);
    stands_still(rig, 2);
    assert_int_equal(run_us(rig, 0), before);
    assert_int_equal(run_us(rig, 2), 0);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_UNBREAK, .number = 0 });
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
}

/*
 * The first that comes to the breakpoint stops all of them, and has a turn of its loop behind it when it goes on. The
 * others are on other SMs, and come there just the same.
 */
static void all_come_to_a_breakpoint(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = rig_tmd(rig, "endless");
    const uint64_t params[] = { DATA_VA, 5 };
    uint32_t missing = (1u << CTAS) - 1;

    rig_shape(&tmd, CTAS, 1, PPU_LANES, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    client_break(rig, 0, AGAIN, PPU_DEBUG_ANY_LANE);
    rig_start(rig, 0, &tmd);
    for (uint32_t i = 0; missing != 0; i++) {
        assert_true(i < 20 * CTAS);
        missing &= ~(1u << client_event(rig, i).at.cta);
        client_go(rig);
    }
    client_detach(rig);
    rig_command(rig, 0, PPU_SLOT_CMD_KILL);
    ends(rig, 0, PPU_SLOT_KILLED);
}

/* A snapshot may follow: who has ended is told before anything else runs. */
static void ends_in_a_first_turn(void **state)
{
    struct rig *rig = *state;
    struct ppu_slot_event event;

    client_break(rig, 0, STORE_PART, PPU_DEBUG_ANY_LANE);
    rig->wave = THREADS;
    start(rig, 0, "parts", CONTEXT);
    (void)client_event(rig, 0);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_UNBREAK, .number = 0 });
    client_go(rig);
    assert_true(ring_pop(rig->board, PPU_RING_SLOT, &event));
    assert_int_equal(event.kind, PPU_SLOT_DONE);
}

/* The other warp would stop at once. */
static void none_goes_on_while_paused(void **state)
{
    struct rig *rig = *state;

    client_break(rig, 0, STORE_SHARED, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    (void)client_event(rig, 0);
    core_pause(rig->board->core);
    client_go(rig);
    assert_true(client_look(rig));
    assert_int_equal(client_box(rig)->events, 1);
    core_resume(rig->board->core);
    assert_int_equal(client_event(rig, 1).pc, STORE_SHARED);
    client_detach(rig);
    ends(rig, 0, PPU_SLOT_DONE);
}

static void stops_and_goes_by_command(void **state)
{
    struct rig *rig = *state;
    struct ppu_debug_task task;

    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_HALT, .context = PPU_DEBUG_ALL });
    start(rig, 3, "work", CONTEXT);
    stands_still(rig, 3);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_TASKS });
    assert_int_equal(client_box(rig)->answer.bytes, sizeof(task));
    memcpy(&task, client_box(rig)->answer.data, sizeof(task));
    assert_int_equal(task.slot, 3);
    assert_int_equal(task.halted, 1);
    assert_int_equal(task.context, CONTEXT);
    assert_int_equal(task.code_va, CODE_VA);
    assert_int_equal(task.cta[0], THREADS);
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_GO, .context = PPU_DEBUG_ALL });
    ends(rig, 3, PPU_SLOT_DONE);
    results_are_right(rig, 3);
}

/* An address space. Nothing runs between, which would find no code. */
static void close_and_open(struct rig *rig)
{
    const uint32_t root = mcu_read(rig->board, PPU_REG_CTX_ROOT + 4 * CONTEXT);

    core_pause(rig->board->core);
    mcu_write(rig->board, PPU_REG_CTX_ROOT + 4 * CONTEXT, 0);
    assert_true(client_look(rig));
    mcu_write(rig->board, PPU_REG_CTX_ROOT + 4 * CONTEXT, root);
    core_resume(rig->board->core);
}

static void ends_while_stopped(void **state)
{
    struct rig *rig = *state;
    struct ppu_debug_warp warps[16];

    client_break(rig, 0, ADD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, 0);
    rig_command(rig, 0, PPU_SLOT_CMD_KILL);
    ends(rig, 0, PPU_SLOT_KILLED);
    assert_int_equal(client_warps(rig, 0, warps, PPU_ARRAY_SIZE(warps)), 0);
    assert_int_equal(client_ask(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_STEP, .at = event.at }),
                     PPU_DEBUG_NO_SUCH_WARP);
    /* A step that waits ends with its warp. */
    client_go(rig);
    start(rig, 0, "work", CONTEXT);
    (void)client_event(rig, 1);
    rig_command(rig, 0, PPU_SLOT_CMD_KILL);
    ends(rig, 0, PPU_SLOT_KILLED);
    /* Its address space is closed: whoever gets the number next is not stopped. */
    close_and_open(rig);
    start(rig, 0, "work", CONTEXT);
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
}

/* ---- one task stands while others run ---- */

static void set_scope(struct rig *rig, uint32_t flags)
{
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_SCOPE, .flags = flags });
}

static void unbreak(struct rig *rig)
{
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_UNBREAK, .number = 0 });
}

static void command_alone(struct rig *rig, enum ppu_debug_op op, uint32_t slot)
{
    client_order(rig, &(struct ppu_debug_request){
                          .op = op, .context = CONTEXT, .flags = PPU_DEBUG_ONE_TASK, .number = handle_of(slot) });
}

static bool is_halted(struct rig *rig, uint32_t slot)
{
    struct ppu_debug_task tasks[SLOTS];

    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_TASKS });
    const uint32_t count = client_box(rig)->answer.bytes / (uint32_t)sizeof(tasks[0]);
    assert_true(count <= SLOTS);
    memcpy(tasks, client_box(rig)->answer.data, count * sizeof(tasks[0]));
    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i].slot == slot) {
            return tasks[i].halted != 0;
        }
    }
    return false;
}

/* Task 0 stands alone, at a breakpoint that is gone. */
static struct ppu_debug_event stop_alone(struct rig *rig)
{
    const uint32_t events = client_box(rig)->events;

    set_scope(rig, PPU_DEBUG_ONE_TASK);
    client_break(rig, 0, ADD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    struct ppu_debug_event event = client_event(rig, events);
    unbreak(rig);
    return event;
}

static void others_of_its_context_go_on(void **state)
{
    struct rig *rig = *state;
    struct ppu_debug_event event = stop_alone(rig);
    const uint32_t before = run_us(rig, 0);

    for (uint32_t slot = 1; slot < 3; slot++) {
        start(rig, slot, "work", CONTEXT);
        ends(rig, slot, PPU_SLOT_DONE);
        results_are_right(rig, slot);
    }
    stands_still(rig, 0);
    assert_true(is_halted(rig, 0));
    assert_int_equal(run_us(rig, 0), before);
    assert_int_equal(client_warp(rig, &event.at).pc, ADD);
    event = step(rig, &event.at, event.number);
    assert_int_equal(event.pc, ADD + 1);
    stands_still(rig, 0);
    command_alone(rig, PPU_DEBUG_DO_GO, 0);
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
    /* Its handle is another's from now on. */
    start(rig, 0, "work", CONTEXT);
    ends(rig, 0, PPU_SLOT_DONE);
}

static void two_tasks_stand(void **state)
{
    struct rig *rig = *state;

    set_scope(rig, PPU_DEBUG_ONE_TASK);
    client_break(rig, 0, ADD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    (void)client_event(rig, 0);
    start(rig, 1, "work", CONTEXT);
    assert_int_equal(client_event(rig, 1).slot, 1);
    unbreak(rig);
    assert_true(is_halted(rig, 0) && is_halted(rig, 1));
    command_alone(rig, PPU_DEBUG_DO_GO, 1);
    ends(rig, 1, PPU_SLOT_DONE);
    stands_still(rig, 0);
    /* One that runs is stopped by command, and both go on with all others. */
    start(rig, 2, "endless", CONTEXT);
    command_alone(rig, PPU_DEBUG_DO_HALT, 2);
    const uint32_t before = run_us(rig, 2);
    stands_still(rig, 2);
    assert_int_equal(run_us(rig, 2), before);
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    assert_false(is_halted(rig, 2));
    rig_command(rig, 2, PPU_SLOT_CMD_KILL);
    ends(rig, 2, PPU_SLOT_KILLED);
}

/* What has stood with its context stands alone, and the other way round. */
static void scope_changes(void **state)
{
    struct rig *rig = *state;

    client_break(rig, 0, ADD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    (void)client_event(rig, 0);
    start(rig, 1, "work", CONTEXT);
    unbreak(rig);
    set_scope(rig, PPU_DEBUG_ONE_TASK);
    assert_true(is_halted(rig, 0) && is_halted(rig, 1));
    start(rig, 2, "work", CONTEXT);
    ends(rig, 2, PPU_SLOT_DONE);
    command_alone(rig, PPU_DEBUG_DO_GO, 1);
    ends(rig, 1, PPU_SLOT_DONE);
    set_scope(rig, 0);
    start(rig, 1, "work", CONTEXT);
    stands_still(rig, 1);
    /* One goes on alone also where the context stands. */
    command_alone(rig, PPU_DEBUG_DO_GO, 1);
    ends(rig, 1, PPU_SLOT_DONE);
    stands_still(rig, 0);
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
}

/* It stands in whichever slot it comes back. */
static void evicted_while_it_stands(void **state)
{
    struct rig *rig = *state;

    (void)stop_alone(rig);
    rig_command(rig, 0, PPU_SLOT_CMD_SAVE);
    ends(rig, 0, PPU_SLOT_STOPPED);
    mcu_write(rig->board, PPU_REG_SLOT_START + 4 * 3, TMD_AT(0));
    board_settle(rig->board);
    stands_still(rig, 3);
    assert_true(is_halted(rig, 3));
    assert_int_equal(run_us(rig, 3), 0);
    command_alone(rig, PPU_DEBUG_DO_GO, 0);
    ends(rig, 3, PPU_SLOT_DONE);
    results_are_right(rig, 0);
}

static void ends_while_one_stands(void **state)
{
    struct rig *rig = *state;

    (void)stop_alone(rig);
    rig_command(rig, 0, PPU_SLOT_CMD_KILL);
    ends(rig, 0, PPU_SLOT_KILLED);
    start(rig, 0, "work", CONTEXT);
    ends(rig, 0, PPU_SLOT_DONE);
    /* The address space is closed. */
    (void)stop_alone(rig);
    close_and_open(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    /* The debugger is gone. */
    (void)stop_alone(rig);
    client_detach(rig);
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
    /* The next one stops all again. */
    client_box(rig)->owner = CLIENT_PROCESS;
    assert_true(client_look(rig));
    client_break(rig, 0, ADD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    (void)client_event(rig, 0);
    start(rig, 1, "work", CONTEXT);
    stands_still(rig, 1);
    client_detach(rig);
    ends(rig, 0, PPU_SLOT_DONE);
}

/* More than can stand alone stop their context. */
static void too_many_stand(void **state)
{
    struct rig *rig = *state;
    const uint32_t events = client_box(rig)->events;

    for (uint32_t i = 0; i < PPU_DEBUG_HELD; i++) {
        start_named(rig, 0, "endless", CONTEXT, PPU_TASK_HANDLE(100 + i, 1));
        client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_HALT,
                                                       .context = CONTEXT,
                                                       .flags = PPU_DEBUG_ONE_TASK,
                                                       .number = PPU_TASK_HANDLE(100 + i, 1) });
        rig_command(rig, 0, PPU_SLOT_CMD_SAVE);
        ends(rig, 0, PPU_SLOT_STOPPED);
    }
    set_scope(rig, PPU_DEBUG_ONE_TASK);
    client_break(rig, 0, ADD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    (void)client_event(rig, events);
    unbreak(rig);
    start(rig, 1, "work", CONTEXT);
    stands_still(rig, 1);
    client_go(rig);
    ends(rig, 0, PPU_SLOT_DONE);
}

/* Stops a task at its breakpoint once more. */
static void stop_one(struct rig *rig)
{
    uint32_t events = client_box(rig)->events;

    client_break(rig, 0, ADD, PPU_DEBUG_ANY_LANE);
    start(rig, 0, "work", CONTEXT);
    (void)client_event(rig, events);
}

static void debugger_disappears(void **state)
{
    struct rig *rig = *state;

    stop_one(rig);
    client_now_ns += PPU_DEBUG_ALIVE_NS;
    client_box(rig)->alive++;
    assert_true(client_look(rig));
    client_now_ns += PPU_DEBUG_ALIVE_NS;
    assert_true(client_look(rig));
    client_now_ns++;
    assert_false(client_look(rig));
    assert_int_equal(client_box(rig)->owner, 0);
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
    start(rig, 0, "work", CONTEXT);
    ends(rig, 0, PPU_SLOT_DONE);
}

static void two_debuggers(void **state)
{
    struct rig *rig = *state;

    stop_one(rig);
    const uint32_t session = client_box(rig)->session;
    /* It takes what is not free: the first has lost all, and its requests are nobody's. */
    client_box(rig)->owner = CLIENT_PROCESS + 1;
    assert_true(client_look(rig));
    assert_int_equal(client_box(rig)->serves, CLIENT_PROCESS + 1);
    assert_int_equal(client_box(rig)->session, session + 1);
    assert_int_equal(client_box(rig)->events, 0);
    ends(rig, 0, PPU_SLOT_DONE);
    stop_one(rig);
    client_detach(rig);
    ends(rig, 0, PPU_SLOT_DONE);
}

static void reset_and_snapshot(void **state)
{
    struct rig *rig = *state;

    stop_one(rig);
    rig = *state = rig_moved(rig);
    /* Nothing of the debugger came with it but what it had written; it is served anew. */
    ends(rig, 0, PPU_SLOT_DONE);
    results_are_right(rig, 0);
    assert_true(client_look(rig));
    stop_one(rig);
    core_reset(rig->board->core);
    assert_false(client_look(rig));
    board_boot(rig->board);
}

static void wrong_requests(void **state)
{
    struct rig *rig = *state;
    static const struct ppu_debug_request wrong[] = {
        { .op = 0 },
        { .op = 26 },
        { .op = UINT32_MAX },
        { .op = PPU_DEBUG_DO_BREAK, .number = PPU_DEBUG_BREAKS, .lane = PPU_DEBUG_ANY_LANE },
        { .op = PPU_DEBUG_DO_BREAK, .address = CODE_VA + 1, .lane = PPU_DEBUG_ANY_LANE },
        { .op = PPU_DEBUG_DO_BREAK, .context = PPU_MAX_CONTEXTS, .lane = PPU_DEBUG_ANY_LANE },
        { .op = PPU_DEBUG_DO_BREAK, .lane = PPU_MAX_WAVE },
        { .op = PPU_DEBUG_DO_BREAK, .flags = 2, .lane = PPU_DEBUG_ANY_LANE },
        { .op = PPU_DEBUG_DO_UNBREAK, .number = PPU_DEBUG_BREAKS },
        { .op = PPU_DEBUG_DO_WATCH, .context = CONTEXT, .address = DATA_VA, .count = 3 },
        { .op = PPU_DEBUG_DO_WATCH, .context = CONTEXT, .address = DATA_VA, .count = 16 },
        { .op = PPU_DEBUG_DO_WATCH, .context = CONTEXT, .address = DATA_VA, .count = 0 },
        { .op = PPU_DEBUG_DO_WATCH, .context = CONTEXT, .address = DATA_VA + 2, .count = 4 },
        { .op = PPU_DEBUG_DO_WATCH, .context = PPU_MAX_CONTEXTS, .address = DATA_VA, .count = 4 },
        { .op = PPU_DEBUG_DO_WATCH, .number = PPU_DEBUG_WATCHES, .context = CONTEXT, .address = DATA_VA, .count = 4 },
        { .op = PPU_DEBUG_DO_UNWATCH, .number = UINT32_MAX },
        { .op = PPU_DEBUG_DO_STOP_AT, .context = CONTEXT, .flags = 16 },
        { .op = PPU_DEBUG_DO_STOP_AT, .context = PPU_MAX_CONTEXTS },
        { .op = PPU_DEBUG_DO_HALT, .context = PPU_MAX_CONTEXTS },
        { .op = PPU_DEBUG_DO_GO, .context = PPU_MAX_CONTEXTS },
        { .op = PPU_DEBUG_DO_HALT, .context = CONTEXT, .flags = 2 },
        { .op = PPU_DEBUG_DO_HALT, .context = CONTEXT, .flags = PPU_DEBUG_ONE_TASK },
        { .op = PPU_DEBUG_DO_HALT, .context = CONTEXT, .flags = PPU_DEBUG_ONE_TASK, .number = 77 },
        { .op = PPU_DEBUG_DO_GO, .context = PPU_DEBUG_ALL, .flags = PPU_DEBUG_ONE_TASK, .number = 77 },
        { .op = PPU_DEBUG_DO_SCOPE, .flags = 2 },
        { .op = PPU_DEBUG_DO_STEP, .ranges = PPU_DEBUG_RANGES + 1 },
    };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        if (client_ask(rig, &wrong[i]) != PPU_DEBUG_BAD_REQUEST) {
            fail_msg("request %u", i);
        }
    }
    assert_int_equal(client_ask(rig,
                                &(struct ppu_debug_request){
                                    .op = PPU_DEBUG_DO_WATCH, .context = CONTEXT, .address = 64, .count = 4 }),
                     PPU_DEBUG_NOT_MAPPED);
    assert_int_equal(
        client_ask(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_LANES, .at = { .sm = UINT32_MAX } }),
        PPU_DEBUG_NO_SUCH_WARP);
}

/* A request that may do something: small numbers, warps that exist, addresses that are mapped. */
static struct ppu_debug_request any_request(uint64_t *seed, const struct ppu_debug_at *at)
{
    static const uint64_t near[] = { CODE_VA, DATA_VA, LOCAL_VA, 0, SYS_VA, PROT_VA };
    struct ppu_debug_request request;

    random_bytes(seed, &request, sizeof(request));
    request.op = random_below(seed, 26);
    if (random_below(seed, 4) != 0) {
        request.slot = random_below(seed, SLOTS);
        request.at = *at;
        request.number = random_below(seed, 5) == 0 ? handle_of(0) : random_below(seed, 20);
        request.count = random_below(seed, 40);
        request.context = random_below(seed, 3);
        request.space = random_below(seed, 7);
        request.lane = random_below(seed, 3) == 0 ? PPU_DEBUG_ANY_LANE : random_below(seed, 40);
        request.flags = random_below(seed, request.op == PPU_DEBUG_DO_BACK ? PPU_DEBUG_BACKS : 4);
        request.ranges = random_below(seed, 3);
        request.address = near[random_below(seed, PPU_ARRAY_SIZE(near))] + 8 * random_below(seed, 64);
    }
    return request;
}

static void any_requests(void **state)
{
    struct rig *rig = *state;
    uint64_t seed = random_seed();
    struct ppu_debug_warp warps[16] = { 0 };
    uint32_t answered[PPU_DEBUG_STATUSES] = { 0 };

    for (uint32_t round = 0; round < random_rounds(20); round++) {
        struct outcome outcome;

        start(rig, 0, "endless", CONTEXT);
        for (uint32_t i = 0; i < 150; i++) {
            (void)client_warps(rig, 0, warps, PPU_ARRAY_SIZE(warps));
            const struct ppu_debug_request request = any_request(&seed, &warps[random_below(&seed, 3)].at);
            enum ppu_debug_status status = client_ask(rig, &request);
            assert_true(status < PPU_DEBUG_STATUSES);
            answered[status]++;
            if (i % 8 == 0) {
                rig_step(rig);
            }
        }
        client_detach(rig);
        rig_command(rig, 0, PPU_SLOT_CMD_KILL);
        assert_true(rig_wait(rig, 0, &outcome));
        rig_load_text(rig, text); /* a debugger may write what its task may */
        client_box(rig)->owner = CLIENT_PROCESS;
        assert_true(client_look(rig));
    }
    for (uint32_t i = 0; i <= PPU_DEBUG_NO_RECORD; i++) { /* others depend on how its SMs run */
        if (answered[i] == 0) {
            fail_msg("no request was answered %u", i);
        }
    }
}

#define TEST(name)                                                  \
    { #name " (slices)", name, setup_slices, rig_teardown, NULL },  \
    {                                                               \
#name " (threads)", name, setup_threads, rig_teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stops_at_breakpoint),
        TEST(stops_for_one_lane),
        TEST(stops_of_one_cta),
        TEST(steps_to_the_end),
        TEST(steps_out_of_ranges),
        TEST(reads_and_writes_registers),
        TEST(reads_registers_of_parts),
        TEST(reads_and_writes_memory),
        TEST(stops_at_fault),
        TEST(stops_at_divergence),
        TEST(stops_at_writes),
        TEST(others_go_on),
        TEST(all_come_to_a_breakpoint),
        { "ends_in_a_first_turn (slices)", ends_in_a_first_turn, setup_slices, rig_teardown, NULL },
        TEST(none_goes_on_while_paused),
        TEST(stops_and_goes_by_command),
        TEST(ends_while_stopped),
        TEST(debugger_disappears),
        TEST(two_debuggers),
        TEST(others_of_its_context_go_on),
        TEST(two_tasks_stand),
        TEST(scope_changes),
        TEST(evicted_while_it_stands),
        TEST(ends_while_one_stands),
        TEST(too_many_stand),
        TEST(reset_and_snapshot),
        TEST(wrong_requests),
        TEST(any_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
