/* SPDX-License-Identifier: MIT */
/*
 * Tests queue tasks that the host and threads feed while they run, with data and with tasks, and that are closed,
 * drained, evicted or ended.
 */
#include "tests/api/api.h"

#include <string.h>

#include "ppu/devlib.h"
#include "ppu/macros.h"
#include "ppu/taskq.h"
#include "ppu/tmd.h"
#include "runtime/deadline.h"
#include "runtime/taskq.h"

enum {
    TAKEN = 0,
    STARTED = 4,
    NOTHING = 8,
    FAILED = 12,
    FEEDER_AT = 64,
    LEAF_AT = 128,
    TASKER_AT = 192,
    TMD_AT = 256,
    COUNTED_AT = 2048
};

#define VALUES 8192u
#define SCRATCH_BYTES (64u * PPU_KIB)

struct taker_params {
    uint64_t queue, counters, seen, scratch;
    uint32_t turns, zero;
};

struct feeder_params {
    uint64_t queue, counters, scratch;
    uint32_t each, threads, close, zero;
};

struct item {
    uint32_t value, hops;
};

/* A queue with its task's kernel, and a second channel that feeds it. */
struct world {
    struct api *api;
    struct ppu_taskq *queue;
    struct ppu_channel *feed;
    struct ppu_memory *counters;
    struct ppu_memory *seen;
    struct taker_params params;
    struct ppu_event event;
};

static struct ppu_taskq *new_queue(struct api *api, uint32_t entries)
{
    struct ppu_taskq *queue = NULL;

    check(ppu_taskq_create(api->context, &(struct ppu_taskq_options){ .entries = entries, .data_bytes = 8 }, &queue));
    return queue;
}

static struct world world_new(struct api *api, uint32_t entries)
{
    struct world world = {
        .api = api,
        .queue = new_queue(api, entries),
        .counters = api_memory(api, PPU_MEMORY_VRAM, 4096),
        .seen = api_memory(api, PPU_MEMORY_VRAM, VALUES * 4),
    };

    check(ppu_channel_create(api->context, NULL, &world.feed));
    world.params = (struct taker_params){
        .queue = ppu_taskq_va(world.queue).va,
        .counters = api_va(api, world.counters),
        .seen = api_va(api, world.seen),
        .scratch = api_va(api, api_memory(api, PPU_MEMORY_VRAM, SCRATCH_BYTES)),
    };
    return world;
}

static void world_end(struct world *world)
{
    check(ppu_channel_destroy(world->feed));
    check(ppu_taskq_destroy(world->queue));
}

static enum ppu_err launch_kernel(struct world *world, const struct ppu_kernel *kernel)
{
    const struct ppu_launch launch = {
        .cta = { 32 }, .taskq = world->queue, .params = &world->params, .param_bytes = sizeof(world->params)
    };

    return ppu_stream_launch(world->api->stream, kernel, &launch, &world->event);
}

static enum ppu_err launch(struct world *world, const char *kernel)
{
    return launch_kernel(world, api_kernel(world->api, world->api->context, "taskq", kernel));
}

static uint32_t counter(const struct world *world, uint32_t at)
{
    return api_word(world->counters, at);
}

/* Appends, and waits while the queue is full. */
static void push(struct world *world, uint32_t value, uint32_t hops)
{
    const struct item item = { value, hops };
    uint64_t deadline_ns = deadline_after(LONG_NS);
    enum ppu_err err;

    while ((err = ppu_taskq_push(world->queue, world->feed, &item, sizeof(item))) == PPU_ERR_BUSY) {
        assert_true(deadline_left(deadline_ns) > 0);
        sleep_ns(10 * NS_PER_US);
    }
    check(err);
}

static void close_and_wait(struct world *world)
{
    check(ppu_taskq_close(world->queue, world->feed));
    check(ppu_event_wait(&world->event, LONG_NS));
    assert_int_equal(counter(world, FAILED), 0);
}

/* Until the task has begun: a launch that is on its way takes from no queue yet. */
static void wait_for_taken(const struct world *world, uint32_t entries)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);

    while (counter(world, TAKEN) < entries) {
        assert_true(deadline_left(deadline_ns) > 0);
        sleep_ns(10 * NS_PER_US);
    }
}

static void each_seen(const struct world *world, uint32_t values, uint32_t times)
{
    for (uint32_t i = 0; i < values; i++) {
        assert_int_equal(api_word(world->seen, i * 4ull), times);
    }
}

