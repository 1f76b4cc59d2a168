/* SPDX-License-Identifier: MIT */
/*
 * Tests task-table slots and the distribution of CTAs, by SMs that pretend, on one thread or many.
 */
#include "tests/device-core/board.h"
#include "tests/device-core/fake_sm.h"

#include "ppu/dma.h"
#include "ppu/fault.h"
#include "ppu/macros.h"
#include "ppu/regs.h"
#include "ppu/tmd.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_life.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/ends.h"
#include "qemu-device/core/dist/hand_out.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3u
#define MAX_CTAS 4096u
#define PATIENCE_NS 60000000000ull /* of virtual time; a thousand slices need far less */

/* How often each CTA of each slot's task ran to its end. */
static uint8_t ran[PPU_MAX_SLOTS][MAX_CTAS];
static uint32_t wrong_id;

static void count_cta(void *opaque, uint32_t sm, const struct dist_cta *cta)
{
    const uint32_t row[3] = { UINT32_MAX, 1, 1 };
    const uint32_t *grid = cta->task->tmd.kind == PPU_TMD_TASKQ ? row : cta->task->tmd.grid;
    uint64_t number = cta->id[0] + (uint64_t)grid[0] * (cta->id[1] + (uint64_t)grid[1] * cta->id[2]);

    (void)opaque, (void)sm;
    if (number != cta->number || cta->id[0] >= grid[0] || cta->id[1] >= grid[1] || cta->id[2] >= grid[2]) {
        __atomic_store_n(&wrong_id, 1, __ATOMIC_SEQ_CST);
    }
    __atomic_fetch_add(&ran[cta->task->slot][cta->number % MAX_CTAS], 1, __ATOMIC_SEQ_CST);
}

static struct board *make(uint32_t threads)
{
    const struct core_config config = board_small_config(threads);
    struct board *board = board_new(&config);

    board_boot(board);
    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 3, .ended = count_cta });
    memset(ran, 0, sizeof(ran));
    wrong_id = 0;
    return board;
}

static int setup_slices(void **state)
{
    *state = make(0);
    return 0;
}

static int setup_threads(void **state)
{
    *state = make(THREADS);
    return 0;
}

static int teardown(void **state)
{
    board_free(*state);
    return 0;
}

/* The next slot event, waited for. */
static struct ppu_slot_event next_event(struct board *board)
{
    struct ppu_slot_event event;
    uint64_t end = board->now_ns + PATIENCE_NS;

    while (!ring_pop(board, PPU_RING_SLOT, &event)) {
        board_advance(board, 10000);
        sched_yield();
        assert_true(board->now_ns < end);
    }
    return event;
}

static void no_event(struct board *board)
{
    struct ppu_slot_event event;

    board_advance(board, 1000000);
    assert_false(ring_pop(board, PPU_RING_SLOT, &event));
}

static void every_cta_once(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    for (uint32_t round = 0; round < 30; round++) {
        struct ppu_tmd tmd = good_tmd(1 + random_below(&random, 20), 1 + random_below(&random, 6),
                                      1 + random_below(&random, 5), 1 + random_below(&random, PPU_MAX_CTA_THREADS));
        uint32_t slot = random_below(&random, board->config.slots);
        uint32_t total = tmd.grid[0] * tmd.grid[1] * tmd.grid[2];

        tmd.vregs = (uint16_t)(1 + random_below(&random, 32));
        tmd.shared_bytes = random_below(&random, PPU_MAX_SHARED);
        memset(ran, 0, sizeof(ran));
        start_task(board, slot, &tmd);
        struct ppu_slot_event event = next_event(board);
        assert_int_equal(event.kind, PPU_SLOT_DONE);
        assert_int_equal(event.slot, slot);
        assert_int_equal(event.task, TMD_AT(slot));
        assert_true(event.ctas_done == total);
        assert_true(event.warp_insns == 10 * (uint64_t)total);
        for (uint32_t n = 0; n < MAX_CTAS; n++) {
            assert_int_equal(ran[slot][n], n < total);
        }
        assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE + 4 * slot), PPU_SLOT_FREE);
    }
    assert_int_equal(wrong_id, 0);
    no_event(board);
}

/* Two tasks that each need every SM: the second waits for room, and that time is not its own. */
static void time_on_sms(void **state)
{
    struct board *board = *state;
    struct ppu_tmd tmd = good_tmd(board->config.sms, 1, 1, 32);

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
    tmd.shared_bytes = PPU_MAX_SHARED;
    start_task(board, 0, &tmd);
    board_advance(board, 3000000);
    start_task(board, 1, &tmd);
    board_advance(board, 4000000);
    assert_in_range(mcu_read(board, PPU_REG_SLOT_RUN_US), 6900, 7000);
    assert_int_equal(mcu_read(board, PPU_REG_SLOT_RUN_US + 4), 0);
    mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
    assert_int_equal(next_event(board).kind, PPU_SLOT_KILLED);
    board_advance(board, 1000000);
    assert_in_range(mcu_read(board, PPU_REG_SLOT_RUN_US), 6900, 7100); /* as it ended */
    assert_in_range(mcu_read(board, PPU_REG_SLOT_RUN_US + 4), 900, 1100);
}

/* CTAs of a queue task begin the count anew, entries that are only told of do not. */
static void time_without_a_step(void **state)
{
    struct board *board = *state;
    struct ppu_tmd tmd = good_tmd(1, 1, 1, 32);

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
    tmd.kind = PPU_TMD_TASKQ;
    tmd.taskq_limit = 1;
    start_task(board, 0, &tmd);
    board_advance(board, 3000000);
    assert_in_range(mcu_read(board, PPU_REG_SLOT_STILL_US), 2900, 3000);
    mcu_write(board, PPU_REG_SLOT_LIMIT, 1);
    assert_in_range(mcu_read(board, PPU_REG_SLOT_STILL_US), 2900, 3000);
    mcu_write(board, PPU_REG_SLOT_LIMIT, 2);
    board_advance(board, 1000000);
    assert_in_range(mcu_read(board, PPU_REG_SLOT_STILL_US), 900, 1000);
    assert_in_range(mcu_read(board, PPU_REG_SLOT_RUN_US), 3900, 4000);
}

