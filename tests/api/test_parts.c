/* SPDX-License-Identifier: MIT */
/* Tests through the library in which order parts of a warp run, and who says so: program, launch, control unit. */
#include "tests/api/api.h"

#include "ppu/macros.h"
#include "ppu/regs.h"
#include "ppu/tmd.h"

#define THREADS 128u
#define LANES 32u
#define THRESHOLD 512u /* MODE_THRESHOLD at reset */

static uint32_t ticket(struct ppu_memory *memory, uint32_t thread, uint32_t number)
{
    return api_word(memory, 8 + 8 * thread + 4 * number);
}

/* Runs a kernel whose threads draw two tickets each; true: each part has drawn its own before the next one began. */
static bool in_turn(struct api *api, struct ppu_memory *memory, const char *name, uint32_t mode, uint32_t miss_rate)
{
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "open_parts", name);
    const uint64_t va = api_va(api, memory);
    const struct ppu_launch launch = {
        .grid = { 1 },
        .cta = { THREADS },
        .params = &va,
        .param_bytes = sizeof(va),
        .mode = mode,
        .miss_rate = miss_rate,
    };
    uint32_t turns = 0;

    api_set_word(memory, 0, 0);
    check(ppu_stream_launch(api->stream, kernel, &launch, NULL));
    check(api_finish(api->channel));
    for (uint32_t t = 0; t < THREADS; t++) {
        const uint32_t first = t / LANES * 2 * LANES + t % LANES;
        const bool turn = ticket(memory, t, 0) == first && ticket(memory, t, 1) == first + LANES;

        turns += turn;
        assert_true(turn || (ticket(memory, t, 0) == t && ticket(memory, t, 1) == THREADS + t));
    }
    assert_true(turns == THREADS || turns <= LANES); /* the first part's first tickets are the same in both modes */
    return turns == THREADS;
}

static void program_goes_first(void **state)
{
    static const uint32_t modes[] = { PPU_MODE_AUTO, PPU_MODE_NORMAL, PPU_MODE_SUBVECTOR };
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 8 + 8 * THREADS);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(modes); i++) {
        assert_true(in_turn(api, memory, "sharing_parts", modes[i], PPU_MISS_UNSAID));
        assert_true(in_turn(api, memory, "sharing_parts", modes[i], PPU_MISS_BELOW));
    }
}

static void launch_or_rate_chooses(void **state)
{
    static const struct {
        uint32_t mode, miss_rate;
        bool parts;
    } cases[] = {
        { PPU_MODE_AUTO, PPU_MISS_UNSAID, false },
        { PPU_MODE_AUTO, PPU_MISS_ABOVE, true },
        { PPU_MODE_AUTO, PPU_MISS_BELOW, false },
        { PPU_MODE_AUTO, PPU_MISS_RATE(THRESHOLD), true },
        { PPU_MODE_AUTO, PPU_MISS_RATE(THRESHOLD - 1), false },
        { PPU_MODE_NORMAL, PPU_MISS_ABOVE, false },
        { PPU_MODE_SUBVECTOR, PPU_MISS_BELOW, true },
    };
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 8 + 8 * THREADS);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        assert_int_equal(in_turn(api, memory, "open_parts", cases[i].mode, cases[i].miss_rate), cases[i].parts);
        assert_int_equal(in_turn(api, memory, "open_sharing_parts", cases[i].mode, cases[i].miss_rate), cases[i].parts);
    }
    check(ppu_device_policy(api->device, PPU_POLICY_MODE_THRESHOLD, 100));
    assert_true(in_turn(api, memory, "open_parts", PPU_MODE_AUTO, PPU_MISS_RATE(100)));
    assert_false(in_turn(api, memory, "open_parts", PPU_MODE_AUTO, PPU_MISS_RATE(99)));
    check(ppu_device_policy(api->device, PPU_POLICY_MODE_THRESHOLD, THRESHOLD));
}

