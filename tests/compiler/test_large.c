/* SPDX-License-Identifier: MIT */
/* Checks kernels of thousands of operations: what they compute, and that passes see blocks and chains of bounded
 * length. */
#include "compiler/irpass/cut_chains.h"
#include "compiler/irpass/split_blocks.h"
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENTS 700u /* each is several instructions */
#define TURNS 3u
#define N 40u /* work-items */

/* ---- one program, as source and as C ---- */

struct text {
    char *source;
    size_t len;
    FILE *file;
};

static void text_begin(struct text *text)
{
    text->file = open_memstream(&text->source, &text->len);
    assert_non_null(text->file);
}

static uint32_t factor(uint32_t k)
{
    return k * 2654435761u | 1;
}

/* One block that is its own loop: x and y are phis of its head, and what follows it reads them. */
static char *long_loop(void)
{
    struct text text;

    text_begin(&text);
    fprintf(text.file, "kernel void large(global uint *out, global const uint *in, int n)\n"
                       "{ int i = get_global_id(0); uint x = in[i], y = i;\n"
                       "  for (int t = 0; t < n; t++) {\n");
    for (uint32_t k = 0; k < STATEMENTS; k++) {
        fprintf(text.file, "x = x * %uu + (y ^ %uu); y += x >> 3; out[%uu * 40 + i] = y;\n", factor(k), k, k + 1);
    }
    fprintf(text.file, "} out[i] = x + y; }\n");
    fclose(text.file);
    return text.source;
}

static void expect_long_loop(const struct device *device, const uint32_t *out, const uint32_t *in)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = in[i], y = i;
        for (uint32_t k = 0; k < TURNS * STATEMENTS; k++) {
            x = x * factor(k % STATEMENTS) + (y ^ (k % STATEMENTS));
            y += x >> 3;
        }
        device_expect(device, "long loop", i, (int32_t)out[i], (int32_t)(x + y));
        device_expect(device, "its last store", i, (int32_t)out[STATEMENTS * 40 + i], (int32_t)y);
    }
}

/* Branches one after the other; every value is read again at the end, so that many live through all blocks. */
static char *many_blocks(void)
{
    struct text text;

    text_begin(&text);
    fprintf(text.file, "kernel void large(global uint *out, global const uint *in, int n)\n"
                       "{ int i = get_global_id(0); uint x = in[i], y = i, sum = 0;\n");
    for (uint32_t k = 0; k < STATEMENTS; k++) {
        fprintf(text.file,
                "uint v%u = x ^ %uu; if (x & %uu) { x += in[y %% 40] * %uu; y ^= x; } else { y += n + %uu; }\n", k, k,
                1u << k % 5, factor(k), k);
    }
    for (uint32_t k = 0; k < STATEMENTS; k += 9) {
        fprintf(text.file, "sum = sum * 3 + v%u;\n", k);
    }
    fprintf(text.file, "out[i] = sum + x + y; }\n");
    fclose(text.file);
    return text.source;
}

static void expect_many_blocks(const struct device *device, const uint32_t *out, const uint32_t *in)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = in[i], y = i, sum = 0;
        for (uint32_t k = 0; k < STATEMENTS; k++) {
            sum = k % 9 == 0 ? sum * 3 + (x ^ k) : sum;
            if (x & 1u << k % 5) {
                x += in[y % 40] * factor(k);
                y ^= x;
            } else {
                y += TURNS + k;
            }
        }
        device_expect(device, "many blocks", i, (int32_t)out[i], (int32_t)(sum + x + y));
    }
}

/* Loops one after the other, whose bounds are numbers of long chains, of 32 and of 64 bits. */
static char *many_loops(void)
{
    struct text text;

    text_begin(&text);
    fprintf(text.file, "kernel void large(global uint *out, global const uint *in, int n)\n"
                       "{ int i = get_global_id(0); uint x = in[i], y = i, sum = 0; ulong z = n;\n");
    for (uint32_t k = 0; k < STATEMENTS; k++) {
        fprintf(text.file, "x = x * %uu + (y ^ %uu); y += x >> 3; z = z * 5 + (y ^ z >> 7);\n", factor(k), k);
        if (k % 8 == 0) {
            fprintf(text.file, "for (ulong t = 0; t < (z & 3); t++) { sum = sum * 3 + in[(x + t) %% 40]; }\n");
        }
    }
    fprintf(text.file, "out[i] = sum + x + y + (uint)(z >> 32); }\n");
    fclose(text.file);
    return text.source;
}

