/* SPDX-License-Identifier: MIT */
/*
 * Tests the device library beside launching: the heap of threads, the last error, and addresses that are no child's.
 */
#include "tests/api/api.h"

#include <string.h>

#include "ppu/devlib.h"
#include "ppu/heap.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/nest.h"
#include "ppu/tmd.h"
#include "runtime/context.h"

struct heap_params {
    uint64_t counters;
    uint32_t each, least, mask, zero;
};

enum { TAKEN = 0, REFUSED = 4, OVERWRITTEN = 8, LAST_ERROR = 12 };

static struct ppu_memory *run_heap(struct api *api, uint32_t ctas, uint32_t threads, const struct heap_params *shape)
{
    struct ppu_memory *counters = api_memory(api, PPU_MEMORY_VRAM, 64);
    struct heap_params params = *shape;

    params.counters = api_va(api, counters);
    check(api_run(api, api_kernel(api, api->context, "heap", "heap"), ctas, threads, &params, sizeof(params)));
    assert_int_equal(api_word(counters, OVERWRITTEN), 0);
    assert_int_equal(api_word(counters, TAKEN) + api_word(counters, REFUSED), ctas * threads * params.each);
    return counters;
}

/* More is taken than the heap has: what is given back is taken again. */
static void pieces_of_all_sizes(void **state)
{
    struct api *api = *state;
    const uint32_t threads = machine_is_slow() ? 2 * 64 : 16 * 64;
    const struct heap_params shape = { .each = machine_is_slow() ? 6 : 20,
                                       .least = 4,
                                       .mask = machine_is_slow() ? 0x7f : 0x3ff };

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .heap_bytes = threads * 2 * 4096 }));
    struct ppu_memory *counters = run_heap(api, threads / 64, 64, &shape);
    assert_int_equal(api_word(counters, REFUSED), 0);
    assert_int_equal(api_word(counters, LAST_ERROR), 0);
}

/* All was given back: the same again needs no more memory, however often. */
static void pieces_come_back(void **state)
{
    struct api *api = *state;
    const struct heap_params shape = { .each = 3, .least = 100, .mask = 0 };

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .heap_bytes = 384 + 2 * 32 * 128 }));
    for (uint32_t i = 0; i < 10; i++) {
        struct ppu_memory *counters = run_heap(api, 1, 32, &shape);
        assert_int_equal(api_word(counters, REFUSED), 0);
        api_forget_programs(1);
    }
}

/* One thread had all of the heap as one piece: many threads at once have parts of it, of all sizes. */
static void pieces_are_halved(void **state)
{
    struct api *api = *state;
    const struct heap_params all = { .each = 1, .least = 0x40000 - 16 };
    const struct heap_params parts = { .each = machine_is_slow() ? 6 : 20, .least = 4, .mask = 0x3ff };

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .heap_bytes = 384 + 0x40000 }));
    struct ppu_memory *counters = run_heap(api, 1, 1, &all);
    assert_int_equal(api_word(counters, TAKEN), 1);
    api_forget_programs(1);
    counters = run_heap(api, 1, 32, &parts);
    assert_int_equal(api_word(counters, REFUSED), 0);
    assert_int_equal(api_word(counters, LAST_ERROR), 0);
}

/* Many threads had all of the heap as small pieces: one thread has it as one, when they have been joined. */
static void pieces_are_joined(void **state)
{
    struct api *api = *state;
    const struct heap_params all = { .each = 1, .least = 0x40000 - 16 };
    const struct heap_params parts = { .each = 3, .least = 0x1000 - 16 };

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .heap_bytes = 384 + 0x40000 }));
    run_heap(api, 1, 32, &parts);
    api_forget_programs(1);
    assert_int_equal(api_word(run_heap(api, 1, 1, &all), REFUSED), 1);
    api_forget_programs(1);
    ppu_context_join_heap(api->context);
    assert_int_equal(api_word(run_heap(api, 1, 1, &all), TAKEN), 1);
    api_forget_programs(1);
    assert_int_equal(api_word(run_heap(api, 1, 32, &parts), LAST_ERROR), 0);
}

/* Threads may write anything to their heap. What contradicts itself is left as it is. */
static void lists_that_lie_stay(void **state)
{
    struct api *api = *state;
    static const struct {
        uint32_t head, same, next; /* of a class; of the next one; behind the first piece that there can be */
        uint32_t used;
    } lies[] = {
        { 32, 0, 0, 384 + 0x40000 },         /* in the head of the heap */
        { 385, 0, 0, 384 + 0x40000 },        /* no multiple of the least piece */
        { 384 + 0x40000, 0, 0, UINT32_MAX }, /* behind the heap */
        { 0xffffffe0, 0, 0, UINT32_MAX },    /* behind everything */
        { 384, 0, 384, 384 + 0x40000 },      /* a piece behind itself */
        { 384, 384, 0, 384 + 0x40000 },      /* two pieces of the same bytes */
    };

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .heap_bytes = 384 + 0x40000 }));
    struct ppu_heap *heap = ppu_memory_host(api->context->heap);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(lies); i++) {
        heap->free[6] = lies[i].head;
        heap->free[7] = lies[i].same;
        heap->used = lies[i].used;
        ((struct ppu_heap_piece *)(heap + 1))->next = lies[i].next;
        const struct ppu_heap before = *heap;
        ppu_context_join_heap(api->context);
        assert_memory_equal(heap, &before, sizeof(before));
    }
    heap->free[6] = heap->free[7] = 0;
    const struct ppu_heap before = *heap;
    ((struct ppu_nest *)ppu_memory_host(api->context->nest))->tasks = 1u << 31;
    ppu_context_join_heap(api->context);
    assert_memory_equal(heap, &before, sizeof(before));
}

