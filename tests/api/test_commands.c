/* SPDX-License-Identifier: MIT */
/* Tests copies, fills, semaphores and events as tasks of streams (B15). */
#include "tests/api/api.h"

#include <string.h>

#include "ppu/macros.h"
#include "ppu/sem.h"

#define WORDS 4096u
#define BYTES (WORDS * 4u)
#define THREADS 64u

static ppu_va_t at(uint64_t va)
{
    return (ppu_va_t){ va };
}

/* Grids count in words; copies between them keep what the grid before had counted. */
static void between_grids(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *counter = api_kernel(api, api->context, "counter", "counter");
    struct ppu_memory *count = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_memory *kept = api_memory(api, PPU_MEMORY_SYSTEM, 4096);
    const uint64_t params[] = { api_va(api, count), api_va(api, count) + 64 };
    const struct ppu_launch launch = {
        .grid = { 4 }, .cta = { THREADS / 4 }, .params = params, .param_bytes = sizeof(params)
    };
    struct ppu_event event;

    for (uint32_t i = 0; i < 50; i++) {
        check(ppu_stream_launch(api->stream, counter, &launch, NULL));
        check(ppu_stream_copy(api->stream, at(api_va(api, kept) + 4ull * i), at(api_va(api, count)), 4, NULL));
        if (i % 10 == 9) {
            check(ppu_stream_fill(api->stream, at(api_va(api, count)), 1000 * i, 4, NULL));
        }
    }
    check(ppu_stream_event(api->stream, &event));
    check(ppu_event_wait(&event, LONG_NS));
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t base = i < 10 ? 0 : 1000 * (i / 10 * 10 - 1);
        assert_int_equal(api_word(kept, 4ull * i), base + THREADS * (i % 10 + 1));
    }
}

/* One stream of the channel stands at a semaphore: all others go on, with events of their own. */
static void nobody_else_waits(void **state)
{
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_memory *from = api_memory(api, PPU_MEMORY_VRAM, BYTES);
    struct ppu_memory *to = api_memory(api, PPU_MEMORY_VRAM, BYTES);
    struct ppu_stream *streams[40];
    struct ppu_event held, event;

    check(ppu_stream_acquire(api->stream, at(api_va(api, sem)), 5, PPU_SEM_GREATER_EQUAL));
    check(ppu_stream_event(api->stream, &held));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(streams); i++) {
        check(ppu_stream_create(api->channel, &streams[i]));
        check(ppu_stream_fill(streams[i], at(api_va(api, from)), i + 1, BYTES, NULL));
        check(ppu_stream_copy(streams[i], at(api_va(api, to)), at(api_va(api, from)), BYTES, &event));
        check(ppu_event_wait(&event, LONG_NS));
        assert_int_equal(api_word(to, 0), i + 1);
        assert_int_equal(api_word(to, BYTES - 4), i + 1);
        assert_false(ppu_event_done(&held));
    }
    assert_int_equal(ppu_event_wait(&held, SHORT_NS), PPU_ERR_TIMEOUT);
    check(ppu_stream_release(streams[7], at(api_va(api, sem)), 5, true));
    check(ppu_event_wait(&held, LONG_NS));
    assert_true(((const struct ppu_sem *)ppu_memory_host(sem))->time_ns != 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(streams); i++) {
        check(ppu_stream_destroy(streams[i]));
    }
}

/* A ring of streams hands a buffer on: each waits for the one before it. */
static void streams_in_a_ring(void **state)
{
    enum { STREAMS = 5, TURNS = 20 };
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_SYSTEM, 4096);
    struct ppu_memory *data = api_memory(api, PPU_MEMORY_VRAM, 4 * (STREAMS * TURNS + 2));
    struct ppu_stream *streams[STREAMS];
    struct ppu_event event;

    memset(ppu_memory_host(sem), 0, 4096);
    for (uint32_t i = 0; i < STREAMS; i++) {
        check(ppu_stream_create(api->channel, &streams[i]));
    }
    check(ppu_stream_fill(api->stream, at(api_va(api, data)), 0xabcd, 4, NULL));
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = STREAMS; i-- > 0;) {
            uint32_t step = turn * STREAMS + i;
            check(ppu_stream_acquire(streams[i], at(api_va(api, sem)), step + 1, PPU_SEM_EQUAL));
            check(ppu_stream_copy(streams[i], at(api_va(api, data) + 4ull * (step + 1)),
                                  at(api_va(api, data) + 4ull * step), 4, NULL));
            check(ppu_stream_release(streams[i], at(api_va(api, sem)), step + 2, false));
        }
    }
    check(ppu_stream_event(streams[STREAMS - 1], &event));
    check(ppu_stream_release(api->stream, at(api_va(api, sem)), 1, false));
    check(ppu_event_wait(&event, LONG_NS));
    for (uint32_t step = 0; step <= STREAMS * TURNS; step++) {
        assert_int_equal(api_word(data, 4ull * step), 0xabcd);
    }
    for (uint32_t i = 0; i < STREAMS; i++) {
        check(ppu_stream_destroy(streams[i]));
    }
}