static void expect_many_loops(const struct device *device, const uint32_t *out, const uint32_t *in)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = in[i], y = i, sum = 0;
        uint64_t z = TURNS;
        for (uint32_t k = 0; k < STATEMENTS; k++) {
            x = x * factor(k) + (y ^ k);
            y += x >> 3;
            z = z * 5 + (y ^ z >> 7);
            for (uint64_t t = 0; k % 8 == 0 && t < (z & 3); t++) {
                sum = sum * 3 + in[(x + t) % 40];
            }
        }
        device_expect(device, "many loops", i, (int32_t)out[i], (int32_t)(sum + x + y + (uint32_t)(z >> 32)));
    }
}

/* A switch that leads to one long block three times, where y is a phi. */
static char *switched(void)
{
    struct text text;

    text_begin(&text);
    fprintf(text.file, "kernel void large(global uint *out, global const uint *in, int n)\n"
                       "{ int i = get_global_id(0); uint x = in[i], y = i;\n"
                       "  switch (n) { case 3: case 8: case 30: break; case 5: out[i] = 1; y = x * 3; break;\n"
                       "  case 9: out[i] = 2; y = x ^ 5; break; default: out[i] = 3; y = 7; }\n");
    for (uint32_t k = 0; k < STATEMENTS; k++) {
        fprintf(text.file, "x = x * %uu + (y ^ %uu); y += x >> 3; out[%uu * 40 + i] = y;\n", factor(k), k, k + 1);
    }
    fprintf(text.file, "out[i] = x + y; }\n");
    fclose(text.file);
    return text.source;
}

static void expect_switched(const struct device *device, const uint32_t *out, const uint32_t *in)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = in[i], y = i;
        for (uint32_t k = 0; k < STATEMENTS; k++) {
            x = x * factor(k) + (y ^ k);
            y += x >> 3;
        }
        device_expect(device, "switched", i, (int32_t)out[i], (int32_t)(x + y));
    }
}

/* Loads one after the other, each at a sum that has one number more of memory; all of these are 0. */
static char *many_addresses(void)
{
    struct text text;

    text_begin(&text);
    fprintf(text.file, "kernel void large(global uint *out, global const uint *in, int n)\n"
                       "{ int i = get_global_id(0); uint x = n, o = i & 7, v;\n");
    for (uint32_t k = 0; k < STATEMENTS; k++) {
        fprintf(text.file, "v = in[o + %u]; x = x * 3 + v; o += v >> 31;\n", k & 31);
    }
    fprintf(text.file, "out[i] = x + o; }\n");
    fclose(text.file);
    return text.source;
}

static void expect_many_addresses(const struct device *device, const uint32_t *out, const uint32_t *in)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = TURNS;
        for (uint32_t k = 0; k < STATEMENTS; k++) {
            x = x * 3 + in[(i & 7) + (k & 31)];
        }
        device_expect(device, "many addresses", i, (int32_t)out[i], (int32_t)(x + (i & 7)));
    }
}

/* ---- tests ---- */

static const struct program {
    const char *name;
    char *(*source)(void);
    void (*expect)(const struct device *device, const uint32_t *out, const uint32_t *in);
} programs[] = {
    { "a loop of one block", long_loop, expect_long_loop },
    { "branches one after the other", many_blocks, expect_many_blocks },
    { "a switch before a long block", switched, expect_switched },
    { "loops one after the other", many_loops, expect_many_loops },
    { "addresses that are long sums", many_addresses, expect_many_addresses },
};

