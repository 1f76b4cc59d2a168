/* SPDX-License-Identifier: MIT */
#include "tools/top/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/trace/attach.h"
#include "tools/trace/clock.h"

#define ASK_STEP_NS 2000000l /* between looks at whether the device has answered */

/* ---- finding ---- */

static void device_free(struct device *device)
{
    view_free(&device->now);
    view_free(&device->before);
    attach_unmap_asked(device->asked, device->info.state_area);
    attach_unmap_vram(device->vram, device->info.vram_bytes);
    attach_unmap_recorder(device->recorder);
    free(device);
}

static bool is_known(const struct devices *devices, uint32_t pid, uint32_t entry, uint32_t generation)
{
    for (uint32_t i = 0; i < devices->count; i++) {
        const struct device *device = devices->device[i];
        if (device->pid == pid && device->entry == entry && device->info.generation == generation) {
            return true;
        }
    }
    return false;
}

/* Sets why_not when the device cannot be read. */
static void map_device(struct device *device)
{
    const struct ppu_recorder_device *info = &device->info;
    int fd = attach_open_file(device->pid, info->vram_fd, O_RDONLY);

    device->vram = fd >= 0 ? attach_map_vram(fd, info->vram_bytes) : NULL;
    if (!device->vram) {
        device->why_not = info->vram_fd < 0 ? "its memory belongs to QEMU alone" : strerror(errno);
        return;
    }
    if (info->state_area == 0 || info->state_area > info->vram_bytes - sizeof(struct ppu_state)) {
        device->why_not = "its firmware shows no state";
        return;
    }
    device->asked = attach_map_asked(device->pid, info->vram_fd, info->state_area);
    device->why_not = device->asked ? NULL : strerror(errno);
}

static struct device *one_more(struct devices *devices)
{
    struct device **bigger = reallocarray(devices->device, (size_t)devices->count + 1, sizeof(struct device *));

    if (!bigger) {
        return NULL;
    }
    devices->device = bigger;
    bigger[devices->count] = calloc(1, sizeof(struct device));
    return bigger[devices->count] ? bigger[devices->count++] : NULL;
}

static void add_device(struct devices *devices, uint32_t pid, uint32_t entry, const struct ppu_recorder_device *info)
{
    const char *why = NULL;
    int fd = attach_open_recorder(pid);
    struct ppu_recorder *recorder = fd >= 0 ? attach_map_recorder(fd, &why) : NULL;
    struct device *device = recorder ? one_more(devices) : NULL;

    if (!device) {
        attach_unmap_recorder(recorder);
        return;
    }
    device->pid = pid;
    device->entry = entry;
    device->info = *info;
    device->recorder = recorder;
    process_command(pid, device->command);
    map_device(device);
}

static void look_at_process(void *opaque, uint32_t pid)
{
    struct devices *devices = opaque;
    const char *why = NULL;
    int fd = devices->pid == 0 || devices->pid == pid ? attach_open_recorder(pid) : -1;
    struct ppu_recorder *recorder = fd >= 0 ? attach_map_recorder(fd, &why) : NULL;

    for (uint32_t i = 0; recorder && i < PPU_RECORDER_DEVICES; i++) {
        /* Partner: the program's release, after it has described the device. */
        if (__atomic_load_n(&recorder->device[i].state, __ATOMIC_ACQUIRE) == PPU_RECORDER_OPEN) {
            const struct ppu_recorder_device info = recorder->device[i];
            if (!is_known(devices, pid, i, info.generation)) {
                add_device(devices, pid, i, &info);
            }
        }
    }
    attach_unmap_recorder(recorder);
}

static bool is_gone(const struct device *device)
{
    const struct ppu_recorder_device *info = &device->recorder->device[device->entry];

    return !process_is_there(device->pid) || __atomic_load_n(&info->state, __ATOMIC_ACQUIRE) != PPU_RECORDER_OPEN ||
           info->generation != device->info.generation;
}

void devices_look(struct devices *devices)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < devices->count; i++) {
        struct device *device = devices->device[i];
        if (device->gone) {
            device_free(device);
            continue;
        }
        device->gone = is_gone(device);
        devices->device[kept++] = device;
    }
    devices->count = kept;
    process_each(look_at_process, devices);
}

void devices_free(struct devices *devices)
{
    for (uint32_t i = 0; i < devices->count; i++) {
        device_free(devices->device[i]);
    }
    free(devices->device);
    *devices = (struct devices){ .pid = devices->pid };
}

/* ---- samples ---- */

bool device_is_shown(const struct device *device)
{
    return !device->gone && !device->why_not && device->now.area;
}

bool device_has_rates(const struct device *device)
{
    return device_is_shown(device) && device->before.area;
}

static bool has_answered(const struct device *device, uint32_t asked)
{
    return (int32_t)(__atomic_load_n(&device->asked->answered, __ATOMIC_ACQUIRE) - asked) >= 0;
}

static void take(struct device *device)
{
    struct view view;
    const char *why = view_take(&view, device->vram, device->info.vram_bytes, device->info.state_area);

    if (why) {
        device->why_not = is_gone(device) ? NULL : why;
        return;
    }
    view_free(&device->before);
    device->before = device->now;
    device->now = view;
}

void devices_sample(struct devices *devices, uint32_t timeout_ms)
{
    const struct timespec step = { 0, ASK_STEP_NS };
    uint64_t until_ns = clock_now_ns() + (uint64_t)timeout_ms * CLOCK_NS_PER_MS;

    for (uint32_t i = 0; i < devices->count; i++) {
        struct device *device = devices->device[i];
        if (device->gone || device->why_not) {
            continue;
        }
        uint32_t asked = __atomic_add_fetch(&device->asked->asked, 1, __ATOMIC_ACQ_REL);
        while (!has_answered(device, asked) && clock_now_ns() < until_ns) {
            nanosleep(&step, NULL);
        }
        if (has_answered(device, asked)) {
            take(device);
        } else {
            device->gone = is_gone(device);
        }
    }
}
