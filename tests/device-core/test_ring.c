/* SPDX-License-Identifier: MIT */
/*
 * Tests event rings against a model, with the MCU's word misused, and the trace ring.
 */
#include "ppu/macros.h"
#include "tests/device-core/board.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 8u
#define RINGS 5u

static int setup(void **state)
{
    const struct core_config config = board_small_config(0);
    struct board *board = board_new(&config);

    board_boot(board);
    *state = board;
    return 0;
}

static int teardown(void **state)
{
    board_free(*state);
    return 0;
}

static struct ppu_ring_header *header(struct board *board, uint32_t ring)
{
    return (struct ppu_ring_header *)(void *)(board->vram + RING_AT(ring));
}

static void restart(struct board *board, uint32_t ring, uint32_t size)
{
    mcu_write(board, PPU_REG_RING_SIZE + 4 * ring, size);
    mcu_write(board, PPU_REG_RING_BASE + 4 * ring, RING_AT(ring));
}

struct entry {
    uint32_t word[PPU_RING_ENTRY_BYTES / 4];
};

static bool push(struct board *board, uint32_t ring, uint32_t value)
{
    struct entry entry;

    for (uint32_t i = 0; i < PPU_RING_ENTRY_BYTES / 4; i++) {
        entry.word[i] = value + i;
    }
    return ring_push(board->core, ring, &entry);
}

static uint32_t pop_value(struct board *board, uint32_t ring)
{
    struct entry entry;

    assert_true(ring_pop(board, ring, &entry));
    for (uint32_t i = 0; i < PPU_RING_ENTRY_BYTES / 4; i++) {
        assert_int_equal(entry.word[i], entry.word[0] + i);
    }
    return entry.word[0];
}

/* A ring whose indices are about to wrap, made by a snapshot with its tail changed. */
static void move_indices(struct board *board, uint32_t ring, uint32_t index)
{
    const char *error = NULL;
    size_t len = 0;
    const uint32_t location[2] = { RING_AT(ring), SIZE };

    core_pause(board->core);
    uint8_t *state = core_save(board->core, &len);
    for (size_t at = 0; at + 12 <= len; at++) {
        if (memcmp(state + at, location, sizeof(location)) == 0) {
            memcpy(state + at + 8, &index, sizeof(index));
        }
    }
    assert_true(core_load(board->core, state, len, &error));
    free(state);
    core_resume(board->core);
    header(board, ring)->tail = index;
    header(board, ring)->head = index;
}

static void model(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();
    uint32_t fifo[SIZE];
    uint32_t used = 0;
    uint32_t next = 1;
    uint32_t first = 1;

    restart(board, PPU_RING_START, SIZE);
    move_indices(board, PPU_RING_START, 0u - 100);
    for (uint32_t n = 0; n < 2000; n++) {
        if (random_below(&random, 2) == 0) {
            bool pushed = push(board, PPU_RING_START, next);

            assert_int_equal(pushed, used < SIZE);
            if (pushed) {
                fifo[next % SIZE] = next;
                next++;
                used++;
            }
        } else if (used != 0) {
            assert_int_equal(pop_value(board, PPU_RING_START), fifo[first % SIZE]);
            first++;
            used--;
        } else {
            struct entry entry;

            assert_false(ring_pop(board, PPU_RING_START, &entry));
        }
    }
    assert_true(first > 100); /* the indices have wrapped */
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
}

static void interrupt_on_first(void **state)
{
    struct board *board = *state;

    assert_true(push(board, PPU_RING_SLOT, 1));
    assert_false(board->irq[PPU_IRQ_EVENT]); /* only the bottom half raises it */
    board_settle(board);
    assert_true(board->irq[PPU_IRQ_EVENT]);
    mcu_write(board, PPU_REG_IRQ_PENDING, 1u << PPU_IRQ_EVENT);
    assert_true(push(board, PPU_RING_SLOT, 2));
    board_settle(board);
    assert_false(board->irq[PPU_IRQ_EVENT]); /* the first is still there */
    assert_int_equal(pop_value(board, PPU_RING_SLOT), 1);
    assert_int_equal(pop_value(board, PPU_RING_SLOT), 2);
    assert_true(push(board, PPU_RING_SLOT, 3));
    board_settle(board);
    assert_true(board->irq[PPU_IRQ_EVENT]);
}