static void run(struct device *device, const struct program *program, const char *options)
{
    char *source = program->source();

    device_load(device, source, options);
    device_kernel(device, "large");
    const uint32_t *out = device_buffer(device, 0, (STATEMENTS + 1) * 40 * 4);
    uint32_t *in = device_buffer(device, 1, 40 * 4);
    device_int(device, 2, TURNS);
    for (uint32_t i = 0; i < 40; i++) {
        in[i] = factor(i) >> 7;
    }
    device_run_threads(device, N, N);
    program->expect(device, out, in);
    free(source);
}

static void computes_right(void **state)
{
    struct device *device = *state;

    for (uint32_t p = 0; p < PPU_ARRAY_SIZE(programs); p++) {
        run(device, &programs[p], "");
        run(device, &programs[p], "-cl-opt-disable");
    }
}

/* What `pass` leaves of the program, as text. */
static char *dumped(const char *source, const char *pass)
{
    struct text text;
    struct ppu_compiled image;

    text_begin(&text);
    const struct ppu_compile_options options = { .dump = pass, .dump_file = text.file };
    assert_int_equal(ppu_compile(source, strlen(source), &options, &image), PPU_COMPILE_OK);
    fclose(text.file);
    ppu_compiled_free(&image);
    return text.source;
}

/* The most lines between two labels. */
static uint32_t longest_block(char *text)
{
    uint32_t most = 0, lines = 0;

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        lines = strncmp(line, "  ", 2) == 0 ? lines + 1 : 0;
        most = PPU_MAX(lines, most);
    }
    return most;
}

static void blocks_are_split(void **state)
{
    char *source = long_loop();
    char *before = dumped(source, "enable-vectorizer"), *after = dumped(source, "split-blocks");
    char *joined = dumped(source, "scalarize");

    (void)state;
    assert_true(longest_block(before) > 2 * SPLIT_BLOCKS_INSNS);
    assert_true(longest_block(after) <= 2 * SPLIT_BLOCKS_INSNS + 3); /* with phis and the branch */
    assert_true(longest_block(joined) > 2 * SPLIT_BLOCKS_INSNS);
    free(before);
    free(after);
    free(joined);
    free(source);
}

static uint32_t occurrences(const char *text, const char *word)
{
    uint32_t count = 0;

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

/* How often the name of a cut stands in what `pass` leaves of the program. */
static uint32_t cuts(const char *source, const char *pass, const char *name)
{
    char *text = dumped(source, pass);
    const uint32_t count = occurrences(text, name);

    free(text);
    return count;
}

/* Only where many loops follow each other; nothing is left of the cuts. */
static void chains_are_cut(void **state)
{
    char *loops = many_loops(), *blocks = many_blocks();

    (void)state;
    assert_true(cuts(loops, "cut-chains", CUT_CHAINS_PREFIX "32") > STATEMENTS * 3 / CUT_CHAINS_LENGTH);
    assert_true(cuts(loops, "cut-chains", CUT_CHAINS_PREFIX "64") > 1);
    assert_int_equal(cuts(loops, "join-chains", CUT_CHAINS_PREFIX), 0);
    assert_int_equal(cuts(blocks, "cut-chains", CUT_CHAINS_PREFIX), 0);
    free(loops);
    free(blocks);
}

/* The pass that vectorizes loads and stores took 7.3 s of a processor for 400 of them whose addresses are such sums. */
static void chains_of_addresses_are_cut(void **state)
{
    char *many = many_addresses(), *loops = many_loops();

    (void)state;
    assert_true(cuts(many, "cut-address-chains", CUT_CHAINS_PREFIX "32") > STATEMENTS / CUT_CHAINS_LENGTH);
    assert_int_equal(cuts(many, "join-address-chains", CUT_CHAINS_PREFIX), 0);
    assert_int_equal(cuts(loops, "cut-address-chains", CUT_CHAINS_PREFIX), 0);
    free(many);
    free(loops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(computes_right, device_setup, device_teardown),
        cmocka_unit_test(blocks_are_split),
        cmocka_unit_test(chains_are_cut),
        cmocka_unit_test(chains_of_addresses_are_cut),
    };

    return cmocka_run_group_tests_name("compiler-large", tests, NULL, NULL);
}
