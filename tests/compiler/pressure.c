/* SPDX-License-Identifier: MIT */
#include "tests/compiler/pressure.h"

#include "ppu/macros.h"
#include "tests/engine/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *buffer(const struct device *device, uint32_t at)
{
    return (const uint8_t *)rig_data(device->rig, at);
}

/* Offset that the next buffer gets. */
static uint32_t next_buffer(const struct device *device)
{
    return device->data_used;
}

static float small(uint32_t i)
{
    return (float)(i * 7919u % 31u) * 0.25f - 3.5f;
}

/* Results differ from the host's by rounding alone. */
static void expect_near(const char *what, uint32_t i, double got, double wanted, double size)
{
    if (!(fabs(got - wanted) <= 1e-5 * size)) {
        fail_msg("%s: element %u is %g, not %g", what, i, got, wanted);
    }
}

/* ---- tile_matmul ---- */

#define MATMUL_N 128u
#define MATMUL_ROWS 64u /* of the product that are computed */

static void describe_matmul(struct device *device)
{
    float *a = device_buffer(device, 0, MATMUL_N * MATMUL_N * 4),
          *b = device_buffer(device, 1, MATMUL_N * MATMUL_N * 4);

    device_buffer(device, 2, MATMUL_N * MATMUL_N * 4);
    device_int(device, 3, MATMUL_N);
    for (uint32_t i = 0; i < MATMUL_N * MATMUL_N; i++) {
        a[i] = small(i);
        b[i] = small(i + 5);
    }
}

static void check_matmul(const struct device *device)
{
    const float *a = (const float *)(const void *)buffer(device, 0), *b = a + MATMUL_N * MATMUL_N,
                *c = b + MATMUL_N * MATMUL_N;

    for (uint32_t i = 0; i < MATMUL_ROWS * MATMUL_N; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < MATMUL_N; k++) {
            sum += (double)a[i / MATMUL_N * MATMUL_N + k] * (double)b[k * MATMUL_N + i % MATMUL_N];
        }
        expect_near("tile_matmul", i, (double)c[i], sum, 1); /* every product and sum is exact in float */
    }
}

/* ---- fourier256 ---- */

#define FOURIER_BYTES (8u * 256u * 8u) /* 8 transforms */

static void describe_fourier(struct device *device)
{
    float *in = device_buffer(device, 0, FOURIER_BYTES);

    device_buffer(device, 1, FOURIER_BYTES);
    float *turns = device_buffer(device, 2, 256 * 8);
    for (uint32_t i = 0; i < FOURIER_BYTES / 4; i++) {
        in[i] = small(i);
    }
    for (uint32_t i = 0; i < 256; i++) {
        turns[2 * i] = (float)cos(-2 * M_PI * i / 256);
        turns[2 * i + 1] = (float)sin(-2 * M_PI * i / 256);
    }
}

static void check_fourier(const struct device *device)
{
    const float *in = (const float *)(const void *)buffer(device, 0), *out = in + FOURIER_BYTES / 4;

    for (uint32_t i = 0; i < FOURIER_BYTES / 8; i += 37) {
        double re = 0, im = 0;
        for (uint32_t k = 0; k < 256; k++) {
            double angle = -2 * M_PI * (i % 256) * k / 256;
            double x = (double)in[2 * (i / 256 * 256 + k)], y = (double)in[2 * (i / 256 * 256 + k) + 1];
            re += x * cos(angle) - y * sin(angle);
            im += x * sin(angle) + y * cos(angle);
        }
        expect_near("fourier256", i, (double)out[2 * i], re, 100);
        expect_near("fourier256", i, (double)out[2 * i + 1], im, 100);
    }
}

/* ---- bodies ---- */

#define BODIES 768u /* 128 threads */
#define PULLING 48u /* bodies that have forces */

static void describe_bodies(struct device *device)
{
    float *position = device_buffer(device, 0, BODIES * 16);

    device_buffer(device, 1, BODIES * 16);
    device_int(device, 2, PULLING);
    for (uint32_t i = 0; i < BODIES * 4; i++) {
        position[i] = i % 4 == 3 ? 1.0f + (float)(i % 3) : small(i);
    }
}

