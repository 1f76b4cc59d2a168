/* SPDX-License-Identifier: MIT */
/* Tests channels: rings of any size, blocks, semaphores, waits, and copies as seen from a channel. */
#include "tests/api/api.h"

#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "runtime/block.h"
#include "runtime/deadline.h"
#include "runtime/memory.h"

static struct ppu_channel *make_channel(struct api *api, uint32_t entries, enum ppu_memory_kind kind)
{
    const struct ppu_channel_options options = { .entries = entries, .memory = kind };
    struct ppu_channel *channel = NULL;

    check(ppu_channel_create(api->context, &options, &channel));
    return channel;
}

static struct ppu_block *begin(struct ppu_channel *channel)
{
    struct ppu_block *block = NULL;

    check(ppu_block_begin(channel, &block));
    return block;
}

static ppu_va_t at(uint64_t va)
{
    return (ppu_va_t){ va };
}

/* ---- rings ---- */

static const uint32_t ring_sizes[] = { 2, 3, 4, 5, 7, 8, 13, 64, 100, 255, 256, 1000 };

/* Every block must be executed once, in order: each acquires what the one before released. */
static void submit_chain(struct ppu_channel *channel, uint64_t sem, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        struct ppu_block *block = begin(channel);
        ppu_block_acquire(block, at(sem), i, PPU_SEM_EQUAL);
        ppu_block_release(block, at(sem), i + 1, false);
        check(ppu_block_submit(block, NULL));
    }
}

static void wrap_ring(struct api *api, uint32_t entries, enum ppu_memory_kind kind)
{
    struct ppu_channel *channel = make_channel(api, entries, kind);
    struct ppu_memory *sem = api_memory(api, kind, sizeof(struct ppu_sem));
    uint32_t count = entries < 100 ? 7 * entries + 3 : 2 * entries + 3;

    submit_chain(channel, api_va(api, sem), 0, count);
    check(api_finish(channel));
    assert_int_equal(api_word(sem, 0), count);
    check(ppu_channel_destroy(channel));
}

static void rings_wrap(void **state)
{
    struct api *api = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(ring_sizes); i++) {
        wrap_ring(api, ring_sizes[i], PPU_MEMORY_VRAM);
        wrap_ring(api, ring_sizes[i], PPU_MEMORY_SYSTEM);
    }
}

/* The first block parks, so GP_GET stays: count - 1 blocks go in, the next one does not. */
static void full_ring(void **state)
{
    struct api *api = *state;
    struct ppu_transport *transport = api->transport;

    api_close(api);
    api = api_open(transport, 200 * NS_PER_MS);
    *state = api;
    for (uint32_t entries = 2; entries <= 9; entries++) {
        struct ppu_channel *channel = make_channel(api, entries, PPU_MEMORY_VRAM);
        struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, sizeof(struct ppu_sem));
        for (uint32_t i = 0; i < entries - 1; i++) {
            struct ppu_block *block = begin(channel);
            ppu_block_acquire(block, at(api_va(api, sem)), 1, PPU_SEM_EQUAL);
            check(ppu_block_submit(block, NULL));
        }
        struct ppu_block *block = begin(channel);
        assert_int_equal(ppu_block_submit(block, NULL), PPU_ERR_TIMEOUT);
        assert_int_equal(api_query(api, PPU_KEY_CHANNEL_STATE, ppu_channel_index(channel)), PPU_CHANNEL_PARKED);
        api_set_word(sem, 0, 1);
        ppu_channel_ring(channel);
        check(api_finish(channel));
        check(ppu_channel_destroy(channel));
    }
}

static void sizes_out_of_range(void **state)
{
    struct api *api = *state;
    const uint32_t wrong[] = { 1, PPU_GP_MAX_ENTRIES + 1, UINT32_MAX };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        const struct ppu_channel_options options = { .entries = wrong[i] };
        struct ppu_channel *channel = NULL;
        assert_int_equal(ppu_channel_create(api->context, &options, &channel), PPU_ERR_BAD_ARG);
        assert_null(channel);
    }
}

