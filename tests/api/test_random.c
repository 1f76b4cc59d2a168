/* SPDX-License-Identifier: MIT */
/*
 * Tests random words in a channel: it executes them or faults, other channels go on, and the machine is as good as new
 * after a reset. And faults injected at every n-th walk, copy and allocation.
 */
#include "tests/api/api.h"

#include <string.h>

#include "ppu/macros.h"
#include "runtime/block.h"
#include "runtime/deadline.h"
#include "runtime/memory.h"
#include "runtime/program.h"

static ppu_va_t at(uint64_t va)
{
    return (ppu_va_t){ va };
}

/* A third or less of the bits set: more words decode than at random. */
static uint64_t random_control(uint64_t *random)
{
    uint64_t first = api_random(random);

    return first & api_random(random);
}

static uint32_t rounds(void)
{
    return machine_is_slow() ? 150 : 300;
}

static struct ppu_block *begin(struct ppu_channel *channel)
{
    struct ppu_block *block = NULL;

    check(ppu_block_begin(channel, &block));
    return block;
}

static void push_entry(struct ppu_channel *channel, uint64_t entry)
{
    struct channel_chunk chunk;

    pthread_mutex_lock(&channel->lock);
    check(channel_reserve(channel, 64, &chunk));
    channel_push(channel, &chunk, entry, 0);
    pthread_mutex_unlock(&channel->lock);
}

/* The channel was given something odd: whatever it did, it can be reset, and the fixture's channel works. */
static void survives(struct api *api, struct ppu_channel *channel)
{
    check(ppu_channel_reset(channel));
    check(api_finish(channel));
    check(api_finish(api->channel));
}

/* A word that is often nearly right. */
static uint32_t odd_word(uint64_t *random, uint64_t va)
{
    switch (api_random(random) % 8) {
    case 0:
        return api_random(random);
    case 1:
        return PPU_METHOD_WORD(api_random(random) % 8, api_random(random) % 7);
    case 2:
        return (uint32_t)va + 16 * (api_random(random) % 64);
    case 3:
        return (uint32_t)(va >> 32);
    case 4:
        return api_random(random) % 4;
    case 5:
        return 1u << api_random(random) % 32;
    default:
        return 0;
    }
}

static void random_blocks(void **state)
{
    struct api *api = *state;
    struct ppu_channel *channel = NULL;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    uint32_t *words = ppu_memory_host(memory);
    uint64_t random = api_seed(), va = api_va(api, memory);

    check(ppu_channel_create(api->context, NULL, &channel));
    for (uint32_t i = 0; i < rounds(); i++) {
        uint32_t length = 4 + api_random(&random) % 60;
        for (uint32_t n = 0; n < length; n++) {
            words[n] = odd_word(&random, va + 4096);
        }
        if (api_random(&random) % 8 != 0) {
            const struct ppu_block_header header = { { PPU_BLOCK_VERSION, 16 }, length, i, 0 };
            memcpy(words, &header, sizeof(header));
        }
        push_entry(channel, ppu_gp_entry(va, length));
        survives(api, channel);
    }
    check(ppu_channel_destroy(channel));
}

/* Rings of random entries. */
static void random_entries(void **state)
{
    struct api *api = *state;
    struct ppu_channel *channel = NULL;
    uint64_t random = api_seed();

    check(ppu_channel_create(api->context, NULL, &channel));
    for (uint32_t i = 0; i < rounds(); i++) {
        uint64_t entry = (uint64_t)api_random(&random) << 32 | api_random(&random);
        if (api_random(&random) % 2 == 0) {
            entry = ppu_gp_entry(channel->staging_va + api_random(&random) % 0x20000, api_random(&random) % 1100);
        }
        push_entry(channel, entry);
        survives(api, channel);
    }
    check(ppu_channel_destroy(channel));
}

static void random_puts(void **state)
{
    struct api *api = *state;
    struct ppu_transport *transport = api->transport;
    struct ppu_channel *channel = NULL;
    uint64_t random = api_seed();

    check(ppu_channel_create(api->context, NULL, &channel));
    for (uint32_t i = 0; i < rounds(); i++) {
        uint64_t page = (uint64_t)ppu_channel_index(channel) * PPU_DOORBELL_STRIDE;
        transport->ops->doorbell_write(transport, page + 4 * (api_random(&random) % 4),
                                       api_random(&random) >> api_random(&random) % 32);
        survives(api, channel);
    }
    check(ppu_channel_destroy(channel));
}

