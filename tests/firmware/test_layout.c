/* SPDX-License-Identifier: MIT */
/* Tests the layout of VRAM, and which machines the firmware refuses to serve. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "firmware/caps.h"
#include "firmware/layout.h"
#include "ppu/macros.h"
#include "ppu/token.h"
#include "tests/firmware/mock_hal.h"

static const struct {
    uint32_t reg;
    uint32_t value;
} bad_machines[] = {
    { PPU_REG_VRAM_SIZE_LO, 8 * PPU_MIB },
    { PPU_REG_CHANNELS, 0 },
    { PPU_REG_CHANNELS, PPU_MAX_CHANNELS + 1 },
    { PPU_REG_CONTEXTS, 0 },
    { PPU_REG_CONTEXTS, 257 },
    { PPU_REG_SLOTS, 0 },
    { PPU_REG_SLOTS, 65 },
    { PPU_REG_VECTORS, 1 },
    { PPU_REG_ARMED, MOCK_CHANNELS - 1 },
    { PPU_REG_SMS, 0 },
    { PPU_REG_SMS, PPU_MAX_SMS + 1 },
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
    /* A large machine needs more VRAM. */
    mock_reset();
    mock.reg[PPU_REG_VRAM_SIZE_LO / 4] = 16 * PPU_MIB;
    assert_int_equal(caps_init(), 0);
    mock.reg[PPU_REG_SMS / 4] = 65;
    assert_int_equal(caps_init(), PPU_REG_VRAM_SIZE_LO);
    mock.reg[PPU_REG_VRAM_SIZE_LO / 4] = 32 * PPU_MIB;
    assert_int_equal(caps_init(), 0);
}

/* For the smallest VRAM and more, on the smallest and the largest machine: no overlap, all aligned, room for the
 * heap. */
static void layouts(void **state)
{
    (void)state;
    for (uint32_t shift = 24; shift <= 40; shift++) {
        for (uint32_t large = 0; large < 2; large++) {
            if (large && 1ull << shift < PPU_MIN_VRAM(PPU_MAX_SMS, PPU_MAX_CHANNELS)) {
                continue;
            }
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
#define TEST(name, function)                            \
    {                                                   \
        name, function, mock_setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("a machine the firmware cannot serve is named by its register [A1]", machines_it_cannot_serve),
        TEST("the layout fits every machine [A1]", layouts),
    };
    return cmocka_run_group_tests_name("firmware: layout", tests, NULL, NULL);
}
