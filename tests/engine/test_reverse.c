/* SPDX-License-Identifier: MIT */
/*
 * Tests the way back to instructions, breakpoints and writes before, and over CTAs that have ended. The
 * present comes back as it was, whoever goes away or interferes meanwhile.
 */
#include "ppu/debug.h"
#include "ppu/macros.h"
#include "ppu/task.h"
#include "qemu-device/core/core_private.h"
#include "tests/engine/client.h"

#include <string.h>

#define THREADS 64u /* two warps */
#define MOST_EVENTS 64u

/* Numbers of instructions. */
enum { ADD = 4, STORE_SHARED = 6, STORE_LOCAL = 7, BARRIER = 8, LOAD_SHARED = 9, GUARDED = 12, STORE = 15, LAST = 16 };

/* What each thread leaves depends on who came first: it takes a number from a counter. */
static const char text[] = ".kernel work\n"
                           ".param 16\n"
                           ".shared 256\n"
                           ".local 16\n"
                           "    ldp.b64 s0, [0]\n"
                           "    ldp.b64 s2, [8]\n"
                           "    rdsr v0, %tid.x\n"
                           "    mov v1, 7\n"
                           "    add v2, v0, v1\n"
                           "    shl v3, v0, 2\n"
                           "    sts.b32 v2, [v3]\n"
                           "    stl.b32 v2, [8]\n"
                           "    bar 0\n"
                           "    lds.b32 v4, [v3]\n"
                           "    isetp.ltu p0, v0, 3\n"
                           "    mov v6, 1\n"
                           "    @p0 mov v6, 2\n"
                           "    atomg.add v5, [s2], v6\n"
                           "    add v5, v5, v4\n"
                           "    stg.b32 v5, [s0+v3]\n"
                           "    exit\n"
                           ".kernel system\n"
                           ".param 16\n"
                           "    ldp.b64 s0, [0]\n"
                           "    ldp.b64 s2, [8]\n"
                           "    mov v1, 5\n"
                           "    stg.b32 v1, [s2]\n"
                           "    mov v1, 6\n"
                           "    mov v1, 7\n"
                           "    exit\n"
                           ".kernel wrong\n"
                           ".param 16\n"
                           "    mov v0, 64\n"
                           "    mov v1, 0\n"
                           "    ldu.b32 v2, [v0]\n"
                           "    exit\n";

#define COUNTER 0x4000u
#define SYSTEM_BEGIN (LAST + 1)
#define WRONG_BEGIN (SYSTEM_BEGIN + 7)

static void record(struct rig *rig, uint32_t flags)
{
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_RECORD, .flags = flags });
}

static int setup(void **state)
{
    struct rig *rig = rig_new(0);

    client_now_ns = 1;
    rig_load_text(rig, text);
    client_attach(rig);
    record(rig, PPU_DEBUG_RECORDS);
    *state = rig;
    return 0;
}

static void start(struct rig *rig, const char *kernel, uint32_t ctas, uint64_t other_va)
{
    const uint64_t params[] = { DATA_VA, other_va };
    struct ppu_tmd tmd = rig_tmd(rig, kernel);

    memset(rig_data(rig, 0), 0, 0x8000);
    rig_shape(&tmd, ctas, 1, THREADS, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    tmd.task = PPU_TASK_HANDLE(0, 1);
    rig_start(rig, 0, &tmd);
}

static void work(struct rig *rig, uint32_t ctas)
{
    start(rig, "work", ctas, DATA_VA + COUNTER);
}

static void ends_well(struct rig *rig)
{
    struct outcome outcome;

    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
}

/* What any order gives: each thread took another number. */
static void results_are_right(struct rig *rig, uint32_t ctas)
{
    const uint32_t *out = rig_data(rig, 0);

    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), ctas * (THREADS + 3));
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_true(out[i] >= i + 7 && out[i] - i - 7 < ctas * (THREADS + 3));
    }
}

static struct ppu_debug_record recorded(struct rig *rig)
{
    struct ppu_debug_record told;

    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_RECORDED });
    assert_int_equal(client_box(rig)->answer.bytes, sizeof(told));
    memcpy(&told, client_box(rig)->answer.data, sizeof(told));
    return told;
}

