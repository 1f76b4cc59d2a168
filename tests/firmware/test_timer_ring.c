/* SPDX-License-Identifier: MIT */
/* Timers and event rings against models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/caps.h"
#include "firmware/layout.h"
#include "firmware/log.h"
#include "firmware/ring.h"
#include "firmware/timer.h"
#include "ppu/macros.h"
#include "ppu/token.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/random.h"

static int setup(void **state)
{
    (void)state;
    mock_reset();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mock_stop();
    return 0;
}

/* ---- Timers. ---- */

#define MODEL_TIMERS 200u

static struct timer timers[MODEL_TIMERS];
static uint64_t model_deadline[MODEL_TIMERS]; /* 0: not running */
static uint64_t last_fired_ns;

static void fired(struct timer *timer)
{
    uint64_t *deadline = &model_deadline[timer - timers];
    assert_int_not_equal(*deadline, 0);
    assert_true(*deadline <= mock.now_ns);
    assert_true(*deadline >= last_fired_ns);
    last_fired_ns = *deadline;
    *deadline = 0;
}

static uint64_t hardware_deadline(void)
{
    return mock.reg[PPU_REG_TIMER_LO / 4] | (uint64_t)mock.reg[PPU_REG_TIMER_HI / 4] << 32;
}

static uint64_t model_first(void)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < MODEL_TIMERS; i++) {
        first = model_deadline[i] && model_deadline[i] < first ? model_deadline[i] : first;
    }
    return first;
}

/* Time begins so that the low half of the clock wraps on the way. */
static void timers_fire_in_order(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    memset(timers, 0, sizeof(timers));
    memset(model_deadline, 0, sizeof(model_deadline));
    for (uint32_t i = 0; i < MODEL_TIMERS; i++) {
        timers[i].fire = fired;
    }
    timers_init();
    mock.now_ns = 0xfff00000ull;
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t n = random_below(&seed, MODEL_TIMERS);
        switch (random_below(&seed, 4)) {
        case 0:
        case 1: {
            uint64_t delay = 1 + random_below(&seed, 10000);
            timer_start(&timers[n], delay);
            model_deadline[n] = mock.now_ns + delay;
            break;
        }
        case 2:
            timer_stop(&timers[n]);
            model_deadline[n] = 0;
            break;
        default:
            mock.now_ns += random_below(&seed, 500);
            if (mock.now_ns >= hardware_deadline()) {
                last_fired_ns = 0;
                while (timers_run(16)) {
                }
                assert_true(model_first() > mock.now_ns);
            }
            break;
        }
        assert_true(hardware_deadline() <= model_first());
    }
    assert_true(mock.now_ns > UINT32_MAX);
}

static void a_timer_fires_a_bounded_number(void **state)
{
    (void)state;
    memset(timers, 0, sizeof(timers));
    memset(model_deadline, 0, sizeof(model_deadline));
    timers_init();
    for (uint32_t i = 0; i < 20; i++) {
        timers[i].fire = fired;
        timer_start(&timers[i], 10);
        model_deadline[i] = mock.now_ns + 10;
    }
    mock.now_ns += 10;
    last_fired_ns = 0;
    assert_true(timers_run(16));
    assert_true(model_first() <= mock.now_ns);
    assert_false(timers_run(16));
    assert_int_equal(model_first(), UINT64_MAX);
}

/* ---- Event rings. ---- */

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

/* ---- Start. ---- */

static const struct {
    uint32_t reg;
    uint32_t value;
} bad_machines[] = {
    { PPU_REG_VRAM_SIZE_LO, 8 * PPU_MIB },
    { PPU_REG_CHANNELS, 0 },
    { PPU_REG_CHANNELS, 1025 },
    { PPU_REG_CONTEXTS, 0 },
    { PPU_REG_CONTEXTS, 257 },
    { PPU_REG_SLOTS, 0 },
    { PPU_REG_SLOTS, 65 },
    { PPU_REG_VECTORS, 1 },
    { PPU_REG_ARMED, MOCK_CHANNELS - 1 },
    { PPU_REG_SMS, 0 },
    { PPU_REG_SM_WARPS, 0 },
    { PPU_REG_COPIES, 0 },
};

static void machines_it_cannot_serve(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bad_machines); i++) {
        mock_reset();
        mock.reg[bad_machines[i].reg / 4] = bad_machines[i].value;
        assert_int_equal(caps_init(), bad_machines[i].reg);
    }
}

/* For the smallest VRAM and more, on the smallest and the largest machine: no overlap, all aligned, room for the
 * heap. */
static void layouts(void **state)
{
    (void)state;
    for (uint32_t shift = 24; shift <= 40; shift++) {
        for (uint32_t large = 0; large < 2; large++) {
            mock_reset();
            assert_int_equal(caps_init(), 0);
            caps.vram_bytes = 1ull << shift;
            caps.channels = large ? PPU_MAX_CHANNELS : 1;
            caps.contexts = large ? PPU_MAX_CONTEXTS : 1;
            caps.slots = large ? PPU_MAX_SLOTS : 1;
            caps.sms = large ? PPU_MAX_SMS : 1;
            layout_init();
            assert_int_equal(layout.tasks, TASK_RECORDS);
            assert_in_range(layout.nest_tasks, NEST_RECORDS_MIN, NEST_RECORDS_MAX);
            assert_true(layout.tmds.off + layout.tasks * TMD_STRIDE <= layout.params.off);
            assert_true(layout.params.off + layout.tasks * PPU_MAX_PARAM <= layout.pt_base.off);
            assert_true(layout.params.off + layout.tasks * PPU_MAX_PARAM <= layout.tokens.off);
            assert_int_equal(layout.tokens.off % PPU_TOKEN_ALIGN, 0);
            assert_true(layout.sm_tokens >= ppu_token_bytes(PPU_MAX_CTA_THREADS / PPU_LANES, 0));
            assert_true(layout.tokens.off + caps.sms * layout.sm_tokens <= layout.pt_base.off);
            assert_int_equal(layout.pt_base.off % 4096, 0);
            assert_true(layout.pt_bytes >= 2 * PPU_MIB);
            assert_true(layout.pt_base.off + layout.pt_bytes <= layout.prot_limit);
            assert_int_equal(layout.prot_limit % (64 * PPU_KIB), 0);
            assert_int_equal(layout.heap_base % (2 * PPU_MIB), 0);
            assert_true(layout.heap_base <= caps.vram_bytes / 2 + 4 * PPU_MIB);
            for (uint32_t i = 0; i < PPU_RING_COUNT; i++) {
                assert_int_equal(layout.ring_entries[i] & (layout.ring_entries[i] - 1), 0);
                assert_int_equal(layout.ring[i].off % 64, 0);
            }
        }
    }
}

int main(void)
{
#define TEST(name, function)                  \
    {                                         \
        name, function, setup, teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("timers fire in order, once, across the wrap of the low half [C8]", timers_fire_in_order),
        TEST("timers fire a bounded number at once [C8]", a_timer_fires_a_bounded_number),
        TEST("event rings keep order and lose nothing [A5]", rings_keep_order),
        TEST("a corrupted tail is survived and told [A5]", corrupted_tail),
        TEST("a machine the firmware cannot serve is named by its register [A1]", machines_it_cannot_serve),
        TEST("the layout fits every machine [A1]", layouts),
    };
    return cmocka_run_group_tests_name("firmware: parts", tests, NULL, NULL);
}
