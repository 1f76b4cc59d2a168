/* SPDX-License-Identifier: MIT */
/*
 * Tests registers: every row of regs.def from both sides, the identity block, doorbells, interrupts, bring-up.
 */
#include "tests/device-core/board.h"

#include "ppu/channel.h"
#include "ppu/dma.h"
#include "ppu/macros.h"
#include "ppu/mailbox.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/save.h"

#include <stdlib.h>
#include <string.h>

enum access { NO, RO, RW, WO, W1C };

enum owner {
    DEVICE,
    MCU,
    HOST,
    HOOK,
};

struct row {
    const char *name;
    uint32_t offset;
    uint32_t count;
    enum access access[2];
    enum owner owner;
    uint32_t reset;
    uint32_t mask;
};

static const struct row rows[] = {
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) \
    { #name, offset, count, { host, mcu }, owner, reset, mask },
#include "ppu/regs.def"
#undef PPU_REG
};
#define ROWS PPU_ARRAY_SIZE(rows)

static const enum core_side sides[] = { CORE_HOST, CORE_MCU };

/* The largest machine, in which every element of every row exists. */
static struct core_config largest(void)
{
    struct core_config config = board_small_config(0);

    config.channels = PPU_MAX_CHANNELS;
    config.contexts = PPU_MAX_CONTEXTS;
    config.slots = PPU_MAX_SLOTS;
    config.sms = PPU_MAX_SMS;
    config.vram_bytes = PPU_MIN_VRAM(PPU_MAX_SMS, PPU_MAX_CHANNELS);
    return config;
}

static int setup(void **state)
{
    const struct core_config config = largest();

    *state = board_new(&config);
    return 0;
}

static int setup_small(void **state)
{
    const struct core_config config = board_small_config(0);

    *state = board_new(&config);
    return 0;
}

static int teardown(void **state)
{
    board_free(*state);
    return 0;
}

/* What a register takes of a value: not its reserved bits, nor what the machine lacks. */
static uint32_t holdable(const struct row *row, uint32_t value)
{
    switch (row->offset) {
    case PPU_REG_PROT_BASE:
    case PPU_REG_PROT_LIMIT:
        return value % (MACHINE_VRAM / PPU_PAGE_64K) * PPU_PAGE_64K;
    case PPU_REG_RING_SIZE:
    case PPU_REG_TRACE_SIZE:
    case PPU_REG_FW_TRACE_SIZE:
    case PPU_REG_TOKEN_BYTES:
    case PPU_REG_PROFILE_PERIOD:
    case PPU_REG_CTX_SAVE:
        return 0; /* other values are checked against the machine: ctx_save_takes_areas(), engine-profile */
    default:
        return value & row->mask;
    }
}

static void rw_registers_hold(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    for (size_t r = 0; r < ROWS; r++) {
        for (uint32_t i = 0; i < rows[r].count * 2; i++) {
            enum core_side side = sides[i & 1];
            uint32_t offset = rows[r].offset + 4 * (i / 2);
            uint32_t value = holdable(&rows[r], (uint32_t)random_next(&random));

            if (rows[r].access[side] == RW) {
                core_reg_write(board->core, side, offset, value);
                assert_int_equal(core_reg_read(board->core, side, offset), value);
            }
        }
    }
}

static bool is_written(const struct row *row, enum core_side side)
{
    return row->access[side] == RW || row->access[side] == WO;
}

/* A write of reserved bits changes nothing, and the MCU's sets a bit of DEVICE_ERROR. */
static void refuse_reserved(struct board *board, const struct row *row, uint32_t element, enum core_side side,
                            uint32_t value)
{
    const uint32_t offset = row->offset + 4 * element, errors = board->guest_errors;
    board->now_ns += 2000000000; /* so that the error is not held back */
    mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
    core_reg_write(board->core, side, offset, value);
    assert_int_equal(board->guest_errors, errors + 1);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR) != 0, side == CORE_MCU);
    if (row->access[side] == RW) {
        assert_int_equal(core_reg_read(board->core, side, offset), row->reset);
    }
}

/* Each reserved bit of the first and the last register of each row: alone, and beside bits that may be 1. */
static void reserved_bits_are_refused(void **state)
{
    struct board *board = *state;
    uint32_t tried = 0;

    for (size_t r = 0; r < ROWS; r++) {
        for (uint32_t n = 0; n < 2 * 2 * 32; n++) {
            const enum core_side side = sides[n & 1];
            const uint32_t element = n & 2 ? rows[r].count - 1 : 0, reserved = 1u << n / 4;
            if (!(reserved & rows[r].mask) && is_written(&rows[r], side)) {
                refuse_reserved(board, &rows[r], element, side, reserved);
                refuse_reserved(board, &rows[r], element, side, reserved | rows[r].mask);
                tried++;
            }
        }
    }
    assert_true(tried > 200);
}

/* Bits that enumerations and other rows define too. */
static void masks_have_the_bits_there_are(void **state)
{
    (void)state;
    for (size_t r = 0; r < ROWS; r++) {
        assert_int_equal(rows[r].reset & ~rows[r].mask, 0);
        if (rows[r].offset == PPU_REG_IRQ_PENDING) {
            assert_int_equal(rows[r].mask, (1u << PPU_IRQ_COUNT) - 1);
        } else if (rows[r].offset == PPU_REG_DEVICE_ERROR) {
            assert_int_equal(rows[r].mask, (PPU_DEVERR_ARG << 1) - 1);
        } else if (rows[r].offset == PPU_REG_SLOT_RANK) {
            assert_int_equal(rows[r].mask, PPU_SLOT_RANK_MASK | PPU_SLOT_CLAIMS | PPU_SLOT_PREEMPTS);
        } else if (rows[r].offset == PPU_REG_WINDOW_LO) {
            assert_int_equal(rows[r].mask, ~(PPU_MCU_WINDOW_BYTES - 1));
        }
    }
}

