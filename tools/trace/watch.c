/* SPDX-License-Identifier: MIT */
#include "tools/trace/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/task.h"
#include "ppu/tmd.h"
#include "tools/trace/clock.h"
#include "tools/trace/process.h"

#define WARPS_WANTED_NS (2 * CLOCK_NS_PER_S) /* a tool that has died is forgotten after so long */

/* ---- who is watched ---- */

static void *one_more(struct watch *watch, void **list, uint32_t count, size_t size)
{
    void *bigger = reallocarray(*list, (size_t)count + 1, size);

    if (!bigger) {
        watch->failed = true;
        return NULL;
    }
    *list = bigger;
    return memset((char *)bigger + count * size, 0, size);
}

const char *watch_process(struct watch *watch, int fd, bool is_new, uint32_t *number)
{
    const char *why = NULL;
    struct ppu_recorder *recorder = attach_map_recorder(fd, &why);

    if (!recorder) {
        return why;
    }
    void *list = watch->process;
    struct watch_process *process = one_more(watch, &list, watch->processes, sizeof(*process));
    watch->process = list;
    if (!process) {
        attach_unmap_recorder(recorder);
        return "not enough memory";
    }
    *process = (struct watch_process){ .number = watch->processes++,
                                       .pid = recorder->pid,
                                       .recorder = recorder,
                                       .is_new = is_new,
                                       .names_told = sizeof(struct ppu_recorder_name) };
    follow_begin(&process->follow, &recorder->ring, PPU_RECORDER_RECORDS, true);
    if (is_new) {
        follow_from(&process->follow, 0);
    }
    char command[PROCESS_COMMAND_BYTES];
    process_command(process->pid, command);
    const struct record_process told = { process->number, process->pid };
    watch->sink->process(watch->sink->opaque, &told, command);
    *number = process->number;
    return NULL;
}

static void tell_device(const struct watch *watch, const struct watch_device *device)
{
    const struct ppu_recorder_device *info = &device->info;
    const struct record_device told = {
        .device = device->number,
        .process = device->process,
        .instance = info->instance,
        .recorded = device->entry,
        .sms = info->sms,
        .slots = info->slots,
        .sm_ctas = info->sm_ctas,
        .sm_warps = info->sm_warps,
        .sm_vregs = info->sm_vregs,
        .sm_shared = info->sm_shared,
    };

    watch->sink->device(watch->sink->opaque, &told);
}

static void begin_rings(struct watch_device *device, bool from_opening)
{
    const struct ppu_recorder_device *info = &device->info;
    const uint32_t offset[RECORD_OF_PROGRAM] = {
        [RECORD_OF_FIRMWARE] = info->fw_trace, [RECORD_OF_DEVICE] = info->dev_trace
    };
    const uint32_t from[RECORD_OF_PROGRAM] = {
        [RECORD_OF_FIRMWARE] = info->fw_trace_from, [RECORD_OF_DEVICE] = info->dev_trace_from
    };

    for (uint32_t i = 0; i < RECORD_OF_PROGRAM; i++) {
        const struct ppu_trace_ring *ring = NULL;
        uint32_t size = 0;
        if (attach_ring(device->vram, device->info.vram_bytes, offset[i], &ring, &size)) {
            follow_begin(&device->follow[i], ring, size, false);
            if (from_opening) {
                follow_from(&device->follow[i], from[i]);
            }
        }
    }
}

/* Asks the device for records of warps, for some time more, or no more. */
static void ask_for_warps(const struct watch_device *device, bool wanted)
{
    if (device->warps) {
        uint64_t device_ns = clock_now_ns() - (uint64_t)device->clock_high_ns + WARPS_WANTED_NS;
        uint32_t until = wanted ? (uint32_t)(device_ns >> PPU_TRACE_WARPS_SHIFT) | 1u : 0; /* 0 means nobody */
        __atomic_store_n(&device->warps->warps_until, until, __ATOMIC_RELAXED);
    }
}

