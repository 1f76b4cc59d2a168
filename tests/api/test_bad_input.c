/* SPDX-License-Identifier: MIT */
/*
 * Tests bad input, one row each: the fault and the error are right, a sentence names it, the channel can be reset and
 * used again, and another channel's work goes on meanwhile.
 */
#include "tests/api/api.h"

#include <string.h>

#include "ppu/macros.h"
#include "runtime/block.h"
#include "runtime/deadline.h"
#include "runtime/memory.h"
#include "runtime/program.h"

/* What a row's function needs; `bad` is the channel that is to fault. */
struct bad {
    struct api *api;
    struct ppu_channel *channel;
    struct ppu_memory *memory; /* VRAM: blocks and descriptors made by hand */
    uint64_t va;
    uint8_t *host;
};

static ppu_va_t at(uint64_t va)
{
    return (ppu_va_t){ va };
}

static struct ppu_block *begin(struct ppu_channel *channel)
{
    struct ppu_block *block = NULL;

    check(ppu_block_begin(channel, &block));
    return block;
}

/* Puts any GP entry into the ring, as a broken driver would. */
static void push_entry(struct bad *bad, uint64_t entry)
{
    struct channel_chunk chunk;

    pthread_mutex_lock(&bad->channel->lock);
    check(channel_reserve(bad->channel, 64, &chunk));
    channel_push(bad->channel, &chunk, entry, 0);
    pthread_mutex_unlock(&bad->channel->lock);
}

/* A block made by hand in bad->memory. */
static void push_words(struct bad *bad, const uint32_t *words, uint32_t count)
{
    memcpy(bad->host, words, count * 4u);
    push_entry(bad, ppu_gp_entry(bad->va, count));
}

static void push_method(struct bad *bad, uint32_t method_word, uint32_t data_words)
{
    uint32_t words[64] = { PPU_BLOCK_VERSION | 16u << 16, 5 + data_words, 77, 0, method_word };

    push_words(bad, words, 5 + data_words);
}

static void submit(struct ppu_block *block)
{
    check(ppu_block_submit(block, NULL));
}

/* ---- ring and blocks ---- */

static void put_beyond(struct bad *bad)
{
    struct ppu_transport *transport = bad->api->transport;

    transport->ops->doorbell_write(transport, (uint64_t)bad->channel->index * PPU_DOORBELL_STRIDE + PPU_DB_PUT,
                                   bad->channel->entries);
}

static void put_far_beyond(struct bad *bad)
{
    struct ppu_transport *transport = bad->api->transport;

    transport->ops->doorbell_write(transport, (uint64_t)bad->channel->index * PPU_DOORBELL_STRIDE + PPU_DB_PUT, ~0u);
}

static void entry_reserved_bits(struct bad *bad)
{
    push_entry(bad, ppu_gp_entry(bad->va, 4) | 1);
}

static void length_zero(struct bad *bad)
{
    push_entry(bad, ppu_gp_entry(bad->va, 0));
}

static void length_short(struct bad *bad)
{
    push_entry(bad, ppu_gp_entry(bad->va, 3));
}

static void length_too_long(struct bad *bad)
{
    push_entry(bad, ppu_gp_entry(bad->va, PPU_BLOCK_MAX_WORDS + 1));
}

static void block_beyond_memory(struct bad *bad)
{
    push_entry(bad, ppu_gp_entry(bad->va + ppu_memory_bytes(bad->memory) - 16, 64));
}

static void block_unmapped(struct bad *bad)
{
    push_entry(bad, ppu_gp_entry(0x1000, 8));
}

static void block_wrong_version(struct bad *bad)
{
    const uint32_t words[] = { (PPU_BLOCK_VERSION + 1) | 16u << 16, 4, 1, 0 };

    push_words(bad, words, 4);
}

static void block_wrong_header_size(struct bad *bad)
{
    const uint32_t words[] = { PPU_BLOCK_VERSION | 20u << 16, 4, 1, 0 };

    push_words(bad, words, 4);
}