static struct ppu_tmd good_tmd(const struct ppu_kernel *kernel, uint64_t param_va)
{
    return (struct ppu_tmd){
        .head = { PPU_TMD_VERSION, sizeof(struct ppu_tmd) },
        .kind = PPU_TMD_GRID,
        .code_va = kernel->program->code_va.va,
        .code_bytes = kernel->program->view.header->code_bytes,
        .entry = kernel->entry->entry,
        .vregs = kernel->entry->vregs,
        .shared_vregs = kernel->entry->shared_vregs,
        .wave = 32,
        .cta = { 32, 1, 1 },
        .grid = { 2, 1, 1 },
        .param_va = param_va,
        .param_bytes = 16,
        .watchdog_ns = 20 * NS_PER_MS,
    };
}

/* Good descriptors with some bytes changed. What passes the checks may run into anything but us. */
static void random_descriptors(void **state)
{
    struct api *api = *state;
    struct ppu_channel *channel = NULL;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    uint8_t *host = ppu_memory_host(memory);
    uint64_t random = api_seed(), va = api_va(api, memory);
    const struct ppu_tmd good = good_tmd(api_kernel(api, api->context, "counter", "counter"), va + 4096);
    const uint64_t params[] = { va + 8192, va + 8192 + 64 };

    check(ppu_channel_create(api->context, NULL, &channel));
    memcpy(host + 4096, params, sizeof(params));
    for (uint32_t i = 0; i < rounds(); i++) {
        memcpy(host, &good, sizeof(good));
        for (uint32_t flips = api_random(&random) % 4 + 1; flips > 0; flips--) {
            host[api_random(&random) % sizeof(good)] ^= (uint8_t)(1u << api_random(&random) % 8);
        }
        struct ppu_block *block = begin(channel);
        ppu_block_launch_tmd(block, at(va), api_random(&random) % 4);
        check(ppu_block_submit(block, NULL));
        if (i % 4 == 0) {
            api_finish(channel); /* any verdict: what counts is that it comes */
        }
        survives(api, channel);
    }
    check(ppu_channel_destroy(channel));
}

/* Random code: a program of random instructions, opcodes mostly valid. */
static void random_code(void **state)
{
    struct api *api = *state;
    struct ppu_channel *channel = NULL;
    struct ppu_memory *code = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    struct ppu_memory *data = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    uint64_t random = api_seed(), va = api_va(api, data);
    uint64_t *words = ppu_memory_host(code);
    const uint64_t params[] = { va + 8192, va + 16384 };

    check(ppu_channel_create(api->context, NULL, &channel));
    memcpy((uint8_t *)ppu_memory_host(data) + 4096, params, sizeof(params));
    for (uint32_t i = 0; i < rounds(); i++) {
        struct ppu_tmd tmd = good_tmd(api_kernel(api, api->context, "counter", "counter"), va + 4096);
        for (uint32_t n = 0; n < 64; n++) {
            words[n] = random_control(&random) << 32 | (api_random(&random) & 0x03ffc1ffu);
        }
        tmd.code_va = api_va(api, code);
        tmd.code_bytes = 64 * 8;
        tmd.entry = 0;
        memcpy(ppu_memory_host(data), &tmd, sizeof(tmd));
        struct ppu_block *block = begin(channel);
        ppu_block_launch_tmd(block, at(va), 0);
        check(ppu_block_submit(block, NULL));
        api_finish(channel);
        survives(api, channel);
        check(admin_call(api->device, PPU_ADMIN_MMU_FLUSH, &api->context->id, 1, NULL, 0));
        api_forget_programs(1);
    }
    check(ppu_channel_destroy(channel));
}

/* ---- injected faults ---- */

static const struct {
    const char *name;
    uint32_t reg;
} hooks[] = {
    { "walk", PPU_REG_HOOK_FAIL_WALK },
    { "copy step", PPU_REG_HOOK_FAIL_COPY },
    { "allocation", PPU_REG_HOOK_FAIL_ALLOC },
};

/* In force when it returns: a register write is posted, and what follows may reach the firmware first. */
static void set_hook(struct api *api, uint32_t reg, uint32_t value)
{
    device_reg_write(api->device, reg, value);
    device_reg_read(api->device, reg);
}

