/* SPDX-License-Identifier: MIT */
/*
 * Tests what address spaces share: none takes so much of it that another cannot run a task, or more than its quota.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/quota.h"
#include "ppu/macros.h"
#include "ppu/taskq.h"
#include "ppu/workq.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

#define TMD_VA (MOCK_MEMORY_VA + 0xf0000)
#define AREA_VA (MOCK_MEMORY_VA + 0xe0000)
#define BLOCK_METHODS 40u
#define ENTRIES 64u

static uint32_t flood; /* context that takes all it gets */
static uint32_t other;

static int setup(void **state)
{
    (void)state;
    mock_start();
    flood = mock_context();
    other = mock_context();
    return 0;
}

static uint16_t set(uint32_t context, uint32_t resource, uint32_t most)
{
    const uint32_t arg[] = { context, resource, most };
    return mock_admin(PPU_ADMIN_QUOTA, arg, 3).status;
}

static uint64_t held(uint32_t context, enum ppu_resource resource)
{
    return mock_query(PPU_KEY_CONTEXT_HELD, PPU_RESOURCE_OBJECT(context, resource));
}

static uint64_t quota(uint32_t context, enum ppu_resource resource)
{
    return mock_query(PPU_KEY_CONTEXT_QUOTA, PPU_RESOURCE_OBJECT(context, resource));
}

static uint32_t total(enum ppu_resource resource)
{
    return quota_pools[resource].total;
}

/* ---- what takes some of a resource; each asks for one more. 0, or how it was refused. ---- */

static uint16_t take_channel(uint32_t context)
{
    const uint32_t arg[] = { context, 0x100000, 0, 4, 0, 0 };
    return mock_admin(PPU_ADMIN_CHANNEL_CREATE, arg, 6).status;
}

static uint16_t take_queue(uint32_t context)
{
    const uint32_t arg[] = { context, mock_info()->heap_base, 2, 16 };
    return mock_admin(PPU_ADMIN_TASKQ_OPEN, arg, 4).status;
}

static uint16_t take_workq(uint32_t context)
{
    const uint64_t va = MOCK_VRAM_VA + mock_info()->heap_base;
    const uint32_t arg[] = { context, (uint32_t)va, (uint32_t)(va >> 32), mock_info()->heap_base, 4, 128, 0, 0, 0 };
    return mock_admin(PPU_ADMIN_WORKQ_CREATE, arg, 9).status;
}

static uint16_t take_nest(uint32_t context)
{
    const uint64_t va = MOCK_VRAM_VA + mock_info()->heap_base;
    const uint32_t arg[] = { context, (uint32_t)va, (uint32_t)(va >> 32), mock_info()->heap_base, 128, 1 };
    return mock_admin(PPU_ADMIN_NEST_OPEN, arg, PPU_ARRAY_SIZE(arg)).status;
}

/* ---- tests ---- */

static void limits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PPU_RESOURCES; i++) {
        assert_int_equal(quota(flood, i), total(i));
        assert_int_equal(set(flood, i, 0), PPU_FAULT_ADMIN_ARG);
        assert_int_equal(set(flood, i, total(i) + 1), PPU_FAULT_ADMIN_ARG);
        assert_int_equal(quota(flood, i), total(i));
        assert_int_equal(set(flood, i, 1), 0);
        assert_int_equal(quota(flood, i), 1);
        assert_int_equal(quota(other, i), total(i));
        assert_int_equal(held(flood, i), 0);
    }
    assert_int_equal(set(flood, PPU_RESOURCES, 1), PPU_FAULT_ADMIN_ARG);
    assert_int_equal(set(MOCK_CONTEXTS, 0, 1), PPU_FAULT_NO_OBJECT);
    const uint32_t none[] = { PPU_KEY_CONTEXT_HELD, PPU_RESOURCE_OBJECT(flood, PPU_RESOURCES) };
    assert_int_equal(mock_admin(PPU_ADMIN_QUERY, none, 2).status, PPU_FAULT_NO_OBJECT);
    /* The next address space with this number begins with everything. */
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_DESTROY, &flood, 1).status, 0);
    assert_int_equal(mock_context(), flood);
    assert_int_equal(quota(flood, PPU_RESOURCE_TASKS), total(PPU_RESOURCE_TASKS));
}

/* What the driver asks for is refused with a fault that says why. */
static void requests_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum ppu_resource resource;
        uint16_t (*take)(uint32_t context);
    } rows[] = {
        { PPU_RESOURCE_TASKQS, take_queue },
        { PPU_RESOURCE_WORKQS, take_workq },
        { PPU_RESOURCE_CHANNELS, take_channel },
    };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        uint32_t all = total(rows[i].resource);
        mock_teardown(NULL);
        setup(NULL);
        for (uint32_t n = 0; n < all - 1; n++) {
            assert_int_equal(rows[i].take(flood), 0);
        }
        assert_int_equal(rows[i].take(flood), PPU_FAULT_QUOTA);
        assert_int_equal(held(flood, rows[i].resource), all - 1);
        assert_int_equal(rows[i].take(other), 0);
        assert_int_equal(rows[i].take(other), PPU_FAULT_NO_RESOURCE);
        mock_teardown(NULL);
        setup(NULL);
        assert_int_equal(set(flood, rows[i].resource, 2), 0);
        assert_int_equal(rows[i].take(flood), 0);
        assert_int_equal(rows[i].take(flood), 0);
        assert_int_equal(rows[i].take(flood), PPU_FAULT_QUOTA);
    }
}