static void block_length_differs(struct bad *bad)
{
    const uint32_t words[] = { PPU_BLOCK_VERSION | 16u << 16, 5, 1, 0 };

    push_words(bad, words, 4);
}

static void block_reserved(struct bad *bad)
{
    const uint32_t words[] = { PPU_BLOCK_VERSION | 16u << 16, 4, 1, 1 };

    push_words(bad, words, 4);
}

/* ---- methods ---- */

static void method_unknown(struct bad *bad)
{
    push_method(bad, PPU_METHOD_WORD(0xfff, 0), 0);
}

static void method_reserved_bits(struct bad *bad)
{
    push_method(bad, PPU_METHOD_WORD(PPU_METHOD_NOP, 0) | 1u << 31, 0);
}

static void method_too_few(struct bad *bad)
{
    push_method(bad, PPU_METHOD_WORD(PPU_METHOD_SEM_RELEASE, 3), 3);
}

static void method_too_many(struct bad *bad)
{
    push_method(bad, PPU_METHOD_WORD(PPU_METHOD_WAIT_IDLE, 1), 1);
}

static void method_past_block(struct bad *bad)
{
    push_method(bad, PPU_METHOD_WORD(PPU_METHOD_NOP, 9), 8);
}

static void compare_unknown(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_acquire(block, at(bad->va), 0, (enum ppu_sem_compare)2);
    submit(block);
}

static void release_flags(struct bad *bad)
{
    const uint32_t words[] = { (uint32_t)bad->va, (uint32_t)(bad->va >> 32), 1, 2 };
    struct ppu_block *block = begin(bad->channel);

    ppu_block_method(block, PPU_METHOD_SEM_RELEASE, words, 4);
    submit(block);
}

static void acquire_misaligned(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_acquire(block, at(bad->va + 4), 0, PPU_SEM_EQUAL);
    submit(block);
}

static void release_misaligned(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_release(block, at(bad->va + 8), 1, false);
    submit(block);
}

static void acquire_unmapped(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_acquire(block, at(0x10000), 0, PPU_SEM_EQUAL);
    submit(block);
}

static void release_unmapped(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_release(block, at(0x10000), 1, true);
    submit(block);
}

static void copy_from_unmapped(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_copy(block, at(bad->va), at(0x10000), 64);
    submit(block);
}

static void copy_to_unmapped(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_copy(block, at(0x10000), at(bad->va), 64);
    submit(block);
}

/* Large ones are queued: the failure comes later. */
static void copy_past_end(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_copy(block, at(bad->va + PPU_PAGE_64K), at(bad->va), ppu_memory_bytes(bad->memory));
    submit(block);
}

static void copy_wide_address(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_copy(block, at(bad->va), at(1ull << 52), 64);
    submit(block);
}

static void launch_no_stream(struct bad *bad)
{
    struct ppu_block *block = begin(bad->channel);

    ppu_block_launch_tmd(block, at(bad->va), ppu_device_info(bad->api->device)->streams);
    submit(block);
}

