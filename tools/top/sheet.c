/* SPDX-License-Identifier: MIT */
#include "tools/top/sheet.h"

#include <string.h>

#include "ppu/macros.h"
#include "runtime/state/why.h"

#define BYTES_TEXT 16u
#define LOAD_TEXT 16u
#define NS_PER_MS 1000000u
#define LINES_OF_SMS 16u /* at most, with a line each */
#define LOADS_A_LINE 16u /* of more */

/* ---- numbers ---- */

static const char *bytes_text(char text[BYTES_TEXT], uint64_t bytes)
{
    static const char units[] = "KMGTP";
    double value = (double)bytes / 1024;
    size_t unit = 0;

    while (value >= 1024 && unit + 2 < sizeof(units)) {
        value /= 1024;
        unit++;
    }
    snprintf(text, BYTES_TEXT, value < 10 && unit > 0 ? "%.1f%c" : "%.0f%c", value, units[unit]);
    return text;
}

static const char *load_text(char text[LOAD_TEXT], double load)
{
    snprintf(text, LOAD_TEXT, load < 0 ? "-" : "%.0f%%", load);
    return text;
}

static double mean(const double *loads, uint32_t count)
{
    double total = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (loads[i] < 0) {
            return FIGURES_UNKNOWN;
        }
        total += loads[i];
    }
    return count ? total / count : FIGURES_UNKNOWN;
}

static uint32_t count_all(const uint32_t counts[PPU_PRIORITIES])
{
    uint32_t total = 0;

    for (uint32_t i = 0; i < PPU_PRIORITIES; i++) {
        total += counts[i];
    }
    return total;
}

/* ---- parts ---- */

static void write_title(FILE *file, const struct device *device)
{
    fprintf(file, "PPU %u of %u  %s\n", device->info.instance, device->pid, device->command);
}

/* How busy SMs are, a line for each LOADS_A_LINE of them, so that 256 fit on a terminal beside what comes after. */
static void write_loads(FILE *file, const struct figures *figures)
{
    char load[LOAD_TEXT];

    for (uint32_t i = 0; i < figures->sms; i++) {
        if (i % LOADS_A_LINE == 0) {
            fprintf(file, "SM %-3u %%:", i);
        }
        snprintf(load, sizeof(load), figures->sm_load[i] < 0 ? "-" : "%.0f", figures->sm_load[i]);
        fprintf(file, " %3s%s", load, i % LOADS_A_LINE == LOADS_A_LINE - 1 || i == figures->sms - 1 ? "\n" : "");
    }
}

static void write_sms(FILE *file, const struct figures *figures, bool each)
{
    char load[LOAD_TEXT], occupancy[LOAD_TEXT];

    fprintf(file, "SMs   %5s busy, %5s occupied (%u)\n", load_text(load, mean(figures->sm_load, figures->sms)),
            load_text(occupancy, mean(figures->sm_occupancy, figures->sms)), figures->sms);
    if (each && figures->sms > LINES_OF_SMS) {
        write_loads(file, figures);
        return;
    }
    for (uint32_t i = 0; each && i < figures->sms; i++) {
        fprintf(file, "SM %-2u %5s busy, %5s occupied\n", i, load_text(load, figures->sm_load[i]),
                load_text(occupancy, figures->sm_occupancy[i]));
    }
}

/* CTAs alone, LOADS_A_LINE of them a line. */
static void write_gpc_ctas(FILE *file, const struct figures *figures)
{
    for (uint32_t i = 0; i < figures->gpcs; i++) {
        if (i % LOADS_A_LINE == 0) {
            fprintf(file, "GPC %-2u CTAs:", i);
        }
        fprintf(file, " %3u%s", figures->gpc_ctas[i],
                i % LOADS_A_LINE == LOADS_A_LINE - 1 || i == figures->gpcs - 1 ? "\n" : "");
    }
}

