/* SPDX-License-Identifier: MIT */
#include "demo/mandelbrot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "demo/clock.h"
#include "demo/png.h"
#include "ppu/tmd.h"

#define WIDTH 640u
#define HEIGHT 480u
#define PIXELS (WIDTH * HEIGHT)
#define CTA_THREADS 128u
#define TURNS 127u /* most of a pixel */
#define SMALL 20u  /* rectangles up to this width or height are not divided */
#define CELLS 8192u
#define CELL_BYTES 128u

/* Fixed-point numbers, 28 bits behind the point. */
#define FIXED(number) ((int32_t)((number) * (1 << 28)))
#define LEFT FIXED(-2.8)
#define TOP FIXED(-1.5)
#define STEP FIXED(4.0 / WIDTH)

#define MARK_FILLED 128u

/* As the kernel has them. */
struct params {
    uint64_t tmd, values, marks, statistics, cells;
    uint32_t x, y, width, height, pitch;
    int32_t re, im, step;
    uint32_t turns, small, zero[4];
};

struct statistics {
    uint32_t grids, deepest, evaluated, filled, cells, refused;
};

/* What threads and the program both see. */
struct drawing {
    struct ppu_memory *values, *marks, *statistics, *tmd, *cells;
};

static struct drawing drawing_new(const struct user *user)
{
    return (struct drawing){
        .values = user_memory(user, PPU_MEMORY_VRAM, PIXELS),
        .marks = user_memory(user, PPU_MEMORY_VRAM, PIXELS),
        .statistics = user_memory(user, PPU_MEMORY_VRAM, sizeof(struct statistics)),
        .tmd = user_memory(user, PPU_MEMORY_VRAM, sizeof(struct ppu_tmd)),
        .cells = user_memory(user, PPU_MEMORY_VRAM, CELLS * CELL_BYTES),
    };
}

static void drawing_free(const struct drawing *drawing)
{
    need(ppu_memory_free(drawing->values), "memory given back");
    need(ppu_memory_free(drawing->marks), "memory given back");
    need(ppu_memory_free(drawing->statistics), "memory given back");
    need(ppu_memory_free(drawing->tmd), "memory given back");
    need(ppu_memory_free(drawing->cells), "memory given back");
}

/* The only launch by the CPU: of the whole picture. */
static enum ppu_err draw(const struct user *user, const struct drawing *drawing)
{
    const struct ppu_kernel *kernel = user_kernel(user, "mandelbrot");
    const struct params params = {
        .tmd = user_va(user, drawing->tmd),
        .values = user_va(user, drawing->values),
        .marks = user_va(user, drawing->marks),
        .statistics = user_va(user, drawing->statistics),
        .cells = user_va(user, drawing->cells),
        .width = WIDTH,
        .height = HEIGHT,
        .pitch = WIDTH,
        .re = LEFT,
        .im = TOP,
        .step = STEP,
        .turns = TURNS,
        .small = SMALL,
    };
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { CTA_THREADS }, .params = &params, .param_bytes = sizeof(params)
    };

    need(ppu_kernel_describe(kernel, &launch, ppu_memory_host(drawing->tmd)), "a task for threads to launch");
    return user_run(user, kernel, &launch);
}

/* Each pixel by itself. */
static uint8_t turns_on_cpu(uint32_t x, uint32_t y)
{
    const int64_t re = (int32_t)x * STEP + LEFT, im = (int32_t)y * STEP + TOP;
    int64_t a = 0, b = 0, aa = 0, bb = 0;
    uint8_t n = 0;

    for (; n < TURNS && aa + bb <= 4ll << 56; n++) {
        b = (a * b >> 27) + im;
        a = ((aa - bb) >> 28) + re;
        aa = a * a;
        bb = b * b;
    }
    return n;
}

static bool same_as_on_cpu(const uint8_t *values)
{
    uint32_t wrong = 0;

    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            wrong += values[y * WIDTH + x] != turns_on_cpu(x, y);
        }
    }
    return wrong == 0;
}

/* From dark blue over white to brown; what was filled is lighter, so that the rectangles show. */
static struct png_colour colour_of(uint32_t index)
{
    uint32_t n = index % MARK_FILLED;
    bool filled = index >= MARK_FILLED;
    double t = n == TURNS ? 0 : (double)n / (n + 20.0), light = filled ? 1 : 0.75;
    double red = 9 * (1 - t) * t * t * t, green = 15 * (1 - t) * (1 - t) * t * t;
    double blue = (filled ? 0.3 : 0.2) + 8 * (1 - t) * (1 - t) * (1 - t) * t;

    return (struct png_colour){ (uint8_t)(light * 255 * (red < 1 ? red : 1)),
                                (uint8_t)(light * 255 * (green < 1 ? green : 1)),
                                (uint8_t)(light * 255 * (blue < 1 ? blue : 1)) };
}

static bool keep_picture(const char *path, const uint8_t *values, const uint8_t *marks)
{
    struct png_colour colours[256];
    uint8_t *pixels = malloc(PIXELS);

    need(pixels ? PPU_OK : PPU_ERR_NO_MEMORY, "memory of the CPU");
    for (uint32_t i = 0; i < 256; i++) {
        colours[i] = colour_of(i);
    }
    for (uint32_t i = 0; i < PIXELS; i++) {
        pixels[i] = (uint8_t)(values[i] | (marks[i] & MARK_FILLED));
    }
    bool kept = png_write(path, pixels, WIDTH, HEIGHT, colours);
    free(pixels);
    return kept;
}

static void show_tree(struct report *report, const struct statistics *statistics)
{
    report_line("launched by threads", "%9s    grids, %" PRIu32 " deep; by the CPU one",
                grouped(statistics->grids - 1).text, statistics->deepest);
    report_check(report, statistics->evaluated + statistics->filled >= PIXELS && statistics->refused == 0,
                 "pixels filled", "%9s    of %s, not evaluated: %" PRIu32 " %%", grouped(statistics->filled).text,
                 grouped(PIXELS).text, 100 * statistics->filled / PIXELS);
    report_line("pixels evaluated", "%9s    those on borders of grids more than once; %" PRIu32 " %% saved",
                grouped(statistics->evaluated).text, 100 - 100 * statistics->evaluated / PIXELS);
}

void mandelbrot_show(struct report *report, const struct user *user, const char *path)
{
    const struct drawing drawing = drawing_new(user);
    const uint8_t *values = ppu_memory_host(drawing.values);

    report_section("Grids that launch grids");
    need(ppu_context_nest(user->context, NULL), "room for tasks that threads launch");
    double before_ms = clock_ms();
    enum ppu_err err = draw(user, &drawing);
    double ppu_ms = clock_ms() - before_ms;
    if (err != PPU_OK) {
        report_check(report, false, "Mandelbrot set", "%s", user_reason(user, err));
        drawing_free(&drawing);
        return;
    }
    before_ms = clock_ms();
    bool same = same_as_on_cpu(values);
    report_check(report, same, "Mandelbrot set", "%-28s%10.2f ms %14.2f ms", "640 x 480 pixels", ppu_ms,
                 clock_ms() - before_ms);
    show_tree(report, ppu_memory_host(drawing.statistics));
    if (path) {
        report_check(report, keep_picture(path, values, ppu_memory_host(drawing.marks)), "picture", "%s", path);
    }
    drawing_free(&drawing);
}
