/* SPDX-License-Identifier: MIT */
/* Tests the handler of token queues that have come to an end of their space: where each goes, and that it counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/firmware/mock_hal.h"

/* Queues at either end of their space, with room wanted before or behind; the last ones are nearly full. */
static const struct ppu_token_event events[] = {
    { .sm = 0, .warp = 0, .first = 0, .count = 3, .entries = 128, .front = 1 },
    { .sm = 3, .warp = 63, .first = 125, .count = 3, .entries = 128, .back = 1 },
    { .sm = 1, .warp = 7, .first = 0, .count = 4, .entries = 9, .front = 2 },
    { .sm = 63, .warp = 1, .first = 0, .count = 7, .entries = 8, .front = 1 },
    { .sm = 2, .warp = 255, .first = 1, .count = 7, .entries = 8, .back = 1 },
};

static void queues_go_to_the_middle(void **state)
{
    (void)state;
    mock_start();
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(events); i++) {
        const struct ppu_token_event *event = &events[i];

        mock_push(PPU_RING_TOKEN, event);
        mock_settle();
        const uint32_t move = mock.reg[PPU_REG_TOKEN_MOVE / 4], first = PPU_TOKEN_MOVE_FIRST(move);
        assert_int_equal(PPU_TOKEN_MOVE_SM(move), event->sm);
        assert_int_equal(PPU_TOKEN_MOVE_WARP(move), event->warp);
        const uint32_t behind = event->entries - event->count - first;
        assert_true(first >= event->front && behind >= event->back);
        assert_true(first - event->front == behind || first + 1 - event->front == behind);
        assert_int_equal(mock_query(PPU_KEY_RECENTRED, 0), i + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a token queue goes to the middle of its space, and is counted [E7]", queues_go_to_the_middle, mock_setup,
          mock_teardown, NULL },
    };

    return cmocka_run_group_tests_name("firmware: token queues", tests, NULL, NULL);
}