static void several_tasks_at_once(void **state)
{
    struct board *board = *state;
    uint32_t slots = board->config.slots;
    uint32_t seen = 0;

    for (uint32_t round = 0; round < 10; round++) {
        memset(ran, 0, sizeof(ran));
        for (uint32_t slot = 0; slot < slots; slot++) {
            const struct ppu_tmd tmd = good_tmd(50 + slot, 1, 1, 32);

            start_task(board, slot, &tmd);
        }
        seen = 0;
        for (uint32_t n = 0; n < slots; n++) {
            const struct ppu_slot_event event = next_event(board);

            assert_int_equal(event.kind, PPU_SLOT_DONE);
            assert_true(event.ctas_done == 50 + event.slot);
            seen |= 1u << event.slot;
        }
        assert_int_equal(seen, (1u << slots) - 1);
        for (uint32_t slot = 0; slot < slots; slot++) {
            for (uint32_t n = 0; n < MAX_CTAS; n++) {
                assert_int_equal(ran[slot][n], n < 50 + slot);
            }
        }
    }
}

static void one_sm_runs_two_tasks(void **state)
{
    struct core_config config = board_small_config(0);
    struct ppu_tmd tmd = good_tmd(100, 1, 1, 32);

    (void)state;
    config.sms = 1;
    struct board *board = board_new(&config);
    board_boot(board);
    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
    start_task(board, 0, &tmd);
    start_task(board, 1, &tmd);
    board_advance(board, 100000);
    assert_int_equal(fake_resident(board->core), config.sm_ctas);
    assert_int_equal(board->core->dist.slot[0].in_flight, config.sm_ctas / 2);
    assert_int_equal(board->core->dist.slot[1].in_flight, config.sm_ctas / 2);
    board_free(board);
}

static void kill_ends_what_runs(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(1000, 1, 1, 32);

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
    start_task(board, 1, &tmd);
    board_advance(board, 100000);
    while (fake_resident(board->core) == 0) {
        board_advance(board, 1000);
    }
    assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE + 4), PPU_SLOT_RUNNING);
    no_event(board);
    mcu_write(board, PPU_REG_SLOT_CONTROL + 4, PPU_SLOT_CMD_KILL);
    struct ppu_slot_event event = next_event(board);
    assert_int_equal(event.kind, PPU_SLOT_KILLED);
    assert_int_equal(event.slot, 1);
    assert_int_equal(fake_resident(board->core), 0);
    mcu_write(board, PPU_REG_SLOT_CONTROL + 4, PPU_SLOT_CMD_KILL); /* nothing left to kill */
    no_event(board);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
}

/* CTAs of it may be there. */
static void area_stays_while_tasks_run(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(1000, 1, 1, 32);
    const uint32_t reg = PPU_REG_CTX_SAVE + 4 * tmd.context;

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
    mcu_write(board, reg, HEAP_AT);
    start_task(board, 1, &tmd);
    for (uint32_t i = 0; i < 2; i++) {
        mcu_write(board, reg, i * (HEAP_AT + PPU_SWITCH_ALIGN));
        assert_int_equal(mcu_read(board, reg), HEAP_AT);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_ARG);
        mcu_write(board, PPU_REG_DEVICE_ERROR, PPU_DEVERR_ARG);
    }
    mcu_write(board, reg + 4, HEAP_AT); /* another address space */
    mcu_write(board, PPU_REG_SLOT_CONTROL + 4, PPU_SLOT_CMD_KILL);
    assert_int_equal(next_event(board).kind, PPU_SLOT_KILLED);
    mcu_write(board, reg, 0);
    assert_int_equal(mcu_read(board, reg), 0);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
}

static void stop_drains(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(2000, 1, 1, 32);

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 200, .ended = count_cta });
    start_task(board, 3, &tmd);
    while (fake_resident(board->core) == 0) {
        board_advance(board, 1000);
    }
    mcu_write(board, PPU_REG_SLOT_CONTROL + 12, PPU_SLOT_CMD_STOP);
    struct ppu_slot_event event = next_event(board);
    assert_int_equal(event.kind, PPU_SLOT_STOPPED);
    assert_in_range(event.ctas_done, 1, 1999);
    /* What has run is the beginning of the grid, without holes. */
    for (uint32_t n = 0; n < MAX_CTAS; n++) {
        assert_int_equal(ran[3][n], n < event.ctas_done);
    }
}

static void random_commands(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    bool busy[PPU_MAX_SLOTS] = { false };
    uint32_t started = 0;
    uint32_t ended = 0;

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 4, .fault_in = 300, .ended = count_cta });
    for (uint32_t n = 0; n < 2000 || ended != started; n++) {
        uint32_t slot = random_below(&random, board->config.slots);
        struct ppu_slot_event event;
        struct ppu_fault_event fault;

        if (n < 2000 && !busy[slot]) {
            const struct ppu_tmd tmd = good_tmd(1 + random_below(&random, 60), 1 + random_below(&random, 2), 1,
                                                1 + random_below(&random, 256));

            start_task(board, slot, &tmd);
            busy[slot] = true;
            started++;
        } else if (random_below(&random, 8) == 0) {
            mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slot, 1 + random_below(&random, 2));
        }
        board_advance(board, 1000);
        while (ring_pop(board, PPU_RING_SLOT, &event)) {
            assert_true(event.slot < board->config.slots && busy[event.slot]);
            busy[event.slot] = false;
            ended++;
        }
        while (ring_pop(board, PPU_RING_FAULT, &fault)) {
            assert_int_equal(fault.code, PPU_FAULT_TRAP);
        }
        if (n > 2000) {
            sched_yield();
        }
        assert_true(n < 10000000);
    }
    assert_int_equal(fake_resident(board->core), 0);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
    assert_int_equal(wrong_id, 0);
}

static void fault_kills_with_one_event(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(500, 2, 1, 32);
    struct ppu_fault_event fault;

    fake_plan_set(board->core, &(struct fake_plan){ .fault_in = 2 });
    start_task(board, 2, &tmd);
    struct ppu_slot_event event = next_event(board);
    assert_int_equal(event.kind, PPU_SLOT_KILLED);
    assert_true(ring_pop(board, PPU_RING_FAULT, &fault));
    assert_int_equal(fault.code, PPU_FAULT_TRAP);
    assert_int_equal(fault.slot, 2);
    assert_int_equal(fault.task, TMD_AT(2));
    assert_int_equal(fault.context, 1);
    assert_int_equal(fault.correlation, 77);
    assert_true(fault.address == fault.cta[0] + 500ull * fault.cta[1]);
    assert_true(fault.sm < board->config.sms);
    assert_false(ring_pop(board, PPU_RING_FAULT, &fault));
}

