/* SPDX-License-Identifier: MIT */
/*
 * Tests CTAs that are saved and restored: when all their threads wait for children, and when their slot is evicted.
 * The test plays the firmware.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include "tests/engine/rig.h"

#include "ppu/save.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAVE_AT 0x200000u
#define SAVE_STRIDE 0x14000u
#define PLACES 8u
#define CTAS 23u
#define THREADS 70u /* unless a test says something else */
#define OUT_AT 0u
#define COUNT_AT 0x100000u
#define STEPS_MAX 100000u

static uint32_t cta_threads;

static int setup_slices(void **state)
{
    cta_threads = THREADS;
    *state = rig_new(0);
    rig_load_file(*state, "save");
    return 0;
}

static int setup_threads(void **state)
{
    cta_threads = THREADS;
    *state = rig_new(2);
    rig_load_file(*state, "save");
    return 0;
}

static struct ppu_tmd *tmd_copy(struct rig *rig)
{
    return (struct ppu_tmd *)(void *)(rig->board->vram + TMD_AT(0));
}

static struct ppu_save *place(struct rig *rig, uint32_t n)
{
    return (struct ppu_save *)(void *)(rig->board->vram + SAVE_AT + n * SAVE_STRIDE);
}

/* A grid of CTAS with `places` to be saved in; its results are cleared. */
static struct ppu_tmd task(struct rig *rig, const char *kernel, uint32_t places, uint32_t turns)
{
    struct ppu_tmd tmd = rig_tmd(rig, kernel);
    uint64_t params[] = { DATA_VA + OUT_AT, DATA_VA + COUNT_AT, turns };

    rig_shape(&tmd, CTAS, 1, cta_threads, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    tmd.save_vram = places != 0 ? SAVE_AT : 0;
    tmd.save_bytes = places != 0 ? SAVE_STRIDE : 0;
    tmd.save_count = (uint8_t)places;
    for (uint32_t n = 0; n < PLACES; n++) {
        *place(rig, n) = (struct ppu_save){ .state = PPU_SAVE_FREE };
    }
    memset(rig_data(rig, OUT_AT), 0, CTAS * cta_threads * 4);
    memset(rig_data(rig, COUNT_AT), 0, 4);
    return tmd;
}

static void results_are_right(struct rig *rig)
{
    const uint32_t *out = rig_data(rig, OUT_AT);

    for (uint32_t i = 0; i < CTAS * cta_threads; i++) {
        uint32_t thread = i % cta_threads;
        uint32_t other = i - thread + (thread ^ 1);

        assert_int_equal(out[i], 3 * i + (thread & 1 ? 10 : 1) + other + i);
    }
    assert_int_equal(*(const uint32_t *)rig_data(rig, COUNT_AT), CTAS * cta_threads);
}

/* The slot's next event, without a fault. */
static struct ppu_slot_event next_event(struct rig *rig)
{
    struct outcome outcome;

    assert_true(rig_wait(rig, 0, &outcome));
    if (outcome.faulted) {
        fail_msg("fault 0x%x at %u", outcome.fault.code, (unsigned)((outcome.fault.pc - CODE_VA) / PPU_INSN_BYTES));
    }
    return outcome.event;
}

static void start_again(struct rig *rig, bool resume)
{
    tmd_copy(rig)->resume = resume;
    mcu_write(rig->board, PPU_REG_SLOT_START, TMD_AT(0));
    board_settle(rig->board);
}

static void come_back(struct rig *rig)
{
    for (uint32_t places = 1; places <= PLACES; places++) {
        struct ppu_tmd tmd = task(rig, "waits", places, 0);
        uint32_t parked = 0, told = 0;
        struct ppu_slot_event event;

        rig_start(rig, 0, &tmd);
        while ((event = next_event(rig)).kind != PPU_SLOT_DONE) {
            assert_true(event.kind == PPU_SLOT_WAITS || event.kind == PPU_SLOT_PARKED);
            parked += event.kind == PPU_SLOT_PARKED;
            told += event.kind == PPU_SLOT_WAITS;
            assert_true(parked + told < STEPS_MAX);
            if (event.kind == PPU_SLOT_PARKED) {
                assert_int_equal(mcu_read(rig->board, PPU_REG_SLOT_STATE), PPU_SLOT_FREE);
                start_again(rig, true);
            } else {
                mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_RESUME);
                board_settle(rig->board);
            }
        }
        assert_true(event.ctas_done == CTAS);
        assert_true(places > 1 || parked == 2 * CTAS);
        results_are_right(rig);
    }
}

