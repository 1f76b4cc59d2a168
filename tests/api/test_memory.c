/* SPDX-License-Identifier: MIT */
/* Address spaces and memory: isolation, protection, exhaustion. */
#include "tests/api/api.h"

#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/ring.h"
#include "runtime/deadline.h"
#include "runtime/memory.h"

static ppu_va_t at(uint64_t va)
{
    return (ppu_va_t){ va };
}

/* ---- what a kernel may reach ---- */

/* A context of its own with a channel and a stream. */
struct guest {
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
};

static struct guest guest_new(struct api *api)
{
    struct guest guest;

    check(ppu_context_create(api->device, &guest.context));
    check(ppu_channel_create(guest.context, NULL, &guest.channel));
    check(ppu_stream_create(guest.channel, &guest.stream));
    return guest;
}

static void guest_free(struct guest *guest)
{
    check(ppu_channel_destroy(guest->channel));
    check(ppu_stream_destroy(guest->stream));
    check(ppu_context_destroy(guest->context));
}

static enum ppu_err run_at(struct ppu_stream *stream, const struct ppu_kernel *kernel, uint64_t address)
{
    const struct ppu_launch launch = {
        .grid = { 1, 1, 1 },
        .cta = { 64, 1, 1 },
        .params = &address,
        .param_bytes = sizeof(address),
    };
    struct ppu_event event;

    enum ppu_err err = ppu_stream_launch(stream, kernel, &launch, &event);
    return err == PPU_OK ? ppu_event_wait(&event, LONG_NS) : err;
}

/* Runs a kernel of faults.s at an address and tells the fault's code; the channel is usable again afterwards. */
static uint32_t fault_of(struct api *api, const char *name, uint64_t address, struct ppu_error *error)
{
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "faults", name);

    if (run_at(api->stream, kernel, address) == PPU_OK) {
        return 0;
    }
    ppu_channel_error(api->channel, error);
    check(ppu_channel_reset(api->channel));
    check(api_finish(api->channel));
    return error->record.code;
}

/* Both contexts have memory at the same virtual address: each sees its own. */
static void contexts_are_apart(void **state)
{
    struct api *api = *state;
    struct guest guest = guest_new(api);
    struct ppu_memory *mine = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    struct ppu_memory *theirs = NULL;

    check(ppu_memory_create(guest.context, PPU_MEMORY_VRAM, PPU_PAGE_64K, &theirs));
    const uint64_t va = api_va(api, mine);
    assert_int_equal(ppu_memory_va(theirs, guest.context).va, va);
    assert_int_equal(ppu_memory_va(theirs, api->context).va, 0);
    const struct ppu_kernel *here = api_kernel(api, api->context, "faults", "fault_store");
    const struct ppu_kernel *there = api_kernel(api, guest.context, "faults", "fault_store");
    api_set_word(mine, 0, 0x1234);
    check(run_at(guest.stream, there, va));
    assert_int_equal(api_word(theirs, 0), 1);
    assert_int_equal(api_word(mine, 0), 0x1234);
    check(run_at(api->stream, here, va));
    assert_int_equal(api_word(mine, 0), 1);
    /* What only one of them maps is nothing for the other. */
    struct ppu_memory *more = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    assert_int_equal(run_at(guest.stream, there, api_va(api, more)), PPU_ERR_FAULT);
    struct ppu_error error = { .code = PPU_OK };
    ppu_channel_error(guest.channel, &error);
    assert_int_equal(error.record.code, PPU_FAULT_UNMAPPED);
    assert_int_equal(error.record.context, ppu_context_id(guest.context));
    assert_int_equal(api_word(more, 0), 0);
    check(api_finish(api->channel));
    check(ppu_memory_free(theirs));
    api_forget_programs(2);
    guest_free(&guest);
}