static struct ppu_debug_event back(struct rig *rig, const struct ppu_debug_request *request)
{
    const uint32_t so_far = client_box(rig)->events;

    client_order(rig, request);
    return client_event(rig, so_far);
}

static struct ppu_debug_event back_to(struct rig *rig, const struct ppu_debug_at *at, uint32_t lane,
                                      enum ppu_debug_back what)
{
    return back(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_BACK, .at = *at, .lane = lane, .flags = what });
}

static struct ppu_debug_event back_insn(struct rig *rig, const struct ppu_debug_at *at)
{
    return back_to(rig, at, PPU_DEBUG_ANY_LANE, PPU_DEBUG_BACK_INSN);
}

static struct ppu_debug_event go_to_event(struct rig *rig)
{
    const uint32_t so_far = client_box(rig)->events;

    client_go(rig);
    return client_event(rig, so_far);
}

static void unbreak(struct rig *rig, uint32_t number)
{
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_UNBREAK, .number = number });
}

/* A warp of the last CTA, at its store. */
static struct ppu_debug_event stop_at_store(struct rig *rig, uint32_t ctas)
{
    const struct ppu_debug_request at = { .op = PPU_DEBUG_DO_BREAK,
                                          .context = CONTEXT,
                                          .address = CODE_VA + (uint64_t)STORE * PPU_INSN_BYTES,
                                          .lane = PPU_DEBUG_ANY_LANE,
                                          .flags = PPU_DEBUG_OF_ONE_CTA,
                                          .cta = { ctas - 1, 0, 0 } };

    client_order(rig, &at);
    work(rig, ctas);
    const struct ppu_debug_event event = client_event(rig, 0);
    assert_int_equal(event.pc, STORE);
    unbreak(rig, 0);
    return event;
}

/* ---- tests ---- */

static void steps_back(void **state)
{
    struct rig *rig = *state;
    uint32_t sum[PPU_LANES], values[PPU_LANES], pc = STORE;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;
    const uint32_t first = PPU_LANES * client_warp(rig, &at).number;

    client_vector(rig, &at, 5, sum);
    const uint32_t counter = *(uint32_t *)rig_data(rig, COUNTER);
    const struct ppu_debug_record now = recorded(rig);
    assert_int_equal(now.at, now.units);
    for (; pc != 0; pc--) {
        const struct ppu_debug_event event = back_insn(rig, &at);
        assert_int_equal(event.why, PPU_DEBUG_STEPPED);
        assert_memory_equal(&event.at, &at, sizeof(at));
        assert_int_equal(event.pc, pc - 1);
        assert_int_equal(client_warp(rig, &at).pc, pc - 1);
        if (event.pc == STORE - 1) { /* the sum is not there yet, but what it is made of */
            client_vector(rig, &at, 5, values);
            for (uint32_t lane = 0; lane < PPU_LANES; lane++) {
                assert_int_equal(values[lane] + first + lane + 7, sum[lane]);
            }
        } else if (event.pc == STORE - 2) { /* before the counter was added to, by this warp */
            assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), counter - PPU_LANES - (first == 0 ? 3 : 0));
        } else if (event.pc == ADD) {
            client_vector(rig, &at, 2, values);
            assert_int_equal(values[5], 0);
        }
        assert_true(recorded(rig).at < now.units);
        assert_int_equal(recorded(rig).units, now.units);
    }
    const struct ppu_debug_event begin = back_insn(rig, &at);
    assert_int_equal(begin.why, PPU_DEBUG_TURNED);
    assert_int_equal(begin.id, PPU_DEBUG_BEGIN);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), 0);
    /* And forth again, to a breakpoint and to the present. */
    client_break(rig, 1, STORE - 1, PPU_DEBUG_ANY_LANE);
    struct ppu_debug_event event = go_to_event(rig);
    assert_int_equal(event.why, PPU_DEBUG_AT_BREAK);
    unbreak(rig, 1);
    event = go_to_event(rig);
    assert_int_equal(event.why, PPU_DEBUG_TURNED);
    assert_int_equal(event.id, PPU_DEBUG_PRESENT);
    assert_int_equal(client_warp(rig, &at).pc, STORE);
    client_vector(rig, &at, 5, values);
    assert_memory_equal(values, sum, sizeof(sum));
    assert_int_equal(recorded(rig).at, now.units);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), counter);
    client_go(rig);
    ends_well(rig);
    results_are_right(rig, 1);
    assert_int_equal(recorded(rig).units, 0);
}