static void waiting_ctas_come_back(void **state)
{
    come_back(*state);
    cta_threads = 64; /* whole warps, which begin together */
    come_back(*state);
}

/* Nobody answers: every place is taken, the slot is given back, and nothing more of the task runs. */
static void waiting_ctas_give_back_their_slot(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = task(rig, "waits", 3, 0);
    struct ppu_slot_event event;

    rig_start(rig, 0, &tmd);
    while ((event = next_event(rig)).kind == PPU_SLOT_WAITS) {
    }
    assert_int_equal(event.kind, PPU_SLOT_PARKED);
    assert_true(tmd_copy(rig)->next_cta == 3 && tmd_copy(rig)->ctas_done == 0);
    for (uint32_t n = 0; n < PLACES; n++) {
        assert_int_equal(place(rig, n)->state, n < 3 ? PPU_SAVE_WAITING : PPU_SAVE_FREE);
        assert_true(n >= 3 || place(rig, n)->len_bytes <= SAVE_STRIDE - sizeof(struct ppu_save));
    }
    /* Started without leave to go on they stay where they are. */
    start_again(rig, false);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_PARKED);
}

static void command(struct rig *rig, enum ppu_slot_command command)
{
    rig_command(rig, 0, command);
    board_settle(rig->board);
}

static void linger(struct rig *rig, bool linger)
{
    mcu_write(rig->board, PPU_REG_SLOT_LINGER, linger);
    board_settle(rig->board);
}

/* The CTAs go on when they are let, each time they wait, and the task keeps its slot. */
static void run_lingering(struct rig *rig)
{
    struct ppu_slot_event event;
    uint32_t told = 0;

    while ((event = next_event(rig)).kind != PPU_SLOT_DONE) {
        assert_int_equal(event.kind, PPU_SLOT_WAITS);
        assert_true(++told < STEPS_MAX);
        assert_int_equal(mcu_read(rig->board, PPU_REG_SLOT_STATE), PPU_SLOT_RUNNING);
        command(rig, PPU_SLOT_CMD_RESUME);
    }
    assert_true(event.ctas_done == CTAS);
    results_are_right(rig);
}

static void waiting_ctas_keep_their_slot(void **state)
{
    struct rig *rig = *state;

    linger(rig, true);
    for (uint32_t places = 1; places <= PLACES; places++) {
        struct ppu_tmd tmd = task(rig, "waits", places, 0);

        rig_start(rig, 0, &tmd);
        run_lingering(rig);
    }
}

/* Starts a task of which three CTAs have begun, which wait, and which keeps its slot. */
static void start_lingering(struct rig *rig)
{
    struct ppu_tmd tmd = task(rig, "waits", 3, 0);

    linger(rig, true);
    rig_start(rig, 0, &tmd);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_WAITS);
    board_advance(rig->board, 10000000);
    assert_int_equal(mcu_read(rig->board, PPU_REG_SLOT_STATE), PPU_SLOT_RUNNING);
}