/* There is room for one piece: who has it gets no second one. */
static void a_heap_runs_out(void **state)
{
    struct api *api = *state;
    const struct heap_params shape = { .each = 2, .least = 300, .mask = 0 };

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .heap_bytes = 384 + 512 }));
    struct ppu_memory *counters = run_heap(api, 1, 64, &shape);
    assert_true(api_word(counters, REFUSED) > 0 && api_word(counters, TAKEN) > 0);
    assert_int_equal(api_word(counters, LAST_ERROR), PPU_DEVLIB_HEAP_FULL);
}

static void no_heap(void **state)
{
    struct api *api = *state;
    const struct heap_params shape = { .each = 1, .least = 16 };
    const struct ppu_nest_options bad = { .heap_bytes = 100 };

    assert_int_equal(ppu_context_nest(api->context, &bad), PPU_ERR_BAD_ARG);
    check(ppu_context_nest(api->context, NULL));
    struct ppu_memory *counters = run_heap(api, 1, 32, &shape);
    assert_int_equal(api_word(counters, REFUSED), 32);
    assert_int_equal(api_word(counters, LAST_ERROR), PPU_DEVLIB_HEAP_FULL);
}

/* ---- addresses that mean something else to a child ---- */

enum { TMD_AT = 0, SCRATCH_AT = 256, WORD_AT = 320, RESULTS_AT = 384 };

static struct ppu_memory *run_private(struct api *api, uint64_t addresses)
{
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t va = api_va(api, memory);
    const uint64_t params[] = { va + TMD_AT, va + SCRATCH_AT, va + WORD_AT, va + RESULTS_AT };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 }, .addresses = addresses };
    const struct ppu_kernel *leaf = api_kernel(api, api->context, "heap", "leaf");

    check(ppu_context_nest(api->context, NULL));
    check(ppu_kernel_describe(leaf, &launch, ppu_memory_host(memory)));
    check(api_run(api, api_kernel(api, api->context, "heap", "private"), 1, 32, params, sizeof(params)));
    return memory;
}

static void private_addresses(void **state)
{
    struct ppu_memory *memory = run_private(*state, 1);

    assert_int_equal(api_word(memory, RESULTS_AT), PPU_DEVLIB_PRIVATE);
    assert_int_equal(api_word(memory, RESULTS_AT + 4), PPU_DEVLIB_PRIVATE);
    assert_int_equal(api_word(memory, RESULTS_AT + 12), PPU_DEVLIB_PRIVATE);
    assert_int_equal(api_word(memory, RESULTS_AT + 8), 0);
    assert_int_equal(api_word(memory, RESULTS_AT + 16), 0);
    assert_int_equal(api_word(memory, WORD_AT), 1);
}

static void private_addresses_behind_the_library(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t params[] = { api_va(api, memory) + TMD_AT, api_va(api, memory) + SCRATCH_AT };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 } };
    struct ppu_error error;

    check(ppu_context_nest(api->context, NULL));
    check(ppu_kernel_describe(api_kernel(api, api->context, "heap", "leaf"), &launch, ppu_memory_host(memory)));
    assert_int_equal(api_run(api, api_kernel(api, api->context, "heap", "sneaky"), 1, 32, params, sizeof(params)),
                     PPU_ERR_BAD_TMD);
    ppu_channel_error(api->channel, &error);
    assert_int_equal(error.record.code, PPU_FAULT_TMD_PARAM);
    assert_int_equal(error.record.address, offsetof(struct ppu_tmd, addresses));
}

/* What a compiled kernel declares as an address is checked without being asked for. */
static void declared_addresses(void **state)
{
    struct api *api = *state;
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 } };
    struct ppu_tmd tmd;

    check(ppu_kernel_describe(api_kernel(api, api->context, "cl-compare", "saxpy"), &launch, &tmd));
    assert_int_not_equal(tmd.addresses, 0);
    check(ppu_kernel_describe(api_kernel(api, api->context, "saxpy", "saxpy"), &launch, &tmd));
    assert_int_equal(tmd.addresses, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("pieces of all sizes, taken and given back by many threads [B14]", pieces_of_all_sizes),
        api_test("what was given back is taken again [B14]", pieces_come_back),
        api_test("a large piece that was given back is halved for small ones [B14]", pieces_are_halved),
        api_test("small pieces that were given back are joined for a large one [B14]", pieces_are_joined),
        api_test("pieces are not joined where the heap contradicts itself [B14]", lists_that_lie_stay),
        api_test("a heap that runs out gives an error [B14]", a_heap_runs_out),
        api_test("a context without a heap [B14]", no_heap),
        api_test("addresses of shared and local memory are not for children [B14]", private_addresses),
        api_test("the firmware refuses them too [B14]", private_addresses_behind_the_library),
        api_test("addresses that the kernel declares [B14]", declared_addresses),
    };

    return cmocka_run_group_tests_name("api: device library", tests, api_machine_setup, api_machine_teardown);
}