static void head_is_not_believed(void **state)
{
    struct board *board = *state;
    uint64_t random = random_seed();

    for (uint32_t n = 0; n < 4000; n++) {
        uint32_t ring = random_below(&random, RINGS);

        if (random_below(&random, 3) == 0) {
            header(board, ring)->head = (uint32_t)random_next(&random);
        }
        if (random_below(&random, 3) == 0) {
            header(board, ring)->tail = (uint32_t)random_next(&random);
        }
        push(board, ring, n);
    }
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_RING);
    /* Nothing but the rings was written. */
    for (uint32_t at = 0; at < MACHINE_VRAM; at += 8) {
        if (at < RING_AT(0) || at >= TRACE_AT) {
            assert_true(*(uint64_t *)(void *)(board->vram + at) == 0 || (at >= TRACE_AT && at < TRACE_AT + 64));
        }
    }
}

static void head_beyond_tail_is_an_error(void **state)
{
    struct board *board = *state;

    assert_true(push(board, PPU_RING_FAULT, 1));
    header(board, PPU_RING_FAULT)->head = 2;
    assert_false(push(board, PPU_RING_FAULT, 2));
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_RING);
    header(board, PPU_RING_FAULT)->head = 1;
    assert_true(push(board, PPU_RING_FAULT, 3));
}

static void worst_case_ring_overrun(void **state)
{
    struct board *board = *state;

    restart(board, PPU_RING_TOUCH, SIZE);
    for (uint32_t n = 0; n < SIZE; n++) {
        assert_true(push(board, PPU_RING_TOUCH, n));
    }
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
    assert_false(push(board, PPU_RING_TOUCH, SIZE));
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_RING);
    assert_int_equal(pop_value(board, PPU_RING_TOUCH), 0);
}

static void no_ring(void **state)
{
    struct board *board = *state;

    restart(board, PPU_RING_START, 0);
    restart(board, PPU_RING_COPY, 0);
    assert_false(push(board, PPU_RING_START, 1));
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
    assert_false(push(board, PPU_RING_COPY, 1));
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_RING);
}

static void unusable_rings(void **state)
{
    struct board *board = *state;
    const struct {
        uint32_t base;
        uint32_t size;
    } bad[] = {
        { RING_AT(0), 3 },           { RING_AT(0), 0x80000001u },
        { RING_AT(0) + 4, 8 },       { PROT_BASE - 64, 8 },
        { PROT_LIMIT - 64, 1 },      { PROT_LIMIT - 128, 8 },
        { RING_AT(0), 0x80000000u }, { RING_AT(0), 0x40000u },
        { 0xffffffc0u, 8 },          { HEAP_AT, 8 },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
        mcu_write(board, PPU_REG_RING_SIZE, bad[i].size);
        mcu_write(board, PPU_REG_RING_BASE, bad[i].base);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_RING);
        assert_false(push(board, PPU_RING_START, 1));
        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
        mcu_write(board, PPU_REG_TRACE_SIZE, bad[i].size);
        mcu_write(board, PPU_REG_TRACE_BASE, bad[i].base);
        trace_emit(board->core, PPU_TRACE_MARK, 0, 1, 2, 3);
        if (bad[i].base != RING_AT(0) || bad[i].size != 0x40000u) {
            continue;
        }
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_TRACE);
    }
}

static void limit_hook(void **state)
{
    struct board *board = *state;

    host_write(board, PPU_REG_HOOK_RING_LIMIT, 1);
    assert_true(push(board, PPU_RING_START, 1));
    assert_false(push(board, PPU_RING_START, 2));
    assert_int_equal(pop_value(board, PPU_RING_START), 1);
    assert_true(push(board, PPU_RING_START, 2));
    assert_true(push(board, PPU_RING_SLOT, 1));
    assert_true(push(board, PPU_RING_SLOT, 2)); /* cannot stall: no limit */
    host_write(board, PPU_REG_HOOK_RING_LIMIT, 0);
    assert_true(push(board, PPU_RING_START, 3));
}

/* ---- many producers ---- */

#define PRODUCERS 3u
#define EACH 3000u

struct producer {
    struct board *board;
    uint32_t first;
};

static void *produce(void *argument)
{
    const struct producer *producer = argument;

    for (uint32_t n = 0; n < EACH; n++) {
        while (!push(producer->board, PPU_RING_START, (producer->first + n) * 64)) {
            sched_yield();
        }
        trace_emit(producer->board->core, PPU_TRACE_CTA_END, producer->first, n, n + 1, n + 2);
    }
    return NULL;
}