static void full_fault_ring_stalls(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(2, 1, 1, 32);
    struct ppu_fault_event fault;

    host_write(board, PPU_REG_HOOK_RING_LIMIT, 1);
    fake_plan_set(board->core, &(struct fake_plan){ .fault_in = 1 });
    start_task(board, 0, &tmd);
    assert_int_equal(next_event(board).kind, PPU_SLOT_KILLED);
    start_task(board, 1, &tmd);
    no_event(board); /* its warps wait for room */
    assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE + 4), PPU_SLOT_RUNNING);
    start_task(board, 2, &tmd);
    mcu_write(board, PPU_REG_SLOT_CONTROL + 8, PPU_SLOT_CMD_KILL); /* and can be killed meanwhile */
    assert_int_equal(next_event(board).slot, 2);
    assert_true(ring_pop(board, PPU_RING_FAULT, &fault));
    assert_int_equal(fault.slot, 0);
    assert_int_equal(next_event(board).slot, 1);
    assert_true(ring_pop(board, PPU_RING_FAULT, &fault));
    assert_int_equal(fault.slot, 1);
}

static void busy_slot_is_an_error(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(10, 1, 1, 32);

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
    start_task(board, 0, &tmd);
    start_task(board, 0, &tmd);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_SLOT);
    mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
    mcu_write(board, PPU_REG_SLOT_CONTROL, 77);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_SLOT);
}

/* ---- local memory ---- */

static void local_memory_bounds_residency(void **state)
{
    struct board *board = *state;
    struct ppu_tmd tmd = good_tmd(300, 1, 1, 64);
    const uint32_t limit = 5;
    uint32_t most = 0;

    tmd.local_bytes = 32;
    tmd.local_va = 0x100000;
    tmd.local_size = limit * 64 * 32 + 100;
    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 5, .ended = count_cta });
    start_task(board, 0, &tmd);
    for (uint32_t n = 0; n < 100000 && mcu_read(board, PPU_REG_SLOT_STATE) != PPU_SLOT_FREE; n++) {
        sm_pool_pause(board->core); /* else one may go to an SM that is counted when its place elsewhere was */
        most = PPU_MAX(fake_resident(board->core), most);
        sm_pool_resume(board->core);
        board_advance(board, 1000);
        sched_yield();
    }
    assert_in_range(most, 1, limit);
    assert_int_equal(next_event(board).kind, PPU_SLOT_DONE);
    for (uint32_t n = 0; n < 300; n++) {
        assert_int_equal(ran[0][n], 1);
    }
}

static void tell_end(const struct board *board, const struct dist_cta *cta)
{
    struct dist_ends ends = { .held = 1, .cta = { *cta }, .count = { { 1 } } };

    dist_done(board->core, 0, &ends);
}

static void local_backings_are_distinct(void **state)
{
    struct board *board = *state;
    struct ppu_tmd tmd = good_tmd(300, 1, 1, 64);
    const struct dist_room room = { 64, 8, 65536, 0, UINT32_MAX };
    struct dist_ends none = { .held = 0 };
    struct dist_cta cta[16];
    uint64_t random = random_seed();
    uint32_t held = 0;
    uint32_t used = 0;

    tmd.local_bytes = 16;
    tmd.local_va = 0x100000;
    tmd.local_size = 7 * 64 * 16;
    core_pause(board->core); /* the test is the SM */
    start_task(board, 0, &tmd);
    for (uint32_t n = 0; n < 2000; n++) {
        if (random_below(&random, 2) == 0 && mcu_read(board, PPU_REG_SLOT_STATE) == PPU_SLOT_RUNNING) {
            bool given = dist_take(board->core, 0, &room, &none, 1, &cta[held]);

            assert_true(held < 7 || !given);
            if (given) {
                assert_in_range(cta[held].local_backing, 0, 6);
                assert_int_equal(used >> cta[held].local_backing & 1, 0);
                used |= 1u << cta[held].local_backing;
                held++;
            }
        } else if (held != 0) {
            uint32_t at = random_below(&random, held);

            used &= ~(1u << cta[at].local_backing);
            tell_end(board, &cta[at]);
            cta[at] = cta[--held];
        }
    }
    while (held != 0) {
        tell_end(board, &cta[--held]);
    }
}

/* The room of CTAs that have ended is there for others at once; the task ends when all are told of, and counts once. */
static void ends_are_held(void **state)
{
    struct core_config config = board_small_config(0);
    const struct dist_room room = { 64, 8, 65536, 0, UINT32_MAX };
    const uint32_t most = config.sm_ctas, total = most + 3;
    const struct ppu_tmd tmd = good_tmd(total, 1, 1, 32);
    struct dist_ends ends = { .held = 0 };
    struct dist_cta cta[32];
    uint32_t taken = 0;

    (void)state;
    config.sms = config.gpcs = 1;
    struct board *board = board_new(&config);
    board_boot(board);
    core_pause(board->core); /* the test is the SM */
    start_task(board, 0, &tmd);
    while (dist_take(board->core, 0, &room, &ends, 1, &cta[taken])) {
        taken++;
    }
    assert_int_equal(taken, most);
    for (uint32_t n = 0; n < 3; n++) {
        ends.cta[ends.held] = cta[n];
        ends.count[ends.held++][0] = 5;
        assert_true(dist_take(board->core, 0, &room, &ends, 1, &cta[taken]));
        taken++;
        assert_false(dist_take(board->core, 0, &room, &ends, 1, &cta[taken]));
        assert_int_equal(board->core->dist.used[0].ctas, most);
    }
    for (uint32_t n = 3; n < total; n++) {
        if (ends.held == DIST_ENDS) {
            dist_done(board->core, 0, &ends);
        }
        ends.cta[ends.held] = cta[n];
        ends.count[ends.held++][0] = 5;
    }
    assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE), PPU_SLOT_RUNNING);
    dist_done(board->core, 0, &ends);
    assert_int_equal(ends.held, 0);
    assert_int_equal(board->core->dist.used[0].ctas, 0);
    assert_int_equal(next_event(board).kind, PPU_SLOT_DONE);
    assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE), PPU_SLOT_FREE);
    board_free(board);
}