/* One memory in two contexts, writable in one: what one writes the other reads. */
static void shared_between_contexts(void **state)
{
    struct api *api = *state;
    struct guest guest = guest_new(api);
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    ppu_va_t va = { 0 };

    check(ppu_memory_map(memory, guest.context, PPU_MAP_READ_ONLY, &va));
    assert_int_equal(ppu_memory_map(memory, guest.context, 0, &va), PPU_ERR_BUSY);
    check(run_at(api->stream, api_kernel(api, api->context, "faults", "fault_store"), api_va(api, memory)));
    assert_int_equal(api_word(memory, 0), 1);
    check(run_at(guest.stream, api_kernel(api, guest.context, "faults", "fault_load"), va.va));
    const struct ppu_kernel *store = api_kernel(api, guest.context, "faults", "fault_store");
    assert_int_equal(run_at(guest.stream, store, va.va), PPU_ERR_FAULT);
    api_forget_programs(3);
    check(ppu_memory_unmap(memory, guest.context));
    assert_int_equal(ppu_memory_unmap(memory, guest.context), PPU_ERR_NOT_FOUND);
    guest_free(&guest);
}

static void unmapped(void **state)
{
    struct api *api = *state;
    struct ppu_error error = { .code = PPU_OK };

    assert_int_equal(fault_of(api, "fault_load", 0x10000, &error), PPU_FAULT_UNMAPPED);
    assert_int_equal(error.record.address, 0x10000);
    assert_int_equal(error.record.access, PPU_ACCESS_READ);
    assert_int_equal(fault_of(api, "fault_store", 0x10000, &error), PPU_FAULT_UNMAPPED);
    assert_int_equal(error.record.access, PPU_ACCESS_WRITE);
    assert_int_equal(fault_of(api, "fault_load", 1ull << 50, &error), PPU_FAULT_BAD_ADDRESS);
}

/* After it was unmapped, nothing remembers it: neither at once, nor when the address is used anew. */
static void unmap_takes_effect(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *store = api_kernel(api, api->context, "faults", "fault_store");
    struct ppu_error error = { .code = PPU_OK };

    for (int i = 0; i < 10; i++) {
        struct ppu_memory *memory = NULL;
        uint64_t bytes = i % 2 == 0 ? PPU_PAGE_64K : 2 * PPU_PAGE_2M + PPU_PAGE_64K;
        check(ppu_memory_create(api->context, PPU_MEMORY_VRAM, bytes, &memory));
        uint64_t va = api_va(api, memory) + bytes - PPU_PAGE_64K;
        check(run_at(api->stream, store, va));
        assert_int_equal(api_word(memory, bytes - PPU_PAGE_64K), 1);
        check(ppu_memory_unmap(memory, api->context));
        assert_int_equal(run_at(api->stream, store, va), PPU_ERR_FAULT);
        ppu_channel_error(api->channel, &error);
        assert_int_equal(error.record.code, PPU_FAULT_UNMAPPED);
        assert_int_equal(error.record.address, va);
        check(ppu_channel_reset(api->channel));
        check(ppu_memory_free(memory));
    }
}

/* The kernel that uses the memory runs on meanwhile: when the call has returned, nothing of it writes there. */
static void unmap_under_a_running_kernel(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *scribble = api_kernel(api, api->context, "spin", "scribble");

    for (uint32_t i = 0; i < 4; i++) {
        struct ppu_memory *memory = api_memory(api, i % 2 == 0 ? PPU_MEMORY_VRAM : PPU_MEMORY_SYSTEM, PPU_PAGE_64K);
        const uint64_t va = api_va(api, memory);
        const struct ppu_launch launch = { .grid = { 4 }, .cta = { 64 }, .params = &va, .param_bytes = sizeof(va) };
        struct ppu_error error;

        api_set_word(memory, 0, 0);
        check(ppu_stream_launch(api->stream, scribble, &launch, NULL));
        for (uint32_t tries = 0; api_word(memory, 0) == 0; tries++) {
            assert_true(tries < 100000);
            usleep(100);
        }
        check(ppu_memory_unmap(memory, api->context));
        for (uint64_t word = 0; word < 32; word++) {
            api_set_word(memory, word * 4, 0xa5a5a5a5);
        }
        assert_int_equal(api_wait_fault(api->channel, &error), PPU_ERR_FAULT);
        assert_int_equal(error.record.code, PPU_FAULT_UNMAPPED);
        assert_true(error.record.address >= va && error.record.address < va + 32 * 4);
        for (uint64_t word = 0; word < 32; word++) {
            assert_int_equal(api_word(memory, word * 4), 0xa5a5a5a5);
        }
        check(ppu_channel_reset(api->channel));
    }
}