/* ---- fed by the host ---- */

static void before_the_launch(void **state)
{
    struct world world = world_new(*state, 256);

    for (uint32_t i = 0; i < 256; i++) {
        push(&world, i, 0);
    }
    const struct item item = { 256, 0 };
    assert_int_equal(ppu_taskq_push(world.queue, world.feed, &item, sizeof(item)), PPU_ERR_BUSY);
    check(launch(&world, "taker"));
    close_and_wait(&world);
    assert_int_equal(counter(&world, TAKEN), 256);
    each_seen(&world, 256, 1);
    world_end(&world);
}

/* Many times round, in rings of every small size; the task parks and goes on as it likes. */
static void while_it_runs(void **state)
{
    const uint32_t sizes[] = { 2, 4, 8, 64, 1024 };

    for (uint32_t s = 0; s < PPU_ARRAY_SIZE(sizes); s++) {
        struct world world = world_new(*state, sizes[s]);
        uint32_t values = machine_is_slow() ? 150 : 600;

        check(launch(&world, "taker"));
        for (uint32_t i = 0; i < values; i++) {
            push(&world, i, 0);
            if (i == values / 2) {
                assert_true(api_wait_word(world.counters, TAKEN, i + 1));
            }
        }
        assert_false(ppu_event_done(&world.event));
        close_and_wait(&world);
        assert_int_equal(counter(&world, TAKEN), values);
        each_seen(&world, values, 1);
        world_end(&world);
    }
}

static void closed_and_empty(void **state)
{
    struct world world = world_new(*state, 4);
    const struct item item = { 0, 0 };

    check(ppu_taskq_close(world.queue, world.feed));
    assert_int_equal(ppu_taskq_push(world.queue, world.feed, &item, sizeof(item)), PPU_ERR_CLOSED);
    check(launch(&world, "taker"));
    check(ppu_event_wait(&world.event, LONG_NS));
    assert_int_equal(counter(&world, TAKEN), 0);
    world_end(&world);
}

static void arguments(void **state)
{
    struct api *api = *state;
    struct ppu_taskq *queue = NULL;
    const struct ppu_taskq_options bad[] = {
        { .entries = 1 }, { .entries = 3 }, { .entries = 2 * PPU_TASKQ_MAX_ENTRIES }, { .data_bytes = 4081 }
    };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        assert_int_equal(ppu_taskq_create(api->context, &bad[i], &queue), PPU_ERR_BAD_ARG);
        assert_null(queue);
    }
    struct world world = world_new(api, 4);
    assert_int_equal(ppu_taskq_push(world.queue, world.feed, "too long", 17), PPU_ERR_BAD_ARG);
    check(launch(&world, "taker"));
    check(api_finish(world.feed));
    assert_int_equal(ppu_taskq_destroy(world.queue), PPU_ERR_BUSY);
    close_and_wait(&world);
    /* A queue has one task, until it is opened again. */
    check(launch(&world, "taker"));
    assert_int_equal(ppu_event_wait(&world.event, LONG_NS), PPU_ERR_BAD_TMD);
    world_end(&world);
}

/* One task after the other, each from the first entry on; not while one takes. */
static void opened_again(void **state)
{
    struct world world = world_new(*state, 8);

    for (uint32_t round = 1; round <= 4; round++) {
        push(&world, 0, 0);
        check(launch(&world, "taker"));
        for (uint32_t i = 1; i < 5 * round; i++) {
            push(&world, i, 0);
        }
        wait_for_taken(&world, 5 * (round * (round - 1) / 2) + 1);
        assert_int_equal(ppu_taskq_reopen(world.queue), PPU_ERR_BUSY);
        close_and_wait(&world);
        assert_int_equal(ppu_taskq_push(world.queue, world.feed, &(struct item){ 0, 0 }, sizeof(struct item)),
                         PPU_ERR_CLOSED);
        check(ppu_taskq_reopen(world.queue));
    }
    assert_int_equal(counter(&world, TAKEN), 5 * (1 + 2 + 3 + 4));
    each_seen(&world, 5, 4);
    world_end(&world);
}

/* ---- fed by threads ---- */

