/* SPDX-License-Identifier: MIT */
/*
 * Tests work queues: threads and the firmware in every order of their accesses for small cases, in random ones for
 * larger. What a thread does is device-lib/asm/workq.s in C.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/block.h"
#include "firmware/caps.h"
#include "firmware/channel.h"
#include "firmware/commands.h"
#include "firmware/context.h"
#include "firmware/copy.h"
#include "firmware/dma.h"
#include "firmware/fault.h"
#include "firmware/launch.h"
#include "firmware/layout.h"
#include "firmware/log.h"
#include "firmware/nest.h"
#include "firmware/ring.h"
#include "firmware/sem.h"
#include "firmware/shared.h"
#include "firmware/stats.h"
#include "firmware/timer.h"
#include "firmware/tmdq.h"
#include "firmware/tmu.h"
#include "firmware/trace.h"
#include "firmware/wdu.h"
#include "firmware/workq.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/orders.h"

#define PIECES 8u
#define PASSES 3u             /* of the firmware, while threads run */
#define PLACE (24u * PPU_MIB) /* of the queue in VRAM */
#define US 1000ull
#define MS 1000000ull
#define WORDS 9u /* of a block: header and one semaphore method */

static struct channel *channel; /* the queue's */
static struct channel *waiter;  /* awaits Y; NULL: none */
static uint32_t entries, first; /* of the queue */
static uint32_t order[PIECES];  /* pieces in the order of their reservations */
static uint32_t reserved;
static bool busy; /* a thread needs the firmware to go on */

static struct ppu_workq_head *queue(void)
{
    return (struct ppu_workq_head *)(void *)(mock.vram + PLACE);
}

/* ---- a thread ---- */

static uint64_t queue_va(uint64_t at)
{
    return MOCK_VRAM_VA + PLACE + at;
}

static void write_block(uint32_t counter, uint32_t correlation, const uint32_t *methods, uint32_t words)
{
    uint32_t entry = counter % entries;
    uint32_t at = queue()->block_at + entry * queue()->block_bytes;
    const struct ppu_block_header header = {
        .head = { PPU_BLOCK_VERSION, sizeof(header) },
        .len_words = 4 + words,
        .correlation = correlation,
    };
    uint64_t gp = ppu_gp_entry(queue_va(at), 4 + words);

    memcpy(mock.vram + PLACE + at, &header, sizeof(header));
    memcpy(mock.vram + PLACE + at + sizeof(header), methods, 4 * words);
    memcpy(mock.vram + PLACE + queue()->ring_at + entry * sizeof(gp), &gp, sizeof(gp));
}

static uint32_t sem_method(uint32_t *words, uint32_t method, uint64_t va, uint32_t value)
{
    words[0] = PPU_METHOD_WORD(method, 4);
    words[1] = (uint32_t)va;
    words[2] = (uint32_t)(va >> 32);
    words[3] = value;
    words[4] = 0;
    return 5;
}

static uint32_t own_acquire(uint32_t *words, uint32_t counter)
{
    return sem_method(words, PPU_METHOD_SEM_ACQUIRE, queue_va(queue()->sem_at + counter % entries * 16u), 1);
}

/* SEMREL: the word, and the touch when a channel has armed it. */
static void release(uint32_t counter)
{
    struct ppu_sem *sem = (struct ppu_sem *)(void *)(mock.vram + PLACE + queue()->sem_at) + counter % entries;
    assert_int_equal(sem->payload, 0);
    shared_publish(&sem->payload, 1);
    mock_touch(queue_va(queue()->sem_at + counter % entries * 16u));
}

/* Counter of `count` entries. */
static uint32_t reserve(uint32_t count)
{
    for (;;) {
        uint32_t seen = shared_read(&queue()->soft_put);
        uint32_t shadow = shared_read(&queue()->shadow_put);
        if (ppu_workq_distance(seen, shadow, queue()->period) >= count &&
            shared_replace(&queue()->soft_put, seen, ppu_workq_add(seen, count, queue()->period))) {
            return seen;
        }
    }
}

static void make(uint32_t piece)
{
    uint32_t counter = reserve(2);
    uint32_t words[8] = { PPU_METHOD_WORD(PPU_METHOD_NOP, 0) };

    order[reserved++] = piece;
    write_block(counter, 100 + piece, words, 1);
    write_block(ppu_workq_add(counter, 1, queue()->period), 0, words,
                own_acquire(words, ppu_workq_add(counter, 1, queue()->period)));
    release(ppu_workq_add(counter, queue()->period - 1, queue()->period));
}

