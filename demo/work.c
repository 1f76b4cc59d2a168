/* SPDX-License-Identifier: MIT */
#include "demo/work.h"

#include "demo/clock.h"
#include "ppu/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS (4u * 1024 * 1024)
#define SOME_VALUES 1024u /* that differ */
#define CTA_THREADS 256u
#define STRIDING_CTAS 64u
#define PICTURE_WIDTH 1024u
#define PICTURE_HEIGHT 768u
#define PICTURE_CTA 16u /* threads in x and in y */

/* Parameters of all kernels here: two addresses, then two words. */
struct params {
    uint64_t in;
    uint64_t out;
    uint32_t word[2];
};

/* How long each side took. */
struct times {
    double ppu_ms;
    double cpu_ms;
};

static void *cpu_memory(size_t bytes)
{
    void *memory = calloc(1, bytes);

    need(memory ? PPU_OK : PPU_ERR_NO_MEMORY, "memory of the CPU");
    return memory;
}

/* Launches `kernel` on both memories and waits. */
static enum ppu_err run_kernel(const struct user *user, const char *kernel, struct ppu_launch launch,
                               struct params params, struct times *times)
{
    launch.params = &params;
    launch.param_bytes = sizeof(params);
    const struct ppu_kernel *found = user_kernel(user, kernel);
    double before_ms = clock_ms();
    enum ppu_err err = user_run(user, found, &launch);
    times->ppu_ms = clock_ms() - before_ms;
    return err;
}

static void show(struct report *report, const struct user *user, enum ppu_err err, bool same, const char *label,
                 const char *what, const struct times *times)
{
    if (err != PPU_OK) {
        report_check(report, false, label, "%s", user_reason(user, err));
    } else {
        report_check(report, same, label, "%-28s%10.2f ms %14.2f ms", what, times->ppu_ms, times->cpu_ms);
    }
}

static bool same_bits(const void *result, const void *expected, size_t bytes)
{
    return memcmp(result, expected, bytes) == 0;
}

/* ---- y = a * x + y ---- */

static void saxpy_on_cpu(const float *x, float *y, float a)
{
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        y[i] = a * x[i] + y[i];
    }
}

static void saxpy(struct report *report, const struct user *user)
{
    const uint64_t bytes = ELEMENTS * sizeof(float);
    struct ppu_memory *x = user_memory(user, PPU_MEMORY_VRAM, bytes), *y = user_memory(user, PPU_MEMORY_VRAM, bytes);
    float *xs = ppu_memory_host(x), *ys = ppu_memory_host(y), *expected = cpu_memory(bytes);
    const float a = 1.5f;
    struct params params = { .in = user_va(user, x), .out = user_va(user, y), .word = { ELEMENTS } };
    struct ppu_launch launch = { .grid = { ELEMENTS / 4 / CTA_THREADS }, .cta = { CTA_THREADS } };
    struct times times;

    memcpy(&params.word[1], &a, sizeof(a));
    for (uint32_t i = 0; i < SOME_VALUES; i++) {
        expected[i] = 0.1f * (float)i;
    }
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        xs[i] = (float)i;
        ys[i] = expected[i] = expected[i % SOME_VALUES];
    }
    enum ppu_err err = run_kernel(user, "saxpy", launch, params, &times);
    double before_ms = clock_ms();
    saxpy_on_cpu(xs, expected, a);
    times.cpu_ms = clock_ms() - before_ms;
    show(report, user, err, same_bits(ys, expected, bytes), "saxpy", "4 Mi floats", &times);
    free(expected);
    need(ppu_memory_free(x), "memory given back");
    need(ppu_memory_free(y), "memory given back");
}

/* ---- the sum of all words ---- */

static void reduction(struct report *report, const struct user *user)
{
    struct ppu_memory *in = user_memory(user, PPU_MEMORY_VRAM, ELEMENTS * sizeof(uint32_t));
    struct ppu_memory *total = user_memory(user, PPU_MEMORY_VRAM, sizeof(uint32_t));
    uint32_t *words = ppu_memory_host(in), *sum = ppu_memory_host(total), expected = 0;
    const struct params params = { .in = user_va(user, in), .out = user_va(user, total), .word = { ELEMENTS } };
    struct ppu_launch launch = { .grid = { STRIDING_CTAS }, .cta = { CTA_THREADS } };
    struct times times;

    for (uint32_t i = 0; i < ELEMENTS; i++) {
        words[i] = i * 2654435761u;
    }
    enum ppu_err err = run_kernel(user, "sum", launch, params, &times);
    double before_ms = clock_ms();
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        expected += words[i];
    }
    times.cpu_ms = clock_ms() - before_ms;
    show(report, user, err, *sum == expected, "reduction", "4 Mi words", &times);
    need(ppu_memory_free(in), "memory given back");
    need(ppu_memory_free(total), "memory given back");
}

/* ---- how often each byte occurs in a file ---- */

static uint64_t file_bytes(FILE *file)
{
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;

    rewind(file);
    return end > 0 && end < (long)UINT32_MAX ? (uint64_t)end : 0;
}

