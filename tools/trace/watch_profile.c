/* SPDX-License-Identifier: MIT */
/* Takes the files of a profile, and the tables of devices that nobody has closed. None of it is trusted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppu/profile.h"
#include "tools/trace/watch.h"

#define PAGE_BYTES 4096u

/* The whole file; NULL with a reason: it cannot be read, or is larger than a chunk may be. */
static uint8_t *read_file(int fd, size_t *bytes, const char **why)
{
    struct stat status;
    uint8_t *content = NULL;
    size_t done = 0;

    *why = "it is larger than a record can hold";
    if (fstat(fd, &status) == 0 && status.st_size >= 0 && status.st_size < (off_t)RECORD_CHUNK_MOST / 2) {
        content = malloc((size_t)status.st_size + 1);
        *why = "not enough memory";
    }
    for (ssize_t more = 1; content && more > 0 && done<(size_t)status.st_size; done += more> 0 ? (size_t)more : 0) {
        more = pread(fd, content + done, (size_t)status.st_size - done, (off_t)done);
    }
    *bytes = done;
    return content;
}

static struct watch_device *device_sending(const struct watch *watch, uint32_t process, uint32_t entry)
{
    for (uint32_t i = watch->devices; i-- > 0;) {
        if (watch->device[i].process == process && watch->device[i].entry == entry) {
            return &watch->device[i];
        }
    }
    return NULL;
}

static bool tell_program(const struct watch *watch, const struct watch_device *device, const uint8_t *file,
                         size_t bytes)
{
    struct ppu_recorder_program head;

    if (bytes < sizeof(head)) {
        return false;
    }
    memcpy(&head, file, sizeof(head));
    const struct record_program told = { device->process, device->number, head.program, head.context, head.code };
    watch->sink->profile(watch->sink->opaque, RECORD_PROGRAM, &told, sizeof(told), file + sizeof(head),
                         bytes - sizeof(head));
    return head.image_bytes == bytes - sizeof(head);
}

static bool tell_source(const struct watch *watch, const struct watch_device *device, const uint8_t *file, size_t bytes)
{
    struct ppu_recorder_source head;

    if (bytes < sizeof(head)) {
        return false;
    }
    memcpy(&head, file, sizeof(head));
    const struct record_text told = { device->process, head.program };
    watch->sink->profile(watch->sink->opaque, RECORD_SOURCE, &told, sizeof(told), file + sizeof(head),
                         bytes - sizeof(head));
    return head.text_bytes == bytes - sizeof(head);
}

static bool tell_counts(const struct watch *watch, struct watch_device *device, const uint8_t *file, size_t bytes)
{
    struct ppu_recorder_profile head;

    if (bytes < sizeof(head) || (bytes - sizeof(head)) % sizeof(struct ppu_profile_entry) != 0) {
        return false;
    }
    memcpy(&head, file, sizeof(head));
    const struct record_profile told = { device->number, head.program, watch->profile_period, 0, head.missing };
    watch->sink->profile(watch->sink->opaque, RECORD_PROFILE, &told, sizeof(told), file + sizeof(head),
                         bytes - sizeof(head));
    device->profile_told = device->profile_told || head.program == 0;
    return true;
}

const char *watch_profile(struct watch *watch, uint32_t process, const struct ppu_recorder_message *message, int fd)
{
    const char *why = "it is of no device";
    struct watch_device *device = device_sending(watch, process, message->device);
    size_t bytes = 0;
    uint8_t *file = device && watch->sink->profile ? read_file(fd, &bytes, &why) : NULL;

    if (file) {
        bool good = message->kind == PPU_RECORDER_PROGRAM  ? tell_program(watch, device, file, bytes)
                    : message->kind == PPU_RECORDER_SOURCE ? tell_source(watch, device, file, bytes)
                                                           : tell_counts(watch, device, file, bytes);
        why = good ? NULL : "it is malformed";
    }
    free(file);
    close(fd);
    return why;
}

/* The table of a machine that has ended stays in its file as it was. */
static void tell_table(const struct watch *watch, struct watch_device *device)
{
    uint64_t at = (uint64_t)device->info.profile_page * PAGE_BYTES;
    uint64_t bytes = (uint64_t)device->info.profile_entries * sizeof(struct ppu_profile_entry);
    struct ppu_profile_table table;

    device->profile_told = true;
    if (device->info.profile_entries > PPU_PROFILE_MOST || at > device->info.vram_bytes ||
        sizeof(table) + bytes > device->info.vram_bytes - at) {
        return;
    }
    memcpy(&table, device->vram + at, sizeof(table));
    struct ppu_profile_entry *used = malloc(bytes); /* not 0 */
    uint32_t count = 0;
    for (uint32_t i = 0; used && i < device->info.profile_entries; i++) {
        memcpy(&used[count], device->vram + at + sizeof(table) + i * sizeof(*used), sizeof(*used));
        count += used[count].key != 0;
    }
    const struct record_profile told = { device->number, 0, watch->profile_period, 0, table.missing };
    watch->sink->profile(watch->sink->opaque, RECORD_PROFILE, &told, sizeof(told), used, count * sizeof(*used));
    free(used);
}

void watch_profiles_left(struct watch *watch)
{
    for (uint32_t i = 0; watch->sink->profile && i < watch->devices; i++) {
        struct watch_device *device = &watch->device[i];
        if (device->vram && device->info.profile_entries != 0 && !device->profile_told) {
            tell_table(watch, device);
        }
    }
}