/* One task of several commands, by hand. */
static void several_commands(void **state)
{
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_memory *data = api_memory(api, PPU_MEMORY_VRAM, BYTES);
    struct ppu_block *block = NULL;
    struct ppu_event event;

    check(ppu_block_begin(api->channel, &block));
    ppu_block_commands(block, api->stream);
    ppu_block_fill(block, at(api_va(api, data)), 7, BYTES / 2);
    ppu_block_copy(block, at(api_va(api, data) + BYTES / 2), at(api_va(api, data)), BYTES / 2);
    ppu_block_fill(block, at(api_va(api, data)), 8, 4);
    ppu_block_release(block, at(api_va(api, sem)), 1, false);
    ppu_block_commands_end(block);
    ppu_block_acquire(block, at(api_va(api, sem)), 1, PPU_SEM_EQUAL); /* the channel's */
    check(ppu_block_submit(block, &event));
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(data, 0), 8);
    assert_int_equal(api_word(data, 4), 7);
    assert_int_equal(api_word(data, BYTES / 2), 7);
    assert_int_equal(api_word(data, BYTES - 4), 7);
}

/* copy, grid, copy, fill, grid, copy as one list; then with parameters that leave no room for commands. */
static void grids_among_commands(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *counter = api_kernel(api, api->context, "counter", "counter");
    struct ppu_memory *count = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_memory *kept = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const ppu_va_t from = at(api_va(api, count)), to = at(api_va(api, kept));
    uint64_t params[PPU_MAX_PARAM / 8] = { from.va, from.va + 64 };
    const uint32_t sizes[] = { 16, PPU_MAX_PARAM - 512, PPU_MAX_PARAM };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(sizes); i++) {
        const struct ppu_launch launch = {
            .grid = { 4 }, .cta = { THREADS / 4 }, .params = params, .param_bytes = sizes[i]
        };
        struct ppu_block *block = NULL;
        struct ppu_event event;

        check(ppu_block_begin(api->channel, &block));
        ppu_block_commands(block, api->stream);
        ppu_block_fill(block, from, i, 4);
        ppu_block_copy(block, to, from, 4);
        ppu_block_launch(block, api->stream, counter, &launch);
        ppu_block_copy(block, at(to.va + 4), from, 4);
        ppu_block_fill(block, from, 1000 + i, 4);
        ppu_block_launch(block, api->stream, counter, &launch);
        for (uint32_t n = 2; n < 20; n++) { /* more than a list with a launch has room for */
            ppu_block_copy(block, at(to.va + 4ull * n), from, 4);
        }
        ppu_block_release(block, at(api_va(api, sem)), i + 1, false);
        ppu_block_commands_end(block);
        check(ppu_block_submit(block, NULL));
        check(ppu_stream_event(api->stream, &event));
        check(ppu_event_wait(&event, LONG_NS));
        assert_int_equal(api_word(kept, 0), i);
        assert_int_equal(api_word(kept, 4), THREADS + i);
        for (uint32_t n = 2; n < 20; n++) {
            assert_int_equal(api_word(kept, 4ull * n), 1000 + THREADS + i);
        }
        assert_int_equal(api_word(sem, 0), i + 1);
    }
}

