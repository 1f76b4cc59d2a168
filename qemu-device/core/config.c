/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the size of a machine: defaults and limits of every property (A1). */
#include "ppu/counter.h"
#include "ppu/macros.h"
#include "qemu-device/core/config_limits.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/engine/levels.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/tier/tier.h"

#define MAX_VRAM (1ull << 40)
#define MIN_LINE 32u
#define MAX_LINE 1024u /* a line lies in one page */
#define MAX_L1 (16u * PPU_MIB)
#define MAX_L2 (256u * PPU_MIB)
#define MAX_WAYS 64u
#define MAX_TLB 65536u

void core_config_default(struct core_config *config)
{
    *config = (struct core_config){
        .vram_bytes = PPU_DEFAULT_VRAM,
        .channels = 256,
        .contexts = 64,
        .slots = 64,
        .gpcs = 2,
        .sms = 4,
        .sm_warps = 64,
        .sm_ctas = 32,
        .sm_vregs = 65536,
        .sm_shared = 128 * PPU_KIB,
        .sm_threads = 1,
        .subvector = true,
        .engine_tier = TIER_BESIDE,
        .engine_tier_socket = -1,
        .cache_line = PPU_TRANSACTION_BYTES,
        .l1_bytes = 64 * PPU_KIB,
        .l1_ways = 8,
        .l15_bytes = 128 * PPU_KIB,
        .l15_ways = 8,
        .l2_bytes = 2 * PPU_MIB,
        .l2_ways = 16,
        .gpc_tlb = 1024,
        .gpc_tlb_ways = 8,
    };
}

struct limit {
    size_t offset;
    uint32_t min;
    uint32_t max;
    const char *sentence;
};

static const struct limit limits[] = {
    { offsetof(struct core_config, channels), 1, PPU_MAX_CHANNELS, "channels must be 1 to 4096" },
    { offsetof(struct core_config, contexts), 1, PPU_MAX_CONTEXTS, "contexts must be 1 to 256" },
    { offsetof(struct core_config, slots), 1, PPU_MAX_SLOTS, "slots must be 1 to 64" },
    { offsetof(struct core_config, sms), 1, PPU_MAX_SMS, "sms must be 1 to 256" },
    { offsetof(struct core_config, gpcs), 1, PPU_MAX_GPCS, "gpcs must be 1 to 64" },
    { offsetof(struct core_config, sm_warps), PPU_MAX_CTA_THREADS / PPU_LANES, CORE_MAX_SM_WARPS,
      "sm-warps must be 32 to 256" },
    { offsetof(struct core_config, sm_ctas), 1, CORE_MAX_SM_CTAS, "sm-ctas must be 1 to 256" },
    { offsetof(struct core_config, sm_vregs), PPU_LANES *PPU_MAX_VREGS, CORE_MAX_SM_VREGS,
      "sm-vregs must be 8192 to 1048576" },
    { offsetof(struct core_config, sm_shared), PPU_MAX_SHARED, CORE_MAX_SM_SHARED,
      "sm-shared must be 98304 to 16777216 bytes" },
    { offsetof(struct core_config, engine_tier), 0, TIER_MODES - 1,
      "engine-tier must be 0 (off), 1 (beside the interpreter) or 2 (at once)" },
    { offsetof(struct core_config, sm_threads), 0, CORE_MAX_SM_THREADS, "sm-threads must be 0 to 64" },
};

static bool is_power(uint32_t value, uint32_t min, uint32_t max)
{
    return value >= min && value <= max && PPU_IS_POWER_OF_TWO(value);
}

/* The sizes are looked at whether or not they are used: an error is told when it is made. */
static const char *caches_check(const struct core_config *config)
{
    if (!is_power(config->cache_line, MIN_LINE, MAX_LINE)) {
        return "cache-line must be a power of two from 32 to 1024 bytes";
    }
    if (!is_power(config->l1_ways, 1, MAX_WAYS) || !is_power(config->l15_ways, 1, MAX_WAYS) ||
        !is_power(config->l2_ways, 1, MAX_WAYS) || !is_power(config->gpc_tlb_ways, 1, MAX_WAYS)) {
        return "l1-ways, l15-ways, l2-ways and gpc-tlb-ways must be powers of two from 1 to 64";
    }
    if (!is_power(config->l1_bytes, config->l1_ways * config->cache_line, MAX_L1)) {
        return "l1-size must be a power of two from l1-ways times cache-line to 16 MiB";
    }
    if (!is_power(config->l15_bytes, config->l15_ways * config->cache_line, MAX_L1)) {
        return "l15-size must be a power of two from l15-ways times cache-line to 16 MiB";
    }
    if (!is_power(config->gpc_tlb, config->gpc_tlb_ways, MAX_TLB)) {
        return "gpc-tlb must be a power of two from gpc-tlb-ways to 65536 entries";
    }
    if (!is_power(config->l2_bytes, config->l2_ways * config->cache_line, MAX_L2)) {
        return "l2-size must be a power of two from l2-ways times cache-line to 256 MiB";
    }
    return NULL;
}

const char *core_config_check(const struct core_config *config)
{
    uint64_t vram = config->vram_bytes;

    if (vram < PPU_MIN_VRAM(0, 0) || vram > MAX_VRAM || !PPU_IS_POWER_OF_TWO(vram)) {
        return "vram-size must be a power of two from 16 MiB to 1 TiB";
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(limits); i++) {
        uint32_t value = *(const uint32_t *)(const void *)((const uint8_t *)config + limits[i].offset);

        if (value < limits[i].min || value > limits[i].max) {
            return limits[i].sentence;
        }
    }
    if (vram < PPU_MIN_VRAM(config->sms, config->channels)) {
        return "vram-size must be at least 32 MiB with more than 64 sms or 1024 channels";
    }
    if (engine_level(config->engine_level) == 0) {
        return "engine-level must be 0 (the best), 1 (plain C), or one of x86-64-v2 to v4 that the host has: 2 to 4";
    }
    if (config->sms % config->gpcs != 0) {
        return "gpcs must divide sms";
    }
    return caches_check(config);
}