/* Some of everything on one channel. */
static enum ppu_err mixed_work(struct api *api, struct ppu_channel *channel, struct ppu_stream *stream,
                               const struct ppu_kernel *kernel, struct ppu_memory *memory)
{
    const uint64_t va = api_va(api, memory);
    const uint64_t params[] = { va, va + 1024 };
    const struct ppu_launch launch = {
        .grid = { 4, 1, 1 },
        .cta = { 64, 1, 1 },
        .params = params,
        .param_bytes = sizeof(params),
    };
    struct ppu_block *block = begin(channel);
    struct ppu_event event;

    ppu_block_release(block, at(va + 512), 1, false);
    ppu_block_acquire(block, at(va + 512), 1, PPU_SEM_EQUAL);
    ppu_block_launch(block, stream, kernel, &launch);
    ppu_block_wait_idle(block);
    ppu_block_copy(block, at(va + 65536), at(va), 65536 + 4096);
    enum ppu_err err = ppu_block_submit(block, &event);
    return err == PPU_OK ? ppu_event_wait(&event, LONG_NS) : err;
}

static void fail_each(struct api *api, uint32_t reg, const char *name)
{
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "counter", "counter");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4 * PPU_PAGE_64K);
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream = NULL;
    uint32_t injected = 0;

    check(ppu_channel_create(api->context, NULL, &channel));
    check(ppu_stream_create(channel, &stream));
    /* Until the work is done before the n-th: then the count is not used up. */
    for (uint32_t n = 1; n < 200; n++) {
        set_hook(api, reg, n);
        enum ppu_err err = mixed_work(api, channel, stream, kernel, memory);
        uint32_t left = device_reg_read(api->device, reg);
        set_hook(api, reg, 0);
        if (err != PPU_OK) {
            injected++;
            if (err != PPU_ERR_FAULT && err != PPU_ERR_BAD_TMD && err != PPU_ERR_NO_RESOURCE) {
                fail_msg("%s %u: %s", name, n, ppu_error_name(err));
            }
        }
        survives(api, channel);
        if (left != 0) {
            break;
        }
    }
    print_message("# %s: %u failures told\n", name, injected);
    assert_true(injected > 0 || reg == PPU_REG_HOOK_FAIL_ALLOC);
    check(ppu_channel_destroy(channel));
    check(ppu_stream_destroy(stream));
    assert_int_equal(api_query(api, PPU_KEY_TASKS_FREE, 0), api_query(api, PPU_KEY_TASKS_TOTAL, 0));
}

/* Context and channel, each in turn refused for want of a record, then made. */
static void failed_creation(void **state)
{
    struct api *api = *state;
    struct ppu_context *context = NULL;
    struct ppu_channel *channel = NULL;

    for (int i = 0; i < 3; i++) {
        set_hook(api, PPU_REG_HOOK_FAIL_ALLOC, 1);
        assert_int_equal(ppu_context_create(api->device, &context), PPU_ERR_NO_RESOURCE);
        check(ppu_context_create(api->device, &context));
        set_hook(api, PPU_REG_HOOK_FAIL_ALLOC, 1);
        assert_int_equal(ppu_channel_create(context, NULL, &channel), PPU_ERR_NO_RESOURCE);
        assert_null(channel);
        check(ppu_channel_create(context, NULL, &channel));
        check(api_finish(channel));
        check(ppu_channel_destroy(channel));
        check(ppu_context_destroy(context));
    }
}

static void injected_failures(void **state)
{
    struct api *api = *state;

    assert_true((ppu_device_info(api->device)->features & PPU_FEATURE_TEST_HOOKS) != 0);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(hooks); i++) {
        fail_each(api, hooks[i].reg, hooks[i].name);
    }
}

/* Event rings that count as full at one entry: warps stall, nothing is lost. */
static void smallest_rings(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *bad = api_kernel(api, api->context, "faults", "fault_trap");
    const struct ppu_kernel *request = api_kernel(api, api->context, "faults", "start_request");
    const uint64_t handle = 7;

    set_hook(api, PPU_REG_HOOK_RING_LIMIT, 1);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(api_run(api, bad, 50, 64, NULL, 0), PPU_ERR_TRAP);
        check(ppu_channel_reset(api->channel));
        api_run(api, request, 20, 64, &handle, 8);
        check(ppu_channel_reset(api->channel));
    }
    set_hook(api, PPU_REG_HOOK_RING_LIMIT, 0);
    check(api_finish(api->channel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("random command blocks execute or fault [A2]", random_blocks),
        api_test("random ring entries execute or fault [A2]", random_entries),
        api_test("random doorbell writes harm one channel at most [A2]", random_puts),
        api_test("random task descriptors run or fault [A11]", random_descriptors),
        api_test("random code runs or faults", random_code),
        api_test("a failure injected at every walk, copy and allocation is told [A9]", injected_failures),
        api_test("creation that fails for want of a record is refused, then works [A2, A9]", failed_creation),
        api_test("event rings of one entry stall and lose nothing [B1]", smallest_rings),
    };

    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
