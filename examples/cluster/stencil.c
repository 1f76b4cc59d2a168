/* SPDX-License-Identifier: MIT */
/*
 * Spreads heat over a square plate, each rank of an MPI job a part of it on a PPU of its own. usage: stencil [SIDE
 * [STEPS]]
 *
 * The ranks form a grid. Before each step neighbours exchange the edges of their parts. Heat is a whole number, so the
 * result is the same to the bit for any number of ranks; rank 0 computes it once more by itself and compares.
 */
#include "examples/cluster/rank.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define GROUP 16

static const char *const source =
    "kernel void step(global const uint *from, global uint *to, uint width, uint height)\n"
    "{\n"
    "    uint x = get_global_id(0) + 1, y = get_global_id(1) + 1, row = width + 2;\n"
    "    if (x > width || y > height)\n"
    "        return;\n"
    "    uint i = y * row + x;\n"
    "    to[i] = (from[i - row] + from[i + row] + from[i - 1] + from[i + 1] + 4 * from[i]) >> 3;\n"
    "}\n";

enum side { NORTH, SOUTH, WEST, EAST, SIDES };

/* A rank's part of the plate, with a border of one cell for what neighbours have. */
struct part {
    const struct rank *rank;
    MPI_Comm grid;
    int side, x, y, width, height;
    int neighbour[SIDES];
    uint32_t *edge[SIDES], *halo[SIDES];
    cl_mem now, next;
    cl_kernel step;
    double computed_s, exchanged_s;
    unsigned long long sent_bytes;
};

/* Heat of a cell at first; -1 and `side` are the border of the plate, which stays cold. */
static uint32_t heat_at_first(int side, int x, int y)
{
    const uint32_t hash = ((uint32_t)y * 40503u + (uint32_t)x) * 2654435761u;

    return x < 0 || y < 0 || x >= side || y >= side ? 0 : hash >> 4;
}

static int cells(const struct part *part)
{
    return (part->width + 2) * (part->height + 2);
}

/* Ranks get equal parts as far as the side allows it. */
static int share(int side, int parts, int index)
{
    return side * (index + 1) / parts - side * index / parts;
}

static void part_place(struct part *part)
{
    const struct rank *rank = part->rank;
    int dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, at[2];

    MPI_Dims_create(rank->ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &part->grid);
    MPI_Cart_coords(part->grid, rank->number, 2, at);
    MPI_Cart_shift(part->grid, 0, 1, &part->neighbour[NORTH], &part->neighbour[SOUTH]);
    MPI_Cart_shift(part->grid, 1, 1, &part->neighbour[WEST], &part->neighbour[EAST]);
    part->height = share(part->side, dims[0], at[0]);
    part->width = share(part->side, dims[1], at[1]);
    part->y = part->side * at[0] / dims[0];
    part->x = part->side * at[1] / dims[1];
}

static void part_fill(struct part *part)
{
    const size_t bytes = (size_t)cells(part) * sizeof(uint32_t);
    uint32_t *heat = calloc(1, bytes);

    for (int side = 0; side < SIDES; side++) {
        const size_t length = (size_t)(side == NORTH || side == SOUTH ? part->width : part->height);
        part->edge[side] = calloc(length, sizeof(uint32_t));
        part->halo[side] = calloc(length, sizeof(uint32_t));
        if (!part->edge[side] || !part->halo[side]) {
            rank_fail(part->rank, "make its part of the plate: not enough memory");
        }
    }
    if (!heat) {
        rank_fail(part->rank, "make its part of the plate: not enough memory");
    }
    for (int y = 0; y < part->height; y++) {
        for (int x = 0; x < part->width; x++) {
            heat[(y + 1) * (part->width + 2) + x + 1] = heat_at_first(part->side, part->x + x, part->y + y);
        }
    }
    part->now = rank_buffer(part->rank, bytes);
    part->next = rank_buffer(part->rank, bytes);
    rank_write(part->rank, part->now, 0, bytes, heat);
    for (size_t i = 0; i < (size_t)cells(part); i++) {
        heat[i] = 0;
    }
    rank_write(part->rank, part->next, 0, bytes, heat);
    free(heat);
}

