/* SPDX-License-Identifier: MIT */
#include "tools/top/figures.h"

#include <stdlib.h>

#include "ppu/admin.h"
#include "ppu/macros.h"

#define PERCENT 100.0
#define NS_PER_S 1e9

static const struct ppu_telemetry *telemetry_of(const struct view *view)
{
    return &view->area->telemetry;
}

/* Percent of `base_ns` that `after` is beyond `before`. */
static double load_of(uint64_t after, uint64_t before, double base_ns)
{
    return base_ns > 0 && after >= before ? PERCENT * (double)(after - before) / base_ns : FIGURES_UNKNOWN;
}

static double host_ns(const struct device *device)
{
    if (!device_has_rates(device)) {
        return 0;
    }
    const struct ppu_telemetry *now = telemetry_of(&device->now), *before = telemetry_of(&device->before);
    /* SMs in slices count virtual time. */
    uint32_t clock =
        now->device[PPU_TELEMETRY_DEVICE_THREADS] == 0 ? PPU_TELEMETRY_DEVICE_TIME_NS : PPU_TELEMETRY_DEVICE_HOST_NS;
    return (double)(now->device[clock] - before->device[clock]);
}

static double percent_of(uint64_t hits, uint64_t misses)
{
    return hits + misses != 0 ? PERCENT * (double)hits / (double)(hits + misses) : FIGURES_UNKNOWN;
}

/* What GPCs have counted since reset: the time between two samples is too short for what they look for. */
static void compute_gpcs(const struct ppu_telemetry *now, struct figures *figures)
{
    for (uint32_t i = 0; i < figures->gpcs; i++) {
        const uint64_t *gpc = now->gpc[i];

        figures->gpc_ctas[i] = (uint32_t)gpc[PPU_TELEMETRY_GPC_CTAS];
        figures->gpc_l15[i] = percent_of(gpc[PPU_TELEMETRY_GPC_L15_HITS], gpc[PPU_TELEMETRY_GPC_L15_MISSES]);
        figures->gpc_tlb[i] = percent_of(gpc[PPU_TELEMETRY_GPC_TLB_HITS], gpc[PPU_TELEMETRY_GPC_TLB_MISSES]);
    }
}

static void compute_loads(const struct device *device, struct figures *figures)
{
    double base_ns = host_ns(device);
    const struct ppu_telemetry *now = telemetry_of(&device->now);
    const struct ppu_telemetry *before = base_ns > 0 ? telemetry_of(&device->before) : now;
    uint64_t mcu_ns = now->device[PPU_TELEMETRY_DEVICE_MCU_NS];

    for (uint32_t i = 0; i < figures->sms; i++) {
        uint64_t warps = now->device[PPU_TELEMETRY_DEVICE_SM_WARPS];
        figures->sm_load[i] =
            load_of(now->sm[i][PPU_TELEMETRY_SM_BUSY_NS], before->sm[i][PPU_TELEMETRY_SM_BUSY_NS], base_ns);
        figures->sm_occupancy[i] =
            warps ? PERCENT * (double)now->sm[i][PPU_TELEMETRY_SM_WARPS] / (double)warps : FIGURES_UNKNOWN;
    }
    for (uint32_t i = 0; i < figures->threads; i++) {
        figures->thread_load[i] = load_of(now->thread[i][PPU_TELEMETRY_THREAD_CPU_NS],
                                          before->thread[i][PPU_TELEMETRY_THREAD_CPU_NS], base_ns);
    }
    figures->mcu_load =
        mcu_ns == 0 ? FIGURES_UNKNOWN : load_of(mcu_ns, before->device[PPU_TELEMETRY_DEVICE_MCU_NS], base_ns);
    figures->process_load =
        load_of(now->device[PPU_TELEMETRY_DEVICE_PROCESS_NS], before->device[PPU_TELEMETRY_DEVICE_PROCESS_NS], base_ns);
    figures->seconds = base_ns / NS_PER_S;
}

static void count_tasks(const struct view *view, struct figures *figures)
{
    for (uint32_t i = 0; i < view_rows(view, PPU_STATE_TABLE_TASK); i++) {
        uint64_t state = view_get(view, PPU_STATE_TASK_STATE, i);
        uint64_t priority = view_get(view, PPU_STATE_TASK_PRIORITY, i) % PPU_PRIORITIES;
        figures->waiting[priority] += figures_task_waits(state);
        figures->running[priority] += figures_task_runs(state);
    }
    figures->slots = view_rows(view, PPU_STATE_TABLE_SLOT);
    for (uint32_t i = 0; i < figures->slots; i++) {
        figures->slots_taken += view_get(view, PPU_STATE_SLOT_TASK, i) != 0;
    }
}

