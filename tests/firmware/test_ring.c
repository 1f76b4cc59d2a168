/* SPDX-License-Identifier: MIT */
/* Tests the event rings: their order, and a tail that somebody wrote over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/caps.h"
#include "firmware/layout.h"
#include "firmware/log.h"
#include "firmware/ring.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/random.h"

static struct ppu_ring_header *header_of(enum ppu_ring_id id)
{
    return (struct ppu_ring_header *)(void *)(mock.vram + layout.ring[id].off);
}

static void rings_begin(void)
{
    assert_int_equal(caps_init(), 0);
    layout_init();
    log_init();
    ring_init();
}

static void rings_keep_order(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    rings_begin();
    uint32_t pushed = 0;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        union ring_entry entry;
        uint32_t size = layout.ring_entries[PPU_RING_TOUCH];
        uint32_t burst = random_below(&seed, size + 1);
        for (uint32_t n = 0; n < burst && pushed - taken < size; n++) {
            entry.touch = (struct ppu_touch_event){ .entry = pushed++, .tag = 7 };
            mock_push(PPU_RING_TOUCH, &entry);
        }
        burst = random_below(&seed, size + 1);
        for (uint32_t n = 0; n < burst; n++) {
            bool any = ring_take(PPU_RING_TOUCH, &entry);
            assert_int_equal(any, pushed != taken);
            if (!any) {
                break;
            }
            assert_int_equal(entry.touch.entry, taken++);
            assert_int_equal(header_of(PPU_RING_TOUCH)->head, taken);
        }
    }
}

/* A tail that somebody wrote over gives nothing, is reported, and the ring works on from there. */
static void corrupted_tail(void **state)
{
    (void)state;
    union ring_entry entry = { .slot = { .kind = PPU_SLOT_DONE } };
    rings_begin();
    struct ppu_ring_header *header = header_of(PPU_RING_SLOT);
    static const uint32_t tails[] = { 0x80000000, UINT32_MAX, 100000 };
    for (uint32_t i = 0; i < 3; i++) {
        header->tail = tails[i];
        assert_false(ring_take(PPU_RING_SLOT, &entry));
        assert_int_equal(header->head, tails[i]);
        mock_push(PPU_RING_SLOT, &entry);
        assert_true(ring_take(PPU_RING_SLOT, &entry));
        assert_false(ring_take(PPU_RING_SLOT, &entry));
    }
    assert_non_null(strstr(mock.log, "ring 1"));
}

int main(void)
{
#define TEST(name, function)                            \
    {                                                   \
        name, function, mock_setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("event rings keep order and lose nothing [A5]", rings_keep_order),
        TEST("a corrupted tail is survived and told [A5]", corrupted_tail),
    };
    return cmocka_run_group_tests_name("firmware: event rings", tests, NULL, NULL);
}