static const struct bad_input {
    const char *name;
    void (*provoke)(struct bad *bad);
    uint32_t fault;
} bad_inputs[] = {
    { "GP_PUT just beyond the ring [A2]", put_beyond, PPU_FAULT_GP_INDEX },
    { "GP_PUT far beyond the ring [A2]", put_far_beyond, PPU_FAULT_GP_INDEX },
    { "GP entry with reserved bits [A2]", entry_reserved_bits, PPU_FAULT_GP_ENTRY },
    { "block of length zero [A2]", length_zero, PPU_FAULT_BLOCK_LENGTH },
    { "block shorter than its header [A2]", length_short, PPU_FAULT_BLOCK_LENGTH },
    { "block too long [A2]", length_too_long, PPU_FAULT_BLOCK_LENGTH },
    { "block that ends beyond its memory [A2]", block_beyond_memory, PPU_FAULT_BLOCK_MEMORY },
    { "block that is not mapped [A2]", block_unmapped, PPU_FAULT_BLOCK_MEMORY },
    { "block of an unknown version [A2]", block_wrong_version, PPU_FAULT_BLOCK_HEADER },
    { "block with a header of a wrong size [A2]", block_wrong_header_size, PPU_FAULT_BLOCK_HEADER },
    { "block whose length differs from its entry [A2]", block_length_differs, PPU_FAULT_BLOCK_HEADER },
    { "block with a reserved field set [A2]", block_reserved, PPU_FAULT_BLOCK_HEADER },
    { "unknown method [A2]", method_unknown, PPU_FAULT_METHOD_UNKNOWN },
    { "method word with reserved bits [A2]", method_reserved_bits, PPU_FAULT_METHOD_UNKNOWN },
    { "method with too few words [A2]", method_too_few, PPU_FAULT_METHOD_COUNT },
    { "method with too many words [A2]", method_too_many, PPU_FAULT_METHOD_COUNT },
    { "method that runs past its block [A2]", method_past_block, PPU_FAULT_METHOD_COUNT },
    { "acquire with an unknown comparison [C8]", compare_unknown, PPU_FAULT_METHOD_DATA },
    { "release with unknown flags [C8]", release_flags, PPU_FAULT_METHOD_DATA },
    { "acquire of a misaligned semaphore [C8]", acquire_misaligned, PPU_FAULT_SEM_ALIGN },
    { "release of a misaligned semaphore [C8]", release_misaligned, PPU_FAULT_SEM_ALIGN },
    { "acquire of an unmapped semaphore [C8]", acquire_unmapped, PPU_FAULT_SEM_MEMORY },
    { "release of an unmapped semaphore [C8]", release_unmapped, PPU_FAULT_SEM_MEMORY },
    { "copy from unmapped memory [A9]", copy_from_unmapped, PPU_FAULT_COPY_MEMORY },
    { "copy to unmapped memory [A9]", copy_to_unmapped, PPU_FAULT_COPY_MEMORY },
    { "copy past the end of a mapping [A9]", copy_past_end, PPU_FAULT_COPY_MEMORY },
    { "copy from an address of more than 48 bits [A9]", copy_wide_address, PPU_FAULT_COPY_MEMORY },
    { "launch into a stream that does not exist [B2]", launch_no_stream, PPU_FAULT_NO_STREAM },
};
#define BAD_INPUTS PPU_ARRAY_SIZE(bad_inputs)

/* ---- task descriptors ---- */

#define FIELD(member) offsetof(struct ppu_tmd, member)

