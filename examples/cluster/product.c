/* SPDX-License-Identifier: MIT */
/*
 * Multiplies two matrices in tiles, each rank of an MPI job some rows of the result on a PPU of its own. usage: product
 * [SIDE]
 *
 * Each rank has as many rows of all three matrices. Those of the second go round from rank to rank until each has seen
 * all of them. Elements are whole numbers modulo 2^32. The check multiplies result and factors by one random column.
 */
#include "examples/cluster/rank.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TILE 16

static const char *const source =
    "#define TILE 16\n"
    "kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))\n"
    "void multiply(global const uint *a, global const uint *b, global uint *c, uint side, uint rows, uint first)\n"
    "{\n"
    "    local uint left[TILE][TILE], right[TILE][TILE];\n"
    "    uint lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1), sum = 0;\n"
    "    for (uint k = 0; k < rows; k += TILE) {\n"
    "        left[ly][lx] = a[y * side + first + k + lx];\n"
    "        right[ly][lx] = b[(k + ly) * side + x];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        for (uint i = 0; i < TILE; i++)\n"
    "            sum += left[ly][i] * right[i][lx];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    c[y * side + x] += sum;\n"
    "}\n";

struct product {
    const struct rank *rank;
    int side, rows, first; /* of this rank */
    uint32_t *a, *b, *c, *passing;
    cl_mem on_device[3];
    cl_kernel multiply;
    double computed_s, exchanged_s;
};

static uint32_t element(uint32_t matrix, int y, int x)
{
    uint32_t hash = (matrix * 1000003u + (uint32_t)y) * 2654435761u ^ (uint32_t)x * 40503u;

    hash ^= hash >> 13;
    return hash * 1274126177u >> 8;
}

static size_t bytes_of(const struct product *product)
{
    return (size_t)product->rows * (size_t)product->side * sizeof(uint32_t);
}

static void product_fill(struct product *product)
{
    uint32_t **const all[] = { &product->a, &product->b, &product->c, &product->passing };

    for (int i = 0; i < 4; i++) {
        *all[i] = calloc(1, bytes_of(product));
        if (!*all[i]) {
            rank_fail(product->rank, "make its rows: not enough memory");
        }
    }
    for (int y = 0; y < product->rows; y++) {
        for (int x = 0; x < product->side; x++) {
            product->a[y * product->side + x] = element(1, product->first + y, x);
            product->b[y * product->side + x] = element(2, product->first + y, x);
        }
    }
    for (int i = 0; i < 3; i++) {
        product->on_device[i] = rank_buffer(product->rank, bytes_of(product));
    }
    rank_write(product->rank, product->on_device[0], 0, bytes_of(product), product->a);
    rank_write(product->rank, product->on_device[2], 0, bytes_of(product), product->c);
}

static void argument(const struct product *product, cl_uint index, size_t bytes, const void *value)
{
    rank_need(product->rank, clSetKernelArg(product->multiply, index, bytes, value), "clSetKernelArg");
}

/* Multiplies by the rows of the second matrix that rank `owner` had first. */
static void multiply(const struct product *product, int owner)
{
    const cl_uint side = (cl_uint)product->side, rows = (cl_uint)product->rows, first = rows * (cl_uint)owner;

    rank_write(product->rank, product->on_device[1], 0, bytes_of(product), product->b);
    for (cl_uint i = 0; i < 3; i++) {
        argument(product, i, sizeof(cl_mem), &product->on_device[i]);
    }
    argument(product, 3, sizeof(side), &side);
    argument(product, 4, sizeof(rows), &rows);
    argument(product, 5, sizeof(first), &first);
    rank_launch(product->rank, product->multiply, (size_t)product->side, (size_t)product->rows, TILE);
}

static void pass_on(struct product *product)
{
    const int ranks = product->rank->ranks, number = product->rank->number;
    const int words = product->rows * product->side;

    rank_swap(product->rank, MPI_COMM_WORLD, product->b, (number + ranks - 1) % ranks, product->passing,
              (number + 1) % ranks, words);
    uint32_t *come = product->passing;
    product->passing = product->b;
    product->b = come;
}

static void product_run(struct product *product)
{
    const int ranks = product->rank->ranks;

    for (int turn = 0; turn < ranks; turn++) {
        const double begun_s = MPI_Wtime();
        multiply(product, (product->rank->number + turn) % ranks);
        const double computed_s = MPI_Wtime();
        if (turn + 1 < ranks) {
            pass_on(product);
        }
        product->computed_s += computed_s - begun_s;
        product->exchanged_s += MPI_Wtime() - computed_s;
    }
}

/* A column times the matrix; row by row, by the elements' own rule or those given. */
static uint32_t row_times(const struct product *product, const uint32_t *row, uint32_t matrix, int y,
                          const uint32_t *column)
{
    uint32_t sum = 0;

    for (int x = 0; x < product->side; x++) {
        sum += (row ? row[x] : element(matrix, y, x)) * column[x];
    }
    return sum;
}

/* C v against A (B v): if an element of this rank's rows is wrong, one of them is too, but for one chance in 2^31. */
static int rows_are_right(struct product *product)
{
    uint32_t *columns = calloc(2 * (size_t)product->side, sizeof(uint32_t));
    int right = 1;

    if (!columns) {
        rank_fail(product->rank, "check the result: not enough memory");
    }
    uint32_t *column = columns, *times_b = columns + product->side;
    rank_read(product->rank, product->on_device[2], 0, bytes_of(product), product->c);
    for (int x = 0; x < product->side; x++) {
        column[x] = element(3, 0, x) | 1;
    }
    for (int y = 0; y < product->side; y++) {
        times_b[y] = row_times(product, NULL, 2, y, column);
    }
    for (int y = 0; y < product->rows; y++) {
        right = right && row_times(product, product->c + (size_t)y * (size_t)product->side, 0, y, column) ==
                             row_times(product, NULL, 1, product->first + y, times_b);
    }
    free(columns);
    return right;
}

int main(int argc, char **argv)
{
    struct rank rank = rank_begin(&argc, &argv, source);
    struct product product = { .rank = &rank, .side = rank_number(&rank, argc, argv, 1, 256, TILE, 8192) };

    if (product.side % (TILE * rank.ranks) != 0) {
        rank_fail(&rank, "read the arguments: the side is %d: it must be a multiple of %d, for %d ranks", product.side,
                  TILE * rank.ranks, rank.ranks);
    }
    product.rows = product.side / rank.ranks;
    product.first = product.rows * rank.number;
    product_fill(&product);
    product.multiply = rank_kernel(&rank, "multiply");
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun_s = MPI_Wtime();
    product_run(&product);
    const double took_s = rank_longest(MPI_Wtime() - begun_s);
    const double computed_s = rank_longest(product.computed_s), exchanged_s = rank_longest(product.exchanged_s);
    if (!rows_are_right(&product)) {
        rank_fail(&rank, "check the product: rows %d to %d are wrong", product.first, product.first + product.rows - 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank.number == 0) {
        printf("product %d x %d, %d ranks: %.2f ms, %.2f computing, %.2f exchanging %llu bytes; checked\n",
               product.side, product.side, rank.ranks, took_s * 1e3, computed_s * 1e3, exchanged_s * 1e3,
               (unsigned long long)(rank.ranks - 1) * bytes_of(&product));
    }
    free(product.a);
    free(product.b);
    free(product.c);
    free(product.passing);
    for (int i = 0; i < 3; i++) {
        clReleaseMemObject(product.on_device[i]);
    }
    clReleaseKernel(product.multiply);
    rank_end(&rank);
    return 0;
}