static struct ppu_debug_event step(struct rig *rig, const struct ppu_debug_at *at)
{
    return back(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_STEP, .at = *at, .lane = PPU_DEBUG_ANY_LANE });
}

/* What is executed again gives the same at each instruction, whichever way it is come to. */
static void steps_forth_in_the_past(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;
    uint32_t values[STORE + 1][PPU_LANES];

    client_vector(rig, &at, 5, values[STORE]);
    for (uint32_t pc = STORE; pc != ADD; pc--) {
        (void)back_insn(rig, &at);
        client_vector(rig, &at, 5, values[pc - 1]);
    }
    for (uint32_t pc = ADD; pc < STORE - 1; pc++) {
        uint32_t again[PPU_LANES];
        const struct ppu_debug_event event = step(rig, &at);
        assert_int_equal(event.why, PPU_DEBUG_STEPPED);
        assert_int_equal(event.pc, pc + 1);
        client_vector(rig, &at, 5, again);
        assert_memory_equal(again, values[pc + 1], sizeof(again));
    }
    /* The last leads to the present, from where it goes on alone. */
    assert_int_equal(step(rig, &at).why, PPU_DEBUG_TURNED);
    const struct ppu_debug_event event = step(rig, &at);
    assert_int_equal(event.why, PPU_DEBUG_STEPPED);
    assert_int_equal(event.pc, LAST);
    client_go(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

static struct ppu_debug_event back_to_write(struct rig *rig, const struct ppu_debug_at *at, enum ppu_debug_memory space,
                                            uint32_t lane, uint64_t address)
{
    return back(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_BACK,
                                                  .at = *at,
                                                  .lane = lane,
                                                  .flags = PPU_DEBUG_BACK_MEMORY,
                                                  .space = space,
                                                  .address = address,
                                                  .count = 4 });
}

static void finds_last_writes(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;
    const uint32_t first = PPU_LANES * client_warp(rig, &at).number;
    struct ppu_debug_request reg = {
        .op = PPU_DEBUG_DO_BACK, .at = at, .lane = 5, .number = 5, .flags = PPU_DEBUG_BACK_REGISTER
    };
    uint32_t word;

    /* Each is sought from the present again. */
    assert_int_equal(back(rig, &reg).pc, STORE - 1);
    assert_int_equal(back(rig, &reg).pc, STORE - 2);
    assert_int_equal(back(rig, &reg).id, PPU_DEBUG_BEGIN);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    /* Only some lanes execute what is guarded. */
    reg.number = 6;
    assert_int_equal(back(rig, &reg).pc, GUARDED - 1);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    if (first == 0) {
        reg.lane = 2;
        assert_int_equal(back(rig, &reg).pc, GUARDED);
        assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    }
    struct ppu_debug_event event = back_to_write(rig, &at, PPU_DEBUG_OF_LANE, 5, 8);
    assert_int_equal(event.why, PPU_DEBUG_WRITES);
    assert_int_equal(event.pc, STORE_LOCAL);
    assert_memory_equal(&event.at, &at, sizeof(at));
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    /* The other warp has written that. */
    const uint32_t other = first == 0 ? PPU_LANES + 4 : 4;
    event = back_to_write(rig, &at, PPU_DEBUG_OF_CTA, 0, 4 * other);
    assert_int_equal(event.why, PPU_DEBUG_WRITES);
    assert_int_equal(event.pc, STORE_SHARED);
    assert_int_not_equal(event.at.warp, at.warp);
    assert_int_equal(client_read(rig, &at, PPU_DEBUG_OF_CTA, 0, 4 * other, &word), PPU_DEBUG_OK);
    assert_int_equal(word, 0);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    event = back_to_write(rig, &at, PPU_DEBUG_OF_TASK, 0, DATA_VA + COUNTER);
    assert_int_equal(event.pc, STORE - 2);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    event = back_to_write(rig, &at, PPU_DEBUG_OF_TASK, 0, DATA_VA + 0x5000);
    assert_int_equal(event.id, PPU_DEBUG_BEGIN);
    client_detach(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

/* A word that gets the value that it has was written all the same. */
static void finds_writes_of_the_same(void **state)
{
    struct rig *rig = *state;

    (void)stop_at_store(rig, 1);
    *(uint32_t *)rig_data(rig, 0) = 7;
    client_break(rig, 0, LAST, PPU_DEBUG_ANY_LANE);
    struct ppu_debug_event event = go_to_event(rig);
    const uint64_t own = DATA_VA + 4 * PPU_LANES * client_warp(rig, &event.at).number;
    event = back_to_write(rig, &event.at, PPU_DEBUG_OF_TASK, 0, own);
    assert_int_equal(event.why, PPU_DEBUG_WRITES);
    assert_int_equal(event.pc, STORE);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    client_detach(rig);
    ends_well(rig);
}

static void goes_back_to_stops(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;

    client_break(rig, 3, ADD, PPU_DEBUG_ANY_LANE);
    struct ppu_debug_event event = back_to(rig, &at, PPU_DEBUG_ANY_LANE, PPU_DEBUG_BACK_STOP);
    assert_int_equal(event.why, PPU_DEBUG_AT_BREAK);
    assert_int_equal(event.id, 3);
    assert_int_equal(event.pc, ADD);
    const struct ppu_debug_at other = event.at;
    event = back_to(rig, &at, PPU_DEBUG_ANY_LANE, PPU_DEBUG_BACK_STOP);
    assert_int_equal(event.pc, ADD);
    assert_int_not_equal(event.at.warp, other.warp);
    event = back_to(rig, &at, PPU_DEBUG_ANY_LANE, PPU_DEBUG_BACK_STOP);
    assert_int_equal(event.id, PPU_DEBUG_BEGIN);
    unbreak(rig, 3);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    client_order(
        rig, &(struct ppu_debug_request){
                 .op = PPU_DEBUG_DO_WATCH, .number = 2, .context = CONTEXT, .address = DATA_VA + COUNTER, .count = 4 });
    const uint32_t counter = *(uint32_t *)rig_data(rig, COUNTER);
    event = back_to(rig, &at, PPU_DEBUG_ANY_LANE, PPU_DEBUG_BACK_STOP);
    assert_int_equal(event.why, PPU_DEBUG_AT_WATCH);
    assert_int_equal(event.id, 2);
    assert_int_equal(event.value[1], counter);
    assert_int_equal(event.pc, STORE - 2);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), event.value[0]);
    /* Forth it stops behind the same. */
    event = go_to_event(rig);
    assert_int_equal(event.why, PPU_DEBUG_AT_WATCH);
    assert_int_equal(event.value[1], counter);
    assert_int_equal(event.pc, STORE - 1);
    client_detach(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

static void goes_back_by_ranges(void **state)
{
    struct rig *rig = *state;
    struct ppu_debug_request request = { .op = PPU_DEBUG_DO_BACK,
                                         .at = stop_at_store(rig, 1).at,
                                         .lane = 5,
                                         .flags = PPU_DEBUG_BACK_ENTRY,
                                         .ranges = 1,
                                         .range = { { LOAD_SHARED, STORE + 1 } } };

    assert_int_equal(back(rig, &request).pc, LOAD_SHARED);
    /* It is there already. */
    assert_int_equal(back(rig, &request).pc, LOAD_SHARED);
    request.flags = PPU_DEBUG_BACK_OUT;
    assert_int_equal(back(rig, &request).pc, BARRIER);
    request.flags = PPU_DEBUG_BACK_ENTRY;
    request.range[0] = (struct ppu_debug_range){ BARRIER, BARRIER + 1 };
    assert_int_equal(back(rig, &request).pc, BARRIER);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    /* The same in the present, which stays. */
    request.range[0] = (struct ppu_debug_range){ STORE, STORE + 1 };
    assert_int_equal(back(rig, &request).pc, STORE);
    assert_int_equal(recorded(rig).at, recorded(rig).units);
    client_detach(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

/* CTAs that have ended are back, and those that came for them are gone. */
static void goes_back_over_ctas(void **state)
{
    struct rig *rig = *state;
    const uint32_t ctas = 60; /* more than have room */
    const struct ppu_debug_at at = stop_at_store(rig, ctas).at;
    struct ppu_debug_warp warps[16];

    const uint32_t counter = *(uint32_t *)rig_data(rig, COUNTER);
    struct ppu_debug_event event = back_to(rig, &at, PPU_DEBUG_ANY_LANE, PPU_DEBUG_BACK_STOP);
    assert_int_equal(event.id, PPU_DEBUG_BEGIN);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), 0);
    const uint32_t count = client_warps(rig, 0, warps, PPU_ARRAY_SIZE(warps));
    assert_true(count != 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(warps[i].pc, 0);
    }
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), counter);
    assert_int_equal(client_warp(rig, &at).pc, STORE);
    client_go(rig);
    ends_well(rig);
    results_are_right(rig, ctas);
}

static void goes_back_from_fault(void **state)
{
    struct rig *rig = *state;
    struct outcome outcome;

    client_stop_at(rig, PPU_DEBUG_AT_FAULT);
    start(rig, "wrong", 1, 0);
    const struct ppu_debug_event fault = client_event(rig, 0);
    assert_int_equal(fault.why, PPU_DEBUG_FAULTED);
    struct ppu_debug_event event = back_insn(rig, &fault.at);
    assert_int_equal(event.pc, WRONG_BEGIN + 2); /* before it is executed */
    event = back_insn(rig, &fault.at);
    assert_int_equal(event.pc, WRONG_BEGIN + 1);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    assert_int_equal(client_warp(rig, &fault.at).state, PPU_DEBUG_FAULT);
    client_go(rig);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_true(outcome.faulted);
    assert_int_equal(outcome.fault.address, 64);
}

/* What a kernel did to system memory cannot be taken back. */
static void begins_behind_effects(void **state)
{
    struct rig *rig = *state;

    client_break(rig, 0, SYSTEM_BEGIN + 6, PPU_DEBUG_ANY_LANE);
    start(rig, "system", 1, SYS_VA);
    const struct ppu_debug_at at = client_event(rig, 0).at;
    uint32_t pc = SYSTEM_BEGIN + 6;
    struct ppu_debug_event event;

    while ((event = back_insn(rig, &at)).why == PPU_DEBUG_STEPPED) {
        assert_int_equal(event.pc, --pc);
    }
    assert_int_equal(event.id, PPU_DEBUG_BEGIN);
    assert_true(pc >= SYSTEM_BEGIN + 4);
    client_detach(rig);
    ends_well(rig);
}

/* As many instructions as are kept, and no more. */
static void begins_anew_when_full(void **state)
{
    struct rig *rig = *state;
    struct ppu_debug_event event;
    uint32_t steps = 0;

    record(rig, 0);
    client_order(rig, &(struct ppu_debug_request){
                          .op = PPU_DEBUG_DO_RECORD, .flags = PPU_DEBUG_RECORDS, .value = 2 * BARRIER + 4 });
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;
    const struct ppu_debug_record told = recorded(rig);
    assert_true(told.units != 0 && told.units < 2 * BARRIER + 4);
    while ((event = back_insn(rig, &at)).why == PPU_DEBUG_STEPPED) {
        steps++;
    }
    assert_int_equal(event.id, PPU_DEBUG_BEGIN);
    assert_true(steps != 0 && steps < STORE);
    client_detach(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

/* A page more than are kept is written: what was before that cannot be taken back. */
static void begins_anew_with_too_many_pages(void **state)
{
    struct rig *rig = *state;

    record(rig, 0);
    client_order(rig, &(struct ppu_debug_request){
                          .op = PPU_DEBUG_DO_RECORD, .flags = PPU_DEBUG_RECORDS, .count = PPU_PAGE_64K / PPU_PAGE_4K });
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;
    assert_int_equal(back_insn(rig, &at).pc, STORE - 1); /* private memory is another page than the counter */
    struct ppu_debug_event event = back_insn(rig, &at);
    assert_true(event.why == PPU_DEBUG_TURNED || event.pc == STORE - 2);
    for (uint32_t i = 0; i < STORE && event.why == PPU_DEBUG_STEPPED; i++) {
        event = back_insn(rig, &at);
        assert_true(event.why == PPU_DEBUG_TURNED || event.pc > STORE_LOCAL);
    }
    assert_int_equal(event.id, PPU_DEBUG_BEGIN);
    client_detach(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

static void is_refused(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;
    struct ppu_debug_request request = { .op = PPU_DEBUG_DO_BACK, .at = at, .lane = 5 };

    for (uint32_t i = 0; i < 6; i++) {
        struct ppu_debug_request wrong = request;
        wrong.flags = i == 0 ? PPU_DEBUG_BACKS : i < 4 ? PPU_DEBUG_BACK_REGISTER : PPU_DEBUG_BACK_MEMORY;
        wrong.lane = i == 1 ? PPU_MAX_WAVE : i == 2 ? PPU_DEBUG_ANY_LANE : 5;
        wrong.number = i == 3 ? PPU_MAX_VREGS : 0;
        wrong.count = i == 4 ? 0 : 9;
        assert_int_equal(client_ask(rig, &wrong), PPU_DEBUG_BAD_REQUEST);
    }
    struct ppu_debug_request far = request;
    far.flags = PPU_DEBUG_BACK_MEMORY;
    far.space = PPU_DEBUG_OF_TASK;
    far.count = 4;
    assert_int_equal(client_ask(rig, &far), PPU_DEBUG_NOT_MAPPED);
    far.space = PPU_DEBUG_OF_CTA;
    far.address = 256;
    assert_int_equal(client_ask(rig, &far), PPU_DEBUG_NOT_MAPPED);
    far = request;
    far.at.start++;
    assert_int_equal(client_ask(rig, &far), PPU_DEBUG_NO_SUCH_WARP);
    for (uint32_t i = 0; i < 3; i++) {
        const struct ppu_debug_request wrong = { .op = PPU_DEBUG_DO_RECORD,
                                                 .flags = i == 0 ? 2 : PPU_DEBUG_RECORDS,
                                                 .value = i == 1 ? (1u << 24) + 1 : 0,
                                                 .count = i == 2 ? UINT32_MAX : 0 };
        assert_int_equal(client_ask(rig, &wrong), PPU_DEBUG_BAD_REQUEST);
    }
    /* What is past is not written. */
    (void)back_insn(rig, &at);
    assert_int_equal(client_write(rig, &at, PPU_DEBUG_OF_LANE, 5, 8, 1), PPU_DEBUG_PAST);
    assert_int_equal(client_ask(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_WRITE_SCALAR, .at = at }),
                     PPU_DEBUG_PAST);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    /* What is written in the present ends what can be taken back. */
    assert_int_equal(client_write(rig, &at, PPU_DEBUG_OF_LANE, 5, 8, 1), PPU_DEBUG_OK);
    assert_int_equal(back_insn(rig, &at).id, PPU_DEBUG_BEGIN);
    record(rig, 0);
    assert_int_equal(client_ask(rig, &request), PPU_DEBUG_NO_RECORD);
    assert_int_equal(client_ask(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_RECORDED }), PPU_DEBUG_NO_RECORD);
    client_detach(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

static void needs_an_order(void **state)
{
    struct rig *rig = *state;

    assert_int_equal(
        client_ask(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_RECORD, .flags = PPU_DEBUG_RECORDS }),
        PPU_DEBUG_UNORDERED);
    assert_int_equal(client_ask(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_RECORD }), PPU_DEBUG_OK);
}

static int setup_threads(void **state)
{
    struct rig *rig = rig_new(2);

    client_now_ns = 1;
    rig_load_text(rig, text);
    client_attach(rig);
    *state = rig;
    return 0;
}

/* ---- others, while the past is looked at ---- */

static void disappears(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;

    for (uint32_t i = 0; i < 8; i++) {
        (void)back_insn(rig, &at);
    }
    client_now_ns += PPU_DEBUG_ALIVE_NS + 1;
    assert_false(client_look(rig));
    ends_well(rig);
    results_are_right(rig, 1);
}

/* It begins to go back, and is gone before it has come there. */
static void disappears_on_the_way(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 20).at;

    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_BACK, .at = at, .lane = 5 });
    client_detach(rig);
    ends_well(rig);
    results_are_right(rig, 20);
}