static enum ppu_err feed(struct world *world, uint32_t ctas, uint32_t each, bool close, struct ppu_event *event)
{
    struct api *api = world->api;
    const struct feeder_params params = {
        .queue = world->params.queue,
        .counters = world->params.counters + FEEDER_AT,
        .scratch = api_va(api, api_memory(api, PPU_MEMORY_VRAM, ctas * 32ull * 16)),
        .each = each,
        .threads = ctas * 32,
        .close = close,
    };
    const struct ppu_launch launch = {
        .grid = { ctas }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params)
    };
    struct ppu_block *block = NULL;
    struct ppu_stream *stream = NULL;

    check(ppu_stream_create(world->feed, &stream));
    check(ppu_block_begin(world->feed, &block));
    ppu_block_launch(block, stream, api_kernel(api, api->context, "taskq", "feeder"), &launch);
    enum ppu_err err = ppu_block_submit(block, event);
    check(ppu_stream_destroy(stream));
    return err;
}

static void by_threads(void **state)
{
    const uint32_t sizes[] = { 2, 16, 4096 };

    for (uint32_t s = 0; s < PPU_ARRAY_SIZE(sizes); s++) {
        struct world world = world_new(*state, sizes[s]);
        /* In a small ring every few entries take a trip to the firmware. */
        bool few = sizes[s] == 2;
        uint32_t ctas = machine_is_slow() ? 2 - few : few ? 2 : 4;
        uint32_t each = machine_is_slow() ? 2 - few : few ? 2 : 8;
        struct ppu_event fed;

        check(launch(&world, "taker"));
        check(feed(&world, ctas, each, true, &fed));
        check(ppu_event_wait(&fed, LONG_NS));
        check(ppu_event_wait(&world.event, LONG_NS));
        assert_int_equal(counter(&world, FEEDER_AT + 8), 0);
        assert_int_equal(counter(&world, TAKEN), ctas * 32 * each);
        each_seen(&world, ctas * 32 * each, 1);
        world_end(&world);
    }
}

static void by_threads_and_host(void **state)
{
    struct world world = world_new(*state, 32);
    struct ppu_channel *host = NULL;
    struct ppu_event fed;

    check(ppu_channel_create(world.api->context, NULL, &host));
    check(launch(&world, "taker"));
    check(feed(&world, 2, 4, false, &fed));
    struct ppu_channel *feed_channel = world.feed;
    world.feed = host;
    for (uint32_t i = 0; i < 256; i++) {
        push(&world, i, 0);
    }
    check(ppu_event_wait(&fed, LONG_NS));
    close_and_wait(&world);
    each_seen(&world, 256, 2);
    check(ppu_channel_destroy(feed_channel));
    world_end(&world);
}

/* CTAs of the task append to its own queue: work that makes work. */
static void by_itself(void **state)
{
    struct world world = world_new(*state, 64);
    uint32_t hops = machine_is_slow() ? 8 : 100;

    check(launch(&world, "taker"));
    for (uint32_t i = 0; i < 48; i++) {
        push(&world, i, hops);
    }
    assert_true(api_wait_word(world.counters, TAKEN, 48 * (hops + 1)));
    close_and_wait(&world);
    each_seen(&world, 48, hops + 1);
    world_end(&world);
}

/* ---- tasks in entries ---- */

struct leaf_params {
    uint64_t counter, zero;
};

static void tasks_in_entries(struct world *world, uint32_t ctas, uint32_t threads)
{
    struct api *api = world->api;
    const struct leaf_params leaf_params = { .counter = world->params.counters + LEAF_AT };
    const struct ppu_kernel *leaf = api_kernel(api, api->context, "taskq", "leaf");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t params[] = { world->params.queue, api_va(api, memory), api_va(api, memory) + TMD_AT,
                                world->params.counters + TASKER_AT };
    struct ppu_launch launch = { .grid = { 3 }, .cta = { 32 } };

    check(ppu_kernel_describe(leaf, &launch, ppu_memory_host(memory)));
    memcpy((char *)ppu_memory_host(memory) + TMD_AT, &leaf_params, sizeof(leaf_params));
    launch =
        (struct ppu_launch){ .grid = { ctas }, .cta = { threads }, .params = params, .param_bytes = sizeof(params) };
    struct ppu_stream *stream = NULL;
    struct ppu_block *block = NULL;
    struct ppu_event event;
    check(ppu_stream_create(world->feed, &stream));
    check(ppu_block_begin(world->feed, &block));
    ppu_block_launch(block, stream, api_kernel(api, api->context, "taskq", "tasker"), &launch);
    check(ppu_block_submit(block, &event));
    check(ppu_event_wait(&event, LONG_NS));
    check(ppu_stream_destroy(stream));
}

