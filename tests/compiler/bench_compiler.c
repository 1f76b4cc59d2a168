/* SPDX-License-Identifier: MIT */
/*
 * Measures what compiled code costs beside code written by hand, and what compiling costs, in rows as tests/bench/run
 * wants them.
 */
#define _DEFAULT_SOURCE /* clock_gettime, getrusage, open_memstream */

#include "tests/compiler/compare.h"
#include "tests/compiler/exits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BUILDS 15u

static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static double ms_of(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec * 1e-3;
}

/* Processor time of this process and of those that it ran. */
static double used_ms(void)
{
    struct rusage own, others;

    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &others);
    return ms_of(own.ru_utime) + ms_of(own.ru_stime) + ms_of(others.ru_utime) + ms_of(others.ru_stime);
}

static uint64_t run_insns(struct device *device, const struct comparison *comparison)
{
    device->warp_insns = 0;
    comparison->run(device);
    return device->warp_insns;
}

static void compare(struct device *device)
{
    uint64_t *compiled = calloc(comparison_count, sizeof(*compiled));

    assert_non_null(compiled);
    device_load_file(device, "compare", "-cl-std=CL1.2");
    for (uint32_t i = 0; i < comparison_count; i++) {
        compiled[i] = run_insns(device, &comparisons[i]);
    }
    device_load_assembly(device, "compare");
    for (uint32_t i = 0; i < comparison_count; i++) {
        uint64_t hand = run_insns(device, &comparisons[i]);
        printf(
            "{\"name\": \"compiler.%s.vs_hand\", \"value\": %.4f, \"unit\": \"ratio\", \"better\": \"lower\", "
            "\"budget\": 1.25, \"peer\": %llu, \"note\": \"warp instructions executed, %llu; peer: written by hand\"}\n",
            comparisons[i].name, (double)compiled[i] / (double)hand, (unsigned long long)hand,
            (unsigned long long)compiled[i]);
    }
    free(compiled);
}