/* The line of all SMs says the same of a device with one GPC. */
static void write_gpcs(FILE *file, const struct figures *figures)
{
    char l15[LOAD_TEXT], tlb[LOAD_TEXT];

    if (figures->gpcs > LINES_OF_SMS) {
        write_gpc_ctas(file, figures);
        return;
    }
    for (uint32_t i = 0; figures->gpcs > 1 && i < figures->gpcs; i++) {
        fprintf(file, "GPC %-2u %3u CTAs, found L1.5 %s, TLB %s\n", i, figures->gpc_ctas[i],
                load_text(l15, figures->gpc_l15[i]), load_text(tlb, figures->gpc_tlb[i]));
    }
}

static void write_host(FILE *file, const struct figures *figures)
{
    char mcu[LOAD_TEXT], process[LOAD_TEXT], thread[LOAD_TEXT];

    fprintf(file, "MCU   %5s, QEMU %s", load_text(mcu, figures->mcu_load), load_text(process, figures->process_load));
    for (uint32_t i = 0; i < figures->threads; i++) {
        fprintf(file, "%s %s", i == 0 ? ", SM threads" : "", load_text(thread, figures->thread_load[i]));
    }
    fprintf(file, "\n");
}

static void write_tasks_summary(FILE *file, const struct figures *figures)
{
    fprintf(file, "Tasks %5u run, %u wait, slots %u of %u, faults %llu\n", count_all(figures->running),
            count_all(figures->waiting), figures->slots_taken, figures->slots, (unsigned long long)figures->faults);
    for (uint32_t i = PPU_PRIORITIES; i-- > 0;) {
        if (figures->running[i] || figures->waiting[i]) {
            fprintf(file, "  priority %u: %u run, %u wait\n", i, figures->running[i], figures->waiting[i]);
        }
    }
}

static void write_contexts(FILE *file, const struct device *device, enum context_order order)
{
    struct context_figures contexts[PPU_MAX_CONTEXTS];
    uint32_t count = figures_contexts(device, order, contexts);
    char load[LOAD_TEXT], vram[BYTES_TEXT], system[BYTES_TEXT];

    fprintf(file, "\nCTX   %%SM    SM-ms  VRAM   SYS TASK CHAN\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct context_figures *context = &contexts[i];
        fprintf(file, "%3u %5s %8llu %5s %5s %4u %4u\n", context->number, load_text(load, context->load),
                (unsigned long long)(context->sm_ns / NS_PER_MS), bytes_text(vram, context->mapped.vram_bytes),
                bytes_text(system, context->mapped.system_bytes), context->tasks, context->channels);
    }
}

static void write_channels(FILE *file, const struct device *device, bool idle)
{
    const struct view *view = &device->now;

    fprintf(file, "\nCHAN CTX P STATE   PEND  GET/PUT  WHY\n");
    for (uint32_t i = 0; i < view_rows(view, PPU_STATE_TABLE_CHANNEL); i++) {
        uint64_t state = view_get(view, PPU_STATE_CHANNEL_STATE, i);
        struct ppu_why why;
        if (state == PPU_CHANNEL_CLOSED || (state == PPU_CHANNEL_IDLE && !idle)) {
            continue;
        }
        why_channel(view, i, &why);
        fprintf(file, "%4u %3u %u %-7s %4u %4u/%-4u %s\n", i, (unsigned)view_get(view, PPU_STATE_CHANNEL_SPACE, i),
                (unsigned)view_get(view, PPU_STATE_CHANNEL_PRIORITY, i), figures_channel_state(state),
                (unsigned)view_get(view, PPU_STATE_CHANNEL_PENDING, i),
                (unsigned)view_get(view, PPU_STATE_CHANNEL_GET, i), (unsigned)view_get(view, PPU_STATE_CHANNEL_PUT, i),
                state == PPU_CHANNEL_IDLE ? "" : why.text);
    }
}

static bool task_is_shown(uint64_t state)
{
    return state != PPU_TASK_STATE_FREE && state != PPU_TASK_STATE_LENT && state < PPU_TASK_STATES;
}

