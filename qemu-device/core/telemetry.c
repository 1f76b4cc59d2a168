/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state area (ppu/state.h): what the device measures, and copies of the firmware's tables. Where those lie is read
 * from VRAM, which the host can write: every place is checked before it is used.
 */
#define _POSIX_C_SOURCE 200809L /* clocks */

#include "qemu-device/core/telemetry.h"
#include "ppu/macros.h"
#include "ppu/state.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/gauges.h"
#include "qemu-device/core/sm/gpc.h"
#include "qemu-device/core/sm/pool.h"

#include <stddef.h>
#include <time.h>

#define NS_PER_S 1000000000ull

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    return clock_gettime(clock, &now) == 0 ? (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec : 0;
}

/* ---- what the device measures ---- */

struct gauges {
    struct core *core;
    uint8_t *at; /* struct ppu_telemetry, in VRAM */
};

#define PUT(gauges, member, value) \
    vram_write64((gauges)->at + offsetof(struct ppu_telemetry, member), (uint64_t)(value))
#define PUT_OF(gauges, array, index, row, value)                                                          \
    vram_write64((gauges)->at + offsetof(struct ppu_telemetry, array) +                                   \
                     ((size_t)(index)*PPU_ARRAY_SIZE(((struct ppu_telemetry *)NULL)->array[0]) + (row)) * \
                         sizeof(uint64_t),                                                                \
                 (uint64_t)(value))

static void put_device(const struct gauges *gauges)
{
    struct core *core = gauges->core;
    const struct core_config *config = &core->config;

    PUT(gauges, device[PPU_TELEMETRY_DEVICE_TIME_NS], core_now(core));
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_HOST_NS], clock_ns(CLOCK_MONOTONIC));
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_MCU_NS], core->ops.mcu_cpu_ns ? core->ops.mcu_cpu_ns(core->opaque) : 0);
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_PROCESS_NS], clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_MCU_STATE], reg_get(core, PPU_REG_MCU_STATE));
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_BOOT_STATUS], reg_get(core, PPU_REG_BOOT_STATUS));
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_SMS], config->sms);
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_GPCS], config->gpcs);
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_THREADS], sm_threads(core));
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_SM_CTAS], config->sm_ctas);
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_SM_WARPS], config->sm_warps);
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_SM_VREGS], config->sm_vregs);
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_SM_SHARED], config->sm_shared);
    PUT(gauges, device[PPU_TELEMETRY_DEVICE_COPIES], core_reg_read(core, CORE_MCU, PPU_REG_DMA_QUEUED));
}

static void put_sms(const struct gauges *gauges)
{
    struct core *core = gauges->core;

    for (uint32_t i = 0; i < core->config.sms; i++) {
        struct sm_gauges sm = sm_gauges(core, i);

        PUT_OF(gauges, sm, i, PPU_TELEMETRY_SM_BUSY_NS, sm.busy_ns);
        PUT_OF(gauges, sm, i, PPU_TELEMETRY_SM_CTAS, sm.ctas);
        PUT_OF(gauges, sm, i, PPU_TELEMETRY_SM_WARPS, sm.passes);
        PUT_OF(gauges, sm, i, PPU_TELEMETRY_SM_VREGS, sm.vregs);
        PUT_OF(gauges, sm, i, PPU_TELEMETRY_SM_SHARED, sm.shared_bytes);
        PUT_OF(gauges, sm, i, PPU_TELEMETRY_SM_THREAD, sm.thread);
        for (uint32_t counter = 0; counter < PPU_COUNTERS; counter++) {
            PUT_OF(gauges, count, i, counter, sm_count(core, i, counter));
        }
    }
    for (uint32_t i = 0; i < sm_threads(core); i++) {
        PUT_OF(gauges, thread, i, PPU_TELEMETRY_THREAD_CPU_NS, sm_thread_ns(core, i));
    }
}

static void put_gpcs(const struct gauges *gauges)
{
    struct core *core = gauges->core;
    const uint32_t each = core->config.sms / core->config.gpcs;

    for (uint32_t i = 0; i < core->config.gpcs; i++) {
        uint32_t ctas = 0;

        for (uint32_t sm = i * each; sm < (i + 1) * each; sm++) {
            ctas += sm_gauges(core, sm).ctas;
        }
        PUT_OF(gauges, gpc, i, PPU_TELEMETRY_GPC_CTAS, ctas);
#define GPC_COUNTER(name) PUT_OF(gauges, gpc, i, PPU_TELEMETRY_GPC_##name, sm_gpc_count(core, i, GPC_##name));
        GPC_COUNTER_ROWS(GPC_COUNTER)
#undef GPC_COUNTER
    }
}