/* NULL: none are wanted, or the device has no flight recorder, or its memory may not be written. */
static struct ppu_trace_ring *map_warps(const struct watch *watch, const struct ppu_recorder_device *info, int fd)
{
    bool lies_in = info->dev_trace != 0 && info->vram_bytes > sizeof(struct ppu_trace_ring) &&
                   info->dev_trace <= info->vram_bytes - sizeof(struct ppu_trace_ring);

    return watch->warps && fd >= 0 && lies_in ? attach_map_warps(fd, info->dev_trace) : NULL;
}

static bool is_watched(const struct watch *watch, uint32_t process, uint32_t entry, uint32_t generation)
{
    for (uint32_t i = 0; i < watch->devices; i++) {
        const struct watch_device *device = &watch->device[i];
        if (device->process == process && device->entry == entry && device->generation == generation) {
            return true;
        }
    }
    return false;
}

const char *watch_device(struct watch *watch, uint32_t process, uint32_t entry, int fd)
{
    const struct ppu_recorder *recorder = watch->process[process].recorder;
    const struct ppu_recorder_device info = recorder->device[entry % PPU_RECORDER_DEVICES];

    if (is_watched(watch, process, entry, info.generation)) {
        return NULL;
    }
    void *list = watch->device;
    struct watch_device *device = one_more(watch, &list, watch->devices, sizeof(*device));
    watch->device = list;
    if (!device) {
        return "not enough memory";
    }
    fd = fd >= 0 ? fd : attach_open_file(watch->process[process].pid, info.vram_fd, watch->warps ? O_RDWR : O_RDONLY);
    struct ppu_trace_ring *warps = map_warps(watch, &info, fd); /* before the file is closed */
    *device = (struct watch_device){ .number = watch->devices++,
                                     .process = process,
                                     .entry = entry,
                                     .generation = info.generation,
                                     .info = info,
                                     .warps = warps,
                                     .vram = fd >= 0 ? attach_map_vram(fd, info.vram_bytes) : NULL,
                                     .clock_low_ns = info.clock_low_ns,
                                     .clock_high_ns = info.clock_high_ns };
    const char *why = device->vram ? NULL : strerror(errno);
    if (device->vram) {
        ask_for_warps(device, true);
        begin_rings(device, watch->process[process].is_new);
        tell_device(watch, device);
    }
    return why;
}

void watch_look(struct watch *watch)
{
    for (uint32_t i = 0; i < watch->processes; i++) {
        const struct ppu_recorder *recorder = watch->process[i].recorder;
        for (uint32_t entry = 0; recorder && entry < PPU_RECORDER_DEVICES; entry++) {
            /* Partner: the program's release, after it has described the device. */
            if (__atomic_load_n(&recorder->device[entry].state, __ATOMIC_ACQUIRE) == PPU_RECORDER_OPEN) {
                watch_device(watch, i, entry, -1);
            }
        }
        watch->process[i].is_new = true; /* the devices that it had are known */
    }
}

/* ---- what is new ---- */

static void read_names(const struct watch *watch, struct watch_process *process)
{
    uint32_t bytes = 0;

    for (const char *text; (text = attach_name(process->recorder, process->names_told, &bytes));) {
        const struct record_name told = { process->number, process->names_told };
        watch->sink->name(watch->sink->opaque, &told, text, bytes);
        process->names_told += ppu_align_up((uint32_t)sizeof(struct ppu_recorder_name) + bytes + 1, sizeof(uint32_t));
    }
}

static const struct watch_device *device_of(const struct watch *watch, uint32_t process, uint32_t entry)
{
    for (uint32_t i = watch->devices; i-- > 0;) {
        if (watch->device[i].process == process && watch->device[i].entry == entry) {
            return &watch->device[i];
        }
    }
    return NULL;
}

