/* SPDX-License-Identifier: MIT */
/* Counts basic blocks of wdu.c, tmu.c and the mock in a launch that finds no free slot: they grow as the slots do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/firmware/stream.h"

#define TMD_VA (MOCK_MEMORY_VA + 0xf0000)

static uint32_t blocks;

/* Called by what is compiled with -fsanitize-coverage=trace-pc, which this file is not. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

static void launch(struct stream *s, uint32_t correlation, uint32_t priority)
{
    struct ppu_tmd tmd = mock_tmd(correlation);
    tmd.priority = (uint8_t)priority;
    stream_launch(s, TMD_VA, &tmd, PPU_STREAM_NONE);
    stream_submit(s);
}

/* Each slot has a task that is the only one of its context and so keeps it, while one of a higher priority is ready. */
static uint32_t blocks_of_launch(uint32_t slots, uint32_t priority)
{
    mock_start_with_slots(slots, slots + 1);
    struct stream last = { 0 };
    for (uint32_t i = 0; i <= slots; i++) {
        last = stream_open(mock_context(), 0, 32, PPU_PRIORITIES - 1, 0);
        if (i == 0) {
            launch(&last, 1000, 0); /* was there, and counts no more */
            mock_slot_event(0, PPU_SLOT_DONE, 0);
            mock_settle();
        }
        if (i < slots) {
            launch(&last, 1 + i, 1);
        }
    }
    assert_int_equal(mock.started, slots + 1);
    blocks = 0;
    launch(&last, 1001, priority);
    uint32_t count = blocks;
    assert_int_equal(mock.started, slots + 1);
    for (uint32_t i = 0; i < slots; i++) {
        assert_int_equal(mock.slot_command[i], 0);
    }
    mock_stop();
    return count;
}

static void nobody_gives_way(void **state)
{
    (void)state;
    uint32_t at_15 = blocks_of_launch(15, 2), at_30 = blocks_of_launch(30, 2), at_60 = blocks_of_launch(60, 2);
    assert_true(at_30 > at_15);
    assert_in_range(at_60 - at_30, 1, 2 * (at_30 - at_15));
}

static void nobody_is_below(void **state)
{
    (void)state;
    assert_int_equal(blocks_of_launch(60, 1), blocks_of_launch(15, 1));
}

int main(void)
{
#define TEST(name, function)             \
    {                                    \
        name, function, NULL, NULL, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("a launch when no slot is free takes at most as much more as there are more slots [A5]", nobody_gives_way),
        TEST("it takes the same with any number of slots when no task is below it [A5]", nobody_is_below),
    };
    return cmocka_run_group_tests_name("firmware: bounds", tests, NULL, NULL);
}
