/* SPDX-License-Identifier: MIT */
/* Takes what machines have counted of their microcontrollers, when the programs that started them have ended. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "tools/trace/mcu_counts.h"
#include "tools/trace/watch.h"

/* The device that a process has opened as this one of its machine's; NULL: it has not. */
static const struct watch_device *device_at(const struct watch *watch, uint32_t pid, uint32_t instance)
{
    for (uint32_t i = 0; i < watch->devices; i++) {
        const struct watch_device *device = &watch->device[i];
        if (watch->process[device->process].pid == pid && device->info.instance == instance) {
            return device;
        }
    }
    return NULL;
}

static void tell_stacks(struct watch *watch, const struct mcu_counts *counts, uint32_t tree, uint32_t device)
{
    const struct mcu_counts_tree *of = &mcu_counts_trees(counts->head)[tree];
    const struct record_stacks head = { .device = device, .insns = of->insns, .missing = of->missing };
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);

    if (to) {
        mcu_counts_fold(counts, tree, to);
    }
    if (!to || fclose(to) != 0) {
        watch->failed = true;
    } else {
        watch->sink->profile(watch->sink->opaque, RECORD_STACKS, &head, sizeof(head), text,
                             PPU_MIN(bytes, RECORD_CHUNK_MOST / 2));
    }
    free(text);
}

/* The ring in order; what was overwritten is missing. */
static void tell_served(struct watch *watch, const struct mcu_counts_tree *tree, uint32_t device)
{
    uint32_t records = __atomic_load_n(&tree->records, __ATOMIC_ACQUIRE); /* partner: the plugin's release */
    uint32_t count = PPU_MIN(records, MCU_COUNTS_RECORDS), first = records - count;
    uint32_t *insns = calloc((size_t)count + 1, sizeof(*insns));
    const struct record_served head = { device, first };

    if (!insns) {
        watch->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        insns[i] = tree->record[(first + i) % MCU_COUNTS_RECORDS];
    }
    watch->sink->profile(watch->sink->opaque, RECORD_SERVED, &head, sizeof(head), insns, count * sizeof(*insns));
    free(insns);
}

static void take_file(struct watch *watch, int fd, uint32_t pid)
{
    struct mcu_counts counts;

    if (mcu_counts_open(&counts, fd)) {
        return; /* QEMU ended before it began to count */
    }
    for (uint32_t tree = 0; tree < counts.head->trees; tree++) {
        const struct watch_device *device = device_at(watch, pid, tree);
        if (device) {
            tell_stacks(watch, &counts, tree, device->number);
            tell_served(watch, &mcu_counts_trees(counts.head)[tree], device->number);
        }
    }
    mcu_counts_close(&counts);
}

void watch_firmware_counts(struct watch *watch, const char *folder)
{
    DIR *opened = opendir(folder);

    for (const struct dirent *entry; opened && (entry = readdir(opened));) {
        const char *name = entry->d_name;
        if (strncmp(name, MCU_COUNTS_PREFIX, strlen(MCU_COUNTS_PREFIX)) != 0) {
            continue;
        }
        uint32_t pid = (uint32_t)strtoul(name + strlen(MCU_COUNTS_PREFIX), NULL, 10);
        int fd = openat(dirfd(opened), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0) {
            take_file(watch, fd, pid);
            close(fd);
        }
        unlinkat(dirfd(opened), name, 0);
    }
    if (opened) {
        closedir(opened);
    }
}