static void end_round(void)
{
    uint32_t counter = reserve(1);
    uint32_t words[20], used = 0;

    if (shared_replace(&queue()->round, 1, 2)) {
        words[used++] = PPU_METHOD_WORD(PPU_METHOD_WAIT_IDLE, 0);
        used += sem_method(words + used, PPU_METHOD_SEM_RELEASE, queue_va(offsetof(struct ppu_workq_head, y)), 1);
        used += sem_method(words + used, PPU_METHOD_SEM_ACQUIRE, queue_va(offsetof(struct ppu_workq_head, x)), 2);
    }
    used += own_acquire(words + used, counter);
    write_block(counter, 0, words, used);
    release(ppu_workq_add(counter, queue()->period - 1, queue()->period));
}

static void thread_of_two(void)
{
    make(0);
    make(1);
}

static void thread_of_one(void)
{
    make(2);
}

/* Around a small ring: waits for what the firmware gives back. */
static void thread_of_six(void)
{
    for (uint32_t i = 0; i < 6; i++) {
        make(i);
    }
    busy = false;
}

static void thread_that_ends(void)
{
    make(0);
    end_round();
}

/* ---- the firmware ---- */

static void serve(void)
{
    union ring_entry entry;

    do {
        while (ring_take(PPU_RING_TOUCH, &entry)) {
            sem_touch_event(&entry);
        }
    } while (channel_run_next());
}

static void firmware(void)
{
    for (uint32_t i = 0; i < PASSES || busy; i++) {
        serve();
        if (waiter) {
            workq_look(channel->workq);
        }
        orders_step();
    }
}

static void begin_round(uint32_t round)
{
    queue()->x.payload = round;
    mock_touch(queue_va(offsetof(struct ppu_workq_head, x)));
    serve();
}

static void world_begin(void)
{
    const struct workq_plan plan = {
        .context = 0,
        .va = { queue_va(0) },
        .vram = { PLACE },
        .entries = entries,
        .block_bytes = PPU_WORKQ_MIN_BLOCK,
        .first = first,
    };

    layout_init();     /* resets the rings too */
    layout.tasks = 16; /* making as many as there are would take longer than all else */
    layout.nest_tasks = 0;
    layout.records = layout.tasks;
    timers_init();
    ring_init();
    dma_init();
    trace_init();
    fault_init();
    stats_init();
    task_init();
    nest_init();
    tmdq_init();
    tmu_init();
    copy_init();
    context_init();
    commands_init();
    channel_init();
    workq_init();
    block_init();
    reserved = 0;
    waiter = NULL;
    uint32_t context;
    assert_true(context_open((ppu_vram_t){ layout.pt_base.off }, layout.pt_base, &context));
    channel = workq_create(&plan);
    assert_non_null(channel);
    serve();
    assert_int_equal(channel->state, PPU_CHANNEL_PARKED);
    begin_round(1);
}

static void world_with_waiter(void)
{
    world_begin();
    waiter = channel_open(0, (ppu_va_t){ MOCK_MEMORY_VA }, 4, 0, 0);
    channel_ring(waiter);
    waiter->sem.at = (ppu_va_t){ queue_va(offsetof(struct ppu_workq_head, y)) };
    waiter->sem.value = 1;
    channel_park(waiter);
    context_add_task(0); /* somebody is left who may publish what is reserved */
    waiter->pending = 1; /* otherwise the round ends here */
    workq_await(channel->workq, waiter);
    waiter->pending = 0;
}

/* Every piece ran once, in the order of the reservations, and the queue stands where it should. */
static void world_end(void)
{
    serve();
    if (waiter) {
        assert_int_equal(queue()->round, 2);
        assert_int_equal(queue()->y.payload, 1);
        begin_round(2); /* what came after the end of round 1 */
    }
    const struct ppu_trace_ring *ring = (const void *)(mock.vram + layout.fw_trace.off);
    const struct ppu_trace_record *records = (const void *)(ring + 1);
    uint32_t ran = 0, ends = 0;
    for (uint32_t i = 0; i < ring->tail; i++) {
        ends += records[i].type == PPU_TRACE_SEM_RELEASE;
        if (records[i].type == PPU_TRACE_BLOCK && records[i].correlation >= 100) {
            assert_true(ran < reserved);
            assert_int_equal(records[i].correlation - 100, order[ran]);
            ran++;
        }
    }
    assert_int_equal(ran, reserved);
    assert_int_equal(ends, waiter ? 1 : 0);
    assert_int_not_equal(channel->state, PPU_CHANNEL_FAULTED);
    assert_int_equal(ppu_workq_distance(queue()->soft_put, queue()->shadow_put, queue()->period), entries - 2);
}