static void read_only(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory = NULL;
    struct ppu_error error = { .code = PPU_OK };
    ppu_va_t va = { 0 };

    for (int kind = PPU_MEMORY_VRAM; kind <= PPU_MEMORY_SYSTEM; kind++) {
        check(ppu_memory_alloc(api->device, (enum ppu_memory_kind)kind, PPU_PAGE_64K, &memory));
        check(ppu_memory_map(memory, api->context, PPU_MAP_READ_ONLY, &va));
        assert_int_equal(fault_of(api, "fault_load", va.va, &error), 0);
        assert_int_equal(fault_of(api, "fault_store", va.va, &error), PPU_FAULT_READ_ONLY);
        assert_int_equal(error.record.address, va.va);
        assert_int_equal(api_word(memory, 0), 0);
        check(ppu_memory_free(memory));
    }
}

static void no_atomics(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory = NULL;
    struct ppu_error error = { .code = PPU_OK };
    ppu_va_t va = { 0 };

    check(ppu_memory_alloc(api->device, PPU_MEMORY_VRAM, PPU_PAGE_64K, &memory));
    check(ppu_memory_map(memory, api->context, PPU_MAP_NO_ATOMICS, &va));
    assert_int_equal(fault_of(api, "fault_atomic", va.va, &error), PPU_FAULT_NO_ATOMIC);
    assert_int_equal(fault_of(api, "fault_store", va.va, &error), 0);
    check(ppu_memory_free(memory));
}

/* Page tables as a broken driver would write them. */
static const struct {
    const char *what;
    uint64_t start; /* frame; 1: the end of VRAM */
    uint64_t attributes;
    uint32_t fault;
} bad_frames[] = {
    { "a page in the protected range", 0, PPU_PTE_WRITE, PPU_FAULT_PROTECTED },
    { "a page beyond VRAM", 1, PPU_PTE_WRITE, PPU_FAULT_VRAM_RANGE },
    { "system memory that is not there", 0x2000000000ull, PPU_PTE_WRITE | PPU_PTE_SYSTEM, PPU_FAULT_BUS },
    { "a reserved bit", 0x2000000, PPU_PTE_WRITE | 1ull << 60, PPU_FAULT_BAD_TABLE },
};

static void bad_tables(void **state)
{
    struct api *api = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad_frames); i++) {
        struct page_frames frames = { bad_frames[i].start, PPU_PAGE_64K, bad_frames[i].attributes };
        struct ppu_error error = { .code = PPU_OK };
        const uint64_t va = (1ull << 40) + i * PPU_PAGE_2M; /* each has its own: no translation is dropped here */
        if (frames.start == 1) {
            frames.start = api->transport->vram_bytes;
        }
        pthread_mutex_lock(&api->device->memory_lock);
        assert_true(page_table_map(&api->context->table, va, &frames));
        pthread_mutex_unlock(&api->device->memory_lock);
        uint32_t fault = fault_of(api, "fault_store", va + 64, &error);
        if (fault != bad_frames[i].fault) {
            fail_msg("%s: %s", bad_frames[i].what, error.text);
        }
        pthread_mutex_lock(&api->device->memory_lock);
        page_table_unmap(&api->context->table, va, PPU_PAGE_64K);
        pthread_mutex_unlock(&api->device->memory_lock);
    }
}

/* ---- exhaustion ---- */

#define PIECE (4ull * PPU_MIB)

static uint32_t take_all(struct api *api, struct ppu_memory **piece, uint32_t room)
{
    uint32_t count = 0;

    while (count < room && ppu_memory_create(api->context, PPU_MEMORY_VRAM, PIECE, &piece[count]) == PPU_OK) {
        count++;
    }
    return count;
}