static void check_bodies(const struct device *device)
{
    const float *position = (const float *)(const void *)buffer(device, 0), *force = position + BODIES * 4;

    for (uint32_t i = 0; i < BODIES; i++) {
        double sum[3] = { 0 }, size = 1;
        for (uint32_t j = 0; j < PULLING; j++) {
            double way[3], square = 0.01;
            for (uint32_t d = 0; d < 3; d++) {
                way[d] = (double)position[4 * j + d] - (double)position[4 * i + d];
                square += way[d] * way[d];
            }
            for (uint32_t d = 0; d < 3; d++) {
                double part = (double)position[4 * j + 3] / (square * sqrt(square)) * way[d];
                sum[d] += part;
                size += fabs(part);
            }
        }
        for (uint32_t d = 0; d < 3; d++) {
            expect_near("bodies", i, (double)force[4 * i + d], sum[d], size);
        }
    }
}

/* ---- sha256 ---- */

#define DIGESTS 128u

static void describe_sha(struct device *device)
{
    uint32_t *blocks = device_buffer(device, 0, DIGESTS * 64);

    device_buffer(device, 1, DIGESTS * 32);
    for (uint32_t i = 0; i < DIGESTS; i++) { /* "abc" and "aac" ..., padded (FIPS 180) */
        blocks[16 * i] = 0x61006380u | (0x62u - i % 2) << 16;
        blocks[16 * i + 15] = 24;
    }
}

static void check_sha(const struct device *device)
{
    static const uint32_t abc[8] = { 0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                     0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad };
    const uint32_t *digests = (const uint32_t *)(const void *)buffer(device, DIGESTS * 64);

    for (uint32_t i = 0; i < DIGESTS; i++) {
        bool same = memcmp(&digests[8 * i], abc, sizeof(abc)) == 0;
        assert_true(same == (i % 2 == 0));
        assert_true(i < 2 || memcmp(&digests[8 * i], &digests[8 * (i % 2)], sizeof(abc)) == 0);
    }
}

/* ---- aes128 ---- */

#define AES_BLOCKS 1024u /* 128 threads */

static uint8_t twice(uint8_t x)
{
    return (uint8_t)(x << 1 ^ (x >> 7) * 0x1bu);
}

/* The substitution: an inverse in the field of 256 numbers, and a linear map (FIPS 197). */
static void make_box(uint8_t box[256])
{
    uint8_t p = 1, q = 1;

    do {
        p = (uint8_t)(p ^ twice(p)); /* times 3 */
        q ^= (uint8_t)(q << 1);      /* by 3 */
        q ^= (uint8_t)(q << 2);
        q ^= (uint8_t)(q << 4);
        q ^= (uint8_t)((q >> 7) * 0x09u);
        uint32_t twins = q * 0x101u;
        box[p] = (uint8_t)(q ^ twins >> 7 ^ twins >> 6 ^ twins >> 5 ^ twins >> 4 ^ 0x63);
    } while (p != 1);
    box[0] = 0x63;
}

/* Words with the first byte lowest. */
static void make_keys(const uint8_t box[256], uint32_t keys[44])
{
    uint8_t round = 1;

    for (uint32_t i = 0; i < 4; i++) {
        keys[i] = 0x03020100u + 0x04040404u * i;
    }
    for (uint32_t i = 4; i < 44; i++) {
        uint32_t w = keys[i - 1];
        if (i % 4 == 0) {
            w = w >> 8 | w << 24;
            w = (uint32_t)box[w & 255] | (uint32_t)box[w >> 8 & 255] << 8 | (uint32_t)box[w >> 16 & 255] << 16 |
                (uint32_t)box[w >> 24] << 24;
            w ^= round;
            round = twice(round);
        }
        keys[i] = keys[i - 4] ^ w;
    }
}

static void describe_aes(struct device *device)
{
    uint8_t box[256];
    uint8_t *in = device_buffer(device, 0, AES_BLOCKS * 16);

    device_buffer(device, 1, AES_BLOCKS * 16);
    make_box(box);
    make_keys(box, device_buffer(device, 2, 44 * 4));
    uint32_t *table = device_buffer(device, 3, 256 * 4);
    for (uint32_t i = 0; i < 256; i++) { /* 2, 1, 1 and 3 times the substitute */
        uint32_t s = box[i], t = twice(box[i]);
        table[i] = t | s << 8 | s << 16 | (t ^ s) << 24;
    }
    for (uint32_t i = 0; i < AES_BLOCKS * 16; i++) {
        in[i] = (uint8_t)(i % 16 * 0x11u + i / 16 % 3);
    }
}