static void read_kernels(const struct watch *watch, struct watch_process *process)
{
    const struct ppu_recorder *recorder = process->recorder;
    uint32_t used = __atomic_load_n(&recorder->kernels_used, __ATOMIC_ACQUIRE);

    if (used - process->kernels_told > PPU_RECORDER_KERNELS) {
        process->kernels_told = used - PPU_RECORDER_KERNELS;
    }
    for (; process->kernels_told != used; process->kernels_told++) {
        const struct ppu_recorder_kernel *from = &recorder->kernel[process->kernels_told % PPU_RECORDER_KERNELS];
        if (__atomic_load_n(&from->number, __ATOMIC_ACQUIRE) != process->kernels_told + 1) {
            return; /* it is being written */
        }
        const struct watch_device *device = device_of(watch, process->number, from->device);
        if (device) {
            const struct record_kernel told = { device->number,   from->context, from->code, from->entry,
                                                from->code_bytes, from->name,    0 };
            watch->sink->kernel(watch->sink->opaque, &told);
        }
    }
}

/* Looks at the descriptor of a task that was launched; another task may have it by now. */
static void read_task(const struct watch *watch, const struct watch_device *device, uint32_t handle)
{
    const struct ppu_recorder_device *info = &device->info;
    uint64_t at = (uint64_t)info->tmds + (uint64_t)PPU_TASK_INDEX(handle) * info->tmd_stride;
    struct ppu_tmd tmd;

    if (info->tmds == 0 || info->tmd_stride < sizeof(tmd) || at % sizeof(uint64_t) != 0 ||
        at > info->vram_bytes - sizeof(tmd)) {
        return;
    }
    memcpy(&tmd, device->vram + at, sizeof(tmd));
    if (tmd.task != handle) {
        return;
    }
    const struct record_task told = {
        .device = device->number,
        .task = handle,
        .code = tmd.code_va + tmd.entry,
        .context = tmd.context,
        .priority = tmd.priority,
        .ctas = tmd.grid[0] * tmd.grid[1] * tmd.grid[2],
        .cta_threads = tmd.cta[0] * tmd.cta[1] * tmd.cta[2],
        .vregs = tmd.vregs,
        .wave = tmd.wave,
        .shared_bytes = tmd.shared_bytes,
        .depth = tmd.depth,
    };
    watch->sink->task(watch->sink->opaque, &told);
}

static void read_tasks(const struct watch *watch, const struct watch_device *device, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ppu_trace_record *record = &watch->batch[i];
        if (record->type == PPU_TRACE_LAUNCH || record->type == PPU_TRACE_LAUNCH_CHILD) {
            read_task(watch, device, record->id[1]);
        }
    }
}

/* A record is seen after it was written, which is a bound of the difference of the clocks. */
static void compare_clocks(const struct watch *watch, struct watch_device *device, uint32_t count)
{
    int64_t difference_ns = (int64_t)clock_now_ns() - (int64_t)watch->batch[count - 1].time_ns;

    if (difference_ns < device->clock_high_ns || !device->clock_told) {
        device->clock_high_ns = PPU_MIN(device->clock_high_ns, difference_ns);
        device->clock_told = true;
        const struct record_clock told = { device->number, 0, device->clock_low_ns, device->clock_high_ns };
        watch->sink->clock(watch->sink->opaque, &told);
    }
}

static void tell_lost(const struct watch *watch, uint32_t source, uint32_t owner, uint64_t lost)
{
    if (lost > 0) {
        const struct record_lost missing = { source, owner, lost };
        watch->sink->lost(watch->sink->opaque, &missing);
    }
}

static uint32_t read_ring(struct watch *watch, struct follow *follow, uint32_t source, uint32_t owner)
{
    const struct record_events told = { source, owner };
    uint64_t lost = 0;
    uint32_t count = follow->ring ? follow_read(follow, clock_now_ns(), watch->batch, WATCH_BATCH, &lost) : 0;

    tell_lost(watch, source, owner, lost);
    if (count > 0) {
        watch->sink->events(watch->sink->opaque, &told, watch->batch, count);
    }
    return count;
}

