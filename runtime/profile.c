/* SPDX-License-Identifier: MIT */
#include "runtime/profile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/profile.h"
#include "runtime/device.h"
#include "runtime/program.h"
#include "runtime/recorder.h"
#include "runtime/shared.h"

#define PAGE_BYTES 4096u

static struct ppu_profile_table *table_of(const struct ppu_device *device)
{
    return (void *)(device->transport->vram + (uint64_t)device->profile.page * PAGE_BYTES);
}

/* ---- files for the tool ---- */

static bool write_whole(int fd, const void *bytes, uint64_t len_bytes)
{
    for (uint64_t done = 0; done < len_bytes;) {
        ssize_t more = write(fd, (const uint8_t *)bytes + done, len_bytes - done);
        if (more <= 0) {
            return false;
        }
        done += (uint64_t)more;
    }
    return true;
}

/* -1: it cannot be made. */
static int make_told(const char *name, const void *head, uint64_t head_bytes, const void *body, uint64_t body_bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    if (fd >= 0 && (!write_whole(fd, head, head_bytes) || !write_whole(fd, body, body_bytes))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void send_file(const struct ppu_device *device, enum ppu_recorder_message_kind kind, int fd)
{
    if (fd >= 0) {
        recorder_send(kind, device->recorded, fd);
    }
}

/* ---- the table ---- */

void profile_begin(struct ppu_device *device)
{
    uint32_t entries, period = recorder_profile_wanted(&entries);
    const uint64_t bytes = sizeof(struct ppu_profile_table) + (uint64_t)entries * sizeof(struct ppu_profile_entry);
    uint64_t at = 0;

    if (period == 0 || entries > PPU_PROFILE_MOST || !range_take(&device->heap, bytes, PPU_PAGE_64K, &at)) {
        return;
    }
    device->profile.page = (uint32_t)(at / PAGE_BYTES);
    struct ppu_profile_table *table = table_of(device);
    memset(table, 0, bytes);
    table->head = (struct ppu_struct_header){ PPU_PROFILE_VERSION, sizeof(struct ppu_profile_entry) };
    table->entries = entries;
    table->period = period;
    device_reg_write(device, PPU_REG_PROFILE_PAGE, device->profile.page);
    device_reg_write(device, PPU_REG_PROFILE_ENTRIES, entries);
    device_reg_write(device, PPU_REG_PROFILE_PERIOD, period);
    if (device_reg_read(device, PPU_REG_PROFILE_PERIOD) == period) {
        device->profile.entries = entries;
    } else {
        range_give(&device->heap, at);
    }
}

/* Says whose counts are taken. */
struct owner {
    uint32_t context;
    uint64_t code, bytes;
};

static bool has_key(const struct owner *owner, uint64_t key)
{
    return key != 0 && (!owner || (PPU_PROFILE_CONTEXT(key) == owner->context &&
                                   (key & PPU_PROFILE_ADDRESS) - owner->code < owner->bytes));
}

/* Entries of an owner, or all; they count from 0 again. NULL: no memory. */
static struct ppu_profile_entry *take_entries(const struct ppu_device *device, const struct owner *owner,
                                              uint32_t *count)
{
    struct ppu_profile_entry *entry = (void *)(table_of(device) + 1);
    struct ppu_profile_entry *taken = malloc(device->profile.entries * sizeof(*taken));

    *count = 0;
    for (uint32_t i = 0; taken && i < device->profile.entries; i++) {
        uint64_t key = __atomic_load_n(&entry[i].key, __ATOMIC_ACQUIRE); /* partner: the SM that entered it */
        struct ppu_profile_entry *to = &taken[*count];
        uint64_t all = 0;
        for (uint32_t c = 0; has_key(owner, key) && c < PPU_PROFILE_COUNTS; c++) {
            to->count[c] = __atomic_exchange_n(&entry[i].count[c], 0, __ATOMIC_SEQ_CST);
            all |= to->count[c];
        }
        to->key = key;
        *count += all != 0;
    }
    return taken;
}

static void send_counts(const struct ppu_device *device, uint32_t program, const struct owner *owner)
{
    uint32_t count;
    struct ppu_profile_entry *entries = take_entries(device, owner, &count);
    const struct ppu_recorder_profile head = { program, count,
                                               __atomic_load_n(&table_of(device)->missing, __ATOMIC_RELAXED) };

    if (entries) {
        send_file(device, PPU_RECORDER_PROFILE,
                  make_told("ppu-profile", &head, sizeof(head), entries, count * sizeof(*entries)));
    }
    free(entries);
}

void profile_end(struct ppu_device *device)
{
    if (device->profile.entries != 0) {
        device_reg_write(device, PPU_REG_PROFILE_PERIOD, 0);
        send_counts(device, 0, NULL);
        device->profile.entries = 0; /* programs that are unloaded later have nothing left to tell */
    }
}

/* ---- programs ---- */

#define FILE_NAME_BYTES 64u

/* Files of a program that stay for debuggers that come later. */
struct program_files {
    int image, source; /* -1: there is none */
};

/* Kernels may be debugged by who finds them. */
static bool are_debugged(void)
{
    const char *text = secure_getenv("PPU_DEBUG_KERNELS");

    return text && strcmp(text, "1") == 0;
}

static struct program_files *files_new(void)
{
    struct program_files *files = malloc(sizeof(*files));

    if (files) {
        *files = (struct program_files){ -1, -1 };
    }
    return files;
}

static void files_free(struct program_files *files)
{
    if (files) {
        close(files->image);
        close(files->source);
        free(files);
    }
}

static void name_file(char name[FILE_NAME_BYTES], const char *begin, const struct ppu_program *program)
{
    snprintf(name, FILE_NAME_BYTES, "%s:%" PRIu32 ":%" PRIu32, begin, program->context->device->recorded,
             program->profiled);
}

void profile_program_loaded(struct ppu_program *program)
{
    static uint32_t programs; /* atomic */
    const struct ppu_device *device = program->context->device;
    char name[FILE_NAME_BYTES];

    program->files = are_debugged() && device->recorded != RECORDER_NONE ? files_new() : NULL;
    if (!recorder_watched() && !program->files) {
        return;
    }
    program->profiled = __atomic_add_fetch(&programs, 1, __ATOMIC_RELAXED);
    const struct ppu_recorder_program head = { program->profiled, program->context->id, program->code_va.va,
                                               program->view.header->image_bytes };
    name_file(name, PPU_RECORDER_PROGRAM_FILE, program);
    const int fd = make_told(name, &head, sizeof(head), program->image, head.image_bytes);
    if (program->files) {
        program->files->image = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }
    send_file(device, PPU_RECORDER_PROGRAM, fd);
}

void ppu_program_source(const struct ppu_program *program, const char *text, size_t bytes)
{
    const struct ppu_recorder_source head = { program->profiled, 0, bytes };
    char name[FILE_NAME_BYTES];

    if (program->profiled == 0) {
        return;
    }
    name_file(name, PPU_RECORDER_SOURCE_FILE, program);
    const int fd = make_told(name, &head, sizeof(head), text, bytes);
    if (program->files && program->files->source < 0) {
        program->files->source = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }
    send_file(program->context->device, PPU_RECORDER_SOURCE, fd);
}

void profile_program_unloaded(struct ppu_program *program)
{
    files_free(program->files);
    program->files = NULL;
    if (program->profiled == 0 || program->context->device->profile.entries == 0) {
        return;
    }
    const struct owner owner = { program->context->id, program->code_va.va, program->view.header->code_bytes };
    send_counts(program->context->device, program->profiled, &owner);
}