static void long_blocks(void **state)
{
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, sizeof(struct ppu_sem));
    struct ppu_event event;
    uint32_t releases = 0;

    /* The block has as many methods as fit. */
    struct ppu_block *block = begin(api->channel);
    while (block->length + 5 <= PPU_BLOCK_MAX_WORDS - 7) {
        ppu_block_release(block, at(api_va(api, sem)), ++releases, false);
    }
    check(ppu_block_submit(block, &event));
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(sem, 0), releases);
    /* One more is an error of the library, and nothing is queued. */
    block = begin(api->channel);
    for (uint32_t i = 0; i <= releases; i++) {
        ppu_block_release(block, at(api_va(api, sem)), 7777, false);
    }
    ppu_block_release(block, at(api_va(api, sem)), 7777, false);
    assert_int_equal(ppu_block_submit(block, NULL), PPU_ERR_NO_RESOURCE);
    check(api_finish(api->channel));
    assert_int_equal(api_word(sem, 0), releases);
}

static void nops(void **state)
{
    struct api *api = *state;
    static const uint32_t words[1000];
    struct ppu_event event;

    for (uint32_t count = 0; count <= 1000; count += 125) {
        struct ppu_block *block = begin(api->channel);
        ppu_block_method(block, PPU_METHOD_NOP, words, count);
        check(ppu_block_submit(block, &event));
        check(ppu_event_wait(&event, LONG_NS));
    }
}

/* ---- asynchronous execution, semaphores ---- */

static void asynchronous(void **state)
{
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_SYSTEM, sizeof(struct ppu_sem));
    struct ppu_event event;

    struct ppu_block *block = begin(api->channel);
    ppu_block_acquire(block, at(api_va(api, sem)), 5, PPU_SEM_EQUAL);
    check(ppu_block_submit(block, &event));
    assert_false(ppu_event_done(&event));
    assert_int_equal(ppu_event_wait(&event, SHORT_NS), PPU_ERR_TIMEOUT);
    api_set_word(sem, 0, 5);
    check(ppu_event_wait(&event, LONG_NS)); /* the timer of the parked channel rings, no doorbell */
    assert_true(ppu_event_done(&event));
}

static const struct {
    uint32_t payload, wanted;
    enum ppu_sem_compare compare;
    bool passes;
} compares[] = {
    { 5, 5, PPU_SEM_EQUAL, true },
    { 4, 5, PPU_SEM_EQUAL, false },
    { 6, 5, PPU_SEM_EQUAL, false },
    { 5, 5, PPU_SEM_GREATER_EQUAL, true },
    { 6, 5, PPU_SEM_GREATER_EQUAL, true },
    { 4, 5, PPU_SEM_GREATER_EQUAL, false },
    { 1, 0xfffffff0u, PPU_SEM_GREATER_EQUAL, true },
    { 0xfffffff0u, 1, PPU_SEM_GREATER_EQUAL, false },
};

static void acquires(void **state)
{
    struct api *api = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(compares); i++) {
        struct ppu_channel *channel = make_channel(api, 4, PPU_MEMORY_VRAM);
        struct ppu_memory *sem = api_memory(api, i % 2 == 0 ? PPU_MEMORY_VRAM : PPU_MEMORY_SYSTEM, 16);
        struct ppu_event event;
        api_set_word(sem, 0, compares[i].payload);
        struct ppu_block *block = begin(channel);
        ppu_block_acquire(block, at(api_va(api, sem)), compares[i].wanted, compares[i].compare);
        check(ppu_block_submit(block, &event));
        enum ppu_err err = ppu_event_wait(&event, compares[i].passes ? LONG_NS : SHORT_NS);
        assert_int_equal(err, compares[i].passes ? PPU_OK : PPU_ERR_TIMEOUT);
        check(ppu_channel_destroy(channel)); /* also while it is parked */
    }
    check(api_finish(api->channel));
}