/* An area lies in VRAM altogether and is aligned; a place that is refused leaves the address space without one. */
static void ctx_save_takes_areas(void **state)
{
    struct board *board = *state;
    const uint32_t bytes = mcu_read(board, PPU_REG_SWITCH_BYTES), last = MACHINE_VRAM - bytes;
    const struct {
        uint32_t area;
        bool taken;
    } areas[] = {
        { 0, true },
        { PPU_SWITCH_ALIGN, true },
        { last, true },
        { last + PPU_SWITCH_ALIGN, false },
        { MACHINE_VRAM, false },
        { UINT32_MAX - PPU_SWITCH_ALIGN + 1, false },
        { PPU_SWITCH_ALIGN + 1, false },
        { PPU_SWITCH_ALIGN / 2, false },
    };

    assert_in_range(bytes, 1, MACHINE_VRAM - 2 * PPU_SWITCH_ALIGN);
    assert_int_equal(bytes % PPU_SWITCH_ALIGN, 0);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(areas); i++) {
        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
        mcu_write(board, PPU_REG_CTX_SAVE + 4, PPU_SWITCH_ALIGN);
        mcu_write(board, PPU_REG_CTX_SAVE + 4, areas[i].area);
        assert_int_equal(mcu_read(board, PPU_REG_CTX_SAVE + 4), areas[i].taken ? areas[i].area : 0);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), areas[i].taken ? 0 : PPU_DEVERR_ARG);
    }
}

/* Channels that are rung and in none of whose words a bit is set, or that do not exist, are nobody's. */
static void mailbox_rings(void **state)
{
    struct board *board = *state;
    struct ppu_mailbox mailbox = { .words = { 1u << 1, [3] = 1u << 31 },
                                   .rung = { [0] = 1, [1] = 1u << 2 | 1u << 30 } };

    mailbox.put[34] = 7;
    mailbox.rung[127] = 1u << 31;
    core_mailbox_serve(board->core, &mailbox);
    assert_int_equal(mcu_read(board, PPU_REG_DB_PENDING), 0);
    assert_int_equal(mcu_read(board, PPU_REG_DB_PENDING + 4), 1u << 2);
    assert_int_equal(mcu_read(board, PPU_REG_GP_PUT + 4 * 34), 7);
    assert_true(mailbox.words[0] == 0 && mailbox.words[3] == 0 && mailbox.rung[0] == 1 && mailbox.rung[1] == 0 &&
                mailbox.rung[127] == 0);
    assert_int_equal(board->guest_errors, 2);
}

static struct {
    struct ppu_mailbox mailbox;
    uint32_t times; /* that it was to be served within a DMA */
} within;

static void serve_within(struct board *board)
{
    core_mailbox_serve(board->core, &within.mailbox);
    within.times++;
    assert_int_equal(within.mailbox.words[0], 1u << 1);
    assert_int_equal(within.mailbox.rung[1], 1u << 2);
}

/* What the function's own DMA rings it may not ring; what a client has rung before is served after it. */
static void mailbox_waits_for_dma(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY,
                                 .src_space = PPU_SPACE_BUS,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = SYS_BASE,
                                 .dst = HEAP_AT,
                                 .len_bytes = 64 };

    memset(&within, 0, sizeof(within));
    ppu_mailbox_ring(&within.mailbox, 34, 7);
    board->during_dma = serve_within;
    assert_int_equal(submit(board, &desc), 0);
    board->during_dma = NULL;
    assert_int_equal(within.times, 1);
    assert_int_equal(mcu_read(board, PPU_REG_DB_NEXT), PPU_DB_NONE);
    assert_int_equal(mcu_read(board, PPU_REG_GP_PUT + 4 * 34), 0);
    assert_int_equal(board->guest_errors, 0);

    core_mailbox_serve(board->core, &within.mailbox);
    assert_int_equal(mcu_read(board, PPU_REG_DB_NEXT), 34);
    assert_int_equal(mcu_read(board, PPU_REG_GP_PUT + 4 * 34), 7);
    assert_false(ppu_mailbox_is_rung(&within.mailbox));
    assert_int_equal(within.mailbox.rung[1], 0);
}

static void ro_registers_stay(void **state)
{
    struct board *board = *state;

    for (size_t r = 0; r < ROWS; r++) {
        for (uint32_t i = 0; i < rows[r].count * 2; i++) {
            enum core_side side = sides[i & 1];
            uint32_t offset = rows[r].offset + 4 * (i / 2);

            if (rows[r].access[side] == RO) {
                uint32_t before = core_reg_read(board->core, side, offset);
                uint32_t errors = board->guest_errors;

                board->now_ns += 2000000000; /* so that the error is not held back */
                before = rows[r].offset == PPU_REG_TIME_LO ? 0 : before;
                core_reg_write(board->core, side, offset, ~before);
                assert_int_equal(board->guest_errors, errors + 1);
                if (rows[r].offset != PPU_REG_TIME_LO && rows[r].offset != PPU_REG_TIME_HI) {
                    assert_int_equal(core_reg_read(board->core, side, offset), before);
                }
            }
        }
    }
}

static void other_side_reads_zero(void **state)
{
    struct board *board = *state;

    for (size_t r = 0; r < ROWS; r++) {
        for (uint32_t i = 0; i < 2; i++) {
            enum core_side side = sides[i];
            enum core_side other = sides[1 - i];
            enum access access = rows[r].access[side];

            if (rows[r].access[other] == RW && rows[r].offset != PPU_REG_DEVICE_RESET) {
                core_reg_write(board->core, other, rows[r].offset, holdable(&rows[r], 0x00010000));
            }
            if (access == NO || access == WO) {
                assert_int_equal(core_reg_read(board->core, side, rows[r].offset), 0);
            }
        }
    }
}

/* A register that keeps what it is given, and whose value says nothing of the MCU's own state. */
static bool keeps(const struct row *row, enum core_side side)
{
    return row->access[side] == RW && row->offset != PPU_REG_MCU_CONTROL;
}

