/* SPDX-License-Identifier: MIT */
#include "compiler/mir/pressure_svg.h"

#include "ppu/macros.h"

#define COLUMNS 96u /* of a curve as text */
#define ROWS 12u

/* Says of each column how much is needed at most, and whether a segment is there. */
struct columns {
    uint32_t count;
    uint32_t most; /* of all */
    uint32_t need[COLUMNS];
    bool inside[COLUMNS];
};

static struct columns columns_of(const struct segment_plan *plan)
{
    const struct pressure *p = plan->pressure;
    struct columns c = { .count = p->points < COLUMNS ? p->points : COLUMNS };
    uint32_t next = 0;

    for (uint32_t s = 0; s < p->points; s++) {
        uint32_t column = (uint32_t)((uint64_t)s * c.count / p->points);
        c.need[column] = PPU_MAX(p->need[s], c.need[column]);
        c.most = PPU_MAX(p->need[s], c.most);
        while (next < plan->chosen.count && plan->chosen.at[next].to <= s) {
            next++;
        }
        c.inside[column] |= next < plan->chosen.count && plan->chosen.at[next].from <= s;
    }
    return c;
}

void pressure_text(FILE *file, const struct segment_plan *plan)
{
    struct columns c = columns_of(plan);
    uint32_t top = PPU_MAX(c.most, plan->threshold);
    uint32_t step = top / ROWS + 1; /* registers a row */

    for (uint32_t row = top / step + 1; row-- != 0;) {
        bool threshold = plan->threshold / step == row;
        fprintf(file, "  %4u %c", row * step, threshold ? '+' : '|');
        for (uint32_t i = 0; i < c.count; i++) {
            fputc(c.need[i] >= row * step && c.need[i] != 0 ? '#' : threshold ? '-' : ' ', file);
        }
        fputs(threshold ? " threshold\n" : "\n", file);
    }
    fputs("       ", file);
    for (uint32_t i = 0; i < c.count; i++) {
        fputc(c.inside[i] ? '=' : '.', file);
    }
    fputs(" segments\n", file);
}

/* ---- picture ---- */

#define LEFT 60.0
#define RIGHT 20.0
#define TOP 44.0
#define BOTTOM 40.0

struct frame {
    FILE *file;
    const struct segment_plan *plan;
    double y;    /* of the drawing's top */
    double most; /* registers at the top of the curve */
};

static double x_of(const struct frame *frame, uint32_t point)
{
    return LEFT + (PRESSURE_SVG_WIDTH - LEFT - RIGHT) * point / frame->plan->pressure->points;
}

static double y_of(const struct frame *frame, double registers)
{
    return frame->y + PRESSURE_SVG_HEIGHT - BOTTOM - (PRESSURE_SVG_HEIGHT - TOP - BOTTOM) * registers / frame->most;
}

static void draw_segments(const struct frame *frame)
{
    for (uint32_t i = 0; i < frame->plan->chosen.count; i++) {
        const struct segment *segment = &frame->plan->chosen.at[i];
        double x = x_of(frame, segment->from), end = x_of(frame, segment->to);
        fprintf(frame->file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#d8e8d0\" stroke=\"#5a9040\"/>\n", x,
                y_of(frame, frame->most), end - x > 1 ? end - x : 1, y_of(frame, 0) - y_of(frame, frame->most));
    }
}

static void draw_curve(const struct frame *frame)
{
    const struct pressure *p = frame->plan->pressure;

    fprintf(frame->file, "<path fill=\"none\" stroke=\"#204080\" stroke-width=\"1.5\" d=\"M%.1f %.1f", LEFT,
            y_of(frame, 0));
    for (uint32_t s = 0; s < p->points; s++) {
        if (s == 0 || p->need[s] != p->need[s - 1]) {
            fprintf(frame->file, "H%.1fV%.1f", x_of(frame, s), y_of(frame, p->need[s]));
        }
    }
    fprintf(frame->file, "H%.1fV%.1f\"/>\n", x_of(frame, p->points), y_of(frame, 0));
}

static void draw_axes(const struct frame *frame)
{
    uint32_t step = frame->most <= 20 ? 4 : frame->most <= 100 ? 16 : 32;

    fprintf(frame->file, "<path fill=\"none\" stroke=\"#404040\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", LEFT,
            y_of(frame, frame->most), y_of(frame, 0), PRESSURE_SVG_WIDTH - RIGHT);
    for (uint32_t r = 0; r <= (uint32_t)frame->most; r += step) {
        fprintf(frame->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%u</text>\n", LEFT - 6,
                y_of(frame, r) + 4, r);
    }
    fprintf(frame->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%u instructions and ends of blocks</text>\n",
            PRESSURE_SVG_WIDTH - RIGHT, y_of(frame, 0) + 22, frame->plan->pressure->points);
}

void pressure_svg(FILE *file, const struct segment_plan *plan, const char *name, uint32_t down)
{
    struct columns c = columns_of(plan);
    struct frame frame = { file, plan, down, c.most > plan->threshold ? c.most : plan->threshold };

    frame.most = PPU_MAX(frame.most, 4);
    draw_segments(&frame);
    draw_curve(&frame);
    draw_axes(&frame);
    fprintf(file, "<path stroke=\"#b03020\" stroke-dasharray=\"6 4\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT,
            y_of(&frame, plan->threshold), PRESSURE_SVG_WIDTH - RIGHT);
    fprintf(file,
            "<text x=\"%.1f\" y=\"%.1f\">%s: vector registers live along the code, threshold %u, %u segments</text>\n",
            LEFT, frame.y + 24, name, plan->threshold, plan->chosen.count);
}

void pressure_svg_begin(FILE *file, uint32_t drawings)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" "
            "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"13\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            PRESSURE_SVG_WIDTH, drawings * PRESSURE_SVG_HEIGHT, PRESSURE_SVG_WIDTH, drawings * PRESSURE_SVG_HEIGHT);
}

void pressure_svg_end(FILE *file)
{
    fputs("</svg>\n", file);
}
