/* SPDX-License-Identifier: MIT */
/* Draws the flame graph of the firmware's functions as a picture in SVG: who calls lies below whom it calls. */
#include <stdlib.h>

#include "tools/report/page.h"
#include "tools/report/svg.h"

#define WIDTH 1000.0
#define ROW 16u
#define LEAST 0.3 /* what is narrower is left out */
#define CHARACTER 5.5

struct flame {
    FILE *file;
    const struct stacks *stacks;
    double scale;
    uint32_t height;
};

static uint32_t depth_of(const struct stacks *stacks, uint32_t node)
{
    uint32_t depth = 0;

    for (; node != 0; node = stacks->node[node].parent) {
        depth++;
    }
    return depth;
}

static void put_node(const struct flame *flame, uint32_t number, double x)
{
    const struct stacks_node *node = &flame->stacks->node[number];
    const char *name = flame->stacks->texts.text[node->name];
    double width = (double)node->total * flame->scale;
    uint32_t top = flame->height - (depth_of(flame->stacks, number) + 1) * ROW;

    fprintf(flame->file, "<g><title>");
    svg_text(flame->file, name, UINT32_MAX);
    fprintf(flame->file, ": %llu instructions</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" ",
            (unsigned long long)node->total, x, top, width - 0.2, ROW - 1);
    fprintf(flame->file, "fill=\"hsl(%u,70%%,65%%)\"/>", 10 + node->name * 37u % 45);
    if (width > 4 * CHARACTER) {
        fprintf(flame->file, "<text x=\"%.2f\" y=\"%u\">", x + 2, top + ROW - 5);
        svg_text(flame->file, name, (uint32_t)(width / CHARACTER) - 1);
        fprintf(flame->file, "</text>");
    }
    fputs("</g>\n", flame->file);
}

/* A child begins where the one before it ends; the instructions of the parent itself are at its right. */
bool flame_write(FILE *file, const struct stacks *stacks)
{
    uint32_t deepest = 0;
    double *x = calloc((size_t)stacks->nodes + 1, sizeof(*x)), *next = calloc((size_t)stacks->nodes + 1, sizeof(*next));
    bool has_room = x && next;

    for (uint32_t i = 0; i < stacks->nodes; i++) {
        uint32_t depth = depth_of(stacks, i);
        deepest = depth > deepest ? depth : deepest;
    }
    const struct flame flame = { file, stacks, stacks->node[0].total ? WIDTH / (double)stacks->node[0].total : 0,
                                 (deepest + 1) * ROW };
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %u\" font-family=\"sans-serif\" "
            "font-size=\"9\">\n",
            WIDTH, flame.height);
    for (uint32_t i = 0; has_room && i < stacks->nodes; i++) {
        uint32_t parent = stacks->node[i].parent;
        double width = (double)stacks->node[i].total * flame.scale;
        x[i] = i != 0 ? next[parent] : 0;
        next[i] = x[i];
        next[parent] += i != 0 ? width : 0;
        if (width >= LEAST) {
            put_node(&flame, i, x[i]);
        }
    }
    fputs("</svg>\n", file);
    free(x);
    free(next);
    return has_room && fflush(file) == 0 && !ferror(file);
}