static void holding_resets_what_the_mcu_owns(void **state)
{
    struct board *board = *state;

    host_write(board, PPU_REG_MCU_CONTROL, 1);
    core_mcu_state(board->core, PPU_MCU_RUNNING);
    for (size_t r = 0; r < ROWS; r++) {
        for (uint32_t i = 0; i < 2; i++) {
            if (keeps(&rows[r], sides[i])) {
                core_reg_write(board->core, sides[i], rows[r].offset, holdable(&rows[r], 0x12340000));
            }
        }
    }
    host_write(board, PPU_REG_MCU_CONTROL, 0);
    core_mcu_state(board->core, PPU_MCU_HELD);
    for (size_t r = 0; r < ROWS; r++) {
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t value = rows[r].owner == MCU ? rows[r].reset : holdable(&rows[r], 0x12340000);

            if (keeps(&rows[r], sides[i]) && core_reg_read(board->core, sides[i], rows[r].offset) != value) {
                fail_msg("%s is not 0x%x", rows[r].name, value);
            }
        }
    }
}

static void reset_values(void **state)
{
    struct board *board = *state;

    for (size_t r = 0; r < ROWS; r++) {
        for (uint32_t i = 0; i < 2; i++) {
            enum access access = rows[r].access[sides[i]];

            if (rows[r].reset != 0 && access != NO && access != WO) {
                assert_int_equal(core_reg_read(board->core, sides[i], rows[r].offset), rows[r].reset);
            }
        }
    }
}

static void identity(void **state)
{
    struct board *board = *state;
    const struct core_config *config = &board->config;
    const struct {
        uint32_t reg;
        uint32_t value;
    } expected[] = {
        { PPU_REG_MAGIC, PPU_MAGIC },
        { PPU_REG_FEATURES, PPU_FEATURE_TEST_HOOKS | PPU_FEATURE_TASKQ | PPU_FEATURE_NESTED | PPU_FEATURE_SUBVECTOR },
        { PPU_REG_VRAM_SIZE_LO, MACHINE_VRAM },
        { PPU_REG_VRAM_SIZE_HI, 0 },
        { PPU_REG_CHANNELS, config->channels },
        { PPU_REG_CONTEXTS, config->contexts },
        { PPU_REG_SLOTS, config->slots },
        { PPU_REG_GPCS, config->gpcs },
        { PPU_REG_SMS, config->sms },
        { PPU_REG_SM_WARPS, config->sm_warps },
        { PPU_REG_SM_CTAS, config->sm_ctas },
        { PPU_REG_SM_VREGS, config->sm_vregs },
        { PPU_REG_SM_SHARED, config->sm_shared },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        assert_int_equal(host_read(board, expected[i].reg), expected[i].value);
        assert_int_equal(mcu_read(board, expected[i].reg), expected[i].value);
    }
}

/* Counters of GPCs are two words each, for each GPC that there is. */
static void gpcs_have_counters(void **state)
{
    static const uint32_t low[] = { PPU_REG_GPC_L15_HITS_LO, PPU_REG_GPC_L15_MISSES_LO, PPU_REG_GPC_TLB_HITS_LO,
                                    PPU_REG_GPC_TLB_MISSES_LO };
    struct core_config config = board_small_config(0);

    (void)state;
    config.sms = 4;
    config.gpcs = 2;
    struct board *board = board_new(&config);
    board_boot(board);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(low); i++) {
        const uint32_t high = low[i] + PPU_REG_GPC_L15_HITS_HI - PPU_REG_GPC_L15_HITS_LO;
        for (uint32_t gpc = 0; gpc < 2; gpc++) {
            assert_int_equal(host_read(board, low[i] + 4 * gpc), 100 + gpc); /* as the SMs of the bench say */
            assert_int_equal(host_read(board, high + 4 * gpc), i + 1);
        }
        assert_int_equal(host_read(board, low[i] + 4 * 2), 0);
        assert_int_equal(host_read(board, high + 4 * 2), 0);
    }
    board_free(board);
}

static void elements_beyond_the_machine(void **state)
{
    struct board *board = *state;
    const struct {
        uint32_t reg;
        uint32_t error;
    } beyond[] = {
        { PPU_REG_CTX_ROOT + 4 * board->config.contexts, PPU_DEVERR_ARG },
        { PPU_REG_GP_PUT + 4 * board->config.channels, PPU_DEVERR_ARG },
        { PPU_REG_GP_GET + 4 * board->config.channels, PPU_DEVERR_ARG },
        { PPU_REG_SLOT_START + 4 * board->config.slots, PPU_DEVERR_SLOT },
        { PPU_REG_SLOT_CONTROL + 4 * board->config.slots, PPU_DEVERR_SLOT },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(beyond); i++) {
        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
        mcu_write(board, beyond[i].reg, 0x55);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), beyond[i].error);
        assert_int_equal(mcu_read(board, beyond[i].reg), 0);
        board_settle(board);
        assert_true(board->irq[PPU_IRQ_ERROR]);
        mcu_write(board, PPU_REG_IRQ_PENDING, 1u << PPU_IRQ_ERROR);
        assert_false(board->irq[PPU_IRQ_ERROR]);
    }
}

static void hooks_absent(void **state)
{
    struct core_config config = board_small_config(0);

    (void)state;
    config.test_hooks = false;
    struct board *board = board_new(&config);
    assert_int_equal(host_read(board, PPU_REG_FEATURES) & PPU_FEATURE_TEST_HOOKS, 0);
    for (uint32_t reg = PPU_REG_HOOK_FAIL_WALK; reg <= PPU_REG_HOOK_MARK_HELD; reg += 4) {
        host_write(board, reg, 3);
        assert_int_equal(host_read(board, reg), 0);
    }
    assert_true(board->guest_errors > 0);
    board_free(board);
}