static void vram_runs_out(void **state)
{
    struct api *api = *state;
    struct ppu_memory *piece[512];
    struct ppu_memory *one = NULL;
    uint32_t first = take_all(api, piece, 512);

    assert_true(first > 0 && first < 512);
    assert_int_equal(ppu_memory_alloc(api->device, PPU_MEMORY_VRAM, PIECE, &one), PPU_ERR_NO_VRAM);
    assert_null(one);
    check(api_finish(api->channel)); /* what exists goes on */
    for (uint32_t i = 0; i < first; i++) {
        check(ppu_memory_free(piece[i]));
    }
    /* Nothing is lost. */
    assert_int_equal(take_all(api, piece, 512), first);
    for (uint32_t i = first; i-- > 0;) {
        check(ppu_memory_free(piece[i]));
    }
    assert_int_equal(ppu_memory_alloc(api->device, PPU_MEMORY_VRAM, PPU_MAX_OBJECT, &one), PPU_ERR_NO_VRAM);
    assert_int_equal(ppu_memory_alloc(api->device, PPU_MEMORY_VRAM, 0, &one), PPU_ERR_BAD_ARG);
    assert_int_equal(ppu_memory_alloc(api->device, PPU_MEMORY_VRAM, UINT64_MAX, &one), PPU_ERR_BAD_ARG);
    assert_int_equal(ppu_memory_alloc(api->device, PPU_MEMORY_SYSTEM, PPU_MAX_OBJECT + 1ull, &one), PPU_ERR_BAD_ARG);
}

/* Page tables run out before VRAM does when every page needs a table of its own. */
static void tables_run_out(void **state)
{
    struct api *api = *state;
    struct page_frames frames = { api->device->firmware.heap_base, PPU_PAGE_64K, PPU_PTE_WRITE };
    uint64_t va = 1ull << 41;

    pthread_mutex_lock(&api->device->memory_lock);
    uint64_t first = va;
    while (page_table_map(&api->context->table, va, &frames)) {
        va += 1ull << 30;
        assert_true(va < PPU_SHARED_WINDOW);
    }
    for (uint64_t used = first; used < va; used += 1ull << 30) {
        page_table_unmap(&api->context->table, used, PPU_PAGE_64K);
    }
    pthread_mutex_unlock(&api->device->memory_lock);
    struct ppu_context *context = NULL;
    assert_int_equal(ppu_context_create(api->device, &context), PPU_ERR_NO_VRAM);
    check(api_finish(api->channel));
}

/* Random maps and unmaps against a plain table of what must be where. */
#define OBJECTS 24u

static void random_maps(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory[OBJECTS] = { NULL };
    struct ppu_memory *out = api_memory(api, PPU_MEMORY_SYSTEM, OBJECTS * 4);
    uint64_t random = api_seed();
    uint32_t rounds = machine_is_slow() ? 100 : 300;

    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t n = api_random(&random) % OBJECTS;
        if (memory[n]) {
            check(ppu_memory_free(memory[n]));
            memory[n] = NULL;
            continue;
        }
        uint64_t bytes = (api_random(&random) % 40 + 1) * PPU_PAGE_64K;
        check(ppu_memory_create(api->context, (enum ppu_memory_kind)(api_random(&random) % 2), bytes, &memory[n]));
        api_set_word(memory[n], bytes - 4, 1000 + n);
    }
    struct ppu_block *block = NULL;
    check(ppu_block_begin(api->channel, &block));
    for (uint32_t n = 0; n < OBJECTS; n++) {
        if (memory[n]) {
            uint64_t last = api_va(api, memory[n]) + ppu_memory_bytes(memory[n]) - 4;
            ppu_block_copy(block, at(api_va(api, out) + 4 * n), at(last), 4);
        }
    }
    check(ppu_block_submit(block, NULL));
    check(api_finish(api->channel));
    for (uint32_t n = 0; n < OBJECTS; n++) {
        assert_int_equal(api_word(out, 4 * n), memory[n] ? 1000 + n : 0);
        check(ppu_memory_free(memory[n]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("two contexts see their own memory only [A9]", contexts_are_apart),
        api_test("memory can be shared between contexts, writable in one [A9]", shared_between_contexts),
        api_test("access to unmapped memory names address and access [A9]", unmapped),
        api_test("unmapping takes effect before it returns [A9]", unmap_takes_effect),
        api_test("unmapping takes effect under a running kernel [A9]", unmap_under_a_running_kernel),
        api_test("a store to read-only memory faults and changes nothing [A9]", read_only),
        api_test("atomics need memory mapped with them [A9]", no_atomics),
        api_test("malformed page tables fault [A9]", bad_tables),
        api_test("VRAM that runs out is an error, and comes back", vram_runs_out),
        api_test("page tables that run out are an error [A9]", tables_run_out),
        api_test("random maps and unmaps leave the right pages [A9]", random_maps),
    };

    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