void figures_compute(const struct device *device, struct figures *figures)
{
    const struct ppu_telemetry *now = telemetry_of(&device->now);

    *figures = (struct figures){
        .sms = (uint32_t)PPU_MIN(now->device[PPU_TELEMETRY_DEVICE_SMS], PPU_MAX_SMS),
        .gpcs = (uint32_t)PPU_MIN(now->device[PPU_TELEMETRY_DEVICE_GPCS], PPU_MAX_GPCS),
        .threads = (uint32_t)PPU_MIN(now->device[PPU_TELEMETRY_DEVICE_THREADS], PPU_MAX_THREADS),
        .faults = view_get(&device->now, PPU_STATE_STAT_COUNT, PPU_KEY_FAULTS),
    };
    compute_loads(device, figures);
    compute_gpcs(now, figures);
    count_tasks(&device->now, figures);
}

/* ---- contexts ---- */

static int by_load(const void *a, const void *b)
{
    const struct context_figures *one = a, *other = b;

    return one->load != other->load     ? (one->load < other->load ? 1 : -1)
           : one->sm_ns != other->sm_ns ? (one->sm_ns < other->sm_ns ? 1 : -1)
                                        : (int)one->number - (int)other->number;
}

static int by_memory(const void *a, const void *b)
{
    const struct context_figures *one = a, *other = b;

    return one->mapped.vram_bytes != other->mapped.vram_bytes
               ? (one->mapped.vram_bytes < other->mapped.vram_bytes ? 1 : -1)
               : (int)one->number - (int)other->number;
}

uint32_t figures_contexts(const struct device *device, enum context_order order,
                          struct context_figures contexts[PPU_MAX_CONTEXTS])
{
    const struct view *view = &device->now;
    const struct ppu_telemetry *now = telemetry_of(view);
    uint32_t count = 0, rows = PPU_MIN(view_rows(view, PPU_STATE_TABLE_CONTEXT), PPU_MAX_CONTEXTS);
    double base_ns = host_ns(device) * (double)PPU_MAX(now->device[PPU_TELEMETRY_DEVICE_SMS], 1u);
    const struct ppu_telemetry *before = base_ns > 0 ? telemetry_of(&device->before) : now;

    for (uint32_t i = 0; i < rows; i++) {
        if (!view_get(view, PPU_STATE_CONTEXT_OPEN, i)) {
            continue;
        }
        uint64_t sm_ns = now->context[i][PPU_TELEMETRY_CONTEXT_SM_NS];
        contexts[count++] = (struct context_figures){
            .number = i,
            .load = load_of(sm_ns, before->context[i][PPU_TELEMETRY_CONTEXT_SM_NS], base_ns),
            .sm_ns = sm_ns,
            .mapped = view_mapped(view, i),
            .tasks = (uint32_t)view_get(view, PPU_STATE_CONTEXT_TASKS, i),
            .channels = (uint32_t)view_get(view, PPU_STATE_CONTEXT_CHANNELS, i),
        };
    }
    if (order != BY_NUMBER) {
        qsort(contexts, count, sizeof(contexts[0]), order == BY_LOAD ? by_load : by_memory);
    }
    return count;
}

/* ---- names ---- */

const char *figures_task_state(uint64_t state)
{
    static const char *const names[] = {
#define PPU_TASK_STATE(name, number, doc) [number] = #name,
#include "ppu/task_state.def"
    };

    return state < PPU_ARRAY_SIZE(names) ? names[state] : "?";
}

const char *figures_channel_state(uint64_t state)
{
    static const char *const names[] = {
        [PPU_CHANNEL_CLOSED] = "CLOSED", [PPU_CHANNEL_IDLE] = "IDLE",       [PPU_CHANNEL_RUNNING] = "RUNNING",
        [PPU_CHANNEL_PARKED] = "PARKED", [PPU_CHANNEL_WAITING] = "WAITING", [PPU_CHANNEL_FAULTED] = "FAULTED",
    };

    return state < PPU_ARRAY_SIZE(names) ? names[state] : "?";
}