/* A slot that is wanted is given back at once, and those whose CTAs wait later do not keep theirs. */
static void lingering_slots_are_given_back(void **state)
{
    struct rig *rig = *state;

    start_lingering(rig);
    const uint64_t ran_us = mcu_read(rig->board, PPU_REG_SLOT_RUN_US);
    board_advance(rig->board, 10000000);
    assert_true(mcu_read(rig->board, PPU_REG_SLOT_RUN_US) == ran_us);
    linger(rig, false);
    assert_int_equal(mcu_read(rig->board, PPU_REG_SLOT_STATE), PPU_SLOT_FREE);
    struct ppu_slot_event event = next_event(rig);
    assert_int_equal(event.kind, PPU_SLOT_PARKED);
    assert_int_equal(event.arg, 3);
    start_again(rig, false);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_PARKED);
    /* Started without leave to go on they are told of anew. */
    linger(rig, true);
    start_again(rig, false);
    run_lingering(rig);
}

static void lingering_slots_stop_and_are_killed(void **state)
{
    struct rig *rig = *state;

    start_lingering(rig);
    command(rig, PPU_SLOT_CMD_STOP);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_STOPPED);
    start_again(rig, false);
    run_lingering(rig);
    start_lingering(rig);
    command(rig, PPU_SLOT_CMD_SAVE);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_STOPPED);
    start_again(rig, false);
    run_lingering(rig);
    start_lingering(rig);
    command(rig, PPU_SLOT_CMD_KILL);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_KILLED);
}

static void lingering_slots_are_in_snapshots(void **state)
{
    start_lingering(*state);
    *state = rig_moved(*state);
    command(*state, PPU_SLOT_CMD_RESUME);
    run_lingering(*state);
}

/* Between RESUME and the turn of the SM that takes the CTA. */
static void resumed_ctas_are_in_snapshots(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = task(rig, "waits", 1, 0);

    linger(rig, true);
    rig_start(rig, 0, &tmd);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_WAITS);
    rig_command(rig, 0, PPU_SLOT_CMD_RESUME);
    *state = rig_moved(rig);
    run_lingering(*state);
}

/* Evicted again and again, drained or saved, each CTA runs exactly once. */
static void evicted_ctas_come_back(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t round = 0; round < 12; round++) {
        uint32_t places = random_below(&random, PLACES + 1);
        struct ppu_tmd tmd = task(rig, "works", places, 1 + random_below(&random, 60));
        struct ppu_slot_event event;
        struct outcome outcome;

        rig_start(rig, 0, &tmd);
        do {
            uint32_t steps = random_below(&random, 4);

            while (steps-- != 0) {
                board_advance(rig->board, 1 + random_below(&random, 3000));
            }
            mcu_write(rig->board, PPU_REG_SLOT_CONTROL,
                      random_below(&random, 3) ? PPU_SLOT_CMD_SAVE : PPU_SLOT_CMD_STOP);
            assert_true(rig_wait(rig, 0, &outcome));
            assert_false(outcome.faulted);
            event = outcome.event;
            if (event.kind == PPU_SLOT_STOPPED) {
                assert_true(tmd_copy(rig)->ctas_done <= tmd_copy(rig)->next_cta);
                start_again(rig, false);
                if (random_below(&random, 2)) {
                    board_advance(rig->board, 100000);
                }
            }
        } while (event.kind == PPU_SLOT_STOPPED);
        assert_int_equal(event.kind, PPU_SLOT_DONE);
        results_are_right(rig);
    }
}

/* Threads of SMs need the host's time as well: a CTA that none has taken is given back at once. */
static void let_run(struct rig *rig, uint64_t ns)
{
    board_advance(rig->board, ns);
    if (rig->threads != 0) {
        nanosleep(&(struct timespec){ 0, (long)ns }, NULL);
    }
}

/*
 * A CTA leaves behind the section that it is in, whose accesses to system memory are answered meanwhile: that they were
 * taken back, each time, kept it from getting there.
 */