static void of_tasks(void **state)
{
    struct world world = world_new(*state, 128);

    check(ppu_context_nest(world.api->context, NULL));
    check(launch(&world, "saver"));
    tasks_in_entries(&world, 1, 100);
    check(ppu_event_wait(&world.event, LONG_NS));
    assert_int_equal(counter(&world, TASKER_AT), 100);
    assert_int_equal(counter(&world, TASKER_AT + 4), 0);
    assert_int_equal(counter(&world, STARTED), 100);
    assert_int_equal(counter(&world, FAILED), 0);
    /* The queue's task is complete only when those tasks are (B8). */
    assert_int_equal(counter(&world, LEAF_AT), 300);
    world_end(&world);
}

static void without_records(void **state)
{
    struct world world = world_new(*state, 256);

    check(ppu_context_nest(world.api->context, &(struct ppu_nest_options){ .tasks = 64 }));
    world.params.turns = 1000;
    tasks_in_entries(&world, 1, 200);
    check(launch(&world, "saver"));
    check(ppu_event_wait(&world.event, LONG_NS));
    uint32_t appended = counter(&world, TASKER_AT);
    assert_in_range(appended, 1, 63);
    assert_int_equal(counter(&world, TASKER_AT + 4), 200 - appended);
    assert_int_equal(counter(&world, TASKER_AT + 8), PPU_DEVLIB_NO_RECORD);
    assert_int_equal(counter(&world, STARTED), appended);
    assert_int_equal(counter(&world, NOTHING), 200 - appended);
    assert_int_equal(counter(&world, LEAF_AT), 3 * appended);
    world_end(&world);
}

/* ---- eviction, ends ---- */

/* More urgent tasks take every slot again and again; no entry is lost and none is taken twice. */
static void evicted(void **state)
{
    struct api *api = *state;
    const uint32_t slots = ppu_device_info(api->device)->slots;
    const uint32_t queues = PPU_MIN(slots, PPU_TASKQS - 1); /* beside the world's own */
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream[PPU_MAX_SLOTS];

    check(ppu_channel_create(api->context, &(struct ppu_channel_options){ .priority = 7 }, &channel));
    for (uint32_t i = 0; i < slots; i++) {
        check(ppu_stream_create(channel, &stream[i]));
    }
    for (uint32_t saved = 0; saved < 2; saved++) {
        struct world world = world_new(api, 64);
        struct taker_params params = world.params;
        const struct ppu_kernel *taker = api_kernel(api, api->context, "taskq", "taker");
        uint32_t others = 0;

        if (saved) {
            check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .depth = 2, .ctas = 16 }));
        }
        world.params.turns = machine_is_slow() ? 1000 : 20000;
        check(launch(&world, saved ? "saver" : "taker"));
        params.turns = 2000;
        struct ppu_taskq *idle[64];
        for (uint32_t round = 0; round < 3; round++) {
            struct ppu_event event;
            for (uint32_t i = 0; i < 20; i++) {
                push(&world, round * 20 + i, 3);
            }
            /* Each runs one CTA of its own queue, which is closed already. */
            for (uint32_t i = 0; i < queues; i++) {
                const struct item item = { VALUES - 1, 0 };
                idle[i] = new_queue(api, 2);
                check(ppu_taskq_push(idle[i], world.feed, &item, sizeof(item)));
                check(ppu_taskq_close(idle[i], world.feed));
                params.queue = ppu_taskq_va(idle[i]).va;
                const struct ppu_launch launch = {
                    .cta = { 32 }, .taskq = idle[i], .params = &params, .param_bytes = sizeof(params), .priority = 7
                };
                check(ppu_stream_launch(stream[i], taker, &launch, &event));
            }
            for (uint32_t i = queues; i < slots; i++) {
                const uint64_t counted[] = { world.params.counters + COUNTED_AT,
                                             world.params.counters + COUNTED_AT + 4 };
                const struct ppu_launch launch = {
                    .grid = { 1 }, .cta = { 1 }, .params = counted, .param_bytes = sizeof(counted), .priority = 7
                };
                check(
                    ppu_stream_launch(stream[i], api_kernel(api, api->context, "counter", "counter"), &launch, &event));
            }
            check(ppu_event_wait(&event, LONG_NS));
            check(api_finish(channel));
            for (uint32_t i = 0; i < queues; i++) {
                check(ppu_taskq_destroy(idle[i]));
                others++;
            }
        }
        assert_true(api_wait_word(world.seen, 4 * 59, 4));
        assert_true(api_wait_word(world.counters, TAKEN, 60 * 4 + others));
        close_and_wait(&world);
        each_seen(&world, 60, 4);
        world_end(&world);
    }
    check(ppu_channel_destroy(channel));
    for (uint32_t i = 0; i < slots; i++) {
        check(ppu_stream_destroy(stream[i]));
    }
}