static void w1c_clears_what_is_written(void **state)
{
    struct board *board = *state;

    mcu_write(board, PPU_REG_VECTOR_RAISE, 3);
    mcu_write(board, PPU_REG_VECTOR_RAISE, 9);
    assert_int_equal(host_read(board, PPU_REG_VECTOR_PENDING), 1u << 3 | 1u << 9);
    host_write(board, PPU_REG_VECTOR_PENDING, 1u << 3);
    assert_int_equal(mcu_read(board, PPU_REG_VECTOR_PENDING), 1u << 9);
    assert_int_equal(board->vectors[3], 1);
    assert_int_equal(board->vectors[9], 1);
    mcu_write(board, PPU_REG_VECTOR_RAISE, PPU_MAX_VECTORS);
    assert_int_equal(host_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_ARG);
    host_write(board, PPU_REG_DEVICE_ERROR, PPU_DEVERR_ARG);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
}

static void random_accesses(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    for (uint32_t n = 0; n < 60000; n++) {
        enum core_side side = sides[random_below(&random, 2)];
        uint32_t offset = random_below(&random, PPU_REG_SPACE + 64);
        uint32_t value = (uint32_t)random_next(&random) >> random_below(&random, 32);

        offset = n % 4 != 0 ? rows[random_below(&random, ROWS)].offset + 4 * random_below(&random, 8) : offset;
        core_reg_write(board->core, side, offset, value);
        core_reg_read(board->core, side, offset);
        if (n % 64 == 0) {
            board_advance(board, 5000);
        }
    }
    core_reset(board->core);
    board_settle(board);
    assert_int_equal(host_read(board, PPU_REG_MAGIC), PPU_MAGIC);
    assert_int_equal(mcu_read(board, PPU_REG_PROT_LIMIT), 0);
}

static void every_offset(void **state)
{
    struct board *board = *state;

    for (uint32_t offset = 0; offset < PPU_REG_SPACE + 16; offset++) {
        for (uint32_t i = 0; i < 2; i++) {
            core_reg_write(board->core, sides[i], offset, 0xffffffffu);
            core_reg_read(board->core, sides[i], offset);
        }
    }
    assert_int_equal(core_reg_read(board->core, CORE_HOST, 0xfffffffcu), 0);
    core_reg_write(board->core, CORE_MCU, 0xfffffffcu, 1);
    board_advance(board, 100000);
    assert_int_equal(host_read(board, PPU_REG_MAGIC), PPU_MAGIC);
}

static void errors_are_rate_limited(void **state)
{
    struct board *board = *state;

    for (uint32_t i = 0; i < 10000; i++) {
        core_reg_read(board->core, CORE_HOST, 0xfff0);
    }
    assert_in_range(board->guest_errors, 1, 100);
}

/* ---- doorbells ---- */

static void doorbell_rings(void **state)
{
    struct board *board = *state;

    core_doorbell_write(board->core, 33 * PPU_DOORBELL_STRIDE + PPU_DB_PUT, 0x42);
    assert_true(board->irq[PPU_IRQ_DOORBELL]);
    assert_int_equal(mcu_read(board, PPU_REG_IRQ_PENDING), 1u << PPU_IRQ_DOORBELL);
    assert_int_equal(mcu_read(board, PPU_REG_DB_SUMMARY), 1u << 1);
    assert_int_equal(mcu_read(board, PPU_REG_DB_PENDING + 4), 1u << 1);
    assert_int_equal(mcu_read(board, PPU_REG_GP_PUT + 4 * 33), 0x42);
    assert_int_equal(core_doorbell_read(board->core, 33 * PPU_DOORBELL_STRIDE + PPU_DB_PUT), 0x42);
    mcu_write(board, PPU_REG_GP_GET + 4 * 33, 7);
    assert_int_equal(core_doorbell_read(board->core, 33 * PPU_DOORBELL_STRIDE + PPU_DB_GET), 7);

    /* Ringing again before the MCU looked changes nothing but the value. */
    core_doorbell_write(board->core, 33 * PPU_DOORBELL_STRIDE + PPU_DB_PUT, 0x43);
    core_doorbell_write(board->core, 34 * PPU_DOORBELL_STRIDE + PPU_DB_RING, 0);
    assert_int_equal(mcu_read(board, PPU_REG_DB_PENDING + 4), 1u << 1 | 1u << 2);

    mcu_write(board, PPU_REG_IRQ_PENDING, 1u << PPU_IRQ_DOORBELL);
    assert_false(board->irq[PPU_IRQ_DOORBELL]);
    assert_int_equal(mcu_read(board, PPU_REG_DB_NEXT), 33);
    mcu_write(board, PPU_REG_DB_TAKE, 33);
    assert_int_equal(mcu_read(board, PPU_REG_DB_SUMMARY), 1u << 1);
    assert_int_equal(mcu_read(board, PPU_REG_DB_NEXT), 34);
    mcu_write(board, PPU_REG_DB_TAKE, 34);
    assert_int_equal(mcu_read(board, PPU_REG_DB_SUMMARY), 0);
    assert_int_equal(mcu_read(board, PPU_REG_DB_NEXT), PPU_DB_NONE);

    /* A ring between the two clears above is seen: the line rises again. */
    core_doorbell_write(board->core, 33 * PPU_DOORBELL_STRIDE + PPU_DB_RING, 0);
    assert_true(board->irq[PPU_IRQ_DOORBELL]);
}

