/* SPDX-License-Identifier: MIT */
/*
 * Tests warps that wait until the firmware has moved their token queue (E7): while they wait they are killed, saved,
 * put into snapshots, and given answers that do not help.
 */
#include "ppu/macros.h"
#include "tests/engine/rig.h"

#include <string.h>

#define SAVE_AT 0x200000u
#define SAVE_STRIDE 0x14000u
#define TURNS 600u /* of a thread: many more than tests let its warp wait */
#define TOKENS 4u
#define STEPS 10000u

/* Two halves of each warp yield to each other, and a queue of TOKENS entries comes to its end at every second yield. */
static struct ppu_tmd start(struct rig *rig, uint32_t ctas, uint32_t threads)
{
    const uint64_t params[2] = { DATA_VA, TURNS };

    rig_load_file(rig, "exchange");
    struct ppu_tmd tmd = rig_tmd(rig, "exchange");
    tmd.token_count = TOKENS;
    tmd.save_vram = SAVE_AT;
    tmd.save_bytes = SAVE_STRIDE;
    tmd.save_count = (uint8_t)ctas;
    rig_shape(&tmd, ctas, 1, threads, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    memset(rig_data(rig, 0), 0, ctas * threads * sizeof(uint32_t));
    memset(rig->board->vram + SAVE_AT, 0, ctas * SAVE_STRIDE);
    mcu_write(rig->board, PPU_REG_TOKEN_HANDLER, PPU_TOKEN_BY_FIRMWARE);
    rig_start(rig, 0, &tmd);
    return tmd;
}

static void check_results(struct rig *rig, uint32_t threads)
{
    const uint32_t *out = rig_data(rig, 0);

    for (uint32_t i = 0; i < threads; i++) {
        assert_int_equal(out[i], TURNS);
    }
}

/* The next warp that asks, which gets no answer. */
static struct ppu_token_event next_asked(struct rig *rig)
{
    struct ppu_token_event event = { .sm = 0 };

    rig->silent = true;
    for (uint32_t i = 0; i < STEPS; i++) {
        if (ring_pop(rig->board, PPU_RING_TOKEN, &event)) {
            return event;
        }
        rig_step(rig);
    }
    fail_msg("no warp asked");
    return event;
}

static void answer(struct rig *rig, const struct ppu_token_event *event, uint32_t first)
{
    mcu_write(rig->board, PPU_REG_TOKEN_MOVE, PPU_TOKEN_MOVE(event->sm, event->warp, first));
}

static void events_tell_what_is_wanted(void **state)
{
    struct rig *rig = *state;

    start(rig, 1, 32);
    const struct ppu_token_event event = next_asked(rig);
    assert_true(event.sm < rig->board->config.sms && event.warp < rig->board->config.sm_warps);
    assert_int_equal(event.entries, TOKENS);
    assert_int_equal(event.first + event.count, TOKENS);
    assert_int_equal(event.front, 0);
    assert_int_equal(event.back, 1);
    assert_int_equal(event.slot, 0);
    assert_int_equal(event.context, CONTEXT);
    assert_int_equal(event.correlation, 77);
    answer(rig, &event, 0);
    rig->silent = false;
    rig_done(rig);
    check_results(rig, 32);
    assert_true(rig->recentred > TURNS / 2);
}

static void waiting_warps_are_killed(void **state)
{
    struct rig *rig = *state;
    struct outcome outcome;

    start(rig, 3, 100);
    const struct ppu_token_event event = next_asked(rig);
    rig_command(rig, 0, PPU_SLOT_CMD_KILL);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
    answer(rig, &event, 1); /* nobody waits for it any more */
    rig->silent = false;
    start(rig, 3, 100);
    rig_done(rig);
    check_results(rig, 300);
}

/* Saved while they wait, at other places afterwards: they ask again. */
static void waiting_warps_are_saved(void **state)
{
    struct rig *rig = *state;
    struct outcome outcome = { .faulted = false };

    start(rig, 3, 100);
    for (uint32_t i = 0; i < 20; i++) {
        (void)next_asked(rig);
        rig_command(rig, 0, PPU_SLOT_CMD_SAVE);
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_STOPPED);
        mcu_write(rig->board, PPU_REG_SLOT_START, TMD_AT(0));
        board_settle(rig->board);
        rig->silent = false;
        rig_step(rig);
    }
    rig_done(rig);
    check_results(rig, 300);
}

