/* SPDX-License-Identifier: MIT */
/*
 * Tests random reads, writes, fills, copies and maps of images of every kind, between any two of them and a buffer,
 * against arrays of the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define ROUNDS 6u
#define COMMANDS 150u
#define KINDS 8u
#define MOST_TEXEL 16u
#define MOST_TEXELS 120u
#define BUFFER_BYTES 4096u
#define PITCH (20u * MOST_TEXEL)

/* An image, and what its texels must be, one row behind the other. */
struct model {
    cl_mem image, buffer; /* the texels' own, or NULL */
    size_t extent[3];
    bool lines; /* of an array of these the slice pitch lies between the lines */
    uint8_t texels[MOST_TEXELS * MOST_TEXEL];
};

struct world {
    struct fixture *f;
    struct model models[KINDS];
    cl_mem plain;
    uint8_t bytes[BUFFER_BYTES]; /* of that */
    uint8_t host[8 * PITCH];     /* the memory of the last kind */
    size_t texel;                /* bytes */
    uint64_t random;
};

static const struct kind {
    const char *name;
    cl_mem_object_type type;
    size_t width, height, depth, layers;
    bool in_buffer, in_host;
} kinds[KINDS] = {
    { "1D", CL_MEM_OBJECT_IMAGE1D, 17, 0, 0, 0, false, false },
    { "1D in a buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, 19, 0, 0, 0, true, false },
    { "1D array", CL_MEM_OBJECT_IMAGE1D_ARRAY, 9, 0, 0, 5, false, false },
    { "2D", CL_MEM_OBJECT_IMAGE2D, 11, 7, 0, 0, false, false },
    { "2D array", CL_MEM_OBJECT_IMAGE2D_ARRAY, 7, 5, 0, 3, false, false },
    { "3D", CL_MEM_OBJECT_IMAGE3D, 6, 5, 4, 0, false, false },
    { "2D in a buffer", CL_MEM_OBJECT_IMAGE2D, 10, 6, 0, 0, true, false },
    { "2D in the program's memory", CL_MEM_OBJECT_IMAGE2D, 12, 8, 0, 0, false, true },
};

static const cl_image_format formats[] = { { CL_R, CL_UNSIGNED_INT8 },
                                           { CL_RG, CL_UNSIGNED_INT8 },
                                           { CL_RGBA, CL_UNSIGNED_INT8 },
                                           { CL_RG, CL_UNSIGNED_INT32 },
                                           { CL_RGBA, CL_UNSIGNED_INT32 } };
static const size_t texel_bytes[] = { 1, 2, 4, 8, 16 };

static size_t below(struct world *world, size_t most)
{
    return fixture_random(&world->random) % most;
}

static uint8_t *texel_of(struct world *world, struct model *model, size_t x, size_t y, size_t z)
{
    return model->texels + ((z * model->extent[1] + y) * model->extent[0] + x) * world->texel;
}

/* ---- making ---- */

static void make(struct world *world, size_t n, const cl_image_format *format)
{
    const struct kind *kind = &kinds[n];
    struct model *model = &world->models[n];
    cl_image_desc desc = { .image_type = kind->type,
                           .image_width = kind->width,
                           .image_height = kind->height,
                           .image_depth = kind->depth,
                           .image_array_size = kind->layers };
    const size_t pitched = (kind->width + 3) * world->texel;
    const uint32_t nothing[4] = { 0 };
    const size_t origin[3] = { 0, 0, 0 };
    cl_int error = CL_SUCCESS;

    model->lines = kind->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    model->extent[0] = kind->width;
    model->extent[1] = PPU_MAX(model->lines ? kind->layers : kind->height, 1);
    model->extent[2] = PPU_MAX(model->lines ? 0 : kind->depth + kind->layers, 1);
    model->buffer = kind->in_buffer ? fixture_buffer(world->f, 0, pitched * model->extent[1], NULL) : NULL;
    desc.mem_object = model->buffer;
    desc.image_row_pitch = kind->height > 0 && (kind->in_buffer || kind->in_host) ? pitched : 0;
    model->image = clCreateImage(world->f->context, kind->in_host ? CL_MEM_USE_HOST_PTR : 0, format, &desc,
                                 kind->in_host ? world->host : NULL, &error);
    check(error);
    check(clEnqueueFillImage(world->f->queue, model->image, nothing, origin, model->extent, 0, NULL, NULL));
    memset(model->texels, 0, sizeof(model->texels));
}

static void end(struct world *world)
{
    for (size_t n = 0; n < KINDS; n++) {
        check(clReleaseMemObject(world->models[n].image));
        if (world->models[n].buffer) {
            check(clReleaseMemObject(world->models[n].buffer));
        }
    }
    check(clReleaseMemObject(world->plain));
}

/* ---- commands ---- */

/* Some texels of an image; `most`: how many of each dimension. */
static void choose(struct world *world, const struct model *model, const size_t *most, size_t *origin, size_t *region)
{
    for (size_t i = 0; i < 3; i++) {
        region[i] = 1 + below(world, PPU_MIN(model->extent[i], most[i]));
        origin[i] = below(world, model->extent[i] - region[i] + 1);
    }
}

/* What a model has of a region, in memory with these pitches, or the other way round. */
static void move(struct world *world, struct model *model, const size_t *origin, const size_t *region, uint8_t *memory,
                 size_t row, size_t slice, bool to_model)
{
    for (size_t i = 0; i < region[1] * region[2]; i++) {
        const size_t y = i % region[1], z = i / region[1];
        uint8_t *there = memory + (model->lines ? y * slice : y * row + z * slice);
        uint8_t *here = texel_of(world, model, origin[0], origin[1] + y, origin[2] + z);
        memcpy(to_model ? here : there, to_model ? there : here, region[0] * world->texel);
    }
}

static void scramble(struct world *world, uint8_t *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        memory[i] = (uint8_t)fixture_random(&world->random);
    }
}