/* A row or a column of the part: of its own edge, or of the border beside it. */
static void move_line(const struct part *part, enum side side, int out, uint32_t *line)
{
    const int upright = side == WEST || side == EAST;
    const int last = upright ? part->width : part->height;
    const int at = side == NORTH || side == WEST ? (out ? 0 : 1) : (out ? last + 1 : last);
    const size_t pitch = (size_t)(part->width + 2) * sizeof(uint32_t), word = sizeof(uint32_t);
    const size_t origin[3] = { (upright ? (size_t)at : 1) * word, upright ? 1 : (size_t)at, 0 }, zero[3] = { 0, 0, 0 };
    const size_t region[3] = { upright ? word : (size_t)part->width * word, upright ? (size_t)part->height : 1, 1 };

    if (out) {
        rank_need(part->rank,
                  clEnqueueWriteBufferRect(part->rank->queue, part->now, CL_TRUE, origin, zero, region, pitch, 0,
                                           region[0], 0, line, 0, NULL, NULL),
                  "clEnqueueWriteBufferRect");
    } else {
        rank_need(part->rank,
                  clEnqueueReadBufferRect(part->rank->queue, part->now, CL_TRUE, origin, zero, region, pitch, 0,
                                          region[0], 0, line, 0, NULL, NULL),
                  "clEnqueueReadBufferRect");
    }
}

/* Each edge goes to the neighbour on its side, whose border it is; what has no neighbour stays cold. */
static void exchange(struct part *part)
{
    static const enum side opposite[SIDES] = { SOUTH, NORTH, EAST, WEST };

    for (int side = 0; side < SIDES; side++) {
        if (part->neighbour[side] != MPI_PROC_NULL) {
            move_line(part, (enum side)side, 0, part->edge[side]);
        }
    }
    for (int side = 0; side < SIDES; side++) {
        const enum side from = opposite[side];
        const int length = side == NORTH || side == SOUTH ? part->width : part->height;
        part->sent_bytes += part->neighbour[side] != MPI_PROC_NULL ? (unsigned long long)length * sizeof(uint32_t) : 0;
        rank_swap(part->rank, part->grid, part->edge[side], part->neighbour[side], part->halo[from],
                  part->neighbour[from], length);
    }
    for (int side = 0; side < SIDES; side++) {
        if (part->neighbour[side] != MPI_PROC_NULL) {
            move_line(part, (enum side)side, 1, part->halo[side]);
        }
    }
}

static size_t rounded(int number)
{
    return ((size_t)number + GROUP - 1) / GROUP * GROUP;
}

static void compute(struct part *part)
{
    const cl_uint width = (cl_uint)part->width, height = (cl_uint)part->height;
    const struct rank *rank = part->rank;

    rank_need(rank, clSetKernelArg(part->step, 0, sizeof(cl_mem), &part->now), "clSetKernelArg");
    rank_need(rank, clSetKernelArg(part->step, 1, sizeof(cl_mem), &part->next), "clSetKernelArg");
    rank_need(rank, clSetKernelArg(part->step, 2, sizeof(width), &width), "clSetKernelArg");
    rank_need(rank, clSetKernelArg(part->step, 3, sizeof(height), &height), "clSetKernelArg");
    rank_launch(rank, part->step, rounded(part->width), rounded(part->height), GROUP);
    cl_mem done = part->next;
    part->next = part->now;
    part->now = done;
}

static void advance(struct part *part, int steps)
{
    for (int step = 0; step < steps; step++) {
        const double begun_s = MPI_Wtime();
        exchange(part);
        const double exchanged_s = MPI_Wtime();
        compute(part);
        part->exchanged_s += exchanged_s - begun_s;
        part->computed_s += MPI_Wtime() - exchanged_s;
    }
}

