/* SPDX-License-Identifier: MIT */
/* Draws the timeline as a picture in SVG. */
#include <stdlib.h>

#include "ppu/macros.h"
#include "tools/report/page.h"
#include "tools/report/svg.h"

#define WIDTH 1000.0
#define LEFT 180.0
#define ROW 14u
#define PIXEL 0.5
#define NOT_DRAWN UINT32_MAX
#define CHARACTER 5.5
#define LEAST_NAMED 60.0 /* a slice so wide has its name in it */
#define TICKS_MOST 10u   /* times below the tracks; none comes nearer than this to the right edge */
#define TICK_ROOM 50.0

/* What of a track has not been written yet. */
struct svg_run {
    double x, end;
    uint32_t name;
};

void svg_text(FILE *file, const char *text, uint32_t most)
{
    for (; *text && most > 0; text++, most--) {
        if (*text == '<' || *text == '>' || *text == '&' || (unsigned char)*text < 0x20) {
            fprintf(file, "&#%u;", (unsigned)((unsigned char)*text < 0x20 ? '?' : *text));
        } else {
            fputc(*text, file);
        }
    }
}

static void put_text(FILE *file, double x, double y, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    svg_text(file, text, UINT32_MAX);
    fputs("</text>\n", file);
}

static void put_rect(FILE *file, const struct timeline *timeline, const struct svg_run *run, uint32_t row)
{
    double width = run->end - run->x;

    fprintf(file, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"hsl(%u,60%%,62%%)\"/>\n", run->x,
            row * ROW + 1, width, ROW - 2, run->name * 67u % 360u);
    if (width > LEAST_NAMED) {
        fprintf(file, "<text x=\"%.2f\" y=\"%u\">", run->x + 2, row * ROW + ROW - 4);
        svg_text(file, timeline->texts.text[run->name], (uint32_t)(width / CHARACTER) - 1);
        fputs("</text>\n", file);
    }
}

/*
 * Slices of a track come in the order of their starts. What begins where the one before it ends, and has its name, is
 * drawn with it; what is narrower than a pixel is not drawn where another slice is.
 */
static void put_slice(FILE *file, const struct timeline *timeline, const struct timeline_slice *slice, uint32_t row,
                      struct svg_run *run)
{
    double scale = (WIDTH - LEFT) / (double)PPU_MAX(timeline->ended_ns - timeline->began_ns, 1u);
    double x = LEFT + (double)(slice->start_ns - timeline->began_ns) * scale;
    double width = slice->length_ns == TIMELINE_INSTANT ? PIXEL : PPU_MAX((double)slice->length_ns * scale, PIXEL);

    if (run->end > run->x && x <= run->end + PIXEL / 2 && (run->name == slice->name || width <= PIXEL)) {
        run->end = PPU_MAX(run->end, x + width);
        return;
    }
    if (run->end > run->x) {
        put_rect(file, timeline, run, row);
    }
    *run = (struct svg_run){ x, x + width, slice->name };
}

/* 1, 2 or 5 times a power of ten: the least of them of which at most TICKS_MOST fit into the length. */
static uint64_t tick_ns(uint64_t length_ns)
{
    uint64_t power = 1;

    while (length_ns / TICKS_MOST >= 5 * power && power < UINT64_MAX / 100) {
        power *= 10;
    }
    return length_ns / TICKS_MOST < power ? power : length_ns / TICKS_MOST < 2 * power ? 2 * power : 5 * power;
}

/* Lines through all tracks, and their times below. */
static void put_times(FILE *file, const struct timeline *timeline, uint32_t rows)
{
    const uint64_t length_ns = PPU_MAX(timeline->ended_ns - timeline->began_ns, 1u), step_ns = tick_ns(length_ns);

    for (uint64_t at_ns = 0;; at_ns += step_ns) {
        double x = LEFT + (WIDTH - LEFT) * (double)at_ns / (double)length_ns;
        char text[32];
        if (x > WIDTH - TICK_ROOM) {
            break;
        }
        snprintf(text, sizeof(text), "%.10g ms", (double)at_ns / 1e6);
        fprintf(file, "<path d=\"M%.1f 0V%u\" stroke=\"#ddd\"/>\n", x, rows * ROW + 4);
        put_text(file, x, rows * ROW + 14.0, text);
    }
}

/* Keeps the tracks that are drawn, whose order this is, and gives each its row; returns how many they are. */
static uint32_t choose_rows(const struct timeline *timeline, uint32_t lanes, uint32_t *order, uint32_t count,
                            uint32_t *row)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < timeline->tracks; i++) {
        row[i] = NOT_DRAWN;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (timeline->track[order[i]].lane < lanes) {
            row[order[i]] = kept;
            order[kept++] = order[i];
        }
    }
    return kept;
}

static void put_names(FILE *file, const struct timeline *timeline, const uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct timeline_track *track = &timeline->track[order[i]];
        if (track->lane == 0 || track->kind == TRACK_WARP) {
            put_text(file, 2, i * ROW + 10.0, timeline->texts.text[track->name]);
        }
    }
}

static void put_slices(FILE *file, const struct timeline *timeline, const uint32_t *row, struct svg_run *run)
{
    for (uint32_t i = 0; i < timeline->slices; i++) {
        uint32_t track = timeline->slice[i].track;
        if (row[track] != NOT_DRAWN) {
            put_slice(file, timeline, &timeline->slice[i], row[track], &run[track]);
        }
    }
    for (uint32_t i = 0; i < timeline->tracks; i++) {
        if (run[i].end > run[i].x) {
            put_rect(file, timeline, &run[i], row[i]);
        }
    }
}

bool svg_write(FILE *file, const struct timeline *timeline, uint32_t lanes)
{
    uint32_t count = 0;
    uint32_t *order = page_order(timeline, &count);
    uint32_t *row = calloc(timeline->tracks + 1, sizeof(*row));
    struct svg_run *run = calloc(timeline->tracks + 1, sizeof(*run));
    bool has_room = order && row && run;

    if (has_room) {
        count = choose_rows(timeline, lanes, order, count, row);
        fprintf(file,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %u\" font-family=\"sans-serif\" "
                "font-size=\"9\">\n",
                WIDTH, (count + 2) * ROW);
        put_times(file, timeline, count);
        put_names(file, timeline, order, count);
        put_slices(file, timeline, row, run);
        fputs("</svg>\n", file);
    }
    free(order);
    free(row);
    free(run);
    return has_room && fflush(file) == 0 && !ferror(file);
}