/* Two channels of two contexts take turns: each releases what the other acquires. */
static void ping_pong(void **state)
{
    struct api *api = *state;
    const uint32_t turns = 50;

    for (int kind = PPU_MEMORY_VRAM; kind <= PPU_MEMORY_SYSTEM; kind++) {
        struct ppu_memory *sems = api_memory(api, (enum ppu_memory_kind)kind, 2 * sizeof(struct ppu_sem));
        struct ppu_context *other = NULL;
        struct ppu_channel *pong = NULL;
        ppu_va_t there;
        check(ppu_context_create(api->device, &other));
        check(ppu_memory_map(sems, other, 0, &there));
        check(ppu_channel_create(other, NULL, &pong));
        uint64_t here = api_va(api, sems);
        for (uint32_t i = 1; i <= turns; i++) {
            struct ppu_block *block = begin(pong);
            ppu_block_acquire(block, at(there.va), i, PPU_SEM_EQUAL);
            ppu_block_release(block, at(there.va + 16), i, false);
            check(ppu_block_submit(block, NULL));
            block = begin(api->channel);
            ppu_block_release(block, at(here), i, false);
            ppu_block_acquire(block, at(here + 16), i, PPU_SEM_EQUAL);
            check(ppu_block_submit(block, NULL));
        }
        check(api_finish(api->channel));
        check(api_finish(pong));
        assert_int_equal(api_word(sems, 16), turns);
        check(ppu_channel_destroy(pong));
        check(ppu_memory_unmap(sems, other));
        check(ppu_context_destroy(other));
    }
}

static void release_time(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 2 * sizeof(struct ppu_sem));
    const struct ppu_sem *sem = ppu_memory_host(memory);
    uint64_t before = ppu_device_time_ns(api->device);

    struct ppu_block *block = begin(api->channel);
    ppu_block_release(block, at(api_va(api, memory)), 1, true);
    ppu_block_release(block, at(api_va(api, memory) + 16), 2, false);
    check(ppu_block_submit(block, NULL));
    check(api_finish(api->channel));
    assert_int_equal(sem[0].payload, 1);
    assert_in_range(sem[0].time_ns, before, ppu_device_time_ns(api->device));
    assert_int_equal(sem[1].payload, 2);
    assert_int_equal(sem[1].time_ns, 0);
}

static void destroy_parked(void **state)
{
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, sizeof(struct ppu_sem));

    for (int i = 0; i < 20; i++) {
        struct ppu_channel *channel = make_channel(api, 8, PPU_MEMORY_VRAM);
        struct ppu_block *block = begin(channel);
        ppu_block_acquire(block, at(api_va(api, sem)), 1, PPU_SEM_EQUAL);
        check(ppu_block_submit(block, NULL));
        check(ppu_channel_destroy(channel));
    }
    assert_int_equal(api_word(sem, 0), 0);
    check(api_finish(api->channel));
}

static void reset_parked(void **state)
{
    struct api *api = *state;
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, sizeof(struct ppu_sem));
    struct ppu_event event;

    struct ppu_block *block = begin(api->channel);
    ppu_block_acquire(block, at(api_va(api, sem)), 1, PPU_SEM_EQUAL);
    check(ppu_block_submit(block, &event));
    check(ppu_channel_reset(api->channel));
    assert_int_equal(ppu_event_wait(&event, LONG_NS), PPU_ERR_CANCELLED);
    check(api_finish(api->channel));
}

/* ---- doorbells, interrupts ---- */