static int setup(void **state)
{
    (void)state;
    mock_reset();
    mock.reg[PPU_REG_ARMED / 4] = MOCK_CHANNELS;
    assert_int_equal(caps_init(), 0);
    return 0;
}

static void use_ring(uint32_t count, uint32_t before_wrap)
{
    entries = count;
    first = ppu_workq_period(count) - before_wrap;
}

static void one_piece(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { thread_of_one, firmware }, world_end };
    use_ring(4, 2);
    assert_true(orders_all(&orders) > 100);
}

static void two_pieces(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { thread_of_two, firmware }, world_end };
    use_ring(6, 2);
    assert_true(orders_all(&orders) > 1000);
}

static void two_threads(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { thread_of_two, thread_of_one, firmware }, world_end };
    for (uint32_t i = 1; i < 9; i++) {
        use_ring(8 + i % 2, i);
        orders_random(&orders, 1500);
    }
}

static void world_busy(void)
{
    world_begin();
    busy = true;
}

static void around_the_ring(void **state)
{
    (void)state;
    const struct orders orders = { world_busy, { thread_of_six, firmware }, world_end };
    for (uint32_t i = 4; i < 8; i++) {
        use_ring(i, i);
        orders_random(&orders, 500);
    }
}

static void round_that_both_end(void **state)
{
    (void)state;
    const struct orders orders = { world_with_waiter, { thread_that_ends, firmware }, world_end };
    use_ring(8, 3);
    orders_random(&orders, 10000);
}

/* The end of a thread's task is known before the touch that tells what the thread has published. */
static void told_late(void **state)
{
    (void)state;
    use_ring(8, 3);
    world_with_waiter();
    make(0);
    context_remove_task(0);
    workq_look(channel->workq);
    assert_int_equal(channel->state, PPU_CHANNEL_RUNNING);
    serve();
    workq_look(channel->workq);
    world_end();
}

static void never_published(void **state)
{
    (void)state;
    use_ring(8, 3);
    world_with_waiter();
    reserve(2);
    workq_look(channel->workq);
    assert_int_equal(channel->state, PPU_CHANNEL_PARKED);
    context_remove_task(0);
    workq_look(channel->workq);
    assert_int_equal(channel->state, PPU_CHANNEL_FAULTED);
    assert_int_equal(channel_last_fault(channel)->code, PPU_FAULT_WORKQ_HOLE);
}

/* How often the channel's semaphore is tested, by the tag, which every test changes. */
static uint32_t tests_after(uint64_t ns)
{
    uint32_t before = channel->sem.tag;
    mock.now_ns += ns;
    timers_run(1);
    return channel->sem.tag - before;
}

/* What is not the queue's may be released by a plain store of the CPU. */
static void own_semaphores_are_tested_seldom(void **state)
{
    (void)state;
    use_ring(8, 3);
    world_begin();
    assert_int_equal(tests_after(10 * MS - 1), 0);
    assert_int_equal(tests_after(1), 1);
    assert_int_equal(tests_after(10 * MS), 1);

    uint32_t counter = reserve(2), words[8];
    write_block(counter, 100, words, sem_method(words, PPU_METHOD_SEM_ACQUIRE, queue_va(PPU_MIB), 1));
    write_block(counter + 1, 0, words, own_acquire(words, counter + 1));
    release(counter - 1);
    serve();
    assert_int_equal(channel->state, PPU_CHANNEL_PARKED);
    assert_int_equal(tests_after(100 * US), 1);
    *(uint32_t *)(void *)(mock.vram + PLACE + PPU_MIB + offsetof(struct ppu_sem, payload)) = 1;
    assert_int_equal(tests_after(200 * US), 1);
    serve();

    end_round();
    serve();
    assert_int_equal(channel->sem.at.va, queue_va(offsetof(struct ppu_workq_head, x)));
    assert_int_equal(tests_after(1 * MS), 0);
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("one reservation against the firmware, every order of accesses [C3] [C4]", one_piece),
        TEST("two reservations of a thread against the firmware, every order [C3] [C4]", two_pieces),
        TEST("two threads against the firmware at the wrap, random orders [C3] [C4]", two_threads),
        TEST("a thread goes around small rings, random orders [C4]", around_the_ring),
        TEST("a round that a thread and the firmware end at once, random orders [C5]", round_that_both_end),
        TEST("what was published is no hole because the touch comes late [C4] [C5]", told_late),
        TEST("a reservation that nobody can publish any more is a hole [C4] [C6]", never_published),
        TEST("semaphores of a queue are tested by time each 10 ms, others as always [C8]",
             own_semaphores_are_tested_seldom),
    };
    return cmocka_run_group_tests_name("firmware: work queues", tests, NULL, NULL);
}