/* A co-resident grid of so many CTAs runs, one with one more is refused. */
static void check_resident(struct api *api, const struct ppu_kernel *kernel, struct ppu_launch *launch)
{
    const uint32_t resident = ppu_kernel_resident(kernel, launch);
    struct ppu_error error;

    assert_true(resident > 0);
    launch->grid[0] = resident;
    check(ppu_stream_launch(api->stream, kernel, launch, NULL));
    check(api_finish(api->channel));
    launch->grid[0] = resident + 1;
    check(ppu_stream_launch(api->stream, kernel, launch, NULL));
    assert_int_equal(api_wait_fault(api->channel, &error), PPU_ERR_BAD_TMD);
    assert_int_equal(error.record.code, PPU_FAULT_TMD_CORESIDENT);
    check(ppu_channel_reset(api->channel));
}

static void the_room_is_told(void **state)
{
    static const struct {
        const char *kernel;
        uint32_t cta, shared_bytes, mode;
    } cases[] = {
        { "open_parts", 128, 0, PPU_MODE_AUTO },
        { "open_parts", 32, 0, PPU_MODE_AUTO },
        { "open_parts", 1000, 0, PPU_MODE_AUTO },
        { "open_parts", 128, 9000, PPU_MODE_AUTO },
        { "greedy", 128, 0, PPU_MODE_NORMAL },
        { "greedy", 128, 0, PPU_MODE_SUBVECTOR },
        { "greedy", 300, 0, PPU_MODE_NORMAL },
        { "greedy", 300, 0, PPU_MODE_SUBVECTOR },
        { "sharing_parts", 128, 20000, PPU_MODE_NORMAL },
        { "greedy", 128, 0, PPU_MODE_AUTO },
    };
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 8 + 8 * 1024);
    const uint64_t va = api_va(api, memory);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct ppu_launch launch = { .grid = { 1 },
                                     .cta = { cases[i].cta },
                                     .params = &va,
                                     .param_bytes = sizeof(va),
                                     .shared_bytes = cases[i].shared_bytes,
                                     .mode = cases[i].mode,
                                     .coresident = true };
        check_resident(api, api_kernel(api, api->context, "open_parts", cases[i].kernel), &launch);
    }
    /* Those that may share registers have their own when nothing says which; no CTA is as large as the last ones. */
    const struct ppu_kernel *greedy = api_kernel(api, api->context, "open_parts", "greedy");
    struct ppu_launch launch = { .grid = { 1 }, .cta = { 128 }, .mode = PPU_MODE_NORMAL };
    const uint32_t own = ppu_kernel_resident(greedy, &launch);
    launch.mode = PPU_MODE_SUBVECTOR;
    assert_true(ppu_kernel_resident(greedy, &launch) * 10 >= own * 13);
    launch.mode = PPU_MODE_AUTO;
    assert_int_equal(ppu_kernel_resident(greedy, &launch), own);
    launch.mode = PPU_MODES;
    assert_int_equal(ppu_kernel_resident(greedy, &launch), 0);
    launch = (struct ppu_launch){ .grid = { 1 }, .cta = { 1025 } };
    assert_int_equal(ppu_kernel_resident(greedy, &launch), 0);
    launch = (struct ppu_launch){ .grid = { 1 }, .cta = { 32 }, .shared_bytes = PPU_MAX_SHARED };
    const uint32_t shared = ppu_device_info(api->device)->sm_shared;
    assert_int_equal(ppu_kernel_resident(greedy, &launch) != 0, shared >= PPU_MAX_SHARED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("a program that enters a segment has its parts run in turn, whatever the launch says [D3][D4][D6]",
                 program_goes_first),
        api_test("else the launch, its rate of misses or the threshold decide, with shared registers too [D4][D6][D8]",
                 launch_or_rate_chooses),
        api_test("as many CTAs as the library says are on the SMs at once, and no more [D4]", the_room_is_told),
    };

    return cmocka_run_group_tests_name("api: parts", tests, api_machine_setup, api_machine_teardown);
}