static const struct bad_tmd {
    const char *name;
    uint32_t offset;
    uint32_t bytes;
    uint64_t value;
    uint32_t fault;
} bad_tmds[] = {
    { "version [A11]", FIELD(head.version), 2, 9, PPU_FAULT_TMD_VERSION },
    { "size [A11]", FIELD(head.size_bytes), 2, 128, PPU_FAULT_TMD_VERSION },
    { "kind [A11]", FIELD(kind), 1, 7, PPU_FAULT_TMD_KIND },
    { "a queue that is not open [A6]", FIELD(kind), 1, PPU_TMD_TASKQ, PPU_FAULT_TMD_TASKQ },
    { "a grid with a queue [A6]", FIELD(taskq), 4, 1, PPU_FAULT_TMD_TASKQ },
    { "priority [A4]", FIELD(priority), 1, PPU_PRIORITIES, PPU_FAULT_TMD_PRIORITY },
    { "unknown flags [A11]", FIELD(flags), 2, 0x8000, PPU_FAULT_TMD_RESERVED },
    { "co-resident CTAs that may wait", FIELD(flags), 2, PPU_TMD_CORESIDENT | PPU_TMD_MAY_WAIT,
      PPU_FAULT_TMD_CORESIDENT },
    { "a mode there is not [D6]", FIELD(mode), 1, PPU_MODES, PPU_FAULT_TMD_SUBVECTOR },
    { "a miss rate above one [D8]", FIELD(miss_rate), 2, PPU_MISS_RATE_MOST + 1, PPU_FAULT_TMD_SUBVECTOR },
    { "more registers than there are, with shared ones [D4]", FIELD(shared_vregs), 2, PPU_MAX_VREGS,
      PPU_FAULT_TMD_SUBVECTOR },
    { "reserved words [A11]", FIELD(reserved2), 2, 1, PPU_FAULT_TMD_RESERVED },
    { "misaligned code [A11]", FIELD(code_va), 1, 4, PPU_FAULT_TMD_CODE },
    { "code of no bytes [A11]", FIELD(code_bytes), 4, 0, PPU_FAULT_TMD_CODE },
    { "code too large [A11]", FIELD(code_bytes), 4, PPU_MAX_CODE + 8, PPU_FAULT_TMD_CODE },
    { "entry beyond the code [A11]", FIELD(entry), 4, 0x100000, PPU_FAULT_TMD_CODE },
    { "misaligned entry [A11]", FIELD(entry), 4, 4, PPU_FAULT_TMD_CODE },
    { "grid of zero width [A6]", FIELD(grid[0]), 4, 0, PPU_FAULT_TMD_GRID },
    { "grid of zero depth [A6]", FIELD(grid[2]), 4, 0, PPU_FAULT_TMD_GRID },
    { "grid too wide [A6]", FIELD(grid[0]), 4, PPU_MAX_GRID_X + 1u, PPU_FAULT_TMD_GRID },
    { "grid too high [A6]", FIELD(grid[1]), 4, PPU_MAX_GRID_YZ + 1, PPU_FAULT_TMD_GRID },
    { "CTA of no threads [A11]", FIELD(cta[0]), 4, 0, PPU_FAULT_TMD_CTA },
    { "CTA of too many threads [A11]", FIELD(cta[0]), 4, PPU_MAX_CTA_DIM + 1, PPU_FAULT_TMD_CTA },
    { "CTA whose product is too large [A11]", FIELD(cta[1]), 4, 1024, PPU_FAULT_TMD_CTA },
    { "too much shared memory [A7]", FIELD(shared_bytes), 4, 16 * PPU_MIB, PPU_FAULT_TMD_RESOURCES },
    { "no registers [A11]", FIELD(vregs), 2, 0, PPU_FAULT_TMD_RESOURCES },
    { "too many registers [A11]", FIELD(vregs), 2, PPU_MAX_VREGS + 1, PPU_FAULT_TMD_RESOURCES },
    { "a wave of 33 [D1]", FIELD(wave), 1, 33, PPU_FAULT_TMD_WAVE },
    { "a wave of 0 [D1]", FIELD(wave), 1, 0, PPU_FAULT_TMD_WAVE },
    { "parameters too long [A7]", FIELD(param_bytes), 4, PPU_MAX_PARAM + 1, PPU_FAULT_TMD_PARAM },
    { "misaligned parameters [A7]", FIELD(param_va), 1, 8, PPU_FAULT_TMD_PARAM },
    { "local memory without backing [A7]", FIELD(local_bytes), 4, 64, PPU_FAULT_TMD_LOCAL },
};
#define BAD_TMDS PPU_ARRAY_SIZE(bad_tmds)

static struct ppu_tmd good_tmd(struct bad *bad, const struct ppu_kernel *kernel)
{
    return (struct ppu_tmd){
        .head = { PPU_TMD_VERSION, sizeof(struct ppu_tmd) },
        .kind = PPU_TMD_GRID,
        .code_va = kernel->program->code_va.va,
        .code_bytes = kernel->program->view.header->code_bytes,
        .entry = kernel->entry->entry,
        .vregs = kernel->entry->vregs,
        .shared_vregs = kernel->entry->shared_vregs,
        .wave = kernel->entry->wave,
        .cta = { 32, 1, 1 },
        .grid = { 1, 1, 1 },
        .param_va = bad->va,
        .param_bytes = 32,
    };
}

