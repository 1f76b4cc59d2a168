/* SPDX-License-Identifier: MIT */
/*
 * random-device SOURCE RESULTS OPTIONS VARIANT...: compiles random programs in variants (a number of device_variants,
 * or `all`; with an f behind it: for facts about the launch), runs them on a device core, and compares what they
 * compute with RESULTS. A line for each program that differs; exit status 1 when one does.
 */
#include "ppu/macros.h"
#include "tests/compiler/device.h"
#include "tests/random/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNOPTIMISED "-cl-opt-disable"

/* A file of programs, and what they shall compute. */
struct programs {
    char *source, *results;
    const char *options;
    struct launches launches;
    struct ppu_compiled bitcode[2]; /* for optimised code, and for other: made when it is needed */
    uint32_t differences;
};

static const struct ppu_compiled *bitcode_for(struct programs *programs, bool optimised)
{
    struct ppu_compiled *bitcode = &programs->bitcode[optimised ? 0 : 1];
    char options[128];

    if (bitcode->bytes) {
        return bitcode;
    }
    snprintf(options, sizeof(options), "%s %s", programs->options, optimised ? "" : UNOPTIMISED);
    const struct ppu_compile_options compile = { .name = "random.cl", .options = options };
    enum ppu_compile_status status = ppu_compile_source(programs->source, strlen(programs->source), &compile, bitcode);
    if (status != PPU_COMPILE_OK) {
        fprintf(stderr, "random-device: %s: %s\n", ppu_compile_status_text(status), bitcode->log);
        exit(EXIT_FAILURE);
    }
    return bitcode;
}

/* Runs what is loaded; its output follows as the results have it. */
static void run(struct device *device, const struct launch *launch, uint32_t *words)
{
    device_kernel(device, launch->name);
    launch_input(launch, device_buffer(device, 0, launch->items * 4));
    uint32_t *out = device_buffer(device, 1, launch->items * LAUNCH_RESULTS * 4);
    uint32_t *sums = device_buffer(device, 2, LAUNCH_SUMS * 4);
    device_value(device, 3, &launch->uniform, sizeof(launch->uniform));
    device_run(device, launch->groups, 1, launch->x, launch->y);
    memcpy(words, out, (size_t)launch->items * LAUNCH_RESULTS * 4);
    memcpy(words + (size_t)launch->items * LAUNCH_RESULTS, sums, LAUNCH_SUMS * 4);
}

static void check(struct programs *programs, struct device *device, const struct launch *launch, const char *wanted,
                  const char *facts)
{
    size_t count = launch_words(launch), first = 0;
    uint32_t *words = calloc(count, sizeof(*words)), expected = 0;

    assert_non_null(words);
    run(device, launch, words);
    while (first < count && memcmp(words + first, wanted + first * 4, 4) == 0) {
        first++;
    }
    if (first < count) {
        memcpy(&expected, wanted + first * 4, 4);
        printf("%s, %s%s: word %zu is 0x%x, on the host 0x%x\n", launch->name, device->variant->name, facts, first,
               words[first], expected);
        programs->differences++;
    }
    free(words);
}

/* What is true of the launch: everything that facts can say. */
static void load_for(struct device *device, const struct ppu_compiled *bitcode, const struct launch *launch)
{
    const struct ppu_compile_argument arguments[] = { { .separate = 1, .align_log2 = 8 },
                                                      { .separate = 1, .align_log2 = 8 },
                                                      { .separate = 1, .align_log2 = 8 },
                                                      { .constant = 1, .value = launch->uniform } };
    const struct ppu_compile_facts facts = { .kernel = launch->name,
                                             .arguments = arguments,
                                             .argument_count = PPU_ARRAY_SIZE(arguments),
                                             .work_group = { launch->x, launch->y, 1 } };

    device_load_bitcode(device, bitcode, &facts);
}

static void check_variant(struct programs *programs, struct device *device, uint32_t variant, bool facts)
{
    bool optimised = strcmp(device_variants[variant].options, UNOPTIMISED) != 0;
    const struct ppu_compiled *bitcode = bitcode_for(programs, optimised);
    const char *wanted = programs->results;

    device->variant = &device_variants[variant];
    if (!facts) {
        device_load_bitcode(device, bitcode, NULL);
    }
    for (uint32_t i = 0; i < programs->launches.count; i++) {
        const struct launch *launch = &programs->launches.at[i];
        if (facts) {
            load_for(device, bitcode, launch);
        }
        check(programs, device, launch, wanted, facts ? ", with facts" : "");
        wanted += launch_words(launch) * 4;
    }
}

static void check_all(struct programs *programs, struct device *device)
{
    for (uint32_t variant = 0; variant < device_variant_count; variant++) {
        check_variant(programs, device, variant, false);
        check_variant(programs, device, variant, true);
    }
}

/* A line for each variant: its number, its size of waves, its options. */
static void list_variants(void)
{
    for (uint32_t i = 0; i < device_variant_count; i++) {
        printf("%u %u %s\n", i, device_variants[i].wave, device_variants[i].options);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list_variants();
        return EXIT_SUCCESS;
    }
    if (argc < 5) {
        fputs("usage: random-device SOURCE RESULTS OPTIONS VARIANT..., or random-device --list\n", stderr);
        return EXIT_FAILURE;
    }
    struct programs programs = { .source = launch_read(argv[1]), .results = launch_read(argv[2]) };
    struct device *device = device_new();
    programs.options = argv[3];
    programs.launches = launch_find(programs.source);
    for (int i = 4; i < argc; i++) {
        char *end;
        uint32_t variant = (uint32_t)strtoul(argv[i], &end, 10);
        if (strcmp(argv[i], "all") == 0) {
            check_all(&programs, device);
        } else {
            check_variant(&programs, device, variant % device_variant_count, *end == 'f');
        }
    }
    device_free(device);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(programs.bitcode); i++) {
        ppu_compiled_free(&programs.bitcode[i]);
    }
    free(programs.launches.at);
    free(programs.source);
    free(programs.results);
    return programs.differences == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