/* What the whole plate holds, with the place of each cell in it. */
static uint64_t weigh(uint64_t sum, uint32_t heat, int side, int x, int y)
{
    return sum + (uint64_t)heat * ((uint64_t)y * (uint64_t)side + (uint64_t)x + 1);
}

static uint64_t part_sum(const struct part *part)
{
    const size_t bytes = (size_t)cells(part) * sizeof(uint32_t);
    uint32_t *heat = malloc(bytes);
    uint64_t sum = 0, all = 0;

    if (!heat) {
        rank_fail(part->rank, "read its part of the plate: not enough memory");
    }
    rank_read(part->rank, part->now, 0, bytes, heat);
    for (int y = 0; y < part->height; y++) {
        for (int x = 0; x < part->width; x++) {
            sum = weigh(sum, heat[(y + 1) * (part->width + 2) + x + 1], part->side, part->x + x, part->y + y);
        }
    }
    free(heat);
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* The same by the processor alone. */
static uint64_t expected_sum(const struct rank *rank, int side, int steps)
{
    const int row = side + 2;
    const size_t all = (size_t)row * (size_t)row;
    uint32_t *heat = calloc(2 * all, sizeof(uint32_t)), *now = heat;
    uint64_t sum = 0;

    if (!heat) {
        rank_fail(rank, "check the result: not enough memory");
    }
    uint32_t *next = heat + all;
    for (int i = 0; i < row * row; i++) {
        now[i] = heat_at_first(side, i % row - 1, i / row - 1);
    }
    for (int step = 0; step < steps; step++) {
        for (int y = 1; y <= side; y++) {
            for (int i = y * row + 1; i <= y * row + side; i++) {
                next[i] = (now[i - row] + now[i + row] + now[i - 1] + now[i + 1] + 4 * now[i]) >> 3;
            }
        }
        uint32_t *done = next;
        next = now;
        now = done;
    }
    for (int i = 0; i < side * side; i++) {
        sum = weigh(sum, now[(i / side + 1) * row + i % side + 1], side, i % side, i / side);
    }
    free(heat);
    return sum;
}

int main(int argc, char **argv)
{
    struct rank rank = rank_begin(&argc, &argv, source);
    struct part part = { .rank = &rank };
    const int steps = rank_number(&rank, argc, argv, 2, 20, 1, 100000);

    part.side = rank_number(&rank, argc, argv, 1, 512, rank.ranks, 8192);
    part_place(&part);
    part_fill(&part);
    part.step = rank_kernel(&rank, "step");
    advance(&part, 1); /* the kernel is there, and so is every connection */
    part.computed_s = part.exchanged_s = 0;
    part.sent_bytes = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun_s = MPI_Wtime();
    advance(&part, steps);
    const double took_s = rank_longest(MPI_Wtime() - begun_s);
    const double computed_s = rank_longest(part.computed_s), exchanged_s = rank_longest(part.exchanged_s);
    const unsigned long long bytes = rank_most(part.sent_bytes) / (unsigned long long)steps;
    const uint64_t sum = part_sum(&part);
    if (rank.number == 0) {
        if (sum != expected_sum(&rank, part.side, steps + 1)) {
            rank_fail(&rank, "check the plate: its heat is not what the processor alone computes");
        }
        printf("stencil %d x %d, %d ranks, %d steps: %.2f ms a step, %.2f computing, %.2f exchanging %llu bytes; "
               "checked\n",
               part.side, part.side, rank.ranks, steps, took_s / steps * 1e3, computed_s / steps * 1e3,
               exchanged_s / steps * 1e3, bytes);
    }
    for (int side = 0; side < SIDES; side++) {
        free(part.edge[side]);
        free(part.halo[side]);
    }
    clReleaseMemObject(part.now);
    clReleaseMemObject(part.next);
    clReleaseKernel(part.step);
    rank_end(&rank);
    return 0;
}