static void halts_on_the_way(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 20).at;

    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_BACK, .at = at, .lane = 5 });
    client_order(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_HALT, .context = CONTEXT });
    assert_int_equal(client_warp(rig, &at).pc, STORE);
    assert_int_equal(recorded(rig).at, recorded(rig).units);
    client_go(rig);
    ends_well(rig);
    results_are_right(rig, 20);
}

static void ends_meanwhile(void **state)
{
    struct rig *rig = *state;
    struct ppu_debug_event event = stop_at_store(rig, 1);
    struct outcome outcome;

    event = back_insn(rig, &event.at);
    rig_command(rig, 0, PPU_SLOT_CMD_KILL);
    const struct ppu_debug_event interfered = client_event(rig, event.number);
    assert_int_equal(interfered.why, PPU_DEBUG_TURNED);
    assert_int_equal(interfered.id, PPU_DEBUG_INTERFERED);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
    assert_int_equal(client_ask(rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_BACK, .at = event.at }),
                     PPU_DEBUG_NO_SUCH_WARP);
}

static void reset_meanwhile(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;
    const uint32_t counter = *(uint32_t *)rig_data(rig, COUNTER);

    for (uint32_t i = 0; i < 6; i++) {
        (void)back_insn(rig, &at);
    }
    assert_int_not_equal(*(uint32_t *)rig_data(rig, COUNTER), counter);
    core_reset_parts(rig->board->core);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), counter);
}