static void channel_is_reset(void **state)
{
    struct api *api = *state;
    uint64_t seed = api_seed();

    for (uint32_t i = 0; i < 20; i++) {
        struct world world = world_new(api, 16);
        world.params.turns = api_random(&seed) % 2000;
        check(launch(&world, "taker"));
        for (uint32_t n = api_random(&seed) % 16; n > 0; n--) {
            push(&world, n, api_random(&seed) % 50);
        }
        check(ppu_channel_reset(api->channel));
        assert_int_equal(ppu_event_wait(&world.event, LONG_NS), PPU_ERR_CANCELLED);
        world_end(&world);
        api_forget_programs(1);
    }
    struct world world = world_new(api, 16);
    check(launch(&world, "taker"));
    push(&world, 1, 0);
    close_and_wait(&world);
    assert_int_equal(counter(&world, TAKEN), 1);
    world_end(&world);
}

/* The task has found its queue empty: whoever appends, or closes, has to tell it. */
static void wait_armed(const struct ppu_taskq *queue)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);

    while (api_word(queue->memory, offsetof(struct ppu_taskq_head, armed)) == PPU_TASK_NULL) {
        assert_true(deadline_left(deadline_ns) > 0);
        sleep_ns(100 * NS_PER_US);
    }
}

/*
 * The method that tells of the close is still to be executed when the task has ended and the queue is destroyed, and
 * when another queue has its number: its channel goes on, and the other queue is none the worse.
 */
static void destroyed_before_its_task_is_told(void **state)
{
    struct api *api = *state;
    struct world world = world_new(api, 16);
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 16);

    for (uint32_t number_is_used_again = 0; number_is_used_again < 2; number_is_used_again++) {
        struct world told = world;
        struct ppu_taskq *other = NULL;
        struct ppu_block *block = NULL;

        told.queue = new_queue(api, 2);
        check(launch(&told, "taker"));
        wait_armed(told.queue);
        check(ppu_block_begin(world.feed, &block));
        ppu_block_acquire(block, (ppu_va_t){ api_va(api, sem) }, number_is_used_again + 1, PPU_SEM_EQUAL);
        check(ppu_block_submit(block, NULL));
        check(ppu_taskq_close(told.queue, world.feed));
        check(ppu_channel_reset(api->channel));
        check(ppu_taskq_destroy(told.queue));
        if (number_is_used_again) {
            other = new_queue(api, 2);
        }
        api_set_word(sem, 0, number_is_used_again + 1);
        ppu_channel_ring(world.feed);
        check(api_finish(world.feed));
        check(ppu_taskq_destroy(other));
    }
    check(launch(&world, "taker"));
    push(&world, 1, 0);
    close_and_wait(&world);
    assert_int_equal(counter(&world, TAKEN), 1);
    world_end(&world);
}

/* A kernel faults in the middle of the queue: its channel says why, and the producer is not held up. */
static void a_fault_in_a_queue_task(void **state)
{
    struct world world = world_new(*state, 16);
    struct ppu_error error;

    world.params.seen = 0x1000; /* nothing is there */
    check(launch(&world, "taker"));
    push(&world, 1, 0);
    push(&world, 2, 0);
    assert_int_equal(ppu_event_wait(&world.event, LONG_NS), PPU_ERR_FAULT);
    assert_int_equal(ppu_channel_error(world.api->channel, &error), PPU_ERR_FAULT);
    assert_int_equal(error.record.code, PPU_FAULT_UNMAPPED);
    push(&world, 3, 0);
    check(ppu_taskq_close(world.queue, world.feed));
    check(api_finish(world.feed));
    check(ppu_channel_reset(world.api->channel));
    world_end(&world);
}