/* The program compares them too: when it opens the device, and when it closes it. */
static void take_bounds(struct watch_device *device, const struct ppu_recorder_device *entry)
{
    int64_t low_ns = __atomic_load_n(&entry->clock_low_ns, __ATOMIC_RELAXED);
    int64_t high_ns = __atomic_load_n(&entry->clock_high_ns, __ATOMIC_RELAXED);

    if (low_ns > device->clock_low_ns || high_ns < device->clock_high_ns) {
        device->clock_low_ns = PPU_MAX(device->clock_low_ns, low_ns);
        device->clock_high_ns = PPU_MIN(device->clock_high_ns, high_ns);
        device->clock_told = false;
    }
}

/* Ends with a device that is open no more, and has no more to read; `entry` may be another's by now. */
static void end_device(const struct watch *watch, struct watch_device *device, const struct ppu_recorder_device *entry)
{
    if (entry->generation == device->generation) {
        tell_lost(watch, RECORD_OF_FIRMWARE, device->number,
                  follow_left(&device->follow[RECORD_OF_FIRMWARE], entry->fw_trace_to));
        tell_lost(watch, RECORD_OF_DEVICE, device->number,
                  follow_left(&device->follow[RECORD_OF_DEVICE], entry->dev_trace_to));
    }
    attach_unmap_vram(device->vram, device->info.vram_bytes);
    attach_unmap_warps(device->warps, device->info.dev_trace);
    device->vram = NULL;
    device->warps = NULL;
    watch->sink->device_closed(watch->sink->opaque, device->number);
}

static uint32_t poll_device(struct watch *watch, struct watch_device *device)
{
    const struct ppu_recorder *recorder = watch->process[device->process].recorder;
    const struct ppu_recorder_device *entry = &recorder->device[device->entry];
    bool open = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) == PPU_RECORDER_OPEN &&
                entry->generation == device->generation;
    uint32_t count = 0;

    ask_for_warps(device, true);
    for (uint32_t i = 0; i < RECORD_OF_PROGRAM; i++) {
        uint32_t found = read_ring(watch, &device->follow[i], i, device->number);
        if (found > 0) {
            compare_clocks(watch, device, found);
        }
        if (i == RECORD_OF_FIRMWARE) {
            read_tasks(watch, device, found);
        }
        count += found;
    }
    if (entry->generation == device->generation) {
        take_bounds(device, entry);
    }
    if (!open && count == 0) {
        end_device(watch, device, entry);
    }
    return count;
}

uint32_t watch_poll(struct watch *watch, uint64_t until_ns)
{
    uint32_t count = 0;

    watch_look(watch);
    for (uint32_t i = 0; i < watch->devices; i++) {
        if (watch->device[i].vram) {
            count += poll_device(watch, &watch->device[i]);
        }
    }
    for (uint32_t i = 0; i < watch->processes; i++) {
        struct watch_process *process = &watch->process[i];
        if (process->recorder) {
            attach_want(process->recorder, until_ns);
            count += read_ring(watch, &process->follow, RECORD_OF_PROGRAM, process->number);
            read_names(watch, process);
            read_kernels(watch, process);
        }
    }
    return count;
}

void watch_end(struct watch *watch)
{
    for (uint32_t i = 0; i < watch->devices; i++) {
        ask_for_warps(&watch->device[i], false);
        attach_unmap_warps(watch->device[i].warps, watch->device[i].info.dev_trace);
        attach_unmap_vram(watch->device[i].vram, watch->device[i].info.vram_bytes);
    }
    for (uint32_t i = 0; i < watch->processes; i++) {
        if (watch->process[i].recorder) {
            attach_want(watch->process[i].recorder, 0);
            attach_unmap_recorder(watch->process[i].recorder);
        }
    }
    free(watch->device);
    free(watch->process);
    watch->device = NULL;
    watch->process = NULL;
    watch->devices = watch->processes = 0;
}
