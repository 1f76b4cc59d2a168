/* SPDX-License-Identifier: MIT */
/*
 * Measures what facts about launches are worth: kernels of tests/compiler/kernels/alias.cl as they come, with restrict
 * written by hand, and with each level of facts, and what it costs to find them. Rows as tests/bench/run wants them.
 */
#define _DEFAULT_SOURCE /* clock_gettime */

#include "opencl/variants/variant_key.h"
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAVE 128u /* as OpenCL programs are built */
#define THREADS 256u
#define TURNS 256u
#define RUNS 40u
#define WORDS ((THREADS + 2) * (TURNS + 2))
#define KERNELS 8u
#define MOST_ARGUMENTS 8u

static const char *const kernels[KERNELS] = { "equalize", "saxpy",  "stencil", "stencil2",
                                              "prefix",   "matvec", "colour",  "grey" };

/* What a kernel is compiled with. */
enum form {
    FORM_BASE,
    FORM_SEPARATION,
    FORM_ALIGNMENT,
    FORM_ALL,
    FORM_RESTRICT,
    FORMS,
};

static const char *const form_names[FORMS] = { "off", "separation", "alignment", "all", "restrict" };

struct cost {
    double instructions; /* of warps */
    double accesses;     /* of one thread */
    double time_us;      /* of the processor, on the engine, least of some runs */
    uint8_t *memory;     /* what there is afterwards */
    uint32_t bytes;
};

static double now_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* ---- launches ---- */

static const struct ppu_argument_entry *argument_of(const struct device *device, uint32_t i)
{
    return &device->rig->program.arguments[device->kernel.argument_first + i];
}

static bool holds(const struct device *device, uint32_t i, const char *type)
{
    const char *text = device->rig->program.text + argument_of(device, i)->type;

    return strncmp(text, type, strlen(type)) == 0;
}

static void fill(const struct device *device, uint32_t i, void *at)
{
    float *numbers = at;
    uint32_t *words = at;

    for (uint32_t k = 0; k < WORDS; k++) {
        if (holds(device, i, "float")) {
            numbers[k] = (float)(k % 61);
        } else {
            words[k] = k * 37 % 256;
        }
    }
}

/* Buffers one after the other, the scalars as large as the launch wants them. */
static void set_arguments(struct device *device, const char *kernel, const struct ppu_kernel_entry *base)
{
    device_kernel(device, kernel);
    for (uint32_t i = 0; i < base->argument_count; i++) {
        if (argument_of(device, i)->kind == PPU_ARGUMENT_GLOBAL) {
            fill(device, i, device_buffer(device, i, WORDS * sizeof(uint32_t)));
        } else if (holds(device, i, "float")) {
            device_float(device, i, 1.5f);
        } else {
            device_int(device, i, TURNS);
        }
    }
}

/* ---- facts ---- */

struct facts {
    struct variant_key key;
    struct ppu_compile_facts facts;
};

/* As the runtime finds them: the program that is loaded is the base variant. */
static void find_facts(const struct device *device, const char *kernel, enum variant_level level, struct facts *facts)
{
    static struct overlaps overlaps;
    struct region regions[MOST_ARGUMENTS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < device->kernel.argument_count; i++) {
        const struct ppu_argument_entry *argument = argument_of(device, i);
        uint64_t address;
        memcpy(&address, device->params + argument->offset, sizeof(address));
        if (argument->kind == PPU_ARGUMENT_GLOBAL) {
            regions[count++] = (struct region){ .address = address,
                                                .start = address,
                                                .bytes = WORDS * sizeof(uint32_t),
                                                .argument = (uint8_t)i,
                                                .element_log2 = argument->element_log2,
                                                .writes = (argument->references & PPU_REFERENCE_WRITE) != 0 };
        }
    }
    assert_true(overlaps_find(regions, count, &overlaps));
    variant_key_set(&facts->key, level, regions, count, &overlaps);
    for (uint32_t i = 0; i < device->kernel.argument_count && level == VARIANT_ALL; i++) {
        const struct variant_constant constant = { (uint8_t)i, TURNS };
        if ((argument_of(device, i)->references & PPU_REFERENCE_BOUND) != 0) {
            variant_key_add_constant(&facts->key, &constant);
        }
    }
    facts->facts = (struct ppu_compile_facts){ .kernel = kernel,
                                               .arguments = facts->key.arguments,
                                               .argument_count = facts->key.argument_count,
                                               .pairs = facts->key.pairs,
                                               .pair_count = facts->key.pair_count };
}

/* ---- images ---- */

static struct ppu_compiled compile(const struct ppu_compiled *bitcode, const struct ppu_compile_facts *facts)
{
    const struct ppu_compile_options options = { .wave = WAVE, .facts = facts };
    struct ppu_compiled image;

    assert_int_equal(ppu_compile_bitcode(bitcode->bytes, bitcode->len_bytes, &options, &image), PPU_COMPILE_OK);
    return image;
}

