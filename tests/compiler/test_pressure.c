/* SPDX-License-Identifier: MIT */
/* Tests kernels of high pressure with segments: the same results in every form, fewer registers, few more issues. */
#include "ppu/macros.h"
#include "tests/compiler/pressure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM(wave, how)                                           \
    {                                                             \
        "waves of " #wave ", " #how, "-cl-std=CL1.2", wave, 0, 0, \
        {                                                         \
            .form = PPU_SEGMENTS_##how                            \
        }                                                         \
    }

static const struct device_variant waves[] = {
    FORM(64, OFF),
    FORM(128, OFF),
};

static const struct device_variant forms[] = {
    FORM(64, ENTER),
    FORM(64, DUPLICATE),
    FORM(64, LOOP),
    FORM(64, MAY),
    FORM(128, ENTER),
    FORM(128, DUPLICATE),
    FORM(128, LOOP),
    FORM(128, MAY),
    { "waves of 64, inverted", "-cl-std=CL1.2", 64, 0, 0, { .form = PPU_SEGMENTS_ENTER, .inverted = 1 } },
    { "waves of 128, above 15 %",
      "-cl-std=CL1.2",
      128,
      0,
      0,
      { .form = PPU_SEGMENTS_ENTER, .threshold_kind = PPU_THRESHOLD_PERCENT, .threshold = 15 } },
};

static void load(struct device *device, const struct device_variant *variant)
{
    device->variant = variant;
    device_load_file(device, "pressure", NULL);
}

/* As normal mode has it, in every mode of a launch; only open segments know a difference. */
static void check_results(struct device *device, const struct device_variant *variant, uint8_t *const normal[8])
{
    const uint32_t modes = variant->subvector.form == PPU_SEGMENTS_MAY ? PPU_MODES : 1;

    load(device, variant);
    for (uint32_t i = 0; i < modes * pressure_count; i++) {
        const struct pressure_case *c = &pressure_cases[i % pressure_count];

        device->mode = (enum ppu_tmd_mode)(i / pressure_count);
        uint8_t *out = pressure_run(device, c);
        if (memcmp(out, normal[i % pressure_count], c->out_bytes) != 0) {
            fail_msg("%s, %s, mode %u: not the results of the normal mode", c->name, variant->name, device->mode);
        }
        free(out);
    }
    device->mode = PPU_MODE_AUTO;
}

static void results(void **state)
{
    struct device *device = *state;
    uint8_t *normal[8];

    assert_true(pressure_count <= 8);
    load(device, &waves[0]);
    for (uint32_t c = 0; c < pressure_count; c++) {
        normal[c] = pressure_run(device, &pressure_cases[c]);
    }
    for (size_t f = 0; f < PPU_ARRAY_SIZE(forms); f++) {
        check_results(device, &forms[f], normal);
    }
    for (uint32_t c = 0; c < pressure_count; c++) {
        free(normal[c]);
    }
}

static void check_worth(struct device *device, const struct device_variant *plain,
                        const struct device_variant *segments)
{
    struct pressure_cost before[8];

    load(device, plain);
    for (uint32_t c = 0; c < pressure_count; c++) {
        before[c] = pressure_cost_of(device, &pressure_cases[c]);
        assert_int_equal(before[c].shared_vregs, 0);
    }
    load(device, segments);
    for (uint32_t c = 0; c < pressure_count; c++) {
        struct pressure_cost cost = pressure_cost_of(device, &pressure_cases[c]);
        double vregs =
            (double)(cost.parts * cost.private_vregs + cost.shared_vregs) / (before[c].parts * before[c].private_vregs);
        if (vregs > 0.7 || cost.passes > 1.05 * before[c].passes) {
            fail_msg("%s, %s: %.3f of the registers, %.4f of the passes", pressure_cases[c].name, segments->name, vregs,
                     cost.passes / before[c].passes);
        }
    }
}

static void worth(void **state)
{
    check_worth(*state, &waves[0], &forms[0]);
    check_worth(*state, &waves[1], &forms[4]);
    check_worth(*state, &waves[0], &forms[3]);
    check_worth(*state, &waves[1], &forms[7]);
}

/* The threshold is what a register of the device holds: kernels that need no more have no segments. */
static void threshold_of_the_device(void **state)
{
    static const uint32_t values[] = { 0, 50, 100, PPU_MAX_VREGS };
    struct device *device = *state;
    struct board *board = device->rig->board;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(values); i++) {
        struct device_variant variant = waves[0];

        host_write(board, PPU_REG_MODE_VREGS, values[i]);
        load(device, &waves[0]);
        struct pressure_cost plain = pressure_cost_of(device, &pressure_cases[PRESSURE_SHA]);
        variant.subvector.form = PPU_SEGMENTS_ENTER;
        variant.subvector.threshold_kind = PPU_THRESHOLD_REGISTERS;
        variant.subvector.threshold = host_read(board, PPU_REG_MODE_VREGS);
        load(device, &variant);
        struct pressure_cost cost = pressure_cost_of(device, &pressure_cases[PRESSURE_SHA]);
        assert_int_equal(variant.subvector.threshold, values[i]);
        assert_true((cost.shared_vregs != 0) == (values[i] < plain.private_vregs));
    }
    device->variant = &waves[0];
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "kernels of high pressure have the same results in all forms, which are the host's [D5][D7][D10]", results,
          device_setup, device_teardown, NULL },
        { "the threshold may be a register of the device [D9]", threshold_of_the_device, device_setup, device_teardown,
          NULL },
        { "they take at most 70 % of the registers, for at most 5 % more passes [D4][D9]", worth, device_setup,
          device_teardown, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