static void a_nest_within_its_quota(void **state)
{
    (void)state;
    assert_int_equal(set(flood, PPU_RESOURCE_NEST_TASKS, 127), 0);
    assert_int_equal(take_nest(flood), PPU_FAULT_QUOTA);
    assert_int_equal(held(flood, PPU_RESOURCE_NEST_TASKS), 0);
    assert_int_equal(set(flood, PPU_RESOURCE_NEST_TASKS, 128), 0);
    assert_int_equal(take_nest(flood), 0);
    assert_int_equal(held(flood, PPU_RESOURCE_NEST_TASKS), 128);
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_DESTROY, &flood, 1).status, 0);
    assert_int_equal(quota_pools[PPU_RESOURCE_NEST_TASKS].free, total(PPU_RESOURCE_NEST_TASKS));
}

/* Launches so many tasks, in blocks of some, as far as the channel gets. */
static void launch(struct stream *s, uint32_t count)
{
    struct ppu_tmd tmd = mock_tmd(s->channel + 1);
    while (count) {
        for (uint32_t i = 0; i < BLOCK_METHODS && count; i++, count--) {
            stream_launch(s, TMD_VA, &tmd, PPU_STREAM_NONE);
        }
        stream_submit(s);
    }
}

static uint64_t pending(const struct stream *s)
{
    return mock_query(PPU_KEY_CHANNEL_PENDING, s->channel);
}

/* Ends what is in a slot. */
static void end_one(void)
{
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        if (mock.slot_task[i]) {
            mock_slot_event(i, PPU_SLOT_DONE, 0);
            break;
        }
    }
    mock_settle();
}

static void a_record_for_each(void **state)
{
    (void)state;
    struct stream s = stream_open(flood, 0, ENTRIES, 7, 0);
    struct stream t = stream_open(other, 1, ENTRIES, 0, 0);
    uint32_t all = total(PPU_RESOURCE_TASKS);
    launch(&s, all + 20);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_WAITING);
    assert_int_equal(pending(&s), all - 1);
    launch(&t, 2);
    assert_int_equal(pending(&t), 1);
    assert_int_equal(stream_state(&t), PPU_CHANNEL_WAITING);
    /* Nothing is lost: all run as records come free. */
    uint32_t before = mock.started;
    for (uint32_t i = 0; i < all + 40; i++) {
        end_one();
        mock_advance(200000);
    }
    assert_int_equal(mock.started - before, all + 20 + 2 - MOCK_SLOTS);
    assert_int_equal(pending(&s) + pending(&t), 0);
    assert_int_equal(quota_pools[PPU_RESOURCE_TASKS].free, all);
}

static void a_quota_of_records(void **state)
{
    (void)state;
    struct stream s = stream_open(flood, 0, ENTRIES, 7, 0);
    assert_int_equal(set(flood, PPU_RESOURCE_TASKS, 3), 0);
    launch(&s, 10);
    assert_int_equal(pending(&s), 3);
    assert_int_equal(set(flood, PPU_RESOURCE_TASKS, 5), 0);
    mock_advance(200000);
    assert_int_equal(pending(&s), 5);
    assert_int_equal(set(flood, PPU_RESOURCE_TASKS, 1), 0); /* those that it has it keeps */
    for (uint32_t i = 0; i < 10; i++) {
        end_one();
        mock_advance(200000);
    }
    assert_int_equal(mock.started, 10);
}

static void a_copy_for_each(void **state)
{
    (void)state;
    struct stream s = stream_open(flood, 0, ENTRIES, 7, 0);
    struct stream t = stream_open(other, 1, ENTRIES, 0, 0);
    for (uint32_t i = 0; i < total(PPU_RESOURCE_COPIES) + BLOCK_METHODS; i++) {
        stream_copy(&s, AREA_VA, AREA_VA + 256, 64);
        if (i % BLOCK_METHODS == 0) {
            stream_submit(&s);
        }
    }
    stream_submit(&s);
    assert_int_equal(pending(&s), total(PPU_RESOURCE_COPIES) - 1);
    stream_copy(&t, AREA_VA, AREA_VA + 256, 64);
    stream_submit(&t);
    assert_int_equal(pending(&t), 1);
    while (mock.copies) {
        mock_copy_end(0, 0);
        mock_settle();
        mock_advance(200000);
    }
    assert_int_equal(pending(&s) + pending(&t), 0);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
    assert_int_equal(quota_pools[PPU_RESOURCE_COPIES].free, total(PPU_RESOURCE_COPIES));
}