/* On a machine with all channels, the next that rang is found in a circle, however many others there are. */
static void doorbells_in_a_circle(void **state)
{
    struct board *board = *state;
    static bool rung[PPU_MAX_CHANNELS];
    uint64_t random = random_seed();
    uint32_t first = 0, left = 0;

    memset(rung, 0, sizeof(rung));
    for (uint32_t n = 0; n < 40000; n++) {
        if (random_below(&random, 1u << n % 7) == 0) {
            const uint32_t channel = n < 4 ? PPU_MAX_CHANNELS - 1 - n : random_below(&random, PPU_MAX_CHANNELS);

            core_doorbell_write(board->core, (uint64_t)channel * PPU_DOORBELL_STRIDE + PPU_DB_RING, 0);
            left += !rung[channel];
            rung[channel] = true;
        }
        const uint32_t next = mcu_read(board, PPU_REG_DB_NEXT);
        if (left == 0) {
            assert_int_equal(next, PPU_DB_NONE);
            continue;
        }
        for (uint32_t i = 0; !rung[first] && i < PPU_MAX_CHANNELS; i++) {
            first = (first + 1) % PPU_MAX_CHANNELS;
        }
        assert_int_equal(next, first);
        mcu_write(board, PPU_REG_DB_TAKE, next);
        rung[first] = false;
        left--;
        first = (first + 1) % PPU_MAX_CHANNELS;
    }
    /* Nothing is left of them after a reset. */
    core_doorbell_write(board->core, (uint64_t)PPU_DOORBELL_STRIDE * (PPU_MAX_CHANNELS - 1) + PPU_DB_RING, 0);
    core_reset(board->core);
    assert_int_equal(mcu_read(board, PPU_REG_DB_NEXT), PPU_DB_NONE);
    for (uint32_t word = 0; word < PPU_REGS_DB_SUMMARY; word++) {
        assert_int_equal(mcu_read(board, PPU_REG_DB_SUMMARY + 4 * word), 0);
    }
}

static void takes_of_no_channel(void **state)
{
    struct board *board = *state;

    core_doorbell_write(board->core, PPU_DB_RING, 0);
    mcu_write(board, PPU_REG_DB_TAKE, board->config.channels);
    mcu_write(board, PPU_REG_DB_TAKE, PPU_MAX_CHANNELS);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_ARG);
    assert_int_equal(mcu_read(board, PPU_REG_DB_NEXT), 0);
}

static void doorbell_of_no_channel(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    core_doorbell_write(board->core, (uint64_t)board->config.channels * PPU_DOORBELL_STRIDE, 1);
    core_doorbell_write(board->core, PPU_DB_GET, 1);
    assert_int_equal(core_doorbell_read(board->core, PPU_DB_RING), 0);
    assert_int_equal(board->guest_errors, 3);
    assert_int_equal(mcu_read(board, PPU_REG_DB_SUMMARY), 0);
    for (uint32_t n = 0; n < 20000; n++) {
        uint64_t offset = random_next(&random) >> random_below(&random, 64);

        core_doorbell_write(board->core, offset, n);
        core_doorbell_read(board->core, offset);
    }
}

/* ---- bring-up ---- */

static void mcu_life(void **state)
{
    struct board *board = *state;
    uint32_t requests = board->run_requests;

    host_write(board, PPU_REG_MCU_CONTROL, 1);
    assert_true(board->run);
    assert_int_equal(board->run_requests, requests + 1);
    assert_int_equal(host_read(board, PPU_REG_MCU_STATE), PPU_MCU_HELD);
    core_mcu_state(board->core, PPU_MCU_RUNNING);
    assert_int_equal(host_read(board, PPU_REG_MCU_STATE), PPU_MCU_RUNNING);
    mcu_write(board, PPU_REG_BOOT_STATUS, 2);
    host_write(board, PPU_REG_MCU_CONTROL, 1);
    assert_int_equal(board->run_requests, requests + 1);
    assert_int_equal(host_read(board, PPU_REG_BOOT_STATUS), 2);

    core_mcu_state(board->core, PPU_MCU_LOCKUP);
    assert_int_equal(host_read(board, PPU_REG_MCU_LOCKUPS), 1);
    assert_int_equal(host_read(board, PPU_REG_VECTOR_PENDING), 1u << PPU_VECTOR_ERROR);
    assert_int_equal(board->vectors[PPU_VECTOR_ERROR], 1);

    host_write(board, PPU_REG_MCU_CONTROL, 0);
    assert_false(board->run);
    assert_int_equal(host_read(board, PPU_REG_BOOT_STATUS), 0);
    core_mcu_state(board->core, PPU_MCU_HELD);
    host_write(board, PPU_REG_MCU_CONTROL, 1);
    core_mcu_state(board->core, PPU_MCU_RUNNING);
    assert_int_equal(host_read(board, PPU_REG_MCU_STATE), PPU_MCU_RUNNING);
}

static void holding_ends_what_the_mcu_started(void **state)
{
    struct board *board = *state;
    struct ppu_dma_desc copy = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_VRAM,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = HEAP_AT,
                                 .dst = HEAP_AT + PPU_MIB,
                                 .len_bytes = PPU_MIB };

    host_write(board, PPU_REG_MCU_CONTROL, 1);
    core_mcu_state(board->core, PPU_MCU_RUNNING);
    board_boot(board);
    assert_int_equal(submit(board, &copy), 0);
    mcu_write(board, PPU_REG_CTX_ROOT, TABLES_AT | 1);
    board->vram[TRACE_AT + 1000] = 0x5a;
    host_write(board, PPU_REG_MCU_CONTROL, 0);
    core_mcu_state(board->core, PPU_MCU_HELD);
    assert_int_equal(mcu_read(board, PPU_REG_DMA_QUEUED), 0);
    assert_int_equal(mcu_read(board, PPU_REG_CTX_ROOT), 0);
    assert_int_equal(mcu_read(board, PPU_REG_RING_BASE), 0);
    assert_int_equal(board->vram[TRACE_AT + 1000], 0x5a); /* for whoever looks at what happened */
}

static void timer_raises_once(void **state)
{
    struct board *board = *state;
    uint64_t deadline = board->now_ns + 12345;

    mcu_write(board, PPU_REG_TIMER_LO, (uint32_t)deadline);
    assert_int_equal(board->deadline_ns, UINT64_MAX);
    mcu_write(board, PPU_REG_TIMER_HI, (uint32_t)(deadline >> 32));
    assert_int_equal(board->deadline_ns, deadline);
    board_advance(board, 12344);
    assert_false(board->irq[PPU_IRQ_TIMER]);
    board_advance(board, 1);
    assert_true(board->irq[PPU_IRQ_TIMER]);
    mcu_write(board, PPU_REG_IRQ_PENDING, 1u << PPU_IRQ_TIMER);
    board_advance(board, 1000000);
    assert_false(board->irq[PPU_IRQ_TIMER]);

    /* All ones: off. */
    mcu_write(board, PPU_REG_TIMER_LO, UINT32_MAX);
    mcu_write(board, PPU_REG_TIMER_HI, UINT32_MAX);
    assert_int_equal(board->deadline_ns, UINT64_MAX);
}

