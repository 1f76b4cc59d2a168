/* SPDX-License-Identifier: MIT */
/*
 * Tests snapshots: the state goes from one core to another at random points, and comes from strangers.
 */
#include "tests/device-core/board.h"
#include "tests/device-core/fake_sm.h"

#include "qemu-device/core/core.h"
#include "qemu-device/core/dist/cta.h"

#include "ppu/channel.h"
#include "ppu/dma.h"
#include "ppu/regs.h"
#include "ppu/trace.h"

#include <stdlib.h>
#include <string.h>

#define GRID 400u

static uint8_t ran[PPU_MAX_SLOTS][GRID];

static void count_cta(void *opaque, uint32_t sm, const struct dist_cta *cta)
{
    (void)opaque, (void)sm;
    if (cta->number < GRID) {
        ran[cta->task->slot][cta->number]++;
    }
}

static struct board *make(void)
{
    const struct core_config config = board_small_config(0);
    struct board *board = board_new(&config);

    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 6, .ended = count_cta });
    return board;
}

static uint8_t *save(struct board *board, size_t *len)
{
    core_pause(board->core);
    uint8_t *state = core_save(board->core, len);
    assert_non_null(state);
    return state;
}

/* A machine that goes on where `old` stands: memories and state go over, nothing else. */
static struct board *replace(struct board *old)
{
    struct board *board = make();
    const char *error = "none";
    size_t len = 0;
    size_t again_len = 0;
    uint8_t *state = save(old, &len);

    memcpy(board->vram, old->vram, MACHINE_VRAM);
    memcpy(board->mcu, old->mcu, MCU_BYTES);
    memcpy(board->sys, old->sys, SYS_BYTES);
    board->now_ns = old->now_ns;
    board->next_table = old->next_table;
    memcpy(board->root, old->root, sizeof(board->root));
    core_pause(board->core);
    assert_true(core_load(board->core, state, len, &error));
    uint8_t *again = core_save(board->core, &again_len);
    assert_int_equal(again_len, len);
    assert_memory_equal(again, state, len);
    assert_memory_equal(board->irq, old->irq, sizeof(board->irq));
    free(state);
    free(again);
    core_resume(board->core);
    board_free(old);
    return board;
}

static void load_everything(struct board *board)
{
    struct ppu_dma_desc desc = { .op = PPU_DMA_COPY_QUEUED,
                                 .src_space = PPU_SPACE_VRAM,
                                 .dst_space = PPU_SPACE_VRAM,
                                 .src = HEAP_AT,
                                 .dst = HEAP_AT + 4 * PPU_MIB,
                                 .len_bytes = 2 * PPU_MIB };

    board_boot(board);
    for (uint32_t slot = 0; slot < 3; slot++) {
        struct ppu_tmd tmd = good_tmd(GRID, 1, 1, 32 + slot);

        tmd.local_bytes = slot == 2 ? 16 : 0;
        tmd.local_size = slot == 2 ? 16 * 34 * 5 : 0;
        start_task(board, slot, &tmd);
    }
    for (uint32_t tag = 0; tag < 4; tag++) {
        desc.tag = tag;
        assert_int_equal(submit(board, &desc), 0);
    }
    desc = (struct ppu_dma_desc){
        .op = PPU_DMA_SEM_ARM, .src_space = PPU_SPACE_VRAM, .src = HEAP_AT, .entry = 17, .tag = 0x17
    };
    assert_int_equal(submit(board, &desc), 0);
    core_doorbell_write(board->core, 9 * PPU_DOORBELL_STRIDE, 0x99);
    mcu_write(board, PPU_REG_TIMER_LO, (uint32_t)board->now_ns + 300000);
    mcu_write(board, PPU_REG_TIMER_HI, 0);
    mcu_write(board, PPU_REG_MMU_FLUSH_TAG, 5);
    mcu_write(board, PPU_REG_MMU_FLUSH, 1);
    mcu_write(board, PPU_REG_MMU_FLUSH, 2);
}

static void check_everything(struct board *board)
{
    struct ppu_slot_event slot;
    struct ppu_copy_event copy;
    struct ppu_touch_event touch;
    uint32_t kinds[8] = { 0 };
    uint32_t tags = 0;
    struct ppu_dma_desc release = { .op = PPU_DMA_SEM_RELEASE, .dst_space = PPU_SPACE_VRAM, .dst = HEAP_AT };

    while (ring_pop(board, PPU_RING_SLOT, &slot)) {
        kinds[slot.kind]++;
        assert_true(slot.kind != PPU_SLOT_DONE || slot.ctas_done == GRID);
    }
    assert_int_equal(kinds[PPU_SLOT_DONE], 3);
    assert_int_equal(kinds[PPU_SLOT_FLUSHED], 2);
    while (ring_pop(board, PPU_RING_COPY, &copy)) {
        assert_int_equal(copy.status, 0);
        tags |= 1u << copy.tag;
    }
    assert_int_equal(tags, 15);
    assert_int_equal(submit(board, &release), 0);
    assert_true(ring_pop(board, PPU_RING_TOUCH, &touch));
    assert_int_equal(touch.entry, 17);
    assert_int_equal(touch.tag, 0x17);
    assert_int_equal(mcu_read(board, PPU_REG_DB_PENDING), 1u << 9);
    assert_int_equal(mcu_read(board, PPU_REG_GP_PUT + 4 * 9), 0x99);
    assert_true(board->irq[PPU_IRQ_TIMER]);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t n = 0; n < GRID; n++) {
            assert_int_equal(ran[i][n], 1);
        }
    }
}

