/* SPDX-License-Identifier: MIT */
/* Tests what the control unit does for kernels whose waves work on more than the first-level cache holds. */
#include "tests/compiler/locality.h"

#include <stdio.h>

static void misses_fall(void **state)
{
    struct device *device = locality_device_new();

    (void)state;
    for (uint32_t kernel = 0; kernel < locality_count; kernel++) {
        const struct locality_cost normal = locality_run(device, kernel, PPU_MODE_NORMAL);
        const struct locality_cost chosen = locality_run(device, kernel, PPU_MODE_AUTO);
        const struct locality_cost parts = locality_run(device, kernel, PPU_MODE_SUBVECTOR);

        printf(
            "# %s: %.3f of the lines miss in normal mode, %.3f with the control unit (%.2f part by part), %.3f part by "
            "part\n",
            locality_kernels[kernel], normal.miss_rate, chosen.miss_rate, chosen.parts, parts.miss_rate);
        assert_true(normal.parts == 0 && parts.parts == 1 && chosen.parts > 0);
        assert_true(chosen.miss_rate <= 0.75 * normal.miss_rate);
    }
    device_free(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "the control unit lowers the miss rate of kernels that reach too far [D8]", misses_fall, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("compiler: locality", tests, NULL, NULL);
}