/* Threads of a grid in a list launch, and the list goes on when what they launched has ended. */
static void grids_that_launch(void **state)
{
    struct api *api = *state;
    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .state_bytes = 12 * PPU_KIB }));
    const struct ppu_kernel *counter = api_kernel(api, api->context, "counter", "counter");
    const struct ppu_kernel *burst = api_kernel(api, api->context, "pressure", "burst");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 65536);
    const uint64_t va = api_va(api, memory);
    const uint64_t leaf[] = { va + 4096, va + 8192 };
    const uint64_t params[] = { va, va + 512, va + 1024, 1 };
    const struct ppu_launch child = { .grid = { 1 }, .cta = { 1 } };
    const struct ppu_launch parents = { .grid = { 5 }, .cta = { 32 }, .params = params, .param_bytes = sizeof(params) };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    check(ppu_kernel_describe(counter, &child, ppu_memory_host(memory)));
    memcpy((char *)ppu_memory_host(memory) + 512, leaf, sizeof(leaf));
    check(ppu_block_begin(api->channel, &block));
    ppu_block_commands(block, api->stream);
    ppu_block_fill(block, at(va + 4096), 7, 4);
    ppu_block_launch(block, api->stream, burst, &parents);
    ppu_block_copy(block, at(va + 2048), at(va + 4096), 4);
    ppu_block_commands_end(block);
    check(ppu_block_submit(block, NULL));
    check(ppu_stream_event(api->stream, &event));
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(memory, 2048), 7 + 5 * 32);
    assert_int_equal(api_word(memory, 1024), 0);
}

static void bad_arguments(void **state)
{
    struct api *api = *state;
    struct ppu_memory *data = api_memory(api, PPU_MEMORY_VRAM, BYTES);

    for (uint32_t i = 0; i < 6; i++) {
        struct ppu_block *block = NULL;
        check(ppu_block_begin(api->channel, &block));
        if (i == 0) {
            ppu_block_fill(block, at(api_va(api, data)), 1, 4); /* not among commands */
        } else if (i == 1) {
            ppu_block_commands_end(block);
        } else {
            ppu_block_commands(block, api->stream);
        }
        if (i == 2) {
            ppu_block_launch_tmd(block, at(api_va(api, data)), ppu_stream_index(api->stream) + 1);
        } else if (i == 3) {
            ppu_block_wait_idle(block);
        } else if (i == 4) {
            ppu_block_commands(block, api->stream);
        } else if (i == 5) {
            ppu_block_release(block, at(api_va(api, data)), 1, false); /* not ended */
        }
        if (i >= 2 && i < 5) {
            ppu_block_commands_end(block);
        }
        assert_int_equal(ppu_block_submit(block, NULL), PPU_ERR_BAD_ARG);
    }
    assert_int_equal(ppu_stream_fill(api->stream, at(api_va(api, data) + 2), 1, 4, NULL), PPU_ERR_BAD_ARG);
    assert_int_equal(ppu_stream_fill(api->stream, at(api_va(api, data)), 1, 5, NULL), PPU_ERR_BAD_ARG);
    check(ppu_stream_fill(api->stream, at(api_va(api, data)), 1, 0, NULL));
    check(api_finish(api->channel));
}

/* A copy that fails ends the channel; an event of the stream says so, and another channel's stream does not notice. */
static void faults(void **state)
{
    struct api *api = *state;
    struct ppu_memory *data = api_memory(api, PPU_MEMORY_VRAM, BYTES);
    struct ppu_channel *other = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_event event, spared;
    struct ppu_error error;

    check(ppu_channel_create(api->context, &(struct ppu_channel_options){ .entries = 64 }, &other));
    check(ppu_stream_create(other, &stream));
    check(ppu_stream_copy(api->stream, at(api_va(api, data)), at(1ull << 40), 64, &event));
    assert_int_equal(api_wait_fault(api->channel, &error), PPU_ERR_FAULT);
    assert_int_equal(error.record.code, PPU_FAULT_COPY_MEMORY);
    assert_int_not_equal(ppu_event_wait(&event, LONG_NS), PPU_OK);
    check(ppu_stream_fill(stream, at(api_va(api, data)), 3, 64, &spared));
    check(ppu_event_wait(&spared, LONG_NS));
    check(ppu_channel_reset(api->channel));
    assert_int_equal(ppu_event_wait(&event, LONG_NS), PPU_ERR_CANCELLED);
    check(ppu_stream_fill(api->stream, at(api_va(api, data)), 4, 64, &event));
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(data, 60), 4);
    check(ppu_stream_destroy(stream));
    check(ppu_channel_destroy(other));
}