static void producers_lose_nothing(void **state)
{
    struct board *board = *state;
    struct producer producer[PRODUCERS];
    pthread_t thread[PRODUCERS];
    uint32_t expected[PRODUCERS] = { 0 };

    restart(board, PPU_RING_START, SIZE);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        producer[i] = (struct producer){ board, i * EACH };
        assert_int_equal(pthread_create(&thread[i], NULL, produce, &producer[i]), 0);
    }
    for (uint32_t taken = 0; taken < PRODUCERS * EACH;) {
        struct entry entry;

        if (ring_pop(board, PPU_RING_START, &entry)) {
            uint32_t value = entry.word[0] / 64;

            assert_int_equal(value % EACH, expected[value / EACH]); /* each producer's in its order */
            expected[value / EACH]++;
            taken++;
        } else {
            sched_yield();
        }
    }
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        pthread_join(thread[i], NULL);
    }
    board_settle(board);
    assert_true(board->irq[PPU_IRQ_EVENT]);
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
}

/* ---- trace ---- */

static const struct ppu_trace_record *record(struct board *board, uint32_t n)
{
    return (const struct ppu_trace_record *)(const void *)(board->vram + TRACE_AT + sizeof(struct ppu_trace_ring)) +
           n % TRACE_RECORDS;
}

static void trace_records(void **state)
{
    struct board *board = *state;
    const struct ppu_trace_ring *ring = (const struct ppu_trace_ring *)(const void *)(board->vram + TRACE_AT);
    uint32_t first = ring->tail;

    assert_int_equal(ring->head.version, PPU_TRACE_VERSION);
    assert_int_equal(ring->head.size_bytes, sizeof(struct ppu_trace_record));
    assert_int_equal(ring->size, TRACE_RECORDS);
    for (uint32_t n = 0; n < TRACE_RECORDS + 10; n++) {
        board->now_ns++;
        trace_emit(board->core, PPU_TRACE_YIELD, 5, n, 6, 7);
    }
    assert_int_equal(ring->tail, first + TRACE_RECORDS + 10);
    for (uint32_t n = 10; n < TRACE_RECORDS + 10; n++) {
        const struct ppu_trace_record *r = record(board, first + n);

        assert_int_equal(r->sequence, first + n);
        assert_int_equal(r->version, PPU_TRACE_VERSION);
        assert_int_equal(r->size_bytes, sizeof(*r));
        assert_int_equal(r->type, PPU_TRACE_YIELD);
        assert_int_equal(r->correlation, 5);
        assert_int_equal(r->id[0], n);
        assert_true(r->time_ns == 1001 + n);
    }
}

static void mark_is_recorded(void **state)
{
    struct board *board = *state;
    const struct ppu_trace_ring *ring = (const struct ppu_trace_ring *)(const void *)(board->vram + TRACE_AT);

    mcu_write(board, PPU_REG_MARK, PPU_MARK_SLOT_STARTED);
    assert_int_equal(record(board, ring->tail - 1)->type, PPU_TRACE_MARK);
    assert_int_equal(record(board, ring->tail - 1)->id[0], PPU_MARK_SLOT_STARTED);
    assert_int_equal(record(board, ring->tail - 1)->id[1], PPU_TRACE_UNIT_MCU);
}

#define FW_TRACE_AT PARAMS_AT
#define FW_TRACE_RECORDS 4u

static void fw_trace_add(struct board *board, uint32_t at, uint32_t number)
{
    const struct ppu_trace_words words = { .type = PPU_TRACE_BLOCK,
                                           .correlation = number,
                                           .id = { number + 1, number + 2, number + 3 } };

    memcpy(board->mcu, &words, sizeof(words));
    mcu_write(board, PPU_REG_FW_TRACE_ADD, at);
}