/* The event, the answer, or both are left behind in the machine that was. */
static void waiting_warps_move(void **state)
{
    struct rig *rig = *state;

    start(rig, 3, 100);
    for (uint32_t i = 0; i < 30; i++) {
        const struct ppu_token_event event = next_asked(rig);

        if (i % 3 == 0) {
            answer(rig, &event, 1);
        }
        *state = rig = rig_moved(rig);
        if (i % 3 == 1) {
            answer(rig, &event, 1);
        }
        rig_step(rig);
    }
    rig_done(rig);
    check_results(rig, 300);
}

static void answers_that_do_not_help(void **state)
{
    static const uint32_t firsts[] = { 0xffff, TOKENS, TOKENS + 1, 3 };
    struct rig *rig = *state;

    start(rig, 1, 32);
    struct ppu_token_event event = next_asked(rig);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(firsts); i++) {
        answer(rig, &event, firsts[i]);
        const struct ppu_token_event again = next_asked(rig);
        assert_int_equal(again.count, event.count);
        assert_int_equal(again.first + again.count, TOKENS);
        event = again;
    }
    const struct ppu_token_event nobody[] = {
        { .sm = rig->board->config.sms }, { .sm = 255 }, { .warp = rig->board->config.sm_warps }, { .warp = 255 }
    };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(nobody); i++) {
        answer(rig, &nobody[i], 1);
        assert_int_equal(mcu_read(rig->board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_ARG);
        mcu_write(rig->board, PPU_REG_DEVICE_ERROR, PPU_DEVERR_ARG);
    }
    for (uint32_t warp = 0; warp < rig->board->config.sm_warps; warp++) { /* nobody has asked there */
        const struct ppu_token_event other = { .sm = 1, .warp = warp };
        answer(rig, &other, 2);
    }
    answer(rig, &event, 1);
    rig->silent = false;
    rig_done(rig);
    check_results(rig, 32);
}

/* More warps than the ring has entries: those that find it full ask later. */
static void warps_wait_for_room_in_the_ring(void **state)
{
    struct rig *rig = *state;

    start(rig, 6, 256);
    const struct ppu_token_event event = next_asked(rig);
    for (uint32_t i = 0; i < 50; i++) {
        rig_step(rig);
    }
    answer(rig, &event, 1);
    rig->silent = false;
    rig_done(rig);
    check_results(rig, 6 * 256);
}

static void the_sm_takes_over(void **state)
{
    struct rig *rig = *state;

    start(rig, 3, 100);
    (void)next_asked(rig);
    mcu_write(rig->board, PPU_REG_TOKEN_HANDLER, PPU_TOKEN_BY_SM);
    rig_done(rig);
    check_results(rig, 300);
    assert_int_equal(rig->recentred, 0);
}

#define recentre_test(name, function)                                             \
    { name ", in slices [E7]", function, rig_setup_slices, rig_teardown, NULL },  \
    {                                                                             \
        name ", on threads [E7]", function, rig_setup_threads, rig_teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        recentre_test("the event tells what room is wanted, and where", events_tell_what_is_wanted),
        recentre_test("warps that wait for their tokens are killed", waiting_warps_are_killed),
        recentre_test("they are saved, and ask again", waiting_warps_are_saved),
        recentre_test("they are put into snapshots, and ask again", waiting_warps_move),
        recentre_test("answers that do not help change nothing", answers_that_do_not_help),
        recentre_test("warps wait for room in the token ring", warps_wait_for_room_in_the_ring),
        recentre_test("the SM takes over while they wait", the_sm_takes_over),
    };

    return cmocka_run_group_tests_name("engine: recentre", tests, NULL, NULL);
}