static void admin_and_log(void **state)
{
    struct board *board = *state;

    host_write(board, PPU_REG_ADMIN_DOORBELL, 5);
    assert_true(board->irq[PPU_IRQ_ADMIN]);
    mcu_write(board, PPU_REG_LOG_PUTC, 'k');
    assert_int_equal(board->last_char, 'k');
    mcu_write(board, PPU_REG_WINDOW_LO, 0x10001);
    assert_int_equal(mcu_read(board, PPU_REG_WINDOW_LO), 0);
    mcu_write(board, PPU_REG_WINDOW_LO, 0x20000);
    mcu_write(board, PPU_REG_WINDOW_HI, 0x9);
    assert_true(core_window_base(board->core) == 0x900020000ull);
}

static void device_reset(void **state)
{
    struct board *board = *state;

    board_boot(board);
    mcu_write(board, PPU_REG_VECTOR_RAISE, 4);
    host_write(board, PPU_REG_HOOK_FAIL_WALK, 9);
    memset(board->vram, 1, MACHINE_VRAM);
    host_write(board, PPU_REG_DEVICE_RESET, 1);
    assert_int_equal(board->resets, 0);
    host_write(board, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    assert_int_equal(board->resets, 1);
    assert_int_equal(host_read(board, PPU_REG_VECTOR_PENDING), 0);
    assert_int_equal(host_read(board, PPU_REG_HOOK_FAIL_WALK), 0);
    assert_int_equal(host_read(board, PPU_REG_PROT_LIMIT), 0);
    assert_false(board->run);
    board_settle(board);
    for (uint32_t at = 0; at < MACHINE_VRAM; at++) {
        assert_int_equal(board->vram[at], 0);
    }
    for (uint32_t line = 0; line < PPU_IRQ_COUNT; line++) {
        assert_false(board->irq[line]);
    }
}

/* A part of VRAM in each bottom half; nobody reaches it before all is done, and the MCU is released then. */
static void vram_is_cleared_in_parts(void **state)
{
    struct board *board = *state;
    uint32_t parts = 0;

    host_write(board, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    assert_int_equal(board->cleared_bytes, 0);
    host_write(board, PPU_REG_MCU_CONTROL, 1);
    for (; board->hidden; parts++) {
        uint64_t before = board->cleared_bytes;

        assert_false(board->run);
        assert_int_equal(host_read(board, PPU_REG_MCU_STATE), PPU_MCU_CLEARING);
        assert_int_equal(mcu_read(board, PPU_REG_MCU_STATE), PPU_MCU_CLEARING);
        core_bottom_half(board->core);
        assert_in_range(board->cleared_bytes - before, 1, CORE_CLEAR_BYTES);
        assert_true(board->kicked || !board->hidden);
    }
    assert_int_equal(parts, MACHINE_VRAM / CORE_CLEAR_BYTES);
    assert_int_equal(board->cleared_bytes, MACHINE_VRAM);
    assert_true(board->run);
    assert_int_equal(host_read(board, PPU_REG_MCU_STATE), PPU_MCU_HELD);
}

/* Not while the MCU may still write there; from the start when there is another reset. */
static void clearing_waits_for_the_mcu(void **state)
{
    struct board *board = *state;

    core_mcu_state(board->core, PPU_MCU_RUNNING);
    host_write(board, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    board_settle(board);
    assert_true(board->hidden && board->cleared_bytes == 0);
    core_mcu_state(board->core, PPU_MCU_HELD);
    core_bottom_half(board->core);
    assert_int_equal(board->cleared_bytes, CORE_CLEAR_BYTES);
    host_write(board, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    board_settle(board);
    assert_false(board->hidden);
    assert_int_equal(board->cleared_bytes, CORE_CLEAR_BYTES + MACHINE_VRAM);
    assert_false(board->run);
}

/* A machine that stands still is not touched, and one that is loaded elsewhere goes on where it was. */
static void clearing_goes_on_elsewhere(void **state)
{
    struct board *board = *state, *other = board_new(&board->config);
    const char *error = NULL;
    size_t len = 0;

    host_write(board, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    core_bottom_half(board->core);
    core_pause(board->core);
    core_bottom_half(board->core);
    assert_int_equal(board->cleared_bytes, CORE_CLEAR_BYTES);
    uint8_t *saved = core_save(board->core, &len);
    core_pause(other->core);
    assert_true(core_load(other->core, saved, len, &error));
    assert_true(other->hidden && host_read(other, PPU_REG_MCU_STATE) == PPU_MCU_CLEARING);
    core_resume(other->core);
    board_settle(other);
    assert_false(other->hidden);
    assert_int_equal(other->cleared_bytes, MACHINE_VRAM - CORE_CLEAR_BYTES);
    free(saved);
    board_free(other);
}

/* Bottom halves until VRAM is there again after a reset. */
static uint32_t parts_of_reset(struct board *board)
{
    uint32_t parts = 0;

    host_write(board, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    board->cleared_bytes = 0;
    for (; board->hidden; parts++) {
        core_bottom_half(board->core);
        assert_true(board->kicked || !board->hidden);
    }
    return parts;
}

/* A reset costs what was used of VRAM: of what the host knows to be zeros, whole parts are left out. */
static void zeros_are_left_out(void **state)
{
    struct board *board = *state;
    const uint64_t part = CORE_CLEAR_BYTES;

    board->zeros_bytes = MACHINE_VRAM;
    assert_int_equal(parts_of_reset(board), 1);
    assert_int_equal(board->cleared_bytes, 0);
    board->zeros_bytes = UINT64_MAX; /* more than there is */
    assert_int_equal(parts_of_reset(board), 1);
    assert_int_equal(board->cleared_bytes, 0);
    board->zeros_at = 1; /* the first byte is something */
    board->zeros_bytes = MACHINE_VRAM - 1;
    memset(board->vram, 0xff, part);
    assert_int_equal(parts_of_reset(board), 1 + (MACHINE_VRAM > part));
    assert_int_equal(board->cleared_bytes, part);
    board->zeros_at = 0; /* the last byte is */
    memset(board->vram + MACHINE_VRAM - part, 0xff, part);
    parts_of_reset(board);
    assert_int_equal(board->cleared_bytes, part);
    for (uint64_t at = 0; at < MACHINE_VRAM; at++) {
        assert_int_equal(board->vram[at], 0);
    }
    board->zeros_bytes = part - 1; /* not a whole part */
    assert_int_equal(parts_of_reset(board), MACHINE_VRAM / part);
    assert_int_equal(board->cleared_bytes, MACHINE_VRAM);
}

static void protected_range_checked(void **state)
{
    struct board *board = *state;
    const uint32_t bad[] = { 1, 0x1000, PPU_PAGE_64K - 4, MACHINE_VRAM + PPU_PAGE_64K, 0xffff0000u };

    mcu_write(board, PPU_REG_PROT_BASE, PPU_PAGE_64K);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
        mcu_write(board, PPU_REG_PROT_BASE, bad[i]);
        assert_int_equal(mcu_read(board, PPU_REG_PROT_BASE), PPU_PAGE_64K);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_PROT);
    }
}

static void alloc_hook_counts(void **state)
{
    struct board *board = *state;

    assert_int_equal(mcu_read(board, PPU_REG_HOOK_FAIL_ALLOC), 0);
    host_write(board, PPU_REG_HOOK_FAIL_ALLOC, 3);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_FAIL_ALLOC), 0);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_FAIL_ALLOC), 0);
    assert_int_equal(host_read(board, PPU_REG_HOOK_FAIL_ALLOC), 1);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_FAIL_ALLOC), 1);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_FAIL_ALLOC), 0);
}

