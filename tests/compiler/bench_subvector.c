/* SPDX-License-Identifier: MIT */
/* Measures what segments save and cost kernels of high pressure, in rows as tests/bench/run wants them. */
#include "ppu/macros.h"
#include "tests/compiler/locality.h"
#include "tests/compiler/pressure.h"

#include <stdio.h>
#include <stdlib.h>

#define SM_VREGS 65536u /* of the default device */
#define SM_WARPS 64u

static uint32_t registers(const struct pressure_cost *cost)
{
    return ppu_warp_vregs(cost->parts * PPU_LANES, cost->private_vregs, cost->shared_vregs);
}

/* Waves that an SM holds. */
static uint32_t resident(const struct pressure_cost *cost)
{
    uint32_t by_registers = SM_VREGS / registers(cost), by_warps = SM_WARPS / cost->parts;

    return PPU_MIN(by_registers, by_warps);
}

static void print_row(const char *kernel, uint32_t wave, const char *what, double value, const char *better,
                      double budget, const char *note)
{
    char of_wave[8] = "";

    if (wave != 64) {
        snprintf(of_wave, sizeof(of_wave), "%u.", wave);
    }
    printf(
        "{\"name\": \"subvector.%s.%s%s\", \"value\": %.4f, \"unit\": \"ratio\", \"better\": \"%s\", \"budget\": %g, "
        "\"note\": \"%s\"}\n",
        kernel, of_wave, what, value, better, budget, note);
}

static void print_rows(const char *kernel, const struct pressure_cost *plain, const struct pressure_cost *segments)
{
    uint32_t wave = plain->parts * PPU_LANES;
    char note[160];

    snprintf(note, sizeof(note), "waves of %u: %u times %u and %u shared, against %u times %u", wave, segments->parts,
             segments->private_vregs, segments->shared_vregs, plain->parts, plain->private_vregs);
    print_row(kernel, wave, "vgprs", (double)registers(segments) / registers(plain), "lower", 0.7, note);
    snprintf(note, sizeof(note), "waves of %u that an SM of %u registers and %u warps holds: %u, against %u", wave,
             SM_VREGS, SM_WARPS, resident(segments), resident(plain));
    print_row(kernel, wave, "waves", (double)resident(segments) / resident(plain), "higher", 1, note);
    snprintf(note, sizeof(note), "passes issued, %.0f, against %.0f", segments->passes, plain->passes);
    print_row(kernel, wave, "instructions", segments->passes / plain->passes, "lower", 1.05, note);
}

static const struct device_variant variants[][2] = {
    { { "waves of 64", "", 64, 0, 0, { 0 } },
      { "waves of 64, segments", "", 64, 0, 0, { .form = PPU_SEGMENTS_ENTER } } },
    { { "waves of 128", "", 128, 0, 0, { 0 } },
      { "waves of 128, segments", "", 128, 0, 0, { .form = PPU_SEGMENTS_ENTER } } },
};

/* Without segments, and with them. */
static void compare(struct device *device, const struct device_variant both[2])
{
    struct pressure_cost *before = calloc(pressure_count, sizeof(*before));

    assert_non_null(before);
    device->variant = &both[0];
    device_load_file(device, "pressure", "-cl-std=CL1.2");
    for (uint32_t c = 0; c < pressure_count; c++) {
        before[c] = pressure_cost_of(device, &pressure_cases[c]);
    }
    device->variant = &both[1];
    device_load_file(device, "pressure", "-cl-std=CL1.2");
    for (uint32_t c = 0; c < pressure_count; c++) {
        struct pressure_cost cost = pressure_cost_of(device, &pressure_cases[c]);
        free(pressure_run(device, &pressure_cases[c]));
        print_rows(pressure_cases[c].name, &before[c], &cost);
    }
    free(before);
}

/* The modelled first level with the control unit, and without segments. */
static void print_caches(void)
{
    struct device *device = locality_device_new();

    for (uint32_t kernel = 0; kernel < locality_count; kernel++) {
        const struct locality_cost normal = locality_run(device, kernel, PPU_MODE_NORMAL);
        const struct locality_cost chosen = locality_run(device, kernel, PPU_MODE_AUTO);

        printf("{\"name\": \"subvector.cache.%s.miss_rate\", \"value\": %.4f, \"unit\": \"ratio\", \"better\": "
               "\"lower\", \"budget\": 0.75, \"note\": \"of lines that loads want, %.3f miss the first level, against "
               "%.3f in normal mode; %.0f %% of the segments ran part by part\"}\n",
               locality_kernels[kernel], chosen.miss_rate / normal.miss_rate, chosen.miss_rate, normal.miss_rate,
               100 * chosen.parts);
    }
    device_free(device);
}

int main(void)
{
    struct device *device = device_new();

    for (size_t i = 0; i < PPU_ARRAY_SIZE(variants); i++) {
        compare(device, variants[i]);
    }
    device_free(device);
    print_caches();
    return EXIT_SUCCESS;
}