/* ---- running the rows ---- */

static struct bad bad_new(struct api *api)
{
    struct bad bad = { .api = api };
    const struct ppu_channel_options options = { .entries = 16 };

    check(ppu_channel_create(api->context, &options, &bad.channel));
    bad.memory = api_memory(api, PPU_MEMORY_VRAM, 4 * PPU_PAGE_64K);
    bad.va = api_va(api, bad.memory);
    bad.host = ppu_memory_host(bad.memory);
    return bad;
}

static void expect_fault(struct bad *bad, const char *name, uint32_t fault)
{
    struct ppu_error error;
    enum ppu_err err = api_wait_fault(bad->channel, &error);

    if (err != ppu_fault_error(fault) || error.record.code != fault) {
        fail_msg("%s: %s, fault %s instead of %s: %s", name, ppu_error_name(err), ppu_fault_name(error.record.code),
                 ppu_fault_name(fault), error.text);
    }
    if (error.record.channel != ppu_channel_index(bad->channel) || !strstr(error.text, ppu_fault_name(fault))) {
        fail_msg("%s: the error does not name channel and fault: %s", name, error.text);
    }
    assert_int_equal(api_query(bad->api, PPU_KEY_CHANNEL_STATE, ppu_channel_index(bad->channel)), PPU_CHANNEL_FAULTED);
    assert_int_equal(api_query(bad->api, PPU_KEY_CHANNEL_FAULT_CODE, ppu_channel_index(bad->channel)), fault);
    /* Nothing goes through a faulted channel. */
    struct ppu_block *block = begin(bad->channel);
    assert_int_equal(ppu_block_submit(block, NULL), err);
    check(ppu_channel_reset(bad->channel));
    check(api_finish(bad->channel));
}

/* A channel with work that waits: it must still be able to end after the fault of another one. */
struct bystander {
    struct ppu_memory *sem;
    struct ppu_event event;
};

static struct bystander bystander_start(struct api *api)
{
    struct bystander bystander = { .sem = api_memory(api, PPU_MEMORY_VRAM, sizeof(struct ppu_sem)) };
    struct ppu_block *block = begin(api->channel);

    ppu_block_acquire(block, at(api_va(api, bystander.sem)), 1, PPU_SEM_EQUAL);
    check(ppu_block_submit(block, &bystander.event));
    return bystander;
}

static void bystander_finish(struct api *api, struct bystander *bystander)
{
    assert_false(ppu_event_done(&bystander->event));
    api_set_word(bystander->sem, 0, 1);
    ppu_channel_ring(api->channel);
    check(ppu_event_wait(&bystander->event, LONG_NS));
}

static const struct bad_input *current_input;

static void input_is_refused(void **state)
{
    struct api *api = *state;
    struct bystander bystander = bystander_start(api);
    struct bad bad = bad_new(api);

    current_input->provoke(&bad);
    expect_fault(&bad, current_input->name, current_input->fault);
    check(ppu_channel_destroy(bad.channel));
    bystander_finish(api, &bystander);
}

static const struct bad_tmd *current_tmd;

static void tmd_is_refused(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "special", "special");
    struct bystander bystander = bystander_start(api);
    struct bad bad = bad_new(api);
    struct ppu_tmd tmd = good_tmd(&bad, kernel);

    memcpy((uint8_t *)&tmd + current_tmd->offset, &current_tmd->value, current_tmd->bytes);
    memcpy(bad.host + 4096, &tmd, sizeof(tmd));
    struct ppu_block *block = begin(bad.channel);
    ppu_block_launch_tmd(block, at(bad.va + 4096), 0);
    submit(block);
    expect_fault(&bad, current_tmd->name, current_tmd->fault);
    check(ppu_channel_destroy(bad.channel));
    bystander_finish(api, &bystander);
}