static void mark_holds_the_mcu(void **state)
{
    struct board *board = *state;

    mcu_write(board, PPU_REG_MARK, 9);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_MARK_HELD), 0);
    host_write(board, PPU_REG_HOOK_HOLD_MARK, 9);
    assert_int_equal(host_read(board, PPU_REG_HOOK_HELD), 0);
    mcu_write(board, PPU_REG_MARK, 8);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_MARK_HELD), 0);
    mcu_write(board, PPU_REG_MARK, 9);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_MARK_HELD), 1);
    assert_int_equal(host_read(board, PPU_REG_HOOK_HELD), 1);
    host_write(board, PPU_REG_HOOK_HOLD_ALSO, 9);
    host_write(board, PPU_REG_HOOK_HOLD_MARK, 8);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_MARK_HELD), 1);
    host_write(board, PPU_REG_HOOK_RELEASE, 1);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_MARK_HELD), 0);
    host_write(board, PPU_REG_HOOK_HOLD_MARK, 9);
    assert_int_equal(mcu_read(board, PPU_REG_HOOK_MARK_HELD), 0);
    assert_int_equal(host_read(board, PPU_REG_HOOK_HELD), 0);
}

static void config_limits(void **state)
{
    struct core_config good;
    struct core_config bad;

    (void)state;
    core_config_default(&good);
    assert_null(core_config_check(&good));
#define REFUSED(member, value, word)          \
    bad = good;                               \
    bad.member = (value);                     \
    assert_non_null(core_config_check(&bad)); \
    assert_non_null(strstr(core_config_check(&bad), word))
    REFUSED(vram_bytes, 8 * PPU_MIB, "vram-size");
    REFUSED(vram_bytes, 48 * PPU_MIB, "vram-size");
    REFUSED(channels, 0, "channels");
    REFUSED(channels, PPU_MAX_CHANNELS + 1, "channels");
    REFUSED(contexts, PPU_MAX_CONTEXTS + 1, "contexts");
    REFUSED(slots, PPU_MAX_SLOTS + 1, "slots");
    REFUSED(sms, 0, "sms");
    REFUSED(sms, PPU_MAX_SMS + 1, "sms");
    bad.channels = PPU_MAX_CHANNELS;
    bad.sms = PPU_MAX_SMS;
    bad.gpcs = PPU_MAX_GPCS;
    assert_null(core_config_check(&bad));
    bad.gpcs = 2 * PPU_MAX_GPCS; /* which divides the SMs */
    assert_non_null(core_config_check(&bad));
    bad.gpcs = PPU_MAX_GPCS;
    bad.vram_bytes = 16 * PPU_MIB;
    assert_non_null(strstr(core_config_check(&bad), "vram-size must be at least 32 MiB"));
    REFUSED(gpcs, 3, "gpcs");
    REFUSED(gpcs, 0, "gpcs");
    REFUSED(sm_warps, 31, "sm-warps");
    REFUSED(sm_ctas, 0, "sm-ctas");
    REFUSED(sm_vregs, 100, "sm-vregs");
    REFUSED(sm_shared, 1, "sm-shared");
    REFUSED(sm_threads, 1000, "sm-threads");
    REFUSED(cache_line, 16, "cache-line");
    REFUSED(cache_line, 2048, "cache-line");
    REFUSED(cache_line, 96, "cache-line");
    REFUSED(l1_ways, 0, "l1-ways");
    REFUSED(l2_ways, 128, "l2-ways");
    REFUSED(l2_ways, 3, "l2-ways");
    REFUSED(l15_ways, 3, "l15-ways");
    REFUSED(l15_bytes, 512, "l15-size");
    REFUSED(gpc_tlb_ways, 0, "gpc-tlb-ways");
    REFUSED(gpc_tlb, 1000, "gpc-tlb");
    REFUSED(l1_bytes, 512, "l1-size");
    REFUSED(l1_bytes, 32 * PPU_MIB, "l1-size");
    REFUSED(l2_bytes, 3 * PPU_MIB, "l2-size");
#undef REFUSED
}