/* Writes the tasks of one priority, either those that run or the others. */
static void write_tasks_of(FILE *file, const struct view *view, bool running, uint32_t priority)
{
    for (uint32_t i = 0; i < view_rows(view, PPU_STATE_TABLE_TASK); i++) {
        uint64_t state = view_get(view, PPU_STATE_TASK_STATE, i);
        struct ppu_why why;
        if (!task_is_shown(state) || figures_task_runs(state) != running ||
            view_get(view, PPU_STATE_TASK_PRIORITY, i) != priority) {
            continue;
        }
        why_task(view, (uint32_t)view_get(view, PPU_STATE_TASK_HANDLE, i), &why);
        fprintf(file, "0x%-8x %3u %u %-8s %s\n", (unsigned)view_get(view, PPU_STATE_TASK_HANDLE, i),
                (unsigned)view_get(view, PPU_STATE_TASK_SPACE, i), priority, figures_task_state(state), why.text);
    }
}

static void write_tasks(FILE *file, const struct device *device)
{
    fprintf(file, "\nTASK       CTX P STATE    WHY\n");
    for (uint32_t running = 2; running-- > 0;) {
        for (uint32_t priority = PPU_PRIORITIES; priority-- > 0;) {
            write_tasks_of(file, &device->now, running != 0, priority);
        }
    }
}

/* ---- whole ---- */

static bool write_trouble(FILE *file, const struct device *device)
{
    if (device->gone) {
        fprintf(file, "  it has gone: its program has closed it, or ended\n");
    } else if (device->why_not) {
        fprintf(file, "  it cannot be shown: %s\n", device->why_not);
    } else if (!device->now.area) {
        fprintf(file, "  it does not answer: its machine does not run\n");
    }
    return !device_is_shown(device);
}

static void write_device(FILE *file, const struct device *device, const struct sheet_options *options)
{
    struct figures figures;

    write_title(file, device);
    if (write_trouble(file, device)) {
        return;
    }
    figures_compute(device, &figures);
    write_sms(file, &figures, options->each_sm);
    write_gpcs(file, &figures);
    write_host(file, &figures);
    write_tasks_summary(file, &figures);
    write_contexts(file, device, options->order);
    write_channels(file, device, options->idle);
    write_tasks(file, device);
}

void sheet_write(FILE *file, const struct devices *devices, const struct sheet_options *options)
{
    for (uint32_t i = 0; i < devices->count; i++) {
        if (i > 0) {
            fprintf(file, "\n");
        }
        write_device(file, devices->device[i], options);
    }
    if (devices->count == 0) {
        fprintf(file, "No program of this user has a PPU open.\n");
    }
}

static void list_device(FILE *file, const struct device *device)
{
    struct context_figures contexts[PPU_MAX_CONTEXTS];
    struct figures figures;
    char load[LOAD_TEXT], occupancy[LOAD_TEXT], used[BYTES_TEXT], all[BYTES_TEXT];
    uint64_t mapped = 0;

    write_title(file, device);
    if (write_trouble(file, device)) {
        return;
    }
    figures_compute(device, &figures);
    uint32_t count = figures_contexts(device, BY_NUMBER, contexts);
    for (uint32_t i = 0; i < count; i++) {
        mapped += contexts[i].mapped.vram_bytes;
    }
    fprintf(file, "  %u SMs %s busy, %s occupied; VRAM %s of %s mapped; %u contexts; %u tasks run, %u wait\n",
            figures.sms, load_text(load, mean(figures.sm_load, figures.sms)),
            load_text(occupancy, mean(figures.sm_occupancy, figures.sms)), bytes_text(used, mapped),
            bytes_text(all, device->info.vram_bytes), count, count_all(figures.running), count_all(figures.waiting));
}

void sheet_list(FILE *file, const struct devices *devices)
{
    for (uint32_t i = 0; i < devices->count; i++) {
        list_device(file, devices->device[i]);
    }
    if (devices->count == 0) {
        fprintf(file, "No program of this user has a PPU open.\n");
    }
}