/* A snapshot has the present. */
static void moves_meanwhile(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;

    for (uint32_t i = 0; i < 6; i++) {
        (void)back_insn(rig, &at);
    }
    client_box(rig)->owner = 0;
    *state = rig = rig_moved(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

/* The host writes while the past is there; that is so in the present, too. */
static void host_writes_meanwhile(void **state)
{
    struct rig *rig = *state;
    const struct ppu_debug_at at = stop_at_store(rig, 1).at;

    for (uint32_t i = 0; i < 6; i++) {
        (void)back_insn(rig, &at);
    }
    *(uint32_t *)rig_data(rig, COUNTER + 8) = 4242; /* in a page that kernels write */
    (void)back_insn(rig, &at);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER + 8), 4242);
    assert_int_equal(go_to_event(rig).id, PPU_DEBUG_PRESENT);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER + 8), 4242);
    client_go(rig);
    ends_well(rig);
    results_are_right(rig, 1);
}

/* What others changed meanwhile the kernel would not find again: that is told, and the present is what it was. */
static void notices_others(void **state)
{
    struct rig *rig = *state;

    client_break(rig, 0, STORE - 2, PPU_DEBUG_ANY_LANE);
    work(rig, 1);
    const struct ppu_debug_at at = client_event(rig, 0).at;
    (void)step(rig, &at);
    const uint32_t first = *(uint32_t *)rig_data(rig, COUNTER);
    *(uint32_t *)rig_data(rig, COUNTER) = 1000; /* the other warp finds that */
    struct ppu_debug_event event;
    client_break(rig, 0, STORE, PPU_DEBUG_ANY_LANE);
    do {
        event = go_to_event(rig);
    } while (event.at.warp == at.warp);
    event = back_insn(rig, &event.at);
    assert_int_equal(event.why, PPU_DEBUG_TURNED);
    assert_int_equal(event.id, PPU_DEBUG_DIFFERED);
    assert_int_equal(client_warp(rig, &event.at).pc, STORE);
    assert_int_equal(recorded(rig).units, 0);
    client_detach(rig);
    ends_well(rig);
    assert_int_equal(*(uint32_t *)rig_data(rig, COUNTER), 1000 + THREADS + 3 - first);
}

#define TEST(name)                             \
    {                                          \
#name, name, setup, rig_teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(steps_back),
        TEST(steps_forth_in_the_past),
        TEST(finds_last_writes),
        TEST(finds_writes_of_the_same),
        TEST(goes_back_to_stops),
        TEST(goes_back_by_ranges),
        TEST(goes_back_over_ctas),
        TEST(goes_back_from_fault),
        TEST(begins_behind_effects),
        TEST(begins_anew_when_full),
        TEST(begins_anew_with_too_many_pages),
        TEST(is_refused),
        { "needs_an_order", needs_an_order, setup_threads, rig_teardown, NULL },
        TEST(disappears),
        TEST(disappears_on_the_way),
        TEST(halts_on_the_way),
        TEST(ends_meanwhile),
        TEST(reset_meanwhile),
        TEST(moves_meanwhile),
        TEST(host_writes_meanwhile),
        TEST(notices_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