static void load(struct device *device, const struct ppu_compiled *image)
{
    uint8_t *copy = image->len_bytes != 0 ? malloc(image->len_bytes) : NULL;

    if (!copy) {
        fail_msg("no memory for an image of %zu bytes", image->len_bytes);
        return;
    }
    memcpy(copy, image->bytes, image->len_bytes);
    rig_load_image(device->rig, (struct ppuasm_image){ copy, image->len_bytes });
}

/* ---- costs ---- */

/* What does not change from run to run. */
static struct cost count(struct device *device, const char *kernel, const struct ppu_kernel_entry *base)
{
    struct cost cost = { .time_us = INFINITY };

    set_arguments(device, kernel, base);
    device->accesses = 0;
    free(device_reference(device, 1, 1, 1, 1));
    cost.accesses = (double)device->accesses;
    set_arguments(device, kernel, base);
    device->warp_insns = 0;
    device_run(device, 1, 1, THREADS, 1);
    cost.instructions = (double)device->warp_insns;
    cost.bytes = device->data_used;
    cost.memory = malloc(cost.bytes);
    assert_non_null(cost.memory);
    memcpy(cost.memory, rig_data(device->rig, 0), cost.bytes);
    return cost;
}

/* The first run also decodes. */
static double time_once(struct device *device, const char *kernel, const struct ppu_kernel_entry *base)
{
    double start = 0;

    for (uint32_t i = 0; i < 2; i++) {
        set_arguments(device, kernel, base);
        start = now_us();
        device_run(device, 1, 1, THREADS, 1);
    }
    return now_us() - start;
}

/* Forms take turns, so that what else the computer does meets all of them. */
static void measure_kernel(struct device *device, const struct ppu_compiled *bitcode, const struct ppu_compiled *alone,
                           const char *kernel, struct cost costs[FORMS])
{
    static struct facts facts[FORMS];
    struct ppu_compiled images[FORMS] = { compile(bitcode, NULL) };

    load(device, &images[FORM_BASE]);
    device_kernel(device, kernel);
    const struct ppu_kernel_entry base = device->kernel;
    set_arguments(device, kernel, &base);
    for (uint32_t form = FORM_SEPARATION; form <= FORM_ALL; form++) {
        find_facts(device, kernel, (enum variant_level)form, &facts[form]);
        images[form] = compile(bitcode, &facts[form].facts);
    }
    images[FORM_RESTRICT] = compile(alone, NULL);
    for (uint32_t form = 0; form < FORMS; form++) {
        load(device, &images[form]);
        costs[form] = count(device, kernel, &base);
        assert_memory_equal(costs[form].memory, costs[FORM_BASE].memory, costs[FORM_BASE].bytes);
    }
    for (uint32_t run = 0; run < RUNS * FORMS; run++) {
        struct cost *cost = &costs[run % FORMS];
        load(device, &images[run % FORMS]);
        double took = time_once(device, kernel, &base);
        cost->time_us = PPU_MIN(took, cost->time_us);
    }
    for (uint32_t form = 0; form < FORMS; form++) {
        free(costs[form].memory);
        ppu_compiled_free(&images[form]);
    }
}

/* ---- rows ---- */

static void print_row(const char *name, const char *what, double value, const char *unit, const char *budget,
                      const char *note)
{
    printf("{\"name\": \"alias.%s.%s\", \"value\": %.4f, \"unit\": \"%s\", \"better\": \"higher\", \"budget\": %s, "
           "\"note\": \"%s\"}\n",
           name, what, value, unit, budget, note);
}

static double instructions_of(const struct cost *cost)
{
    return cost->instructions;
}

static double accesses_of(const struct cost *cost)
{
    return cost->accesses;
}

static double time_of(const struct cost *cost)
{
    return cost->time_us;
}

static const struct {
    const char *name;
    double (*of)(const struct cost *cost);
    const char *budget; /* of the geometric mean */
    const char *what;
} quantities[] = {
    { "instructions", instructions_of, "1.5", "warp instructions" },
    { "memory_instructions", accesses_of, "2.5", "loads and stores a thread executes" },
    { "time", time_of, "1", "us on the engine, least of 40" },
};

#define QUANTITIES PPU_ARRAY_SIZE(quantities)

static double mean_gain(struct cost costs[KERNELS][FORMS], size_t quantity, uint32_t base, uint32_t form)
{
    double sum = 0;

    for (uint32_t k = 0; k < KERNELS; k++) {
        sum += log(quantities[quantity].of(&costs[k][base]) / quantities[quantity].of(&costs[k][form]));
    }
    return exp(sum / KERNELS);
}

