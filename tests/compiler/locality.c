/* SPDX-License-Identifier: MIT */
#include "tests/compiler/locality.h"

#include <math.h>
#include <string.h>

#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/sm/pool.h"

#define ROW 256u
#define ROWS 512u
#define WAVE 128u
#define ITEMS 8192u

const char *const locality_kernels[] = { "row_sums", "matrix_vector", "hashes", "steps" };
const uint32_t locality_count = PPU_ARRAY_SIZE(locality_kernels);

/* Every loop that loads is a segment. */
static const struct device_variant variant = {
    .name = "waves of 128, open segments",
    .options = "",
    .wave = WAVE,
    .subvector = { .form = PPU_SEGMENTS_MAY, .threshold_kind = PPU_THRESHOLD_REGISTERS, .threshold = 0 },
};

struct device *locality_device_new(void)
{
    struct device *device = device_new();
    struct core_config config = *core_config_of(device->rig->board->core);

    rig_free(device->rig);
    config.cache_model = true;
    device->rig = rig_new_config(&config);
    device->variant = &variant;
    device_load_file(device, "locality", "-cl-std=CL1.2");
    return device;
}

static uint64_t counted(const struct device *device, enum ppu_counter counter)
{
    struct core *core = device->rig->board->core;
    uint64_t sum = 0;

    for (uint32_t sm = 0; sm < core_config_of(core)->sms; sm++) {
        sum += sm_count(core, sm, counter);
    }
    return sum;
}

/* What the kernel is to give for a row; x: the vector that matrix_vector has. */
static uint32_t expected(uint32_t kernel, const uint32_t row[ROW], const float *x)
{
    float sum = 0, most = 0, word[ROW];
    uint32_t hash = 2166136261u, bits;

    memcpy(word, row, sizeof(word));
    for (uint32_t j = 0; j < ROW; j++) {
        sum = x ? fmaf(word[j], x[j], sum) : sum + word[j];
        most = j != 0 ? fmaxf(most, fabsf(word[j] - word[j - 1])) : 0;
        for (uint32_t k = 0; k < 4; k++) {
            hash = (hash ^ (row[j] >> 8 * k & 255u)) * 16777619u;
        }
    }
    sum = kernel == 3 ? most : sum;
    memcpy(&bits, &sum, sizeof(bits));
    return kernel == 2 ? hash : bits;
}

struct locality_cost locality_run(struct device *device, uint32_t kernel, enum ppu_tmd_mode mode)
{
    static const enum ppu_counter counters[4] = { PPU_COUNTER_L1_HITS, PPU_COUNTER_L1_MISSES, PPU_COUNTER_OPEN_PARTS,
                                                  PPU_COUNTER_OPEN_NORMAL };
    uint64_t count[4];

    device_kernel(device, locality_kernels[kernel]);
    uint32_t *a = device_buffer(device, 0, ROWS * ROW * 4);
    uint32_t *out = device_buffer(device, 1, ITEMS * 4);
    float *x = kernel == 1 ? device_buffer(device, 2, ROW * 4) : NULL;
    for (uint32_t i = 0; i < ROWS * ROW; i++) {
        const float value = (float)(i * 7919u % 1000u) / 8 - 60;
        memcpy(&a[i], &value, sizeof(value));
    }
    for (uint32_t j = 0; j < ROW && x; j++) {
        x[j] = (float)(j % 17u) / 4 - 2;
    }
    for (uint32_t i = 0; i < 4; i++) {
        count[i] = counted(device, counters[i]);
    }
    device->mode = mode;
    device_run_threads(device, ITEMS, WAVE);
    for (uint32_t i = 0; i < 4; i++) {
        count[i] = counted(device, counters[i]) - count[i];
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        device_expect(device, locality_kernels[kernel], i, (int32_t)out[i],
                      (int32_t)expected(kernel, &a[i % ROWS * ROW], x));
    }
    return (struct locality_cost){ (double)count[1] / (double)(count[0] + count[1]),
                                   (double)count[2] / (double)(count[2] + count[3]) };
}