/* Pitches that a region has in memory: the smallest, said or not, or larger. */
struct pitches {
    size_t said[2], row, slice;
};

static struct pitches choose_pitches(struct world *world, const struct model *model, const size_t *region)
{
    struct pitches p = { .row = (region[0] + below(world, 3)) * world->texel };
    const size_t rows = model->lines ? 1 : region[1];
    bool sliced = model->lines || model->extent[2] > 1;

    p.slice = p.row * (rows + (sliced ? below(world, 2) : 0));
    p.said[0] = p.row == region[0] * world->texel && below(world, 2) ? 0 : p.row;
    p.said[1] = !sliced || (p.slice == p.row * rows && below(world, 2)) ? 0 : p.slice;
    return p;
}

static const size_t any[3] = { SIZE_MAX, SIZE_MAX, SIZE_MAX };

static void read_some(struct world *world, struct model *model)
{
    uint8_t got[4 * BUFFER_BYTES], expected[4 * BUFFER_BYTES];
    size_t origin[3], region[3];

    choose(world, model, any, origin, region);
    const struct pitches p = choose_pitches(world, model, region);
    memset(got, 0xaa, sizeof(got));
    memset(expected, 0xaa, sizeof(expected));
    move(world, model, origin, region, expected, p.row, p.slice, false);
    check(clEnqueueReadImage(world->f->queue, model->image, CL_TRUE, origin, region, p.said[0], p.said[1], got, 0, NULL,
                             NULL));
    assert_memory_equal(got, expected, sizeof(got));
}

static void write_some(struct world *world, struct model *model)
{
    uint8_t given[4 * BUFFER_BYTES];
    size_t origin[3], region[3];

    choose(world, model, any, origin, region);
    const struct pitches p = choose_pitches(world, model, region);
    scramble(world, given, sizeof(given));
    check(clEnqueueWriteImage(world->f->queue, model->image, CL_TRUE, origin, region, p.said[0], p.said[1], given, 0,
                              NULL, NULL));
    move(world, model, origin, region, given, p.row, p.slice, true);
}

static void fill_some(struct world *world, struct model *model)
{
    size_t origin[3], region[3], channels = PPU_MIN(world->texel, 4);
    uint32_t colour[4];
    uint8_t texel[MOST_TEXEL];

    choose(world, model, any, origin, region);
    if (world->texel >= 8) {
        channels = world->texel / 4;
    }
    for (size_t i = 0; i < 4; i++) {
        colour[i] = world->texel >= 8 ? fixture_random(&world->random) : (uint32_t)below(world, 256);
        texel[i] = (uint8_t)colour[i];
    }
    if (world->texel >= 8) {
        memcpy(texel, colour, channels * 4);
    }
    check(clEnqueueFillImage(world->f->queue, model->image, colour, origin, region, 0, NULL, NULL));
    for (size_t i = 0; i < region[0] * region[1] * region[2]; i++) {
        const size_t x = i % region[0], y = i / region[0] % region[1], z = i / region[0] / region[1];
        memcpy(texel_of(world, model, origin[0] + x, origin[1] + y, origin[2] + z), texel, world->texel);
    }
}

static bool overlap(const size_t *a, const size_t *b, const size_t *region)
{
    bool both = true;

    for (size_t i = 0; i < 3; i++) {
        both &= a[i] < b[i] + region[i] && b[i] < a[i] + region[i];
    }
    return both;
}

static void copy_some(struct world *world, struct model *from)
{
    uint8_t texels[MOST_TEXELS * MOST_TEXEL];
    struct model *to = &world->models[below(world, KINDS)];
    size_t origin[3], target[3], region[3];

    choose(world, from, to->extent, origin, region);
    for (size_t i = 0; i < 3; i++) {
        target[i] = below(world, to->extent[i] - region[i] + 1);
    }
    const bool meet = from == to && overlap(origin, target, region);
    assert_int_equal(clEnqueueCopyImage(world->f->queue, from->image, to->image, origin, target, region, 0, NULL, NULL),
                     meet ? CL_MEM_COPY_OVERLAP : CL_SUCCESS);
    if (!meet) {
        const size_t row = region[0] * world->texel;
        move(world, from, origin, region, texels, row, from->lines ? row : row * region[1], false);
        move(world, to, target, region, texels, row, to->lines ? row : row * region[1], true);
    }
}

