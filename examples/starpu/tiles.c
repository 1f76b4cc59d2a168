/* SPDX-License-Identifier: MIT */
/*
 * Lets StarPU spread tasks on tiles of matrices over the PPUs of a machine. usage: tiles cholesky|product [SIDE [TILE]]
 *
 * StarPU decides which PPU runs what, and moves tiles; STARPU_NOPENCL says how many PPUs it may use, STARPU_SCHED which
 * of its schedulers. The processor computes nothing, but checks the result.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_opencl.h>

#define GROUP 64u
#define MOST_PPUS 8

static const char *const source =
    /* c -= a b^T, or c += a b: four forms of one loop */
    "void update(global float *c, global const float *a, global const float *b, uint n, uint down, float sign)\n"
    "{\n"
    "    uint x = get_global_id(0) % n, y = get_global_id(0) / n;\n"
    "    float sum = 0;\n"
    "    for (uint k = 0; k < n; k++)\n"
    "        sum += a[y * n + k] * (down ? b[k * n + x] : b[x * n + k]);\n"
    "    c[y * n + x] += sign * sum;\n"
    "}\n"
    "kernel void multiply(global float *c, global const float *a, global const float *b, uint n)\n"
    "{ update(c, a, b, n, 1, 1.0f); }\n"
    "kernel void subtract(global float *c, global const float *a, global const float *b, uint n)\n"
    "{ update(c, a, b, n, 0, -1.0f); }\n"
    /* one work-group: columns one after the other */
    "kernel void factor(global float *a, uint n)\n"
    "{\n"
    "    uint me = get_local_id(0), all = get_local_size(0);\n"
    "    for (uint k = 0; k < n; k++) {\n"
    "        if (me == 0)\n"
    "            a[k * n + k] = sqrt(a[k * n + k]);\n"
    "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "        for (uint i = k + 1 + me; i < n; i += all)\n"
    "            a[i * n + k] /= a[k * n + k];\n"
    "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "        for (uint i = k + 1 + me; i < n; i += all)\n"
    "            for (uint j = k + 1; j <= i; j++)\n"
    "                a[i * n + j] -= a[i * n + k] * a[j * n + k];\n"
    "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    }\n"
    "}\n"
    /* rows of b by the factor's transpose from the right, each by one work-item */
    "kernel void solve(global float *b, global const float *l, uint n)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    for (uint k = 0; k < n; k++) {\n"
    "        float x = b[i * n + k];\n"
    "        for (uint j = 0; j < k; j++)\n"
    "            x -= b[i * n + j] * l[k * n + j];\n"
    "        b[i * n + k] = x / l[k * n + k];\n"
    "    }\n"
    "}\n";

static struct starpu_opencl_program program;
static unsigned tile;                    /* side of one, in elements */
static unsigned ran[STARPU_NMAXWORKERS]; /* tasks of each worker */

static void need(int error, const char *what)
{
    if (error != 0) {
        fprintf(stderr, "tiles: %s: error %d\n", what, error);
        exit(1);
    }
}

/* ---- tasks ---- */

/* Runs a kernel on `count` tiles; its last argument is the tile's side. */
static void run(void *buffers[], unsigned count, const char *name, size_t items, size_t group)
{
    const int worker = starpu_worker_get_id_check();
    cl_kernel kernel;
    cl_command_queue queue;

    need(starpu_opencl_load_kernel(&kernel, &queue, &program, name, starpu_worker_get_devid(worker)), name);
    for (unsigned i = 0; i < count; i++) {
        cl_mem memory = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[i]);
        need(clSetKernelArg(kernel, i, sizeof(cl_mem), &memory), name);
    }
    need(clSetKernelArg(kernel, count, sizeof(tile), &tile), name);
    need(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL), name);
    need(clFinish(queue), name);
    need(starpu_opencl_release_kernel(kernel), name);
    __atomic_add_fetch(&ran[worker], 1, __ATOMIC_RELAXED);
}

static void run_multiply(void *buffers[], void *unused)
{
    (void)unused;
    run(buffers, 3, "multiply", (size_t)tile * tile, GROUP);
}

static void run_subtract(void *buffers[], void *unused)
{
    (void)unused;
    run(buffers, 3, "subtract", (size_t)tile * tile, GROUP);
}

static void run_factor(void *buffers[], void *unused)
{
    (void)unused;
    run(buffers, 1, "factor", GROUP, GROUP);
}

static void run_solve(void *buffers[], void *unused)
{
    (void)unused;
    run(buffers, 2, "solve", tile, GROUP < tile ? GROUP : tile);
}