/* Threads of one grid release what a stream waits for. */
static void released_by_threads(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *counter = api_kernel(api, api->context, "counter", "counter");
    struct ppu_memory *count = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t params[] = { api_va(api, count), api_va(api, count) + 64 };
    const struct ppu_launch launch = {
        .grid = { 4 }, .cta = { THREADS / 4 }, .params = params, .param_bytes = sizeof(params)
    };
    struct ppu_stream *stream = NULL;
    struct ppu_event event;

    check(ppu_stream_create(api->channel, &stream));
    check(ppu_stream_acquire(stream, at(api_va(api, count)), THREADS, PPU_SEM_EQUAL));
    check(ppu_stream_event(stream, &event));
    assert_int_equal(ppu_event_wait(&event, SHORT_NS), PPU_ERR_TIMEOUT);
    check(ppu_stream_launch(api->stream, counter, &launch, NULL));
    check(ppu_event_wait(&event, LONG_NS));
    check(ppu_stream_destroy(stream));
}

/* A stream's grid runs on, with an event of its own: other streams of the channel launch and end beside it. */
static void events_hold_up_nobody(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *spin = api_kernel(api, api->context, "spin", "spin_until");
    const struct ppu_kernel *counter = api_kernel(api, api->context, "counter", "counter");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t flag = api_va(api, memory);
    const uint64_t params[] = { flag + 64, flag + 128 };
    const struct ppu_launch holds = { .grid = { 1 }, .cta = { 1 }, .params = &flag, .param_bytes = sizeof(flag) };
    const struct ppu_launch counts = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    struct ppu_stream *other = NULL;
    struct ppu_event held, event;

    check(ppu_stream_create(api->channel, &other));
    check(ppu_stream_launch(api->stream, spin, &holds, &held));
    for (uint32_t i = 1; i <= 5; i++) {
        check(ppu_stream_launch(other, counter, &counts, &event));
        check(ppu_event_wait(&event, LONG_NS));
        check(ppu_stream_launch(other, counter, &counts, NULL));
        check(ppu_stream_wait(other, LONG_NS));
        assert_int_equal(api_word(memory, 64), 2 * i);
        assert_false(ppu_event_done(&held));
    }
    assert_int_equal(ppu_stream_wait(api->stream, SHORT_NS), PPU_ERR_TIMEOUT);
    api_set_word(memory, 0, 1);
    check(ppu_event_wait(&held, LONG_NS));
    check(ppu_stream_wait(api->stream, LONG_NS));
    assert_int_equal(api_query(api, PPU_KEY_CONTEXT_TASKS, ppu_context_id(api->context)), 0);
    check(ppu_stream_destroy(other));
}

/* A stream waits for an event that comes late: of a stream, of one of another channel, of a channel. */
static void waits_hold_up_their_stream(void **state)
{
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_memory *data = api_memory(api, PPU_MEMORY_VRAM, BYTES);
    struct ppu_channel *channel = NULL;
    struct ppu_stream *late[3] = { api->stream }, *waits = NULL, *free_one = NULL;
    struct ppu_event of_late[3], done, event;

    check(ppu_channel_create(api->context, NULL, &channel));
    check(ppu_stream_create(api->channel, &waits));
    check(ppu_stream_create(api->channel, &free_one));
    check(ppu_stream_create(channel, &late[1]));
    for (uint32_t i = 0; i < 3; i++) {
        const ppu_va_t word = at(api_va(api, data) + 4ull * i);
        struct ppu_block *block = NULL;
        check(ppu_block_begin(channel, &block));
        if (i < 2) {
            ppu_block_cancel(block);
            check(ppu_stream_acquire(late[i], at(api_va(api, sem)), i + 1, PPU_SEM_GREATER_EQUAL));
            check(ppu_stream_fill(late[i], word, i + 1, 4, &of_late[i]));
        } else {
            ppu_block_acquire(block, at(api_va(api, sem)), i + 1, PPU_SEM_GREATER_EQUAL);
            check(ppu_block_submit(block, &of_late[i]));
        }
        check(ppu_stream_wait_event(waits, &of_late[i]));
        check(ppu_stream_copy(waits, at(word.va + BYTES / 2), word, 4, &done));
        check(ppu_stream_fill(free_one, at(api_va(api, data) + 64), 10 + i, 4, &event));
        check(ppu_event_wait(&event, LONG_NS));
        assert_int_equal(api_word(data, 64), 10 + i);
        assert_int_equal(ppu_event_wait(&done, SHORT_NS), PPU_ERR_TIMEOUT);
        assert_int_equal(api_word(data, BYTES / 2 + 4ull * i), 0);
        check(ppu_stream_release(free_one, at(api_va(api, sem)), i + 1, false));
        check(ppu_event_wait(&done, LONG_NS));
        assert_int_equal(api_word(data, BYTES / 2 + 4ull * i), i < 2 ? i + 1 : 0);
        check(ppu_stream_wait_event(waits, &of_late[i])); /* it is over */
        check(ppu_stream_wait(waits, LONG_NS));
    }
    check(ppu_stream_destroy(waits));
    check(ppu_stream_destroy(free_one));
    check(ppu_stream_destroy(late[1]));
    check(ppu_channel_destroy(channel));
}