static void print_kernels(struct cost costs[KERNELS][FORMS])
{
    char note[256];

    for (uint32_t k = 0; k < KERNELS; k++) {
        for (size_t q = 0; q < QUANTITIES; q++) {
            double base = quantities[q].of(&costs[k][FORM_BASE]), all = quantities[q].of(&costs[k][FORM_ALL]);
            double alone = quantities[q].of(&costs[k][FORM_RESTRICT]);
            snprintf(note, sizeof(note), "base / recompiled: %.0f / %.0f %s; restrict by hand %.0f", base, all,
                     quantities[q].what, alone);
            print_row(kernels[k], quantities[q].name, base / all, "times fewer", "1", note);
        }
    }
}

/* Ours against restrict, the worst of all kernels: at least as good. */
static double least_against_restrict(struct cost costs[KERNELS][FORMS], size_t quantity)
{
    double least = INFINITY;

    for (uint32_t k = 0; k < KERNELS; k++) {
        double gain = quantities[quantity].of(&costs[k][FORM_RESTRICT]) / quantities[quantity].of(&costs[k][FORM_ALL]);
        least = PPU_MIN(gain, least);
    }
    return least;
}

static void print_means(struct cost costs[KERNELS][FORMS])
{
    char name[64];

    for (size_t q = 0; q < QUANTITIES; q++) {
        for (uint32_t form = FORM_SEPARATION; form < FORMS; form++) {
            snprintf(name, sizeof(name), form == FORM_ALL ? "%s" : "%s.%s", quantities[q].name, form_names[form]);
            print_row("geomean", name, mean_gain(costs, q, FORM_BASE, form), "times fewer",
                      form == FORM_ALL ? quantities[q].budget : "null",
                      form == FORM_RESTRICT ? "with restrict by hand, against base" : "against base");
        }
        snprintf(name, sizeof(name), "%s.least", quantities[q].name);
        print_row("vs_restrict", name, least_against_restrict(costs, q), "times fewer", "1",
                  "restrict by hand / recompiled, the worst kernel");
    }
}

/* ---- what finding out costs ---- */

#define ANALYSES 20000u
#define MANY 16u
#define ROUNDS 15u

static struct region some_region(uint32_t i, uint32_t overlapping)
{
    uint64_t start = 0x100000000ull + (uint64_t)(i * 7 % MANY) * 0x10000;
    uint64_t address = i < overlapping ? 0x100000000ull + 4ull * i : start;

    return (struct region){ .address = address,
                            .start = i < overlapping ? 0x100000000ull : start,
                            .bytes = 0x8000,
                            .argument = (uint8_t)i,
                            .element_log2 = 2,
                            .writes = i % 3 == 0 };
}

/* Regions to a key, and that among eight that are there. */
static double analysis_us(uint32_t overlapping, uint32_t *found)
{
    static struct overlaps overlaps;
    static struct variant_key key, known[8];
    struct region regions[MANY];
    double least = INFINITY;
    uint32_t equal = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        regions[i] = some_region(i, overlapping);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        double start = now_us();
        for (uint32_t n = 0; n < ANALYSES; n++) {
            regions[n % MANY].address ^= 4; /* always another one */
            assert_true(overlaps_find(regions, MANY, &overlaps));
            variant_key_set(&key, VARIANT_ALL, regions, MANY, &overlaps);
            for (uint32_t i = 0; i < 8; i++) {
                equal += variant_key_equal(&key, &known[i]);
            }
        }
        double took = (now_us() - start) / ANALYSES;
        least = PPU_MIN(took, least);
    }
    *found = overlaps.count;
    assert_int_equal(equal, 0);
    return least;
}

static void print_analysis(void)
{
    uint32_t none, some;
    double apart = analysis_us(0, &none), six = analysis_us(6, &some);

    printf("{\"name\": \"alias.analysis_us\", \"value\": %.4f, \"unit\": \"us\", \"better\": \"lower\", \"budget\": 2, "
           "\"note\": \"16 arguments, %u pairs of them overlap: regions to key, looked up; least of 15; %.4f without "
           "overlaps\"}\n",
           six, some, apart);
}

int main(void)
{
    const struct device_variant variant = { .name = "wave of 128", .options = "", .wave = WAVE };
    static struct cost costs[KERNELS][FORMS];
    struct ppu_compiled bitcode, alone;
    struct device *device = device_new();
    char *source = device_read("alias.cl");
    const struct ppu_compile_options by_hand = { .options = "-DALONE=restrict" };

    device->variant = &variant;
    assert_int_equal(ppu_compile_source(source, strlen(source), NULL, &bitcode), PPU_COMPILE_OK);
    assert_int_equal(ppu_compile_source(source, strlen(source), &by_hand, &alone), PPU_COMPILE_OK);
    for (uint32_t k = 0; k < KERNELS; k++) {
        measure_kernel(device, &bitcode, &alone, kernels[k], costs[k]);
    }
    print_kernels(costs);
    print_means(costs);
    print_analysis();
    ppu_compiled_free(&bitcode);
    ppu_compiled_free(&alone);
    free(source);
    device_free(device);
    return EXIT_SUCCESS;
}