static void evicted_ctas_end_sections_with_system_accesses(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t round = 0; round < 8; round++) {
        struct ppu_tmd tmd = task(rig, "system_section", random_below(&random, PLACES + 1), 0);
        const uint64_t params[] = { SYS_VA, DATA_VA + COUNT_AT, 20 };
        struct outcome outcome = { .event.kind = PPU_SLOT_STOPPED };

        rig_params(rig, 0, &tmd, params, sizeof(params));
        rig_start(rig, 0, &tmd);
        for (uint32_t n = 0; n < STEPS_MAX && outcome.event.kind == PPU_SLOT_STOPPED; n++) {
            let_run(rig, 1 + random_below(&random, 3000));
            mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_SAVE);
            assert_true(rig_wait(rig, 0, &outcome));
            assert_false(outcome.faulted);
            if (outcome.event.kind == PPU_SLOT_STOPPED) {
                start_again(rig, false);
                let_run(rig, 1 + random_below(&random, 100000));
            }
        }
        assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
        assert_int_equal(*(const uint32_t *)rig_data(rig, COUNT_AT), CTAS * cta_threads);
    }
}

static void killed_with_saved_ctas(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = task(rig, "waits", 8, 0);

    rig_start(rig, 0, &tmd);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_WAITS);
    mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
    board_settle(rig->board);
    {
        uint32_t kind = next_event(rig).kind;
        assert_true(kind == PPU_SLOT_KILLED || kind == PPU_SLOT_PARKED);
    }
}

static void scribbled_places(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t round = 0; round < 60; round++) {
        struct ppu_tmd tmd = task(rig, "waits", 2, 0);
        struct ppu_slot_event event;
        struct outcome outcome;
        uint8_t *bytes = (uint8_t *)place(rig, random_below(&random, 2));

        rig_start(rig, 0, &tmd);
        while ((event = next_event(rig)).kind == PPU_SLOT_WAITS) {
        }
        assert_int_equal(event.kind, PPU_SLOT_PARKED);
        bytes[random_below(&random, 1200)] ^= (uint8_t)(1 + random_below(&random, 255));
        start_again(rig, true);
        assert_true(rig_wait(rig, 0, &outcome));
        if (outcome.event.kind != PPU_SLOT_REFUSED && outcome.event.kind != PPU_SLOT_KILLED) {
            mcu_write(rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
            board_settle(rig->board);
            board_advance(rig->board, 1000000);
            (void)ring_pop(rig->board, PPU_RING_SLOT, &event);
        }
    }
    /* A length that is too short is a fault that says where. */
    struct ppu_tmd tmd = task(rig, "waits", 1, 0);
    struct outcome outcome;

    rig_start(rig, 0, &tmd);
    assert_int_equal(next_event(rig).kind, PPU_SLOT_PARKED);
    place(rig, 0)->len_bytes = 100;
    start_again(rig, true);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
    assert_int_equal(outcome.fault.code, PPU_FAULT_SAVE);
    assert_int_equal(outcome.fault.address, SAVE_AT);
}

static void bad_areas_are_refused(void **state)
{
    struct rig *rig = *state;

    for (uint32_t i = 0; i < 6; i++) {
        struct ppu_tmd tmd = task(rig, "waits", 2, 0);

        switch (i) {
        case 0:
            tmd.save_bytes = 4096;
            break;
        case 1:
            tmd.save_vram = MACHINE_VRAM - 4096;
            break;
        case 2:
            tmd.save_vram += 4;
            break;
        case 3:
            tmd.save_count = PPU_SAVE_PLACES + 1;
            break;
        case 4:
            tmd.next_cta = CTAS + 1;
            break;
        default:
            tmd.next_cta = 3;
            tmd.ctas_done = 2;
            break;
        }
        rig_start(rig, 0, &tmd);
        struct ppu_slot_event event = next_event(rig);
        assert_int_equal(event.kind, PPU_SLOT_REFUSED);
        assert_int_equal(event.arg, PPU_FAULT_TMD_SAVE);
    }
}

static void fault_of(struct rig *rig, const char *kernel, uint32_t places, uint16_t code)
{
    struct ppu_tmd tmd = task(rig, "waits", places, 0);
    struct ppu_tmd other = rig_tmd(rig, kernel);

    tmd.entry = other.entry;
    struct outcome outcome = rig_run(rig, &tmd);
    if (!outcome.faulted || outcome.fault.code != code) {
        fail_msg("%s: fault 0x%x, not 0x%x", kernel, outcome.fault.code, code);
    }
}

