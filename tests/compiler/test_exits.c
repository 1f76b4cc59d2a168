/* SPDX-License-Identifier: MIT */
/*
 * Tests loops and conditions that lanes leave in several ways: results in every variant, and that what follows is
 * executed for the lanes together, counted beside kernels written so that it must be.
 */
#include "ppu/macros.h"
#include "tests/compiler/exits.h"

#include <string.h>

static void results(void **state)
{
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, "exits", "");
        for (uint32_t i = 0; i < exits_count; i++) {
            exits_run(device, i, false, 128);
            exits_run(device, i, true, 128);
        }
    }
}

static void together(void **state)
{
    struct device *device = *state;

    device_load_file(device, "exits", "");
    for (uint32_t i = 0; i < exits_count; i++) {
        uint64_t insns = exits_run(device, i, false, EXITS_THREADS);
        uint64_t twin = exits_run(device, i, true, EXITS_THREADS);

        print_message("# %s: %llu warp instructions, %llu with one way out\n", exits_names[i],
                      (unsigned long long)insns, (unsigned long long)twin);
        assert_true(insns <= twin * exits_percent[i] / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "loops and conditions with several ways out compute in every variant what their twins do [E11]", results,
          device_setup, device_teardown, NULL },
        { "lanes that leave in one way go on together [E3][E11]", together, device_setup, device_teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: ways out", tests, NULL, NULL);
}
