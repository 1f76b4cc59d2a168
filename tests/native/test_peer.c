/* SPDX-License-Identifier: MIT */
/* Tests VRAM of one PPU that another one reaches over the bus: copies both ways, kernels, and what has no way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "runtime/native/machine.h"

#define WAIT_NS (30 * NS_PER_S)
#define PPUS 2u
#define BYTES (3 * PPU_MIB + 64 * PPU_KIB) /* whole large pages, and some small ones */
#define WORDS (BYTES / sizeof(uint32_t))

struct side {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_memory *own; /* BYTES of its VRAM */
};

struct pair {
    struct ppu_machine *machine;
    struct side side[PPUS];
};

static void ok(enum ppu_err err)
{
    if (err != PPU_OK) {
        fail_msg("%s: %s", ppu_error_name(err), ppu_error_text(err));
    }
}

static struct side open_side(struct ppu_machine *machine, uint32_t index)
{
    struct side side = { .device = NULL };
    struct ppu_transport *transport = NULL;
    struct ppu_error error;

    ok(ppu_machine_transport(machine, index, &transport, &error));
    ok(ppu_device_open(transport, NULL, &side.device, &error));
    ok(ppu_context_create(side.device, &side.context));
    ok(ppu_channel_create(side.context, NULL, &side.channel));
    ok(ppu_stream_create(side.channel, &side.stream));
    ok(ppu_memory_create(side.context, PPU_MEMORY_VRAM, BYTES, &side.own));
    return side;
}

static void close_side(const struct side *side)
{
    ok(ppu_memory_free(side->own));
    ok(ppu_channel_destroy(side->channel));
    ok(ppu_stream_destroy(side->stream));
    ok(ppu_context_destroy(side->context));
    ppu_device_close(side->device);
}

static int setup(void **state)
{
    static struct pair pair;
    const struct ppu_machine_options options = { .ppus = PPUS, .vram_bytes = 64ull * PPU_MIB };
    struct ppu_error error;

    ok(ppu_machine_start(&options, &pair.machine, &error));
    for (uint32_t i = 0; i < PPUS; i++) {
        pair.side[i] = open_side(pair.machine, i);
    }
    *state = &pair;
    return 0;
}

static int teardown(void **state)
{
    struct pair *pair = *state;

    for (uint32_t i = 0; i < PPUS; i++) {
        close_side(&pair->side[i]);
    }
    ppu_machine_stop(pair->machine);
    return 0;
}

static void fill(const struct side *side, uint32_t seed)
{
    uint32_t *word = ppu_memory_host(side->own);

    for (uint32_t i = 0; i < WORDS; i++) {
        word[i] = (i + seed) * 2654435761u;
    }
}

/* The first words are what fill() has written on the other side. */
static void expect(const struct side *side, uint32_t seed, uint32_t words)
{
    const uint32_t *word = ppu_memory_host(side->own);

    for (uint32_t i = 0; i < words; i++) {
        assert_int_equal(word[i], (i + seed) * 2654435761u);
    }
}

static uint64_t map_peer(const struct side *side, const struct ppu_memory *of, uint32_t flags, struct ppu_memory **peer)
{
    ppu_va_t va;

    ok(ppu_memory_of_peer(side->device, of, peer));
    ok(ppu_memory_map(*peer, side->context, flags, &va));
    return va.va;
}

static void copies_go_both_ways(void **state)
{
    const struct pair *pair = *state;
    const struct side *far = &pair->side[0], *near = &pair->side[1];
    struct ppu_memory *peer = NULL;
    struct ppu_event done;
    const ppu_va_t there = { map_peer(near, far->own, 0, &peer) }, here = ppu_memory_va(near->own, near->context);

    assert_ptr_equal(ppu_memory_host(peer), ppu_memory_host(far->own));
    assert_int_equal(ppu_memory_bytes(peer), ppu_memory_bytes(far->own));
    fill(far, 1);
    ok(ppu_stream_copy(near->stream, here, there, BYTES, &done));
    ok(ppu_event_wait(&done, WAIT_NS));
    expect(near, 1, WORDS);
    fill(near, 77);
    ok(ppu_stream_copy(near->stream, there, here, BYTES - 4, &done));
    ok(ppu_event_wait(&done, WAIT_NS));
    expect(far, 77, WORDS - 1);
    assert_int_equal(((uint32_t *)ppu_memory_host(far->own))[WORDS - 1], (uint32_t)WORDS * 2654435761u);
    ok(ppu_memory_free(peer));
}