static void unopened_doorbell(void **state)
{
    struct api *api = *state;
    struct ppu_transport *transport = api->transport;
    uint32_t channels = ppu_device_info(api->device)->channels;
    uint64_t before = ppu_device_error_count(api->device);
    uint64_t deadline_ns = deadline_after(LONG_NS);
    struct ppu_error error;

    transport->ops->doorbell_write(transport, (uint64_t)(channels - 1) * PPU_DOORBELL_STRIDE + PPU_DB_PUT, 1);
    while (ppu_device_error_count(api->device) == before && deadline_left(deadline_ns) > 0) {
        sleep_ns(NS_PER_MS);
    }
    ppu_device_error(api->device, &error);
    assert_int_equal(error.record.code, PPU_FAULT_NO_CHANNEL);
    assert_int_equal(error.record.address, channels - 1);
    check(api_finish(api->channel));
    /* Beyond the channels there is nothing; nothing happens. */
    transport->ops->doorbell_write(transport, (uint64_t)PPU_MAX_CHANNELS * PPU_DOORBELL_STRIDE - 4, 1);
    check(api_finish(api->channel));
}

static void interrupts_come(void **state)
{
    struct api *api = *state;
    struct interrupts *interrupts = &api->device->interrupts;

    for (int i = 0; i < 20; i++) {
        uint64_t mark = interrupts_mark(interrupts);
        struct ppu_block *block = begin(api->channel);
        ppu_block_interrupt(block);
        check(ppu_block_submit(block, NULL));
        assert_true(interrupts_wait(interrupts, 1u << api->channel->vector, mark, deadline_after(LONG_NS)));
    }
    assert_true(api_query(api, PPU_KEY_INTERRUPTS, 0) >= 20);
}

/* ---- copies and wait for idle ---- */

static void fill(struct ppu_memory *memory, uint64_t bytes, uint32_t seed)
{
    uint8_t *host = ppu_memory_host(memory);
    uint64_t random = seed;

    for (uint64_t i = 0; i < bytes; i++) {
        host[i] = (uint8_t)api_random(&random);
    }
}

static const struct {
    enum ppu_memory_kind from, to;
    uint32_t src, dst, bytes;
} copies[] = {
    { PPU_MEMORY_VRAM, PPU_MEMORY_VRAM, 0, 0, 4096 },
    { PPU_MEMORY_VRAM, PPU_MEMORY_SYSTEM, 0, 0, 1 },
    { PPU_MEMORY_SYSTEM, PPU_MEMORY_VRAM, 1, 2, 3 },
    { PPU_MEMORY_SYSTEM, PPU_MEMORY_SYSTEM, 65535, 3, 2 },
    { PPU_MEMORY_VRAM, PPU_MEMORY_SYSTEM, 4095, 65533, 65536 + 7 },
    { PPU_MEMORY_SYSTEM, PPU_MEMORY_VRAM, 7, 0, 1000003 },
    { PPU_MEMORY_VRAM, PPU_MEMORY_VRAM, 65537, 13, 3 * 1024 * 1024 + 1 },
    { PPU_MEMORY_SYSTEM, PPU_MEMORY_VRAM, 0, 0, 3 * 1024 * 1024 },
};
#define COPY_ROOM (4u * PPU_MIB)

static void copies_bytes(void **state)
{
    struct api *api = *state;
    struct ppu_memory *from[2], *to[2];

    for (int kind = 0; kind < 2; kind++) {
        from[kind] = api_memory(api, (enum ppu_memory_kind)kind, COPY_ROOM);
        to[kind] = api_memory(api, (enum ppu_memory_kind)kind, COPY_ROOM);
        fill(from[kind], COPY_ROOM, 17u + (uint32_t)kind);
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(copies); i++) {
        struct ppu_memory *src = from[copies[i].from], *dst = to[copies[i].to];
        const uint8_t *in = ppu_memory_host(src), *out = ppu_memory_host(dst);
        struct ppu_event event;
        memset(ppu_memory_host(dst), 0xa5, COPY_ROOM);
        check(ppu_stream_copy(api->stream, at(api_va(api, dst) + copies[i].dst), at(api_va(api, src) + copies[i].src),
                              copies[i].bytes, &event));
        check(ppu_event_wait(&event, LONG_NS));
        assert_memory_equal(out + copies[i].dst, in + copies[i].src, copies[i].bytes);
        assert_true(copies[i].dst == 0 || out[copies[i].dst - 1] == 0xa5);
        assert_int_equal(out[copies[i].dst + copies[i].bytes], 0xa5);
    }
}