static void tmd_misaligned(void **state)
{
    struct bad bad = bad_new(*state);
    struct ppu_block *block = begin(bad.channel);

    ppu_block_launch_tmd(block, at(bad.va + 32), 0);
    submit(block);
    expect_fault(&bad, "misaligned", PPU_FAULT_TMD_ALIGN);
    check(ppu_channel_destroy(bad.channel));
}

static void tmd_unmapped(void **state)
{
    struct bad bad = bad_new(*state);
    struct ppu_block *block = begin(bad.channel);

    ppu_block_launch_tmd(block, at(0x10000), 0);
    submit(block);
    expect_fault(&bad, "unmapped", PPU_FAULT_TMD_MEMORY);
    check(ppu_channel_destroy(bad.channel));
}

static void params_unmapped(void **state)
{
    struct api *api = *state;
    struct bad bad = bad_new(api);
    struct ppu_tmd tmd = good_tmd(&bad, api_kernel(api, api->context, "special", "special"));

    tmd.param_va = 0x10000;
    memcpy(bad.host + 4096, &tmd, sizeof(tmd));
    struct ppu_block *block = begin(bad.channel);
    ppu_block_launch_tmd(block, at(bad.va + 4096), 0);
    submit(block);
    expect_fault(&bad, "parameters", PPU_FAULT_TMD_PARAM);
    check(ppu_channel_destroy(bad.channel));
}

static void bus_master_off(void **state)
{
    struct api *api = *state;
    struct bad bad = bad_new(api);
    struct ppu_memory *system = api_memory(api, PPU_MEMORY_SYSTEM, PPU_PAGE_64K);

    api->transport->ops->set_bus_master(api->transport, false);
    struct ppu_block *block = begin(bad.channel);
    ppu_block_copy(block, at(bad.va), at(api_va(api, system)), 4096);
    submit(block);
    struct ppu_error error;
    assert_int_equal(api_wait_fault(bad.channel, &error), PPU_ERR_FAULT);
    assert_int_equal(error.record.code, PPU_FAULT_COPY_MEMORY);
    /* What lies in VRAM goes on. */
    check(api_finish(api->channel));
    api->transport->ops->set_bus_master(api->transport, true);
    check(ppu_channel_reset(bad.channel));
    check(api_finish(bad.channel));
    check(ppu_channel_destroy(bad.channel));
}

static void copy_read_only(void **state)
{
    struct api *api = *state;
    struct bad bad = bad_new(api);
    struct ppu_memory *memory = NULL;
    ppu_va_t va;

    check(ppu_memory_alloc(api->device, PPU_MEMORY_VRAM, PPU_PAGE_64K, &memory));
    check(ppu_memory_map(memory, api->context, PPU_MAP_READ_ONLY, &va));
    struct ppu_block *block = begin(bad.channel);
    ppu_block_copy(block, at(bad.va), va, 256);
    ppu_block_wait_idle(block);
    ppu_block_copy(block, va, at(bad.va), 256);
    submit(block);
    expect_fault(&bad, "copy to read-only memory", PPU_FAULT_COPY_MEMORY);
    check(ppu_channel_destroy(bad.channel));
    check(ppu_memory_free(memory));
}

/* The record of a fault that the error ring had no room for is asked for. */
static void lost_record(void **state)
{
    struct api *api = *state;
    struct ppu_transport *transport = api->transport;
    struct bad bad = bad_new(api);
    uint64_t unopened = (ppu_device_info(api->device)->channels - 1ull) * PPU_DOORBELL_STRIDE;
    const struct ppu_error_ring *ring = (const void *)(transport->vram + api->device->firmware.error_ring);
    uint64_t deadline_ns = deadline_after(LONG_NS);
    struct ppu_error error;

    /* Nobody waits, so nobody reads the ring. */
    while (__atomic_load_n(&ring->lost, __ATOMIC_ACQUIRE) == 0 && deadline_left(deadline_ns) > 0) {
        transport->ops->doorbell_write(transport, unopened + PPU_DB_RING, 1);
        sleep_ns(100 * NS_PER_US);
    }
    uint32_t lost = __atomic_load_n(&ring->lost, __ATOMIC_ACQUIRE);
    method_unknown(&bad);
    while (__atomic_load_n(&ring->lost, __ATOMIC_ACQUIRE) == lost && deadline_left(deadline_ns) > 0) {
        sleep_ns(100 * NS_PER_US);
    }
    assert_int_equal(api_wait_fault(bad.channel, &error), PPU_ERR_BAD_METHOD);
    assert_int_equal(error.record.code, PPU_FAULT_METHOD_UNKNOWN);
    assert_int_equal(error.record.address, PPU_METHOD_WORD(0xfff, 0));
    check(ppu_channel_reset(bad.channel));
    check(api_finish(bad.channel));
    check(ppu_channel_destroy(bad.channel));
}