static struct starpu_perfmodel models[] = {
    { .type = STARPU_HISTORY_BASED, .symbol = "ppu-multiply" },
    { .type = STARPU_HISTORY_BASED, .symbol = "ppu-subtract" },
    { .type = STARPU_HISTORY_BASED, .symbol = "ppu-factor" },
    { .type = STARPU_HISTORY_BASED, .symbol = "ppu-solve" },
};
static struct starpu_codelet multiply = {
    .opencl_funcs = { run_multiply }, .nbuffers = 3, .modes = { STARPU_RW, STARPU_R, STARPU_R }, .model = &models[0]
};
static struct starpu_codelet subtract = {
    .opencl_funcs = { run_subtract }, .nbuffers = 3, .modes = { STARPU_RW, STARPU_R, STARPU_R }, .model = &models[1]
};
static struct starpu_codelet factor = {
    .opencl_funcs = { run_factor }, .nbuffers = 1, .modes = { STARPU_RW }, .model = &models[2]
};
static struct starpu_codelet solve = {
    .opencl_funcs = { run_solve }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .model = &models[3]
};

/* ---- matrices ---- */

struct matrix {
    unsigned tiles; /* in a row, and in a column */
    float *data;    /* tile after tile */
    starpu_data_handle_t *handle;
};

static void *checked(void *memory)
{
    if (!memory) {
        fprintf(stderr, "tiles: make a matrix: not enough memory\n");
        exit(1);
    }
    return memory;
}

static float *element(const struct matrix *matrix, unsigned y, unsigned x)
{
    const size_t index = (size_t)(y / tile) * matrix->tiles + x / tile;

    return &matrix->data[index * tile * tile + (size_t)(y % tile) * tile + x % tile];
}

static starpu_data_handle_t at(const struct matrix *matrix, unsigned y, unsigned x)
{
    return matrix->handle[y * matrix->tiles + x];
}

static struct matrix matrix_new(unsigned tiles)
{
    const size_t count = (size_t)tiles * tiles;
    struct matrix matrix = { .tiles = tiles };

    matrix.data = checked(calloc(count * tile * tile, sizeof(float)));
    matrix.handle = checked(calloc(count, sizeof(starpu_data_handle_t)));
    return matrix;
}

/* From here on StarPU has it. */
static void matrix_give(struct matrix *matrix)
{
    for (size_t i = 0; i < (size_t)matrix->tiles * matrix->tiles; i++) {
        starpu_vector_data_register(&matrix->handle[i], STARPU_MAIN_RAM, (uintptr_t)&matrix->data[i * tile * tile],
                                    tile * tile, sizeof(float));
    }
}

static void matrix_take(const struct matrix *matrix)
{
    for (size_t i = 0; i < (size_t)matrix->tiles * matrix->tiles; i++) {
        starpu_data_unregister(matrix->handle[i]);
    }
}

static void matrix_free(const struct matrix *matrix)
{
    free(matrix->data);
    free(matrix->handle);
}

/* Small numbers that look like chance. */
static float number(unsigned y, unsigned x)
{
    return (float)(((y * 2654435761u) ^ (x * 40503u)) >> 12 & 0xff) / 256.0f - 0.5f;
}

/* ---- product ---- */

static void submit_product(const struct matrix *a, const struct matrix *b, const struct matrix *c)
{
    for (unsigned y = 0; y < c->tiles; y++) {
        for (unsigned x = 0; x < c->tiles; x++) {
            for (unsigned k = 0; k < c->tiles; k++) {
                need(starpu_task_insert(&multiply, STARPU_RW, at(c, y, x), STARPU_R, at(a, y, k), STARPU_R, at(b, k, x),
                                        0),
                     "starpu_task_insert");
            }
        }
    }
}

static double product_error(const struct matrix *a, const struct matrix *b, const struct matrix *c)
{
    const unsigned side = c->tiles * tile;
    double worst = 0;

    for (unsigned y = 0; y < side; y++) {
        for (unsigned x = 0; x < side; x++) {
            double sum = 0;
            for (unsigned k = 0; k < side; k++) {
                sum += (double)*element(a, y, k) * (double)*element(b, k, x);
            }
            worst = fmax(worst, fabs(sum - (double)*element(c, y, x)) / side);
        }
    }
    return worst;
}