/* A copy goes on beside what follows it; after a wait for idle it is done. */
static void idle_covers_copies(void **state)
{
    struct api *api = *state;
    const uint32_t bytes = 2 * PPU_MIB;
    struct ppu_memory *src = api_memory(api, PPU_MEMORY_SYSTEM, bytes);
    struct ppu_memory *dst = api_memory(api, PPU_MEMORY_VRAM, bytes);
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 2 * sizeof(struct ppu_sem));
    const uint8_t *out = ppu_memory_host(dst);

    fill(src, bytes, 3);
    struct ppu_block *block = begin(api->channel);
    ppu_block_copy(block, at(api_va(api, dst)), at(api_va(api, src)), bytes);
    ppu_block_release(block, at(api_va(api, sem)), 1, true);
    ppu_block_wait_idle(block);
    ppu_block_release(block, at(api_va(api, sem) + 16), 1, true);
    check(ppu_block_submit(block, NULL));
    assert_true(api_wait_word(sem, 16, 1));
    assert_memory_equal(out, ppu_memory_host(src), bytes);
    check(api_finish(api->channel));
    const struct ppu_sem *sems = ppu_memory_host(sem);
    assert_true(sems[0].time_ns < sems[1].time_ns);
}

static void many_channels(void **state)
{
    struct api *api = *state;
    struct ppu_channel *channel[40];
    struct ppu_event event[40];
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 41 * sizeof(struct ppu_sem));
    uint64_t va = api_va(api, sem);

    /* A chain leads through all of them, and is submitted from its end. */
    for (uint32_t i = 40; i-- > 0;) {
        channel[i] = make_channel(api, 3, i % 2 == 0 ? PPU_MEMORY_VRAM : PPU_MEMORY_SYSTEM);
        struct ppu_block *block = begin(channel[i]);
        ppu_block_acquire(block, at(va + 16 * i), i + 1, PPU_SEM_EQUAL);
        ppu_block_release(block, at(va + 16 * (i + 1)), i + 2, false);
        check(ppu_block_submit(block, &event[i]));
    }
    assert_false(ppu_event_done(&event[39]));
    api_set_word(sem, 0, 1);
    ppu_channel_ring(channel[0]);
    for (uint32_t i = 0; i < 40; i++) {
        check(ppu_event_wait(&event[i], LONG_NS));
        check(ppu_channel_destroy(channel[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("rings of any size wrap many times in VRAM and system memory [A2, A11]", rings_wrap),
        api_test("a ring is full at count - 1 [A2]", full_ring),
        api_test("ring sizes out of range are refused [A2]", sizes_out_of_range),
        api_test("blocks may be 1,024 words long, not longer [A2]", long_blocks),
        api_test("nops of any length do nothing [A2]", nops),
        api_test("commands run asynchronously to the CPU [A3]", asynchronous),
        api_test("acquires compare as they say [C8]", acquires),
        api_test("channels of two contexts release what the other acquires [C8]", ping_pong),
        api_test("a release writes the time when asked to [C8]", release_time),
        api_test("a parked channel can be destroyed [A2]", destroy_parked),
        api_test("a parked channel can be reset and used again [A2]", reset_parked),
        api_test("the doorbell of an unopened channel is an error of nobody else [A2]", unopened_doorbell),
        api_test("interrupts arrive [A2]", interrupts_come),
        api_test("copies move bytes of any alignment and length [C6]", copies_bytes),
        api_test("wait for idle covers copies [C8]", idle_covers_copies),
        api_test("many channels run beside each other [A2, A3]", many_channels),
    };

    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