static void round_trips(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        struct board *board = make();

        memset(ran, 0, sizeof(ran));
        load_everything(board);
        for (uint32_t n = random_below(&random, 6); n > 0; n--) {
            board_advance(board, random_below(&random, 60000));
            board = replace(board);
        }
        board_advance(board, 10000000);
        check_everything(board);
        board_free(board);
    }
}

static void killing_goes_on(void **state)
{
    struct board *board = make();
    const struct ppu_tmd tmd = good_tmd(GRID, 1, 1, 32);
    struct ppu_slot_event event;

    (void)state;
    board_boot(board);
    fake_plan_set(board->core, &(struct fake_plan){ .end_in = 0 });
    start_task(board, 0, &tmd);
    start_task(board, 1, &tmd);
    board_advance(board, 20000);
    mcu_write(board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_KILL);
    mcu_write(board, PPU_REG_SLOT_CONTROL + 4, PPU_SLOT_CMD_STOP);
    assert_int_equal(mcu_read(board, PPU_REG_SLOT_STATE), PPU_SLOT_KILLING);
    board = replace(board);
    board_advance(board, 1000000);
    assert_true(ring_pop(board, PPU_RING_SLOT, &event));
    assert_int_equal(event.kind, PPU_SLOT_KILLED);
    assert_true(ring_pop(board, PPU_RING_SLOT, &event));
    assert_int_equal(event.kind, PPU_SLOT_STOPPED);
    board_free(board);
}

/* Loads a state that may be broken: the device works, and one that is refused has changed nothing. */
static bool try_load(struct board *board, const uint8_t *bytes, size_t len)
{
    const char *error = NULL;
    size_t before_len = 0, after_len = 0;
    uint8_t *before = save(board, &before_len);
    bool loaded = core_load(board->core, bytes, len, &error);

    assert_true(loaded == !error);
    uint8_t *after = core_save(board->core, &after_len);
    if (!loaded) {
        assert_int_equal(before_len, after_len);
        assert_memory_equal(before, after, after_len);
        assert_true(error && strstr(error, "snapshot: "));
    }
    free(before);
    free(after);
    core_resume(board->core);
    board_advance(board, 5000);
    free(core_state_text(board->core));
    return loaded;
}

static void corrupted_states(void **state)
{
    struct board *board = make();
    struct board *victim = make();
    uint64_t random = random_seed();
    uint32_t refused = 0;
    size_t len = 0;

    (void)state;
    load_everything(board);
    board_advance(board, 12000);
    uint8_t *good = save(board, &len);
    uint8_t *bad = malloc(len);
    for (size_t at = 0; at < len; at += 1 + random_below(&random, 3)) {
        /* Most of it is registers that hold anything: every 32nd byte of these, all of the rest. */
        bool held = at > 1024 && at < 10 * 1024;

        if (held && at % 32 != 0) {
            continue;
        }
        memcpy(bad, good, len);
        bad[at] ^= (uint8_t)(1u + random_below(&random, 255));
        refused += !try_load(victim, bad, len);
    }
    assert_true(refused > 100);
    free(bad);
    free(good);
    board_free(board);
    board_free(victim);
}

static void truncated_states(void **state)
{
    struct board *board = make();
    struct board *victim = make();
    size_t len = 0;

    (void)state;
    load_everything(board);
    board_advance(board, 12000);
    uint8_t *good = save(board, &len);
    for (size_t cut = 0; cut < len; cut += cut < 128 || len - cut < 512 ? 1 : 101) {
        uint8_t *copy = malloc(cut + 1); /* its own allocation: reading beyond it is seen */

        memcpy(copy, good, cut);
        assert_false(try_load(victim, copy, cut));
        free(copy);
    }
    uint8_t *longer = calloc(1, len + 1);
    memcpy(longer, good, len);
    assert_false(try_load(victim, longer, len + 1));
    assert_true(try_load(victim, good, len));
    free(longer);
    free(good);
    board_free(board);
    board_free(victim);
}

static void other_machines(void **state)
{
    struct board *board = make();
    struct core_config config = board_small_config(0);
    const char *error = NULL;
    size_t len = 0;
    uint8_t *good = save(board, &len);

    (void)state;
    config.slots++;
    struct board *other = board_new(&config);
    core_pause(other->core);
    assert_false(core_load(other->core, good, len, &error));
    assert_string_equal(error, "snapshot: head, before byte 8: it is of a PPU with other sizes");
    free(good);
    board_free(other);
    board_free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a machine goes on in another core, at random points", round_trips, NULL, NULL, NULL },
        { "kills and stops go on in another core [A5]", killing_goes_on, NULL, NULL, NULL },
        { "corrupted states do no harm", corrupted_states, NULL, NULL, NULL },
        { "truncated states are refused", truncated_states, NULL, NULL, NULL },
        { "states of other machines are refused", other_machines, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("device core: snapshots", tests, NULL, NULL);
}