static void put_contexts(const struct gauges *gauges)
{
    struct core *core = gauges->core;

    for (uint32_t i = 0; i < core->config.contexts; i++) {
        PUT_OF(gauges, context, i, PPU_TELEMETRY_CONTEXT_SM_NS, sm_time_ns(core, i));
        PUT_OF(gauges, context, i, PPU_TELEMETRY_CONTEXT_ROOT, reg_get(core, PPU_REG_CTX_ROOT + 4 * i));
    }
}

static void put_slots(const struct gauges *gauges)
{
    struct core *core = gauges->core;

    for (uint32_t i = 0; i < core->config.slots; i++) {
        uint32_t ctas;

        PUT_OF(gauges, slot, i, PPU_TELEMETRY_SLOT_STATE, dist_shown(core, i, &ctas));
        PUT_OF(gauges, slot, i, PPU_TELEMETRY_SLOT_CTAS, ctas);
        PUT_OF(gauges, slot, i, PPU_TELEMETRY_SLOT_WAITING, dist_waiting(core, i / 32) >> i % 32 & 1u);
    }
}

/* ---- the firmware's tables ---- */

static bool is_protected(const struct core *core, uint64_t off, uint64_t bytes)
{
    uint64_t limit = PPU_MIN(reg_get(core, PPU_REG_PROT_LIMIT), core->config.vram_bytes);

    return off >= reg_get(core, PPU_REG_PROT_BASE) && off <= limit && bytes <= limit - off;
}

static void copy_table(struct core *core, const struct ppu_state_table *table)
{
    uint64_t bytes = (uint64_t)table->count * table->stride;

    if (table->mcu == 0 || bytes > PPU_MCU_DTCM_BYTES || !is_protected(core, table->vram, bytes)) {
        return;
    }
    const uint8_t *rows = core->ops.mcu_mem(core->opaque, table->mcu, (uint32_t)bytes);
    if (rows) {
        vram_copy(core->vram + table->vram, rows, bytes);
    }
}

static void copy_tables(struct core *core, const uint8_t *area)
{
    for (uint32_t i = 0; i < PPU_STATE_TABLES; i++) {
        struct ppu_state_table table;

        vram_copy((uint8_t *)&table, area + offsetof(struct ppu_state, table) + i * sizeof(table), sizeof(table));
        copy_table(core, &table);
    }
}

/* The state area; NULL: there is none. */
static uint8_t *area_of(const struct core *core)
{
    uint32_t base = reg_get(core, PPU_REG_STATE_BASE);

    return base != 0 && is_protected(core, base, sizeof(struct ppu_state)) ? core->vram + base : NULL;
}

static uint32_t asked_in(const uint8_t *area)
{
    return vram_load_acquire32(area + offsetof(struct ppu_state, asked));
}

void telemetry_update(struct core *core)
{
    uint8_t *area = area_of(core);

    if (!area) {
        return;
    }
    uint8_t *sequence = area + offsetof(struct ppu_state, sequence);
    uint32_t before = vram_load_acquire32(sequence) | 1u;
    uint32_t asked = asked_in(area);
    const struct gauges gauges = { core, area + offsetof(struct ppu_state, telemetry) };

    vram_store_release32(sequence, before);
    vram_fence_stores(); /* a reader that sees a new word sees the odd sequence too */
    put_device(&gauges);
    put_contexts(&gauges); /* before the SMs: together they have been busy for at least as long */
    put_sms(&gauges);
    put_gpcs(&gauges);
    put_slots(&gauges);
    copy_tables(core, area);
    vram_store_release32(sequence, before + 1);
    vram_store_release32(area + offsetof(struct ppu_state, answered), asked);
}

bool core_show(struct core *core)
{
    const uint8_t *area = area_of(core);

    if (!area || asked_in(area) == vram_load_acquire32(area + offsetof(struct ppu_state, answered))) {
        return false;
    }
    telemetry_update(core);
    return true;
}