/* Threads reach it too, and each device has its own view. */
static void kernels_reach_it(void **state)
{
    const struct pair *pair = *state;
    const struct side *far = &pair->side[0], *near = &pair->side[1];
    struct ppu_program *program = NULL;
    const struct ppu_kernel *kernel = NULL;
    struct ppu_memory *peer = NULL;
    struct ppu_error error;
    uint32_t *words = ppu_memory_host(far->own);

    memset(words, 0, BYTES);
    ok(ppu_program_load_file(near->context, "build/kernels/saxpy.ppu", &program, &error));
    ok(ppu_kernel_find(program, "saxpy", &kernel));
    float *x = ppu_memory_host(far->own), *y = ppu_memory_host(near->own);
    for (uint32_t i = 0; i < 1024; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    const struct {
        uint64_t x, y;
        uint32_t n;
        float a;
    } params = { map_peer(near, far->own, PPU_MAP_READ_ONLY, &peer), ppu_memory_va(near->own, near->context).va, 1024,
                 2 };
    const struct ppu_launch launch = {
        .grid = { 4 }, .cta = { 256 }, .params = &params, .param_bytes = sizeof(params)
    };
    ok(ppu_stream_launch(near->stream, kernel, &launch, NULL));
    ok(ppu_stream_wait(near->stream, WAIT_NS));
    for (uint32_t i = 0; i < 1024; i++) {
        assert_true(y[i] == 2 * (float)i + 1);
    }
    ok(ppu_program_unload(program));
    ok(ppu_memory_free(peer));
}

static void read_only_is_not_written(void **state)
{
    const struct pair *pair = *state;
    const struct side *far = &pair->side[0], *near = &pair->side[1];
    struct ppu_memory *peer = NULL;
    const ppu_va_t there = { map_peer(near, far->own, PPU_MAP_READ_ONLY, &peer) };
    struct ppu_error error;
    struct ppu_event done;

    ok(ppu_stream_copy(near->stream, there, ppu_memory_va(near->own, near->context), 4096, &done));
    assert_int_equal(ppu_event_wait(&done, WAIT_NS), PPU_ERR_FAULT);
    assert_int_equal(ppu_channel_error(near->channel, &error), PPU_ERR_FAULT);
    if (!strstr(error.text, "COPY_MEMORY") || !strstr(error.text, "write at virtual address")) {
        fail_msg("%s", error.text);
    }
    ok(ppu_channel_reset(near->channel));
    ok(ppu_memory_free(peer));
}

static void no_way(void **state)
{
    const struct pair *pair = *state;
    const struct side *near = &pair->side[1];
    struct ppu_memory *peer = NULL, *system = NULL;
    struct ppu_machine *other = NULL;
    const struct ppu_machine_options options = { .vram_bytes = 64ull * PPU_MIB };
    struct ppu_error error;

    assert_int_equal(ppu_memory_of_peer(near->device, near->own, &peer), PPU_ERR_BAD_ARG);
    assert_null(peer);
    ok(ppu_memory_alloc(pair->side[0].device, PPU_MEMORY_SYSTEM, 65536, &system));
    assert_int_equal(ppu_memory_of_peer(near->device, system, &peer), PPU_ERR_BAD_ARG);
    ok(ppu_memory_free(system));
    ok(ppu_machine_start(&options, &other, &error));
    struct side elsewhere = open_side(other, 0);
    assert_int_equal(ppu_memory_of_peer(near->device, elsewhere.own, &peer), PPU_ERR_NO_RESOURCE);
    assert_null(peer);
    close_side(&elsewhere);
    ppu_machine_stop(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_go_both_ways),
        cmocka_unit_test(kernels_reach_it),
        cmocka_unit_test(read_only_is_not_written),
        cmocka_unit_test(no_way),
    };

    return cmocka_run_group_tests_name("peers", tests, setup, teardown);
}