static void sections_are_short_and_straight(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = rig_tmd(rig, "section_good");

    fault_of(rig, "long_section", 0, PPU_FAULT_SECTION);
    fault_of(rig, "section_yield", 0, PPU_FAULT_SECTION);
    fault_of(rig, "section_barrier", 0, PPU_FAULT_SECTION);
    fault_of(rig, "section_wait", 1, PPU_FAULT_SECTION);
    fault_of(rig, "section_jump", 0, PPU_FAULT_SECTION);
    fault_of(rig, "waits", 0, PPU_FAULT_NO_WAIT);
    rig_run_done(rig, &tmd);
}

/* Whatever the shape of a CTA, what is saved fits what ppu_save_bytes() says. */
static void places_are_large_enough(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t round = 0; round < 20; round++) {
        struct ppu_tmd tmd = task(rig, "waits", 1, 0);
        uint32_t threads = 2 * (1 + random_below(&random, 150));

        rig_shape(&tmd, 1, 1, threads, 1);
        tmd.vregs = (uint16_t)(21 + random_below(&random, 20));
        tmd.token_count = (uint16_t)(8 + random_below(&random, 100));
        tmd.save_bytes =
            (uint32_t)ppu_save_bytes((threads + 31) / 32, 32, 32u * tmd.vregs, tmd.token_count, tmd.shared_bytes);
        rig_start(rig, 0, &tmd);
        struct ppu_slot_event event = next_event(rig);
        assert_int_equal(event.kind, PPU_SLOT_PARKED);
        assert_true(place(rig, 0)->len_bytes + sizeof(struct ppu_save) <= tmd.save_bytes);
    }
}

int main(void)
{
#define SLICES(name, function)                           \
    {                                                    \
        name, function, setup_slices, rig_teardown, NULL \
    }
#define THREADED(name, function)                          \
    {                                                     \
        name, function, setup_threads, rig_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        SLICES("CTAs that wait are saved and come back, in slices [B7 A14]", waiting_ctas_come_back),
        THREADED("CTAs that wait are saved and come back, on threads [B7 A14]", waiting_ctas_come_back),
        SLICES("a task of which every CTA waits gives back its slot [B7 A13]", waiting_ctas_give_back_their_slot),
        SLICES("a task of which every CTA waits keeps a slot nobody wants, in slices [B7]",
               waiting_ctas_keep_their_slot),
        THREADED("the same, on threads [B7]", waiting_ctas_keep_their_slot),
        SLICES("a slot that is wanted is given back at once [B7 A13]", lingering_slots_are_given_back),
        SLICES("a task that keeps its slot can be stopped, saved and killed [A5 B7]",
               lingering_slots_stop_and_are_killed),
        SLICES("a slot of which every CTA waits is in snapshots [B7]", lingering_slots_are_in_snapshots),
        SLICES("CTAs that were let go on are in snapshots [B7]", resumed_ctas_are_in_snapshots),
        SLICES("evicted CTAs run exactly once, in slices [A5 B7]", evicted_ctas_come_back),
        THREADED("evicted CTAs run exactly once, on threads [A5 B7]", evicted_ctas_come_back),
        SLICES("evicted CTAs end critical sections with accesses to system memory, in slices [A5 B7]",
               evicted_ctas_end_sections_with_system_accesses),
        THREADED("the same, on threads [A5 B7]", evicted_ctas_end_sections_with_system_accesses),
        SLICES("a task with saved CTAs can be killed [B7]", killed_with_saved_ctas),
        SLICES("scribbled places do no harm [B7]", scribbled_places),
        SLICES("save areas that cannot be are refused [B7]", bad_areas_are_refused),
        SLICES("critical sections are short and straight [B4]", sections_are_short_and_straight),
        SLICES("a place holds any CTA of its size [B7]", places_are_large_enough),
    };

    return cmocka_run_group_tests_name("engine: saving CTAs", tests, NULL, NULL);
}