/* ---- where CTAs go ---- */

/* CTAs on an SM now. */
static uint32_t resident_on(const struct board *board, uint32_t sm)
{
    return board->core->dist.used[sm].ctas;
}

/* SMs of a machine whose CTAs never end, in slices. */
static struct board *endless(void)
{
    const struct core_config config = board_small_config(0);
    struct board *board = board_new(&config);

    board_boot(board);
    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
    return board;
}

static void ctas_spread(void **state)
{
    static const uint32_t ctas[][2] = { { 6, 2 }, { 7, 3 }, { 2, 1 }, { 24, 8 }, { 100, 8 } };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(ctas); i++) {
        struct board *board = endless();
        const struct ppu_tmd tmd = good_tmd(ctas[i][0], 1, 1, 32);
        uint32_t least = UINT32_MAX, most = 0;

        start_task(board, 0, &tmd);
        board_advance(board, 100000);
        for (uint32_t sm = 0; sm < board->config.sms; sm++) {
            least = resident_on(board, sm) < least ? resident_on(board, sm) : least;
            most = resident_on(board, sm) > most ? resident_on(board, sm) : most;
        }
        assert_int_equal(most, ctas[i][1]);
        assert_in_range(most - least, 0, 1);
        board_free(board);
    }
}

/* Small tasks spread too, and what fits on one SM alone goes there, however much it has. */
static void tasks_spread(void **state)
{
    struct board *board = endless();
    struct ppu_tmd small = good_tmd(1, 1, 1, 32), large = good_tmd(2, 1, 1, 1024);

    (void)state;
    large.vregs = 64; /* the whole SM's */
    start_task(board, 0, &small);
    start_task(board, 1, &small);
    start_task(board, 2, &small);
    board_advance(board, 100000);
    for (uint32_t sm = 0; sm < board->config.sms; sm++) {
        assert_int_equal(resident_on(board, sm), 1);
    }
    for (uint32_t slot = 0; slot < 3; slot++) {
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slot, PPU_SLOT_CMD_KILL);
        assert_int_equal(next_event(board).kind, PPU_SLOT_KILLED);
    }
    start_task(board, 0, &large);
    board_advance(board, 100000);
    small.grid[0] = 5;
    start_task(board, 1, &small);
    board_advance(board, 100000);
    assert_int_equal(fake_resident(board->core), 7);
    board_free(board);
}

/* CTAs of a few go to SMs of different GPCs, one by one or a gang. */
static void gpcs_share_alike(void **state)
{
    static const struct {
        uint32_t gpcs, ctas;
        uint16_t flags;
        uint32_t least, most; /* CTAs of a GPC */
    } cases[] = {
        { 2, 2, 0, 1, 1 },
        { 2, 3, 0, 1, 2 },
        { 4, 4, 0, 1, 1 },
        { 4, 6, 0, 1, 2 },
        { 2, 2, PPU_TMD_CORESIDENT, 1, 1 },
        { 4, 6, PPU_TMD_CORESIDENT, 1, 2 },
    };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct core_config config = board_small_config(0);
        struct ppu_tmd tmd = good_tmd(cases[i].ctas, 1, 1, 32);

        config.sms = 8;
        config.gpcs = cases[i].gpcs;
        tmd.flags = cases[i].flags;
        struct board *board = board_new(&config);
        board_boot(board);
        fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
        start_task(board, 0, &tmd);
        board_advance(board, 100000);
        for (uint32_t gpc = 0; gpc < config.gpcs; gpc++) {
            uint32_t ctas = 0;
            for (uint32_t sm = 0; sm < config.sms; sm++) {
                assert_in_range(resident_on(board, sm), 0, 1);
                ctas += core_gpc_of(&config, sm) == gpc ? resident_on(board, sm) : 0;
            }
            assert_in_range(ctas, cases[i].least, cases[i].most);
        }
        board_free(board);
    }
}

/* ---- co-resident grids ---- */

static struct ppu_tmd gang_tmd(uint32_t ctas, uint32_t priority)
{
    struct ppu_tmd tmd = good_tmd(ctas, 1, 1, 32);

    tmd.flags = PPU_TMD_CORESIDENT;
    tmd.priority = (uint8_t)priority;
    return tmd;
}

/* Refused when it can never fit: by CTAs, registers, local memory, places to save; or when its CTAs may leave. */
static void gangs_that_cannot_fit(void **state)
{
    struct board *board = *state;
    uint32_t most = board->config.sms * board->config.sm_ctas;

    for (uint32_t i = 0; i < 8; i++) {
        struct ppu_tmd tmd = gang_tmd(most, 1);

        switch (i) {
        case 1:
            tmd.grid[0]++;
            break;
        case 2:
            tmd.cta[0] = 1024;
            tmd.vregs = 64;
            break;
        case 3:
            tmd.shared_bytes = board->config.sm_shared / (board->config.sm_ctas - 1);
            break;
        case 4:
            tmd.local_bytes = 16;
            tmd.local_va = 0x100000;
            tmd.local_size = 16 * 32 * (most - 1);
            break;
        case 5:
            tmd.flags |= PPU_TMD_MAY_WAIT;
            break;
        case 6:
            tmd.grid[0] = PPU_MAX_GRID_X;
            tmd.grid[1] = tmd.grid[2] = PPU_MAX_GRID_YZ;
            break;
        case 7:
            tmd.grid[0] = 2;
            tmd.save_count = 1;
            tmd.save_vram = 0x200000;
            tmd.save_bytes = 0x40000;
            break;
        default:
            break;
        }
        memset(ran, 0, sizeof(ran));
        start_task(board, 0, &tmd);
        struct ppu_slot_event event = next_event(board);
        assert_int_equal(event.kind, i == 0 ? PPU_SLOT_DONE : PPU_SLOT_REFUSED);
        assert_true(i == 0 || event.arg == PPU_FAULT_TMD_CORESIDENT);
        assert_int_equal(ran[0][0], i == 0);
    }
}