/* Reads the file into system memory; the PPU's copy engine takes it to VRAM. */
static void histogram_of(struct report *report, const struct user *user, FILE *file, const char *path)
{
    uint64_t bytes = file_bytes(file);
    struct ppu_memory *in = user_memory(user, PPU_MEMORY_SYSTEM, bytes);
    struct ppu_memory *copy = user_memory(user, PPU_MEMORY_VRAM, bytes);
    struct ppu_memory *out = user_memory(user, PPU_MEMORY_VRAM, 256 * sizeof(uint32_t));
    const uint8_t *content = ppu_memory_host(in);
    uint32_t expected[256] = { 0 };
    const struct params params = { user_va(user, copy), user_va(user, out), { (uint32_t)bytes } };
    struct ppu_launch launch = { .grid = { STRIDING_CTAS }, .cta = { CTA_THREADS } };
    struct times times = { 0 };
    char what[64];

    enum ppu_err err = fread(ppu_memory_host(in), 1, bytes, file) == bytes ? PPU_OK : PPU_ERR_NOT_FOUND;
    double before_ms = clock_ms();
    if (err == PPU_OK) {
        err = ppu_stream_copy(user->stream, ppu_memory_va(copy, user->context), ppu_memory_va(in, user->context), bytes,
                              NULL);
    }
    if (err == PPU_OK) {
        err = run_kernel(user, "histogram", launch, params, &times);
    }
    times.ppu_ms = clock_ms() - before_ms;
    before_ms = clock_ms();
    for (uint64_t i = 0; i < bytes; i++) {
        expected[content[i]]++;
    }
    times.cpu_ms = clock_ms() - before_ms;
    snprintf(what, sizeof(what), "%.16s, %.12s B", path, grouped(bytes).text);
    show(report, user, err, same_bits(ppu_memory_host(out), expected, sizeof(expected)), "histogram", what, &times);
    need(ppu_memory_free(in), "memory given back");
    need(ppu_memory_free(copy), "memory given back");
    need(ppu_memory_free(out), "memory given back");
}

static void histogram(struct report *report, const struct user *user, const char *path)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        report_check(report, false, "histogram", "%s cannot be read", path);
        return;
    }
    histogram_of(report, user, file, path);
    fclose(file);
}

/* ---- a picture, smoothed ---- */

static int32_t clamp(int32_t value, int32_t most)
{
    return value < 0 ? 0 : PPU_MIN(value, most);
}

static uint8_t smooth_pixel(const uint8_t *in, int32_t x, int32_t y)
{
    uint32_t sum = 0;

    for (int32_t dy = -1; dy <= 1; dy++) {
        const uint8_t *row = in + (size_t)clamp(y + dy, PICTURE_HEIGHT - 1) * PICTURE_WIDTH;
        for (int32_t dx = -1; dx <= 1; dx++) {
            sum += (uint32_t)((2 - abs(dx)) * (2 - abs(dy))) * row[clamp(x + dx, PICTURE_WIDTH - 1)];
        }
    }
    return (uint8_t)(sum / 16);
}

static void smooth_on_cpu(const uint8_t *in, uint8_t *out)
{
    for (uint32_t i = 0; i < PICTURE_WIDTH * PICTURE_HEIGHT; i++) {
        out[i] = smooth_pixel(in, (int32_t)(i % PICTURE_WIDTH), (int32_t)(i / PICTURE_WIDTH));
    }
}

/* Rings around the middle, with noise. */
static void draw(uint8_t *picture)
{
    for (uint32_t i = 0; i < PICTURE_WIDTH * PICTURE_HEIGHT; i++) {
        int32_t x = (int32_t)(i % PICTURE_WIDTH) - (int32_t)PICTURE_WIDTH / 2;
        int32_t y = (int32_t)(i / PICTURE_WIDTH) - (int32_t)PICTURE_HEIGHT / 2;
        picture[i] = (uint8_t)(((x * x + y * y) >> 8) + (int32_t)(i * 2654435761u >> 28));
    }
}

static void filter(struct report *report, const struct user *user)
{
    const uint32_t pixels = PICTURE_WIDTH * PICTURE_HEIGHT;
    struct ppu_memory *in = user_memory(user, PPU_MEMORY_VRAM, pixels);
    struct ppu_memory *out = user_memory(user, PPU_MEMORY_VRAM, pixels);
    uint8_t *expected = cpu_memory(pixels);
    const struct params params = { user_va(user, in), user_va(user, out), { PICTURE_WIDTH, PICTURE_HEIGHT } };
    struct ppu_launch launch = {
        .grid = { PICTURE_WIDTH / PICTURE_CTA, PICTURE_HEIGHT / PICTURE_CTA },
        .cta = { PICTURE_CTA, PICTURE_CTA },
    };
    struct times times;

    draw(ppu_memory_host(in));
    enum ppu_err err = run_kernel(user, "smooth", launch, params, &times);
    double before_ms = clock_ms();
    smooth_on_cpu(ppu_memory_host(in), expected);
    times.cpu_ms = clock_ms() - before_ms;
    show(report, user, err, same_bits(ppu_memory_host(out), expected, pixels), "filter, 3 x 3", "1,024 x 768 pixels",
         &times);
    free(expected);
    need(ppu_memory_free(in), "memory given back");
    need(ppu_memory_free(out), "memory given back");
}

void work_show(struct report *report, const struct user *user, const char *path)
{
    report_section("Work                    on                                 PPU      the CPU alone");
    saxpy(report, user);
    reduction(report, user);
    histogram(report, user, path);
    filter(report, user);
}