static double product(unsigned tiles, double *took_us)
{
    struct matrix all[3] = { matrix_new(tiles), matrix_new(tiles), matrix_new(tiles) };

    for (unsigned y = 0; y < tiles * tile; y++) {
        for (unsigned x = 0; x < tiles * tile; x++) {
            *element(&all[0], y, x) = number(y, x);
            *element(&all[1], y, x) = number(x + 7, y);
        }
    }
    for (int i = 0; i < 3; i++) {
        matrix_give(&all[i]);
    }
    const double begun_us = starpu_timing_now();
    submit_product(&all[0], &all[1], &all[2]);
    need(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    *took_us = starpu_timing_now() - begun_us;
    for (int i = 0; i < 3; i++) {
        matrix_take(&all[i]);
    }
    const double error = product_error(&all[0], &all[1], &all[2]);
    for (int i = 0; i < 3; i++) {
        matrix_free(&all[i]);
    }
    return error;
}

/* ---- Cholesky ---- */

static void submit_cholesky(const struct matrix *a)
{
    for (unsigned k = 0; k < a->tiles; k++) {
        need(starpu_task_insert(&factor, STARPU_RW, at(a, k, k), 0), "starpu_task_insert");
        for (unsigned y = k + 1; y < a->tiles; y++) {
            need(starpu_task_insert(&solve, STARPU_RW, at(a, y, k), STARPU_R, at(a, k, k), 0), "starpu_task_insert");
        }
        for (unsigned y = k + 1; y < a->tiles; y++) {
            for (unsigned x = k + 1; x <= y; x++) {
                need(starpu_task_insert(&subtract, STARPU_RW, at(a, y, x), STARPU_R, at(a, y, k), STARPU_R, at(a, x, k),
                                        0),
                     "starpu_task_insert");
            }
        }
    }
}

/* Symmetric, and so heavy on the diagonal that it has a factor. */
static float symmetric(unsigned side, unsigned y, unsigned x)
{
    return y == x ? (float)side : y > x ? number(y, x) : number(x, y);
}

/* The factor times its transpose against the matrix. */
static double cholesky_error(const struct matrix *a)
{
    const unsigned side = a->tiles * tile;
    double worst = 0;

    for (unsigned y = 0; y < side; y++) {
        for (unsigned x = 0; x <= y; x++) {
            double sum = 0;
            for (unsigned k = 0; k <= x; k++) {
                sum += (double)*element(a, y, k) * (double)*element(a, x, k);
            }
            worst = fmax(worst, fabs(sum - (double)symmetric(side, y, x)) / side);
        }
    }
    return worst;
}

static double cholesky(unsigned tiles, double *took_us)
{
    struct matrix a = matrix_new(tiles);

    for (unsigned y = 0; y < tiles * tile; y++) {
        for (unsigned x = 0; x < tiles * tile; x++) {
            *element(&a, y, x) = symmetric(tiles * tile, y, x);
        }
    }
    matrix_give(&a);
    const double begun_us = starpu_timing_now();
    submit_cholesky(&a);
    need(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    *took_us = starpu_timing_now() - begun_us;
    matrix_take(&a);
    const double error = cholesky_error(&a);
    matrix_free(&a);
    return error;
}

/* ---- the program ---- */

static unsigned size_of(const char *text, unsigned least, unsigned most)
{
    char *end = NULL;
    const unsigned long size = strtoul(text, &end, 10);

    if (*end != '\0' || size < least || size > most) {
        fprintf(stderr, "tiles: '%s': expected a number from %u to %u\n", text, least, most);
        exit(2);
    }
    return (unsigned)size;
}

static void start(void)
{
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncpus = 0;
    conf.ncuda = 0;
    if (starpu_init(&conf) != 0 || starpu_opencl_worker_get_count() == 0) {
        fprintf(stderr, "tiles: start StarPU: it finds no PPU; OCL_ICD_VENDORS and PPU_DEVICES say which there are\n");
        exit(1);
    }
    need(starpu_opencl_load_opencl_from_string(source, &program, ""), "starpu_opencl_load_opencl_from_string");
}

int main(int argc, char **argv)
{
    const bool factors = argc > 1 && strcmp(argv[1], "cholesky") == 0;
    double took_us = 0;

    if (argc < 2 || argc > 4 || (!factors && strcmp(argv[1], "product") != 0)) {
        fprintf(stderr, "usage: tiles cholesky|product [SIDE [TILE]]\n");
        return 2;
    }
    tile = argc > 3 ? size_of(argv[3], 8, 512) : 64;
    const unsigned side = argc > 2 ? size_of(argv[2], tile, 8192) : 512;
    if (side % tile != 0 || (tile * tile) % GROUP != 0) {
        fprintf(stderr, "tiles: SIDE %u must be a multiple of TILE %u, and that of 8\n", side, tile);
        return 2;
    }
    start();
    const unsigned ppus = starpu_opencl_worker_get_count();
    (factors ? cholesky : product)(tile == side ? 1 : 2, &took_us); /* compiles the kernels */
    memset(ran, 0, sizeof(ran));
    const double error = (factors ? cholesky : product)(side / tile, &took_us);
    printf("%s %u x %u in tiles of %u, %u PPUs: %.1f ms; tasks", argv[1], side, side, tile, ppus, took_us / 1e3);
    for (unsigned i = 0; i < ppus; i++) {
        printf("%s%u", i == 0 ? " " : " + ", ran[i]);
    }
    printf("; error %.1e\n", error);
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
    return error < 1e-6 ? 0 : 1;
}