/* None of its CTAs runs before there is room for all; meanwhile tasks of no higher priority get nothing new. */
static void gangs_get_all_or_nothing(void **state)
{
    struct board *board = endless();
    struct dist *dist = &board->core->dist;
    uint32_t ctas = board->config.sms * board->config.sm_ctas;
    struct ppu_tmd filler = good_tmd(ctas - 2, 1, 1, 32), gang = gang_tmd(ctas / 2, 3), other = gang_tmd(3, 3);
    struct ppu_tmd low = good_tmd(1, 1, 1, 32), high = good_tmd(1, 1, 1, 32);

    (void)state;
    low.priority = 3;
    high.priority = 4;
    start_task(board, 0, &filler);
    board_advance(board, 100000);
    start_task(board, 1, &gang);
    board_advance(board, 100000);
    start_task(board, 2, &other);
    start_task(board, 3, &low);
    start_task(board, 4, &high);
    board_advance(board, 100000);
    assert_int_equal(dist->slot[0].in_flight, ctas - 2);
    assert_int_equal(dist->slot[1].in_flight, 0);
    assert_int_equal(dist->slot[2].in_flight, 0);
    assert_int_equal(dist->slot[3].in_flight, 0);
    assert_int_equal(dist->slot[4].in_flight, 1);
    mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
    assert_int_equal(next_event(board).kind, PPU_SLOT_KILLED);
    board_advance(board, 100000);
    assert_int_equal(dist->slot[1].in_flight, ctas / 2);
    assert_int_equal(dist->slot[2].in_flight, 3);
    assert_int_equal(dist->slot[3].in_flight, 1);
    board_free(board);
}

/* A gang that is killed or stopped while it waits lets the others go on. */
static void gangs_that_give_up(void **state)
{
    static const uint32_t commands[] = { PPU_SLOT_CMD_KILL, PPU_SLOT_CMD_STOP };

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct board *board = endless();
        struct ppu_tmd first = good_tmd(1, 1, 1, 32), gang = gang_tmd(board->config.sms * board->config.sm_ctas, 1);

        start_task(board, 0, &first);
        board_advance(board, 100000);
        start_task(board, 1, &gang);
        start_task(board, 2, &first);
        board_advance(board, 100000);
        assert_int_equal(fake_resident(board->core), 1);
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4, commands[i]);
        assert_int_equal(next_event(board).kind, i == 0 ? PPU_SLOT_KILLED : PPU_SLOT_STOPPED);
        board_advance(board, 100000);
        assert_int_equal(fake_resident(board->core), 2);
        board_free(board);
    }
}

/* Gangs, other tasks, stops, kills: every CTA of what ends by itself ran once, and no room is lost. */
static void gangs_among_others(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    bool busy[6] = { false };

    for (uint32_t step = 0; step < 1500; step++) {
        uint32_t slot = random_below(&random, board->config.slots);
        struct ppu_slot_event event;

        if (!busy[slot]) {
            struct ppu_tmd tmd = gang_tmd(1 + random_below(&random, 24), random_below(&random, 8));

            tmd.flags = random_below(&random, 2) ? PPU_TMD_CORESIDENT : 0;
            tmd.vregs = (uint16_t)(1 + random_below(&random, 64));
            tmd.shared_bytes = random_below(&random, 4096);
            memset(ran[slot], 0, sizeof(ran[slot]));
            start_task(board, slot, &tmd);
            busy[slot] = true;
        } else if (random_below(&random, 8) == 0) {
            mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slot,
                      random_below(&random, 2) ? PPU_SLOT_CMD_KILL : PPU_SLOT_CMD_STOP);
        }
        board_advance(board, 1000 * random_below(&random, 4));
        while (ring_pop(board, PPU_RING_SLOT, &event)) {
            const struct ppu_tmd *tmd = (const struct ppu_tmd *)(const void *)(board->vram + event.task);

            if (event.kind == PPU_SLOT_STOPPED) {
                mcu_write(board, PPU_REG_SLOT_START + 4 * event.slot, event.task);
                continue;
            }
            assert_true(event.kind == PPU_SLOT_DONE || event.kind == PPU_SLOT_KILLED);
            busy[event.slot] = false;
            for (uint32_t n = 0; event.kind == PPU_SLOT_DONE && n < tmd->grid[0]; n++) {
                assert_int_equal(ran[event.slot][n], 1);
            }
        }
    }
    for (uint32_t n = 0; n < 100000 && (busy[0] || busy[1] || busy[2] || busy[3] || busy[4] || busy[5]); n++) {
        struct ppu_slot_event event;

        board_advance(board, 1000);
        sched_yield();
        while (ring_pop(board, PPU_RING_SLOT, &event)) {
            if (event.kind == PPU_SLOT_STOPPED) {
                mcu_write(board, PPU_REG_SLOT_START + 4 * event.slot, event.task);
            } else {
                busy[event.slot] = false;
            }
        }
    }
    for (uint32_t slot = 0; slot < board->config.slots; slot++) {
        assert_false(busy[slot]);
    }
    for (uint32_t sm = 0; sm < board->config.sms; sm++) {
        const struct dist_room *used = &board->core->dist.used[sm];
        assert_true(used->ctas == 0 && used->passes == 0 && used->vregs == 0 && used->shared_bytes == 0 &&
                    used->token_bytes == 0);
    }
}

/* ---- numbers ---- */

static void numbers_of_huge_grids(void **state)
{
    const uint32_t grids[][3] = {
        { PPU_MAX_GRID_X, PPU_MAX_GRID_YZ, PPU_MAX_GRID_YZ },
        { 1, PPU_MAX_GRID_YZ, PPU_MAX_GRID_YZ },
        { PPU_MAX_GRID_X, 1, 1 },
        { 3, 5, 7 },
    };
    uint64_t random = random_seed();

    (void)state;
    for (size_t g = 0; g < PPU_ARRAY_SIZE(grids); g++) {
        const uint32_t *grid = grids[g];
        const struct ppu_tmd tmd = good_tmd(grid[0], grid[1], grid[2], 1);
        uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2];

        for (uint32_t n = 0; n < 5000; n++) {
            uint64_t number = n == 0 ? total - 1 : random_next(&random) % total;
            uint32_t id[3];

            dist_cta_id(&tmd, number, id);
            assert_true(id[0] < grid[0] && id[1] < grid[1] && id[2] < grid[2]);
            assert_true(id[0] + (uint64_t)grid[0] * (id[1] + (uint64_t)grid[1] * id[2]) == number);
        }
    }
}

/* ---- queue tasks ---- */

