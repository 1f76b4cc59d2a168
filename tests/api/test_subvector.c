/* SPDX-License-Identifier: MIT */
/* Tests a device without sub-vector mode (D10): the forms that run there, and what it refuses. */
#include "tests/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/regs.h"

#define THREADS 128u
#define LANES 32u

static uint32_t ticket(struct ppu_memory *memory, uint32_t thread, uint32_t number)
{
    return api_word(memory, 8 + 8 * thread + 4 * number);
}

static bool has_mode(struct api *api)
{
    return (ppu_device_info(api->device)->features & PPU_FEATURE_SUBVECTOR) != 0;
}

/* Lanes draw in their order, and each part draws both tickets before the next one draws any. */
static void forms_run(void **state)
{
    static const char *const names[] = { "looped", "copied" };
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 8 + 8 * THREADS);
    const uint64_t va = api_va(api, memory);

    assert_false(has_mode(api));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        const struct ppu_kernel *kernel = api_kernel(api, api->context, "parts", names[i]);
        api_set_word(memory, 0, 0);
        check(api_run(api, kernel, 1, THREADS, &va, sizeof(va)));
        for (uint32_t t = 0; t < THREADS; t++) {
            const uint32_t first = t / LANES * 2 * LANES + t % LANES;
            assert_int_equal(ticket(memory, t, 0), first);
            assert_int_equal(ticket(memory, t, 1), first + LANES);
        }
    }
}

static void instructions_are_illegal(void **state)
{
    static const char *const names[] = { "entered", "left_open", "left" };
    struct api *api = *state;
    const uint64_t unused = 0;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        const struct ppu_kernel *kernel = api_kernel(api, api->context, "parts", names[i]);
        struct ppu_error error;
        assert_int_equal(api_run(api, kernel, 1, THREADS, &unused, sizeof(unused)), PPU_ERR_FAULT);
        ppu_channel_error(api->channel, &error);
        assert_int_equal(error.record.code, PPU_FAULT_ILLEGAL);
        check(ppu_channel_reset(api->channel));
        check(api_finish(api->channel));
        api_forget_programs(1);
    }
}

static void programs_are_refused(void **state)
{
    struct api *api = *state;
    struct ppu_program *program = NULL;
    struct ppu_error error;
    char path[200];

    const char *folder = getenv("PPU_KERNELS");

    snprintf(path, sizeof(path), "%s/shared_parts.ppu", folder ? folder : "build/kernels");
    assert_int_equal(ppu_program_load_file(api->context, path, &program, &error), PPU_ERR_BAD_IMAGE);
    assert_null(program);
    assert_non_null(strstr(error.text, "load a program: kernel 'shared_parts' needs sub-vector mode"));
}

/* It says which instruction, in which line, and of which loop. */
static void wrong_loops_are_refused(void **state)
{
    struct api *api = *state;
    struct ppu_program *program = NULL;
    struct ppu_error error;
    char path[200];

    const char *folder = getenv("PPU_KERNELS");

    snprintf(path, sizeof(path), "%s/wrong_loop.ppu", folder ? folder : "build/kernels");
    assert_int_equal(ppu_program_load_file(api->context, path, &program, &error), PPU_ERR_BAD_IMAGE);
    assert_null(program);
    assert_string_equal(error.text, "load a program: instruction 2, line 8: 'yield' yields, which must not be in a "
                                    "sub-vector loop, which begins at instruction 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("copies of a segment and the loop form run without sub-vector mode [D7][D10]", forms_run),
        api_test("instructions of the mode are illegal there [D10]", instructions_are_illegal),
        api_test("a program that shares registers is not loaded there [D10]", programs_are_refused),
        api_test("a program with a loop over parts that cannot be is not loaded [D7]", wrong_loops_are_refused),
    };

    api_machine = (struct machine_config){ .no_subvector = true };
    return cmocka_run_group_tests_name("api: subvector", tests, api_machine_setup, api_machine_teardown);
}