static void state_text(void **state)
{
    struct board *board = *state;
    const struct ppu_tmd tmd = good_tmd(5, 1, 1, 32);

    board_boot(board);
    start_task(board, 2, &tmd);
    core_doorbell_write(board->core, 3 * PPU_DOORBELL_STRIDE, 9);
    char *text = core_state_text(board->core);
    assert_non_null(text);
    assert_non_null(strstr(text, "slot 2 running"));
    assert_non_null(strstr(text, "channel 3: GP_GET 0, GP_PUT 9, doorbell rung"));
    assert_non_null(strstr(text, "MCU held"));
    free(text);
}

/* A line for each of 4,096 channels does not push out what comes last. */
static void state_text_of_all_channels(void **state)
{
    struct board *board = *state;

    for (uint32_t i = 0; i < PPU_MAX_CHANNELS; i++) {
        core_doorbell_write(board->core, (uint64_t)i * PPU_DOORBELL_STRIDE, 0xffffffff);
        mcu_write(board, PPU_REG_GP_GET + 4 * i, 0xffffffff);
    }
    char *text = core_state_text(board->core);
    assert_non_null(text);
    assert_non_null(strstr(text, "\nchannel 0: GP_GET 4294967295, GP_PUT 4294967295, doorbell rung\n"));
    assert_non_null(strstr(text, "\nchannel 4095: GP_GET 4294967295, GP_PUT 4294967295, doorbell rung\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "RW registers hold what is written [A1]", rw_registers_hold, setup, teardown, NULL },
        { "a write of reserved bits is refused [A1]", reserved_bits_are_refused, setup, teardown, NULL },
        { "masks have the bits that there are [A1]", masks_have_the_bits_there_are, NULL, NULL, NULL },
        { "doorbells are taken from a mailbox [A1]", mailbox_rings, setup_small, teardown, NULL },
        { "doorbells stay in the mailbox while the function's own DMA runs [A1]", mailbox_waits_for_dma, setup_small,
          teardown, NULL },
        { "CTX_SAVE takes areas that lie in VRAM [A5]", ctx_save_takes_areas, setup_small, teardown, NULL },
        { "RO registers stay, and the write is an error [A1]", ro_registers_stay, setup, teardown, NULL },
        { "registers of the other side read zero [A1]", other_side_reads_zero, setup, teardown, NULL },
        { "registers have their reset values [A1]", reset_values, setup, teardown, NULL },
        { "holding the MCU resets its registers and no others [A1]", holding_resets_what_the_mcu_owns, setup, teardown,
          NULL },
        { "identity tells the size of the machine [A1]", identity, setup_small, teardown, NULL },
        { "GPCs have counters of their own [A1][A10]", gpcs_have_counters, NULL, NULL, NULL },
        { "elements beyond the machine are refused [A1]", elements_beyond_the_machine, setup_small, teardown, NULL },
        { "test hooks are absent when off [A1]", hooks_absent, NULL, NULL, NULL },
        { "W1C registers clear the bits written [A1]", w1c_clears_what_is_written, setup, teardown, NULL },
        { "random accesses by both sides do no harm [A1]", random_accesses, setup_small, teardown, NULL },
        { "every offset can be read and written [A1]", every_offset, setup, teardown, NULL },
        { "guest errors are rate-limited [A1]", errors_are_rate_limited, setup, teardown, NULL },
        { "a doorbell sets its bit, its word and GP_PUT, once [A2]", doorbell_rings, setup_small, teardown, NULL },
        { "doorbells of 4,096 channels are found in a circle [A2]", doorbells_in_a_circle, setup, teardown, NULL },
        { "a doorbell that the MCU takes of no channel is refused [A2]", takes_of_no_channel, setup_small, teardown,
          NULL },
        { "a doorbell of no channel is refused [A2]", doorbell_of_no_channel, setup_small, teardown, NULL },
        { "the MCU is released, locks up, is held, is released [A1]", mcu_life, setup_small, teardown, NULL },
        { "holding the MCU ends what it started [A1]", holding_ends_what_the_mcu_started, setup_small, teardown, NULL },
        { "the timer raises its line once [A1]", timer_raises_once, setup_small, teardown, NULL },
        { "admin doorbell, log and window [A1]", admin_and_log, setup_small, teardown, NULL },
        { "DEVICE_RESET resets all and clears VRAM [A1]", device_reset, setup_small, teardown, NULL },
        { "VRAM is cleared in parts, and hidden until all is done [A1]", vram_is_cleared_in_parts, setup_small,
          teardown, NULL },
        { "VRAM is cleared when the MCU is held, from the start after another reset [A1]", clearing_waits_for_the_mcu,
          setup_small, teardown, NULL },
        { "a reset leaves out what the host knows to be zeros [A1]", zeros_are_left_out, setup_small, teardown, NULL },
        { "a snapshot has how far VRAM is cleared [A1]", clearing_goes_on_elsewhere, setup_small, teardown, NULL },
        { "an unusable protected range is refused [A9]", protected_range_checked, setup_small, teardown, NULL },
        { "the allocation hook fails the n-th [A1]", alloc_hook_counts, setup_small, teardown, NULL },
        { "a mark holds the MCU while a hook says so [A1]", mark_holds_the_mcu, setup_small, teardown, NULL },
        { "a bad machine size names its property [A1]", config_limits, NULL, NULL, NULL },
        { "the state is told in words [A1]", state_text, setup_small, teardown, NULL },
        { "the state of all channels is told to its end [A1]", state_text_of_all_channels, setup, teardown, NULL },
    };

    return cmocka_run_group_tests_name("device core: registers", tests, NULL, NULL);
}