static struct ppu_tmd queue_tmd(uint64_t limit)
{
    struct ppu_tmd tmd = good_tmd(1, 1, 1, 32);

    tmd.kind = PPU_TMD_TASKQ;
    tmd.taskq_limit = limit;
    return tmd;
}

static void start_again(struct board *board, uint32_t slot, uint64_t limit)
{
    struct ppu_tmd *tmd = (struct ppu_tmd *)(void *)(board->vram + TMD_AT(slot));

    tmd->taskq_limit = limit;
    mcu_write(board, PPU_REG_SLOT_START + 4 * slot, TMD_AT(slot));
}

static void is_parked_at(struct board *board, uint64_t ctas)
{
    const struct ppu_slot_event event = next_event(board);

    assert_int_equal(event.kind, PPU_SLOT_PARKED);
    assert_int_equal(event.arg, 0);
    assert_true(event.ctas_done == ctas);
    for (uint32_t n = 0; n < MAX_CTAS; n++) {
        assert_int_equal(ran[event.slot][n], n < ctas);
    }
    assert_int_equal(wrong_id, 0);
}

static void a_queue_parks_when_it_is_empty(void **state)
{
    struct board *board = *state;
    struct ppu_tmd tmd = queue_tmd(0);

    start_task(board, 1, &tmd);
    is_parked_at(board, 0);
    start_again(board, 1, 5);
    is_parked_at(board, 5);
    start_again(board, 1, 5);
    is_parked_at(board, 5);
    mcu_write(board, PPU_REG_SLOT_LIMIT + 4, 9);
    no_event(board);
    start_again(board, 1, 9);
    is_parked_at(board, 9);
}

/* More entries while it runs; what is told too late for the slot is told again when it starts. */
static void a_queue_grows(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    struct ppu_tmd tmd = queue_tmd(1);
    uint64_t limit = 1;
    struct ppu_slot_event event;

    start_task(board, 0, &tmd);
    while (limit < MAX_CTAS - 20) {
        limit += random_below(&random, 20);
        mcu_write(board, PPU_REG_SLOT_LIMIT, (uint32_t)limit);
        mcu_write(board, PPU_REG_SLOT_LIMIT, (uint32_t)limit - random_below(&random, 3));
        if (random_below(&random, 4) == 0) {
            mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_STOP);
        }
        board_advance(board, random_below(&random, 20000));
        if (ring_pop(board, PPU_RING_SLOT, &event)) {
            assert_true(event.kind == PPU_SLOT_PARKED || event.kind == PPU_SLOT_STOPPED);
            start_again(board, 0, limit);
        }
    }
    for (;;) {
        event = next_event(board);
        if (event.ctas_done == limit) {
            break;
        }
        start_again(board, 0, limit);
    }
    for (uint32_t n = 0; n < MAX_CTAS; n++) {
        assert_int_equal(ran[0][n], n < limit);
    }
    assert_int_equal(wrong_id, 0);
}

static void the_limit_of_a_grid_stays(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(10, 1, 1, 32);

    start_task(board, 0, &tmd);
    mcu_write(board, PPU_REG_SLOT_LIMIT, 1000);
    assert_true(next_event(board).ctas_done == 10);
    no_event(board);
}

static void a_huge_grid_runs_and_is_killed(void **state)
{
    struct board *board = *state;
    struct ppu_tmd tmd = good_tmd(PPU_MAX_GRID_X, PPU_MAX_GRID_YZ, PPU_MAX_GRID_YZ, 1);

    start_task(board, 0, &tmd);
    board_advance(board, 50000);
    mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
    assert_int_equal(next_event(board).kind, PPU_SLOT_KILLED);
    assert_int_equal(wrong_id, 0);
}

/* ---- refused TMD copies ---- */

#define FIELD(member, number) offsetof(struct ppu_tmd, member), sizeof(((struct ppu_tmd *)0)->member), number

static void bad_copies_are_refused(void **state)
{
    struct board *board = *state;
    const struct {
        size_t offset;
        size_t bytes;
        uint64_t value;
        uint16_t code;
    } bad[] = {
        { FIELD(head.version, 9), PPU_FAULT_TMD_VERSION },
        { FIELD(head.size_bytes, 64), PPU_FAULT_TMD_VERSION },
        { FIELD(kind, 3), PPU_FAULT_TMD_KIND },
        { FIELD(kind, 0), PPU_FAULT_TMD_KIND },
        { FIELD(flags, 0x8000), PPU_FAULT_TMD_RESERVED },
        { FIELD(priority, PPU_PRIORITIES), PPU_FAULT_TMD_PRIORITY },
        { FIELD(context, 5), PPU_FAULT_NO_CONTEXT },
        { FIELD(context, 0xffffffff), PPU_FAULT_NO_CONTEXT },
        { FIELD(code_va, 4), PPU_FAULT_TMD_CODE },
        { FIELD(code_va, 0xfffffffffff8), PPU_FAULT_TMD_CODE },
        { FIELD(code_va, 0xfffffffffffffff8), PPU_FAULT_TMD_CODE },
        { FIELD(code_bytes, 0), PPU_FAULT_TMD_CODE },
        { FIELD(code_bytes, 12), PPU_FAULT_TMD_CODE },
        { FIELD(code_bytes, PPU_MAX_CODE + 8), PPU_FAULT_TMD_CODE },
        { FIELD(entry, 64), PPU_FAULT_TMD_CODE },
        { FIELD(entry, 4), PPU_FAULT_TMD_CODE },
        { FIELD(wave, 0), PPU_FAULT_TMD_WAVE },
        { FIELD(wave, 33), PPU_FAULT_TMD_WAVE },
        { FIELD(cta[0], 0), PPU_FAULT_TMD_CTA },
        { FIELD(cta[1], PPU_MAX_CTA_DIM + 1), PPU_FAULT_TMD_CTA },
        { FIELD(cta[2], 64), PPU_FAULT_TMD_CTA },
        { FIELD(cta[2], 0xffffffff), PPU_FAULT_TMD_CTA },
        { FIELD(grid[0], 0), PPU_FAULT_TMD_GRID },
        { FIELD(grid[0], PPU_MAX_GRID_X + 1), PPU_FAULT_TMD_GRID },
        { FIELD(grid[1], PPU_MAX_GRID_YZ + 1), PPU_FAULT_TMD_GRID },
        { FIELD(grid[2], 0xffffffff), PPU_FAULT_TMD_GRID },
        { FIELD(vregs, 0), PPU_FAULT_TMD_RESOURCES },
        { FIELD(vregs, PPU_MAX_VREGS + 1), PPU_FAULT_TMD_RESOURCES },
        { FIELD(vregs, 0xffff), PPU_FAULT_TMD_RESOURCES },
        { FIELD(token_count, PPU_MAX_TOKENS + 1), PPU_FAULT_TMD_RESOURCES },
        { FIELD(shared_bytes, PPU_MAX_SHARED + 1), PPU_FAULT_TMD_RESOURCES },
        { FIELD(shared_bytes, 0xffffffff), PPU_FAULT_TMD_RESOURCES },
        { FIELD(local_bytes, 8), PPU_FAULT_TMD_LOCAL },
        { FIELD(local_bytes, 16), PPU_FAULT_TMD_LOCAL },
        { FIELD(local_bytes, PPU_MAX_LOCAL + 16), PPU_FAULT_TMD_LOCAL },
        { FIELD(param_bytes, PPU_MAX_PARAM + 1), PPU_FAULT_TMD_PARAM },
        { FIELD(params_vram, PROT_LIMIT), PPU_FAULT_TMD_PARAM },
        { FIELD(params_vram, 0xfffffff0), PPU_FAULT_TMD_PARAM },
        { FIELD(params_vram, PARAMS_AT + 4), PPU_FAULT_TMD_PARAM },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        struct ppu_tmd tmd = good_tmd(4, 1, 1, 32);

        memcpy((uint8_t *)&tmd + bad[i].offset, &bad[i].value, bad[i].bytes);
        start_task(board, 4, &tmd);
        struct ppu_slot_event event = next_event(board);
        assert_int_equal(event.kind, PPU_SLOT_REFUSED);
        assert_int_equal(event.arg, bad[i].code);
        assert_int_equal(event.slot, 4);
        assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE + 16), PPU_SLOT_FREE);
    }
}