/* A list that waits for `gate`, then takes from the queue, then keeps how many entries that were. */
static void launch_in_list(struct world *world, ppu_va_t gate, ppu_va_t kept)
{
    struct api *api = world->api;
    const struct ppu_kernel *taker = api_kernel(api, api->context, "taskq", "taker");
    const struct ppu_launch launch = {
        .cta = { 32 }, .taskq = world->queue, .params = &world->params, .param_bytes = sizeof(world->params)
    };
    struct ppu_block *block = NULL;

    check(ppu_block_begin(api->channel, &block));
    ppu_block_commands(block, api->stream);
    ppu_block_acquire(block, gate, 1, PPU_SEM_EQUAL);
    ppu_block_launch(block, api->stream, taker, &launch);
    ppu_block_copy(block, kept, (ppu_va_t){ api_va(api, world->counters) + TAKEN }, 4);
    ppu_block_commands_end(block);
    check(ppu_block_submit(block, NULL));
    check(ppu_stream_event(api->stream, &world->event));
}

static void between_commands(void **state)
{
    struct world world = world_new(*state, 64);
    struct ppu_memory *memory = api_memory(world.api, PPU_MEMORY_VRAM, 4096);
    const ppu_va_t gate = { api_va(world.api, memory) }, kept = { gate.va + 64 };

    launch_in_list(&world, gate, kept);
    for (uint32_t i = 0; i < 40; i++) {
        push(&world, i, 0);
    }
    assert_int_equal(ppu_event_wait(&world.event, SHORT_NS), PPU_ERR_TIMEOUT);
    assert_int_equal(counter(&world, TAKEN), 0);
    api_set_word(memory, 0, 1);
    wait_for_taken(&world, 40);
    push(&world, 40, 0);
    wait_for_taken(&world, 41);
    assert_int_equal(api_word(memory, 64), 0);
    close_and_wait(&world);
    assert_int_equal(api_word(memory, 64), 41);
    each_seen(&world, 41, 1);
    world_end(&world);
}

/* The queue is destroyed before the list has come to its task. */
static void gone_before_its_turn(void **state)
{
    struct world world = world_new(*state, 64);
    struct ppu_memory *memory = api_memory(world.api, PPU_MEMORY_VRAM, 4096);
    const ppu_va_t gate = { api_va(world.api, memory) }, kept = { gate.va + 64 };
    struct ppu_error error;

    launch_in_list(&world, gate, kept);
    assert_int_equal(ppu_event_wait(&world.event, SHORT_NS), PPU_ERR_TIMEOUT);
    world_end(&world);
    api_set_word(memory, 0, 1);
    assert_int_not_equal(api_wait_fault(world.api->channel, &error), PPU_OK);
    assert_int_equal(error.record.code, PPU_FAULT_TMD_TASKQ);
    assert_int_equal(api_word(memory, 64), 0);
    check(ppu_channel_reset(world.api->channel));
    check(api_finish(world.api->channel));
    assert_int_equal(api_query(world.api, PPU_KEY_TASKS_FREE, 0), api_query(world.api, PPU_KEY_TASKS_TOTAL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("entries before the launch; full [A6]", before_the_launch),
        api_test("the host feeds while the task runs, many times round [A6 A12]", while_it_runs),
        api_test("closed before it is launched [A6]", closed_and_empty),
        api_test("queues that cannot be, and what is refused [A6]", arguments),
        api_test("a queue is opened again for another task [A6]", opened_again),
        api_test("threads of another task feed, and close [A6 A12]", by_threads),
        api_test("threads and host feed one queue [A6 A12]", by_threads_and_host),
        api_test("a queue task feeds itself [A6 A12]", by_itself),
        api_test("entries that are tasks [A12 B8]", of_tasks),
        api_test("entries that are tasks, when records run out [A12 B3]", without_records),
        api_test("a queue task is evicted, drained and saved [A5 A6]", evicted),
        api_test("a channel is reset while its queue task runs or waits [A6]", channel_is_reset),
        api_test("a queue is destroyed before its task is told of the close [A6]", destroyed_before_its_task_is_told),
        api_test("a queue task that faults [A6]", a_fault_in_a_queue_task),
        api_test("a queue task between commands of a list [A6 B15]", between_commands),
        api_test("a queue is destroyed before a list has come to its task [A6 B15]", gone_before_its_turn),
    };

    return cmocka_run_group_tests_name("api: queue tasks", tests, api_machine_setup, api_machine_teardown);
}