/* What will not happen is told; a stream that waited before is of use again after its channel's reset. */
static void waits_that_cannot_end(void **state)
{
    struct api *api = *state;
    struct ppu_memory *data = api_memory(api, PPU_MEMORY_VRAM, BYTES);
    struct ppu_context *elsewhere = NULL;
    struct ppu_channel *channel = NULL, *foreign = NULL;
    struct ppu_stream *stream = NULL, *far = NULL;
    struct ppu_event event, done;

    check(ppu_context_create(api->device, &elsewhere));
    check(ppu_channel_create(elsewhere, NULL, &foreign));
    check(ppu_stream_create(foreign, &far));
    check(ppu_channel_create(api->context, NULL, &channel));
    check(ppu_stream_create(channel, &stream));
    check(ppu_stream_acquire(stream, at(api_va(api, data)), 1, PPU_SEM_EQUAL));
    check(ppu_stream_event(stream, &event));
    assert_int_equal(ppu_stream_wait_event(far, &event), PPU_ERR_BAD_ARG);
    check(ppu_stream_wait_event(api->stream, &event));
    check(ppu_channel_reset(channel));
    assert_int_equal(ppu_stream_wait_event(api->stream, &event), PPU_ERR_CANCELLED);
    assert_int_equal(ppu_stream_wait(api->stream, SHORT_NS), PPU_ERR_TIMEOUT);
    check(ppu_channel_reset(api->channel));
    check(ppu_stream_fill(api->stream, at(api_va(api, data)), 6, 4, &done));
    check(ppu_event_wait(&done, LONG_NS));
    assert_int_equal(api_word(data, 0), 6);
    check(ppu_stream_destroy(stream));
    check(ppu_stream_destroy(far));
    check(ppu_channel_destroy(channel));
    check(ppu_channel_destroy(foreign));
    check(ppu_context_destroy(elsewhere));
}

/* An event outlives its stream, whose TMDQ the next one has. */
static void events_outlive_their_stream(void **state)
{
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 4096);
    struct ppu_event first = { 0 }, event;

    for (uint32_t i = 0; i < 20; i++) {
        struct ppu_stream *stream = NULL;
        check(ppu_stream_create(api->channel, &stream));
        check(ppu_stream_acquire(stream, at(api_va(api, sem)), i, PPU_SEM_EQUAL));
        check(ppu_stream_release(stream, at(api_va(api, sem)), i + 1, false));
        check(ppu_stream_event(stream, &event));
        check(ppu_event_wait(&event, LONG_NS));
        check(ppu_stream_destroy(stream));
        first = i == 0 ? event : first;
        assert_true(ppu_event_done(&first));
        assert_true(ppu_event_done(&event));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("copies and fills between grids of a stream [B15, B2]", between_grids),
        api_test("a stream that waits holds up nobody [B15, C8]", nobody_else_waits),
        api_test("a launch's event holds up no other stream [B15, B2]", events_hold_up_nobody),
        api_test("a stream that waits for an event holds up nobody [B15]", waits_hold_up_their_stream),
        api_test("a wait for an event that never comes is told [B15]", waits_that_cannot_end),
        api_test("an event outlives its stream [B15]", events_outlive_their_stream),
        api_test("streams wait for each other by semaphores [B15, C8]", streams_in_a_ring),
        api_test("a task of several commands [B15]", several_commands),
        api_test("grids among copies and fills of a list [B15]", grids_among_commands),
        api_test("a list waits for all that its grid launches [B15, B8]", grids_that_launch),
        api_test("what is no command is refused [B15]", bad_arguments),
        api_test("a fault ends the channel, and no other [B15]", faults),
        api_test("a stream waits for what threads write [B15, C8]", released_by_threads),
    };

    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