static void bad_tmd_offsets_are_refused(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(4, 1, 1, 32);
    const uint32_t bad[] = { TMD_AT(0) + 4, PROT_BASE - 64, PROT_LIMIT - 64, PROT_LIMIT, HEAP_AT, 0xffffffc0u };

    memcpy(board->vram + TMD_AT(0), &tmd, sizeof(tmd));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        mcu_write(board, PPU_REG_SLOT_START, bad[i]);
        struct ppu_slot_event event = next_event(board);
        assert_int_equal(event.kind, PPU_SLOT_REFUSED);
        assert_int_equal(event.task, bad[i]);
    }
}

static void too_large_for_this_machine(void **state)
{
    struct core_config config = board_small_config(0);
    struct ppu_tmd tmd = good_tmd(1, 1, 1, 1024);

    (void)state;
    config.sm_vregs = 8192;
    struct board *board = board_new(&config);
    board_boot(board);
    tmd.vregs = 8;
    start_task(board, 0, &tmd);
    assert_int_equal(next_event(board).kind, PPU_SLOT_DONE);
    tmd.vregs = 9;
    start_task(board, 0, &tmd);
    assert_int_equal(next_event(board).arg, PPU_FAULT_TMD_RESOURCES);
    board_free(board);
}

/* A copy that changes while the slot runs: the device works from what it read. */
static void scribbled_copies(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    for (uint32_t n = 0; n < 3000; n++) {
        struct ppu_tmd tmd = good_tmd(1 + random_below(&random, 3), 1, 1, 32);
        uint32_t slot = random_below(&random, board->config.slots);

        for (uint32_t i = random_below(&random, 4); i > 0; i--) {
            ((uint8_t *)&tmd)[random_below(&random, sizeof(tmd))] = (uint8_t)random_next(&random);
        }
        if (n % 8 == 0) {
            random_bytes(&random, &tmd, sizeof(tmd));
        }
        start_task(board, slot, &tmd);
        random_bytes(&random, board->vram + TMD_AT(slot), sizeof(tmd));
        mcu_write(board, PPU_REG_SLOT_CONTROL + 4 * slot, PPU_SLOT_CMD_KILL);
        while (mcu_read(board, PPU_REG_SLOT_STATE + 4 * slot) != PPU_SLOT_FREE) {
            board_advance(board, 1000);
            sched_yield();
        }
        next_event(board);
    }
    assert_int_equal(fake_resident(board->core), 0);
}

/* ---- flushes ---- */

static void flushes_are_answered(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    uint32_t contexts[64];

    for (uint32_t round = 0; round < 20; round++) {
        uint32_t count = 1 + random_below(&random, 64);

        for (uint32_t n = 0; n < count; n++) {
            contexts[n] = random_below(&random, board->config.contexts);
            mcu_write(board, PPU_REG_MMU_FLUSH_TAG, 1000 + n);
            mcu_write(board, PPU_REG_MMU_FLUSH, contexts[n]);
        }
        for (uint32_t n = 0; n < count; n++) {
            const struct ppu_slot_event event = next_event(board);

            assert_int_equal(event.kind, PPU_SLOT_FLUSHED);
            assert_int_equal(event.context, contexts[n]);
            assert_int_equal(event.arg, 1000 + n);
        }
    }
    no_event(board);
    mcu_write(board, PPU_REG_MMU_FLUSH, board->config.contexts);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_ARG);
}

/* ---- reset, pause ---- */

static void reset_under_load(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(3000, 1, 1, 32);
    struct ppu_dma_desc copy = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_VRAM,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = HEAP_AT,
                                 .dst = HEAP_AT + PPU_MIB,
                                 .len_bytes = PPU_MIB };

    for (uint32_t round = 0; round < 25; round++) {
        for (uint32_t slot = 0; slot < board->config.slots; slot++) {
            start_task(board, slot, &tmd);
        }
        mcu_write(board, PPU_REG_MMU_FLUSH, 1);
        submit(board, &copy);
        board_advance(board, 1000 * round);
        core_reset(board->core);
        board_settle(board);
        assert_int_equal(fake_resident(board->core), 0);
        assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 0);
        for (uint32_t slot = 0; slot < board->config.slots; slot++) {
            assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE + 4 * slot), PPU_SLOT_FREE);
        }
        board_boot(board);
        no_event(board);
    }
    memset(ran, 0, sizeof(ran));
    start_task(board, 0, &tmd);
    assert_int_equal(next_event(board).kind, PPU_SLOT_DONE);
    for (uint32_t n = 0; n < 3000; n++) {
        assert_int_equal(ran[0][n], 1);
    }
}