static void check_aes(const struct device *device)
{
    static const uint8_t example[16] = { 0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                         0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a };
    const uint8_t *out = buffer(device, AES_BLOCKS * 16);

    for (uint32_t i = 0; i < AES_BLOCKS; i++) {
        bool same = memcmp(&out[16 * i], example, sizeof(example)) == 0;
        assert_true(same == (i % 3 == 0));
        assert_true(memcmp(&out[16 * i], &out[16 * (i % 3)], sizeof(example)) == 0);
    }
}

/* ---- all ---- */

const struct pressure_case pressure_cases[] = {
    { "tile_matmul",
      describe_matmul,
      check_matmul,
      2 * MATMUL_N *MATMUL_N * 4,
      MATMUL_ROWS *MATMUL_N * 4,
      { 1, 1 },
      { 16, 8 } },
    { "fourier256", describe_fourier, check_fourier, FOURIER_BYTES, FOURIER_BYTES, { 2, 1 }, { 64, 1 } },
    { "bodies", describe_bodies, check_bodies, BODIES * 16, BODIES * 16, { 1, 1 }, { 128, 1 } },
    { "sha256", describe_sha, check_sha, DIGESTS * 64, DIGESTS * 32, { 1, 1 }, { 128, 1 } },
    { "aes128", describe_aes, check_aes, AES_BLOCKS * 16, AES_BLOCKS * 16, { 1, 1 }, { 128, 1 } },
};
const uint32_t pressure_count = PPU_ARRAY_SIZE(pressure_cases);

static void describe(struct device *device, const struct pressure_case *which)
{
    assert_int_equal(next_buffer(device), 0);
    which->describe(device);
}

uint8_t *pressure_run(struct device *device, const struct pressure_case *which)
{
    enum ppu_subvector_form form = device->variant->subvector.form;
    const uint32_t *grid = which->grid, *threads = which->threads;

    device_kernel(device, which->name);
    describe(device, which);
    uint8_t *reference = form == PPU_SEGMENTS_OFF || form == PPU_SEGMENTS_ENTER
                             ? device_reference(device, grid[0], grid[1], threads[0], threads[1])
                             : NULL;
    device_run(device, grid[0], grid[1], threads[0], threads[1]);
    if (reference && memcmp(reference + which->out, buffer(device, which->out), which->out_bytes) != 0) {
        fail_msg("%s, %s: the reference executor differs", which->name, device->variant->name);
    }
    free(reference);
    which->check(device);
    uint8_t *out = malloc(which->out_bytes + 1u);
    assert_non_null(out);
    memcpy(out, buffer(device, which->out), which->out_bytes);
    return out;
}

/* An instruction that each lane executes for itself. */
static bool is_vector(const struct ppu_insn *insn)
{
    return !insn->scalar && !(ppu_isa_row(insn->op)->flags & PPU_IF_B) && insn->format != PPU_FMT_NONE &&
           insn->format != PPU_FMT_IMM && insn->format != PPU_FMT_FENCE;
}

struct pressure_cost pressure_cost_of(struct device *device, const struct pressure_case *which)
{
    const struct ppu_program_view *program = &device->rig->program;
    uint32_t insns = program->header->code_bytes / PPU_INSN_BYTES;
    uint64_t *counts = calloc(insns, sizeof(*counts));
    bool inside = false;

    assert_non_null(counts);
    device_kernel(device, which->name);
    describe(device, which);
    device->counts = counts;
    free(device_reference(device, which->grid[0], which->grid[1], which->threads[0], which->threads[1]));
    device->counts = NULL;
    uint32_t wave = device->kernel.wave;
    struct pressure_cost cost = { wave / PPU_LANES, device->kernel.vregs, device->kernel.shared_vregs, 0 };
    for (uint32_t i = 0; i < insns; i++) {
        struct ppu_insn insn;
        uint64_t word;
        memcpy(&word, program->code + (size_t)i * PPU_INSN_BYTES, sizeof(word));
        if (ppu_isa_decode(word, &insn) != 0) {
            break; /* constants */
        }
        cost.passes += (double)counts[i] / (is_vector(&insn) || inside ? PPU_LANES : wave);
        inside = insn.op == PPU_OP_SVENTER || (inside && insn.op != PPU_OP_SVLEAVE);
    }
    free(counts);
    return cost;
}
