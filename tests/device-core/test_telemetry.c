/* SPDX-License-Identifier: MIT */
/* Tests the state area: what the device writes there, when, and that it writes nowhere else, whatever the area says. */
#include "tests/device-core/board.h"

#include <string.h>

#include "ppu/macros.h"
#include "ppu/state.h"

#define AREA_AT (PROT_LIMIT - 0x10000u)
#define ROWS_AT (AREA_AT + (uint32_t)sizeof(struct ppu_state))
#define ROW_BYTES 16u
#define ROW_COUNT 4u
#define MARK 0x5au

static struct ppu_state *area_of(struct board *board)
{
    return (void *)(board->vram + AREA_AT);
}

static int setup(void **state)
{
    const struct core_config config = board_small_config(0);
    struct board *board = board_new(&config);

    board_boot(board);
    memset(area_of(board), 0, 0x10000);
    area_of(board)->table[0] = (struct ppu_state_table){ 0, PPU_MCU_DTCM + 64, ROWS_AT, ROW_COUNT, ROW_BYTES };
    memset(board->mcu + 64, MARK, ROW_BYTES * ROW_COUNT);
    mcu_write(board, PPU_REG_STATE_BASE, AREA_AT);
    *state = board;
    return 0;
}

static int teardown(void **state)
{
    board_free(*state);
    return 0;
}

static void check_gpcs(struct board *board, const struct ppu_telemetry *told)
{
    const uint32_t gpcs = host_read(board, PPU_REG_GPCS), each = host_read(board, PPU_REG_SMS) / gpcs;

    assert_int_equal(told->device[PPU_TELEMETRY_DEVICE_GPCS], gpcs);
    for (uint32_t i = 0; i < gpcs; i++) {
        uint64_t ctas = 0;

        for (uint32_t sm = i * each; sm < (i + 1) * each; sm++) {
            ctas += told->sm[sm][PPU_TELEMETRY_SM_CTAS];
        }
        assert_int_equal(told->gpc[i][PPU_TELEMETRY_GPC_CTAS], ctas);
        assert_int_equal(told->gpc[i][PPU_TELEMETRY_GPC_L15_HITS],
                         host_read(board, PPU_REG_GPC_L15_HITS_LO + 4 * i) |
                             (uint64_t)host_read(board, PPU_REG_GPC_L15_HITS_HI + 4 * i) << 32);
        assert_int_equal(told->gpc[i][PPU_TELEMETRY_GPC_TLB_MISSES],
                         host_read(board, PPU_REG_GPC_TLB_MISSES_LO + 4 * i) |
                             (uint64_t)host_read(board, PPU_REG_GPC_TLB_MISSES_HI + 4 * i) << 32);
        assert_true(told->gpc[i][PPU_TELEMETRY_GPC_L15_MISSES] > told->gpc[i][PPU_TELEMETRY_GPC_L15_HITS]);
    }
}

static void by_register(void **state)
{
    struct board *board = *state;
    const struct ppu_state *area = area_of(board);
    const struct ppu_telemetry *told = &area->telemetry;

    host_write(board, PPU_REG_STATE_UPDATE, 1);
    assert_int_equal(area->sequence, 2);
    assert_int_equal(told->device[PPU_TELEMETRY_DEVICE_SMS], host_read(board, PPU_REG_SMS));
    assert_int_equal(told->device[PPU_TELEMETRY_DEVICE_SM_WARPS], host_read(board, PPU_REG_SM_WARPS));
    assert_true(told->device[PPU_TELEMETRY_DEVICE_HOST_NS] > 0);
    assert_int_equal(told->device[PPU_TELEMETRY_DEVICE_THREADS], 0);
    for (uint32_t i = 0; i < host_read(board, PPU_REG_SMS); i++) {
        assert_int_equal(told->sm[i][PPU_TELEMETRY_SM_BUSY_NS], 1000 + i);
        assert_int_equal(told->sm[i][PPU_TELEMETRY_SM_CTAS], i);
    }
    check_gpcs(board, told);
    for (uint32_t i = 0; i < ROW_BYTES * ROW_COUNT; i++) {
        assert_int_equal(board->vram[ROWS_AT + i], MARK);
    }
    assert_int_equal(board->vram[ROWS_AT + ROW_BYTES * ROW_COUNT], 0);
    host_write(board, PPU_REG_STATE_UPDATE, 1);
    assert_int_equal(area->sequence, 4);
    assert_int_equal(board->guest_errors, 0);
}

static void by_asking(void **state)
{
    struct board *board = *state;
    struct ppu_state *area = area_of(board);

    assert_false(core_show(board->core));
    assert_int_equal(area->sequence, 0);
    area->asked = 7;
    assert_true(core_show(board->core));
    assert_int_equal(area->answered, 7);
    assert_int_equal(area->sequence, 2);
    assert_false(core_show(board->core));
}

/* A slot that runs shows its state, and its CTAs. */
static void slots(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(1, 1, 1, 32);

    start_task(board, 3, &tmd);
    host_write(board, PPU_REG_STATE_UPDATE, 1);
    const uint64_t *slot = area_of(board)->telemetry.slot[3];
    assert_int_equal(slot[PPU_TELEMETRY_SLOT_STATE], mcu_read(board, PPU_REG_SLOT_STATE + 4 * 3));
    assert_int_not_equal(slot[PPU_TELEMETRY_SLOT_STATE], area_of(board)->telemetry.slot[2][PPU_TELEMETRY_SLOT_STATE]);
}

/* Neither without an area, nor at a place outside the protected range, nor from outside the MCU's memory. */
static void bad_offsets(void **state)
{
    static const struct ppu_state_table bad[] = {
        { 0, PPU_MCU_DTCM + 64, HEAP_AT, ROW_COUNT, ROW_BYTES },
        { 0, PPU_MCU_DTCM + 64, PROT_LIMIT - 8, ROW_COUNT, ROW_BYTES },
        { 0, PPU_MCU_DTCM + 64, UINT32_MAX, ROW_COUNT, ROW_BYTES },
        { 0, PPU_MCU_DTCM + 64, ROWS_AT, UINT32_MAX, UINT32_MAX },
        { 0, PPU_MCU_DTCM + MCU_BYTES - 8, ROWS_AT, ROW_COUNT, ROW_BYTES },
        { 0, PPU_MCU_DTCM - 64, ROWS_AT, ROW_COUNT, ROW_BYTES },
        { 0, UINT32_MAX, ROWS_AT, ROW_COUNT, ROW_BYTES },
    };
    struct board *board = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        area_of(board)->table[0] = bad[i];
        host_write(board, PPU_REG_STATE_UPDATE, 1);
        assert_int_equal(area_of(board)->sequence, 2 * (i + 1));
        assert_int_equal(board->vram[ROWS_AT], 0);
        assert_int_equal(board->vram[HEAP_AT], 0);
        assert_int_equal(board->vram[PROT_LIMIT - 8], 0);
    }
    const uint32_t bases[] = { 0, HEAP_AT, PROT_LIMIT - 64, 0xffffffc0u };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bases); i++) {
        area_of(board)->asked++;
        mcu_write(board, PPU_REG_STATE_BASE, bases[i]);
        host_write(board, PPU_REG_STATE_UPDATE, 1);
        assert_false(core_show(board->core));
        assert_int_equal(area_of(board)->answered, 0);
    }
}

#define TEST(name, function)                  \
    {                                         \
        name, function, setup, teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST("the register brings the area up to date", by_register),
        TEST("a reader that asks in VRAM is answered once", by_asking),
        TEST("slots show what they do", slots),
        TEST("nothing is written outside the protected range", bad_offsets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