/* Threads of one address space ask for tasks that do not exist; a fault of another is still told. */
static void a_flood_of_errors(void **state)
{
    (void)state;
    struct ppu_error_record record;
    struct stream t = stream_open(other, 1, ENTRIES, 0, 0);
    for (uint32_t i = 0; i < 4 * PPU_ERROR_RING_ENTRIES; i++) {
        struct ppu_start_event event = { .handle = 0x7ffffff, .context = flood };
        mock_push(PPU_RING_START, &event);
        mock_settle();
    }
    uint32_t bad = 0xdead;
    stream_method(&t, 0xff, 1, &bad);
    stream_submit(&t);
    uint32_t of_flood = 0;
    while (mock_error(&record) && record.code == PPU_FAULT_BAD_START) {
        of_flood++;
    }
    assert_int_equal(of_flood, PPU_ERROR_RING_ENTRIES - 1);
    assert_int_equal(record.code, PPU_FAULT_METHOD_UNKNOWN);
    assert_int_equal(record.context, other);
    assert_false(mock_error(&record));
    /* Read entries count for nobody. */
    struct ppu_start_event event = { .handle = 0x7ffffff, .context = flood };
    mock_push(PPU_RING_START, &event);
    mock_settle();
    assert_true(mock_error(&record));
    mock_push(PPU_RING_START, &event);
    mock_settle();
    assert_int_equal(held(flood, PPU_RESOURCE_ERRORS), 1);
}

/* A host that writes any head: the firmware goes on. */
static void a_scribbled_head(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct ppu_error_ring *ring = (struct ppu_error_ring *)(void *)(mock.vram + mock_info()->error_ring);
    for (uint32_t i = 0; i < 2000; i++) {
        struct ppu_start_event event = { .handle = 0x7ffffff, .context = random_below(&seed, MOCK_CONTEXTS) };
        ring->head = random_below(&seed, 2) ? ring->tail - random_below(&seed, 80) : (uint32_t)random_next(&seed);
        mock_push(PPU_RING_START, &event);
        mock_settle();
    }
    uint32_t all = quota_pools[PPU_RESOURCE_ERRORS].free;
    for (uint32_t i = 0; i < MOCK_CONTEXTS; i++) {
        all += quota_pools[PPU_RESOURCE_ERRORS].of[i].held;
    }
    assert_int_equal(all, PPU_ERROR_RING_ENTRIES);
}

/* ---- random operations against a model that says what must hold ---- */

#define SPACES 6u
#define TOTAL 24u

static void random_operations(void **state)
{
    (void)state;
    const enum ppu_resource r = PPU_RESOURCE_TASKS;
    uint64_t seed = random_seed();
    uint32_t has[SPACES] = { 0 }, most[SPACES], is_open = 0;
    quota_init();
    quota_total(r, TOTAL);
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t c = random_below(&seed, SPACES), sum = 0, empty = 0;
        for (uint32_t k = 0; k < SPACES; k++) {
            sum += has[k];
            empty += k != c && has[k] == 0 && (is_open >> k & 1u);
        }
        switch (random_below(&seed, 8)) {
        case 0:
            if (!(is_open >> c & 1u)) {
                quota_open(c);
                is_open |= 1u << c;
                most[c] = TOTAL;
            } else if (has[c] == 0) {
                quota_close(c);
                is_open &= ~(1u << c);
            }
            break;
        case 1:
            if (is_open >> c & 1u) {
                most[c] = 1 + random_below(&seed, TOTAL);
                assert_true(quota_set(c, r, most[c]));
            }
            break;
        case 2:
        case 3:
            if (has[c]) {
                quota_give(r, c);
                has[c]--;
            }
            break;
        default:
            if (is_open >> c & 1u) {
                bool may = sum < TOTAL && has[c] < most[c] && (has[c] == 0 || sum + empty < TOTAL);
                assert_int_equal(quota_take(r, c), may);
                has[c] += may;
            }
            break;
        }
        assert_int_equal(quota_pools[r].of[c].held, has[c]);
    }
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("quotas have limits, can be read and end with the context", limits),
        TEST("requests beyond a quota, or for what is kept, are refused and say so", requests_are_refused),
        TEST("a nest has at most its quota of records", a_nest_within_its_quota),
        TEST("a flood of launches leaves a record for each other context and loses none [B5]", a_record_for_each),
        TEST("a channel waits at the quota of its context [B5]", a_quota_of_records),
        TEST("a flood of copies leaves a place for each other context and loses none", a_copy_for_each),
        TEST("a flood of errors loses none of another context", a_flood_of_errors),
        TEST("any head of the error ring", a_scribbled_head),
        TEST("random operations against a model", random_operations),
    };
    return cmocka_run_group_tests_name("firmware: quotas", tests, NULL, NULL);
}