/* The firmware says what a record holds; number, time and place are the device's. */
static void firmware_records(void **state)
{
    struct board *board = *state;
    const struct ppu_trace_ring *ring = (const struct ppu_trace_ring *)(const void *)(board->vram + FW_TRACE_AT);
    const struct ppu_trace_record *records = (const struct ppu_trace_record *)(const void *)(ring + 1);
    const struct ppu_trace_ring *own = (const struct ppu_trace_ring *)(const void *)(board->vram + TRACE_AT);
    uint32_t before = own->tail;

    fw_trace_add(board, PPU_MCU_DTCM, 1); /* there is no ring yet */
    mcu_write(board, PPU_REG_FW_TRACE_SIZE, FW_TRACE_RECORDS);
    mcu_write(board, PPU_REG_FW_TRACE_BASE, FW_TRACE_AT);
    assert_int_equal(ring->head.version, PPU_TRACE_VERSION);
    assert_int_equal(ring->size, FW_TRACE_RECORDS);
    assert_int_equal(ring->tail, 0);
    for (uint32_t n = 0; n < FW_TRACE_RECORDS + 2; n++) {
        board->now_ns = 5000000000u + n;
        fw_trace_add(board, PPU_MCU_DTCM, 10 * n);
        struct ppu_trace_record record = { 0 };
        assert_int_equal(ring->tail, n + 1);
        assert_true(ppu_trace_take(&records[n % FW_TRACE_RECORDS], n, &record));
        assert_int_equal(record.version, PPU_TRACE_VERSION);
        assert_int_equal(record.size_bytes, sizeof(record));
        assert_int_equal(record.type, PPU_TRACE_BLOCK);
        assert_int_equal(record.correlation, 10 * n);
        assert_int_equal(record.id[2], 10 * n + 3);
        assert_true(record.time_ns == board->now_ns);
    }
    assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), 0);
    const uint32_t outside[] = { 0, PPU_MCU_DTCM - 4, UINT32_MAX, UINT32_MAX - 23 };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(outside); i++) {
        fw_trace_add(board, outside[i], 1);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_TRACE);
        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
    }
    assert_int_equal(ring->tail, FW_TRACE_RECORDS + 2);
    assert_int_equal(own->tail, before);
}

static void unusable_firmware_rings(void **state)
{
    struct board *board = *state;
    const struct {
        uint32_t base;
        uint32_t size;
    } bad[] = { { FW_TRACE_AT, 3 }, { PROT_BASE - 64, 8 }, { PROT_LIMIT - 64, 1 }, { FW_TRACE_AT, 0x80000000u } };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        mcu_write(board, PPU_REG_FW_TRACE_SIZE, bad[i].size);
        mcu_write(board, PPU_REG_FW_TRACE_BASE, bad[i].base);
        assert_int_equal(mcu_read(board, PPU_REG_DEVICE_ERROR), PPU_DEVERR_TRACE);
        mcu_write(board, PPU_REG_DEVICE_ERROR, UINT32_MAX);
        fw_trace_add(board, PPU_MCU_DTCM, 1);
    }
}

/* A tool asks by a time in the ring's head, and has died when it has passed. */
static void warps_are_asked_for(void **state)
{
    struct board *board = *state;
    struct ppu_trace_ring *ring = (struct ppu_trace_ring *)(void *)(board->vram + TRACE_AT);
    const uint64_t unit_ns = 1ull << PPU_TRACE_WARPS_SHIFT;

    assert_false(trace_wants_warps(board->core));
    board->now_ns = 10 * unit_ns;
    ring->warps_until = 12;
    assert_true(trace_wants_warps(board->core));
    board->now_ns = 12 * unit_ns;
    assert_false(trace_wants_warps(board->core));
    board->now_ns = (1ull << 32) * unit_ns - unit_ns; /* the low word comes around */
    ring->warps_until = 1;
    assert_true(trace_wants_warps(board->core));
    mcu_write(board, PPU_REG_TRACE_SIZE, 0);
    mcu_write(board, PPU_REG_TRACE_BASE, TRACE_AT);
    assert_false(trace_wants_warps(board->core));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "records of warps are asked for, for a time", warps_are_asked_for, setup, teardown, NULL },
        { "a ring agrees with a queue, also where indices wrap", model, setup, teardown, NULL },
        { "the event line rises when a ring was empty", interrupt_on_first, setup, teardown, NULL },
        { "a scribbled head never leads outside the ring", head_is_not_believed, setup, teardown, NULL },
        { "a head beyond the tail is a device error", head_beyond_tail_is_an_error, setup, teardown, NULL },
        { "a ring sized too small is a device error", worst_case_ring_overrun, setup, teardown, NULL },
        { "without a ring warps stall and others are device errors", no_ring, setup, teardown, NULL },
        { "unusable rings are refused", unusable_rings, setup, teardown, NULL },
        { "the hook makes start, fault and token rings smaller", limit_hook, setup, teardown, NULL },
        { "many producers lose nothing", producers_lose_nothing, setup, teardown, NULL },
        { "trace records wrap and name their number", trace_records, setup, teardown, NULL },
        { "marks of the firmware are recorded", mark_is_recorded, setup, teardown, NULL },
        { "records of the firmware are written by the device", firmware_records, setup, teardown, NULL },
        { "unusable rings for them are refused", unusable_firmware_rings, setup, teardown, NULL },
    };

    return cmocka_run_group_tests_name("device core: rings", tests, NULL, NULL);
}