static void copy_with_buffer(struct world *world, struct model *model, bool to_image)
{
    size_t origin[3], region[3];

    choose(world, model, any, origin, region);
    const size_t row = region[0] * world->texel, bytes = row * region[1] * region[2];
    const size_t at = below(world, BUFFER_BYTES - bytes + 1);
    check(to_image ? clEnqueueCopyBufferToImage(world->f->queue, world->plain, model->image, at, origin, region, 0,
                                                NULL, NULL)
                   : clEnqueueCopyImageToBuffer(world->f->queue, model->image, world->plain, origin, region, at, 0,
                                                NULL, NULL));
    move(world, model, origin, region, world->bytes + at, row, model->lines ? row : row * region[1], to_image);
}

static void map_some(struct world *world, struct model *model)
{
    static const cl_map_flags ways[] = { CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_WRITE_INVALIDATE_REGION };
    const cl_map_flags flags = ways[below(world, PPU_ARRAY_SIZE(ways))];
    uint8_t expected[MOST_TEXELS * MOST_TEXEL], seen[MOST_TEXELS * MOST_TEXEL];
    size_t origin[3], region[3], row = 0, slice = 0;
    cl_int error = CL_SUCCESS;

    choose(world, model, any, origin, region);
    uint8_t *at = clEnqueueMapImage(world->f->queue, model->image, CL_TRUE, flags, origin, region, &row, &slice, 0,
                                    NULL, NULL, &error);
    check(error);
    assert_int_equal(slice == 0, !model->lines && model->extent[2] == 1);
    const size_t line = region[0] * world->texel, tight = model->lines ? line : line * region[1];
    struct model mapped = *model;
    move(world, model, origin, region, expected, line, tight, false);
    if (flags != CL_MAP_WRITE_INVALIDATE_REGION) {
        move(world, &mapped, origin, region, at, row, slice, true);
        move(world, &mapped, origin, region, seen, line, tight, false);
        assert_memory_equal(seen, expected, line * region[1] * region[2]);
    }
    if (flags != CL_MAP_READ) {
        scramble(world, expected, sizeof(expected));
        move(world, model, origin, region, expected, line, tight, true);
        move(world, model, origin, region, at, row, slice, false);
    }
    check(clEnqueueUnmapMemObject(world->f->queue, model->image, at, 0, NULL, NULL));
}

static void do_some(struct world *world, struct model *model)
{
    switch (below(world, 7)) {
    case 0:
        read_some(world, model);
        break;
    case 1:
        write_some(world, model);
        break;
    case 2:
        fill_some(world, model);
        break;
    case 3:
        copy_some(world, model);
        break;
    case 4:
        copy_with_buffer(world, model, below(world, 2) == 0);
        break;
    case 5:
        map_some(world, model);
        break;
    default:
        check(clEnqueueMigrateMemObjects(world->f->queue, 1, &model->image,
                                         below(world, 2) ? CL_MIGRATE_MEM_OBJECT_HOST : 0, 0, NULL, NULL));
        break;
    }
}

static void every_kind_agrees(void **state)
{
    const size_t origin[3] = { 0, 0, 0 };
    struct world *world = calloc(1, sizeof(*world));
    uint8_t got[BUFFER_BYTES];

    assert_non_null(world);
    world->f = *state;
    world->random = fixture_seed();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const size_t format = below(world, PPU_ARRAY_SIZE(formats));
        world->texel = texel_bytes[format];
        for (size_t n = 0; n < KINDS; n++) {
            make(world, n, &formats[format]);
        }
        scramble(world, world->bytes, sizeof(world->bytes));
        world->plain = fixture_buffer(world->f, CL_MEM_COPY_HOST_PTR, BUFFER_BYTES, world->bytes);
        for (uint32_t i = 0; i < COMMANDS; i++) {
            do_some(world, &world->models[below(world, KINDS)]);
        }
        for (size_t n = 0; n < KINDS; n++) {
            const struct model *model = &world->models[n];
            check(clEnqueueReadImage(world->f->queue, model->image, CL_TRUE, origin, model->extent, 0, 0, got, 0, NULL,
                                     NULL));
            const size_t bytes = model->extent[0] * model->extent[1] * model->extent[2] * world->texel;
            if (memcmp(got, model->texels, bytes) != 0) {
                fail_msg("round %u, %s, texels of %zu bytes", round, kinds[n].name, world->texel);
            }
        }
        check(clEnqueueReadBuffer(world->f->queue, world->plain, CL_TRUE, 0, BUFFER_BYTES, got, 0, NULL, NULL));
        assert_memory_equal(got, world->bytes, BUFFER_BYTES);
        end(world);
    }
    free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("images of every kind hold what random commands move [F6]", every_kind_agrees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