/* Loops and conditions that lanes leave in several ways, beside the same with one way out. */
static void leave(struct device *device)
{
    device_load_file(device, "exits", "");
    for (uint32_t i = 0; i < exits_count; i++) {
        uint64_t insns = exits_run(device, i, false, EXITS_THREADS);
        uint64_t twin = exits_run(device, i, true, EXITS_THREADS);
        printf("{\"name\": \"compiler.exits.%s.vs_twin\", \"value\": %.4f, \"unit\": \"ratio\", \"better\": "
               "\"lower\", \"budget\": %g, \"peer\": %llu, \"note\": \"warp instructions executed, %llu; peer: "
               "one way out, by hand\"}\n",
               exits_names[i], (double)insns / (double)twin, exits_percent[i] / 100.0, (unsigned long long)twin,
               (unsigned long long)insns);
    }
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_time(const char *name, double *times, double *used, double budget, const char *note)
{
    qsort(times, BUILDS, sizeof(times[0]), order);
    qsort(used, BUILDS, sizeof(used[0]), order);
    printf("{\"name\": \"compiler.%s\", \"value\": %.2f, \"unit\": \"ms\", \"better\": \"lower\", \"budget\": %g, "
           "\"note\": \"%s; median %.2f; processor time %.2f\"}\n",
           name, times[0], budget, note, times[BUILDS / 2], used[0]);
}

/* Least of several: what the machine does beside only adds. */
static void builds(void)
{
    static const char source[] = "kernel void saxpy(int n, float a, global const float *x, global float *y)\n"
                                 "{ int i = get_global_id(0); if (i < n) { y[i] = a * x[i] + y[i]; } }\n";
    double whole[BUILDS], cached[BUILDS], whole_used[BUILDS], cached_used[BUILDS];
    struct ppu_compiled bitcode, image;

    assert_int_equal(ppu_compile_source(source, sizeof(source) - 1, NULL, &bitcode), PPU_COMPILE_OK);
    for (uint32_t i = 0; i < BUILDS; i++) {
        double start = now_ms(), used = used_ms();
        assert_int_equal(ppu_compile(source, sizeof(source) - 1, NULL, &image), PPU_COMPILE_OK);
        whole[i] = now_ms() - start;
        whole_used[i] = used_ms() - used;
        ppu_compiled_free(&image);
        start = now_ms();
        used = used_ms();
        assert_int_equal(ppu_compile_bitcode(bitcode.bytes, bitcode.len_bytes, NULL, &image), PPU_COMPILE_OK);
        cached[i] = now_ms() - start;
        cached_used[i] = used_ms() - used;
        ppu_compiled_free(&image);
    }
    ppu_compiled_free(&bitcode);
    print_time("build_ms", whole, whole_used, 80, "saxpy from OpenCL C, clang as a process; least of 15");
    print_time("build_cached_ms", cached, cached_used, 15, "saxpy from bitcode; least of 15");
}

/* ---- large kernels ---- */

#define LARGE_SIZES 4u /* 1, 2, 4 and 8 thousand instructions */
#define LARGE_GROUPS 3u
#define LARGE_BUILDS 5u

/* Each group of statements is some 320 instructions: vectors, a division, a branch, a loop, a function of the
 * library. */
static void print_group(FILE *file, uint32_t k)
{
    fprintf(file,
            "f[i + %u] = mad(f[i + %u], acc, (float4)(%u.5f));\n"
            "x[i + %u] = (max(x[i + %u] << (k & 7), k) ^ %u) / (k | 1);\n"
            "if (s[i + %u] > %u.0f) { acc += f[i + %u].wzyx; } else { k -= x[i + %u]; }\n"
            "for (int j = 0; j < n; j++) { s[i + j + %u] += s[j + %u] * %u.5f; }\n"
            "s[n + i + %u] = pow(s[n - %u], acc.x);\n",
            k, k + 1, k, k, k, k, k, k, k, k, k, k, k, k, k);
}

static char *large_source(uint32_t groups)
{
    char *source = NULL;
    size_t len;
    FILE *file = open_memstream(&source, &len);

    assert_non_null(file);
    fprintf(file, "kernel void large(global float4 *f, global int4 *x, global float *s, int n)\n"
                  "{ int i = get_global_id(0); float4 acc = f[i]; int4 k = x[i];\n");
    for (uint32_t g = 0; g < groups; g++) {
        print_group(file, g);
    }
    fprintf(file, "f[i] = acc; x[i] = k; }\n");
    fclose(file);
    return source;
}

/* Processor time from bitcode to the image, least of some; *kib: size of the image. */
static double build_large(uint32_t groups, uint32_t *kib)
{
    char *source = large_source(groups);
    struct ppu_compiled bitcode, image;
    double least = 0;

    assert_int_equal(ppu_compile_source(source, strlen(source), NULL, &bitcode), PPU_COMPILE_OK);
    for (uint32_t i = 0; i < LARGE_BUILDS; i++) {
        double used = used_ms();
        assert_int_equal(ppu_compile_bitcode(bitcode.bytes, bitcode.len_bytes, NULL, &image), PPU_COMPILE_OK);
        used = used_ms() - used;
        least = i == 0 || used < least ? used : least;
        *kib = (uint32_t)(image.len_bytes / 1024);
        ppu_compiled_free(&image);
    }
    ppu_compiled_free(&bitcode);
    free(source);
    return least;
}

static void large(void)
{
    double growth = 0, before = 0;

    for (uint32_t size = 0; size < LARGE_SIZES; size++) {
        uint32_t kib;
        double ms = build_large(LARGE_GROUPS << size, &kib);
        printf(
            "{\"name\": \"compiler.large_ms.%u\", \"value\": %.1f, \"unit\": \"ms\", \"better\": \"lower\", "
            "\"note\": \"processor time for %u thousand instructions from bitcode, image of %u KiB; least of %u\"}\n",
            1u << size, ms, 1u << size, kib, LARGE_BUILDS);
        growth = size != 0 && ms / before / 2 > growth ? ms / before / 2 : growth;
        before = ms;
    }
    printf("{\"name\": \"compiler.large.growth\", \"value\": %.3f, \"unit\": \"ratio\", \"better\": \"lower\", "
           "\"budget\": 1.2, \"note\": \"time for twice the instructions beside twice the time, the worst step\"}\n",
           growth);
}

int main(void)
{
    struct device *device = device_new();

    compare(device);
    leave(device);
    device_free(device);
    builds();
    large();
    return EXIT_SUCCESS;
}