static void pause_stands_still(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(4000, 1, 1, 32);

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 50, .ended = count_cta });
    start_task(board, 0, &tmd);
    board_advance(board, 20000);
    core_pause(board->core);
    uint64_t before = board->core->dist.slot[0].next;
    board_advance(board, 10000000);
    sched_yield();
    assert_true(board->core->dist.slot[0].next == before);
    core_resume(board->core);
    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 1, .ended = count_cta });
    assert_int_equal(next_event(board).kind, PPU_SLOT_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "every CTA of random grids once, in slices [A6]", every_cta_once, setup_slices, teardown, NULL },
        { "every CTA of random grids once, on threads [A6]", every_cta_once, setup_threads, teardown, NULL },
        { "several tasks at once, in slices [A5, A8]", several_tasks_at_once, setup_slices, teardown, NULL },
        { "several tasks at once, on threads [A5, A8]", several_tasks_at_once, setup_threads, teardown, NULL },
        { "one SM runs two tasks side by side [A8]", one_sm_runs_two_tasks, NULL, NULL, NULL },
        { "a kill ends what runs, in slices [A5]", kill_ends_what_runs, setup_slices, teardown, NULL },
        { "a kill ends what runs, on threads [A5]", kill_ends_what_runs, setup_threads, teardown, NULL },
        { "the area of an address space stays while tasks run [A5]", area_stays_while_tasks_run, setup_slices, teardown,
          NULL },
        { "a slot counts the time that its task is on SMs [A5]", time_on_sms, setup_slices, teardown, NULL },
        { "a slot counts the time without a step of its queue task [A6]", time_without_a_step, setup_slices, teardown,
          NULL },
        { "a stop drains, in slices [A5]", stop_drains, setup_slices, teardown, NULL },
        { "a stop drains, on threads [A5]", stop_drains, setup_threads, teardown, NULL },
        { "kills, stops and faults at random points, in slices [A5]", random_commands, setup_slices, teardown, NULL },
        { "kills, stops and faults at random points, on threads [A5]", random_commands, setup_threads, teardown, NULL },
        { "a faulting task ends with one fault event, in slices [A9]", fault_kills_with_one_event, setup_slices,
          teardown, NULL },
        { "a faulting task ends with one fault event, on threads [A9]", fault_kills_with_one_event, setup_threads,
          teardown, NULL },
        { "a full fault ring stalls the warp [A9]", full_fault_ring_stalls, setup_slices, teardown, NULL },
        { "starting a busy slot is a device error [A5]", busy_slot_is_an_error, setup_slices, teardown, NULL },
        { "local memory bounds the CTAs at once, in slices [A7]", local_memory_bounds_residency, setup_slices, teardown,
          NULL },
        { "local memory bounds the CTAs at once, on threads [A7]", local_memory_bounds_residency, setup_threads,
          teardown, NULL },
        { "no two CTAs share local memory [A7]", local_backings_are_distinct, setup_slices, teardown, NULL },
        { "the room of CTAs is free before their ends are told [A6]", ends_are_held, NULL, NULL, NULL },
        { "CTAs spread over the SMs [A8]", ctas_spread, NULL, NULL, NULL },
        { "tasks spread over the SMs, room permitting [A8]", tasks_spread, NULL, NULL, NULL },
        { "CTAs spread over the GPCs [A1][A8]", gpcs_share_alike, NULL, NULL, NULL },
        { "a co-resident grid that cannot fit is refused [A11]", gangs_that_cannot_fit, setup_slices, teardown, NULL },
        { "a co-resident grid gets room for all or for none", gangs_get_all_or_nothing, NULL, NULL, NULL },
        { "a co-resident grid that gives up leaves room [A5]", gangs_that_give_up, NULL, NULL, NULL },
        { "co-resident grids among others, in slices [A5]", gangs_among_others, setup_slices, teardown, NULL },
        { "co-resident grids among others, on threads [A5]", gangs_among_others, setup_threads, teardown, NULL },
        { "CTA numbers of huge grids [A6]", numbers_of_huge_grids, NULL, NULL, NULL },
        { "a queue task parks when its queue is empty [A6]", a_queue_parks_when_it_is_empty, setup_slices, teardown,
          NULL },
        { "a queue task parks when its queue is empty, threads [A6]", a_queue_parks_when_it_is_empty, setup_threads,
          teardown, NULL },
        { "a queue grows while its task runs, each CTA once [A6]", a_queue_grows, setup_slices, teardown, NULL },
        { "a queue grows while its task runs, each CTA once, threads [A6]", a_queue_grows, setup_threads, teardown,
          NULL },
        { "a grid has no limit [A6]", the_limit_of_a_grid_stays, setup_slices, teardown, NULL },
        { "the largest grid starts and is killed [A6]", a_huge_grid_runs_and_is_killed, setup_slices, teardown, NULL },
        { "a bad TMD copy is refused with its reason [A11]", bad_copies_are_refused, setup_slices, teardown, NULL },
        { "a TMD copy at a bad place is refused [A11]", bad_tmd_offsets_are_refused, setup_slices, teardown, NULL },
        { "a CTA too large for this machine is refused [A11]", too_large_for_this_machine, NULL, NULL, NULL },
        { "scribbled TMD copies do no harm, in slices [A11]", scribbled_copies, setup_slices, teardown, NULL },
        { "scribbled TMD copies do no harm, on threads [A11]", scribbled_copies, setup_threads, teardown, NULL },
        { "every flush is answered in order, in slices [A9]", flushes_are_answered, setup_slices, teardown, NULL },
        { "every flush is answered in order, on threads [A9]", flushes_are_answered, setup_threads, teardown, NULL },
        { "reset under load, in slices", reset_under_load, setup_slices, teardown, NULL },
        { "reset under load, on threads", reset_under_load, setup_threads, teardown, NULL },
        { "pause stands still, in slices", pause_stands_still, setup_slices, teardown, NULL },
        { "pause stands still, on threads", pause_stands_still, setup_threads, teardown, NULL },
    };

    return cmocka_run_group_tests_name("device core: slots", tests, NULL, NULL);
}
