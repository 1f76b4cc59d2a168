/* SPDX-License-Identifier: MIT */
/* Draws the timeline as a picture in SVG. */
#include <stdlib.h>

#include "ppu/macros.h"
#include "tools/report/page.h"

#define WIDTH 1000.0
#define LEFT 180.0
#define ROW 14u

static void put_text(FILE *file, double x, double y, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&' || (unsigned char)*text < 0x20) {
            fprintf(file, "&#%u;", (unsigned)((unsigned char)*text < 0x20 ? '?' : *text));
        } else {
            fputc(*text, file);
        }
    }
    fputs("</text>\n", file);
}

static void put_slice(FILE *file, const struct timeline *timeline, const struct timeline_slice *slice, uint32_t row)
{
    double scale = (WIDTH - LEFT) / (double)PPU_MAX(timeline->ended_ns - timeline->began_ns, 1u);
    double x = LEFT + (double)(slice->start_ns - timeline->began_ns) * scale;
    double width = slice->length_ns == TIMELINE_INSTANT ? 0.5 : PPU_MAX((double)slice->length_ns * scale, 0.5);

    fprintf(file, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"hsl(%u,60%%,62%%)\"/>\n", x,
            row * ROW + 1, width, ROW - 2, slice->name * 67u % 360u);
}

bool svg_write(FILE *file, const struct timeline *timeline)
{
    uint32_t count = 0;
    uint32_t *order = page_order(timeline, &count);
    uint32_t *row = calloc(timeline->tracks + 1, sizeof(*row));

    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %u\" font-family=\"sans-serif\" "
            "font-size=\"9\">\n",
            WIDTH, (count + 1) * ROW);
    for (uint32_t i = 0; order && row && i < count; i++) {
        row[order[i]] = i;
        if (timeline->track[order[i]].lane == 0) {
            put_text(file, 2, i * ROW + 10.0, timeline->texts.text[timeline->track[order[i]].name]);
        }
    }
    for (uint32_t i = 0; row && i < timeline->slices; i++) {
        put_slice(file, timeline, &timeline->slice[i], row[timeline->slice[i].track]);
    }
    fputs("</svg>\n", file);
    free(order);
    free(row);
    return fflush(file) == 0 && !ferror(file);
}