/* A channel that faults again and again is reset each time. */
static void many_faults(void **state)
{
    struct api *api = *state;
    struct bad bad = bad_new(api);

    for (uint32_t i = 0; i < 3 * PPU_ERROR_RING_ENTRIES; i++) {
        struct ppu_error error;
        method_unknown(&bad);
        assert_int_equal(api_wait_fault(bad.channel, &error), PPU_ERR_BAD_METHOD);
        check(ppu_channel_reset(bad.channel));
    }
    check(api_finish(bad.channel));
    check(ppu_channel_destroy(bad.channel));
    assert_true(api_query(api, PPU_KEY_FAULTS, 0) >= 3 * PPU_ERROR_RING_ENTRIES);
}

/* The word of the block that is wrong is named. */
static void names_the_location(void **state)
{
    struct api *api = *state;
    struct bad bad = bad_new(api);
    struct ppu_error error;

    check(api_finish(bad.channel));
    struct ppu_block *block = begin(bad.channel);
    uint32_t correlation = ppu_block_correlation(block);
    ppu_block_wait_idle(block);
    ppu_block_method(block, 0x123, NULL, 0);
    submit(block);
    assert_int_equal(api_wait_fault(bad.channel, &error), PPU_ERR_BAD_METHOD);
    assert_int_equal(error.record.correlation, correlation);
    assert_int_equal(error.record.context, ppu_context_id(api->context));
    assert_int_equal(error.record.pc, 1ull << 32 | 5);
    assert_int_equal(error.record.address, 0x123);
    check(ppu_channel_destroy(bad.channel));
}

static int set_input(void **state)
{
    static size_t next;

    current_input = &bad_inputs[next++ % BAD_INPUTS];
    return api_setup(state);
}

static int set_tmd(void **state)
{
    static size_t next;

    current_tmd = &bad_tmds[next++ % BAD_TMDS];
    return api_setup(state);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        api_test("task descriptor that is misaligned [A11]", tmd_misaligned),
        api_test("task descriptor that is not mapped [A11]", tmd_unmapped),
        api_test("parameters that are not mapped [A7]", params_unmapped),
        api_test("bus master off: system memory faults, VRAM goes on [A1]", bus_master_off),
        api_test("copy to read-only memory [A9]", copy_read_only),
        api_test("more faults than the error ring has entries [A2]", many_faults),
        api_test("a fault whose record was lost is still told [A2]", lost_record),
        api_test("a fault names correlation, context, entry and word [A2]", names_the_location),
    };
    const size_t other_count = PPU_ARRAY_SIZE(others);
    struct CMUnitTest tests[BAD_INPUTS + BAD_TMDS + PPU_ARRAY_SIZE(others)];
    struct CMUnitTest *test = tests;

    for (size_t i = 0; i < BAD_INPUTS; i++) {
        *test++ = (struct CMUnitTest){ bad_inputs[i].name, input_is_refused, set_input, api_teardown, NULL };
    }
    for (size_t i = 0; i < BAD_TMDS; i++) {
        *test++ = (struct CMUnitTest){ bad_tmds[i].name, tmd_is_refused, set_tmd, api_teardown, NULL };
    }
    memcpy(test, others, other_count * sizeof(others[0]));
    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
