/* SPDX-License-Identifier: MIT */
#include "runtime/counts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/counter.h"
#include "ppu/macros.h"
#include "runtime/device.h"
#include "runtime/device_state.h"

#define MAX_OPEN 64u /* devices of one program */
#define LINE_BYTES 1024u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ppu_device *open_devices[MAX_OPEN];
static uint64_t mcu_ns_before[MAX_OPEN]; /* what the microcontroller had used when the device was opened */
static bool waits_for_exit;

struct line {
    char text[LINE_BYTES];
    size_t length;
};

static void add_count(struct line *line, const char *name, uint64_t value)
{
    const int more = snprintf(line->text + line->length, LINE_BYTES - line->length, "%s\"%s\": %" PRIu64,
                              line->length == 1 ? "" : ", ", name, value);

    line->length = PPU_MIN(line->length + (size_t)more, (size_t)LINE_BYTES - 1);
}

/* Sums of all SMs. */
static void add_totals(struct line *line, const struct ppu_telemetry *telemetry)
{
    uint64_t busy_ns = 0;
    uint64_t total[PPU_COUNTERS] = { 0 };

    for (uint32_t sm = 0; sm < PPU_MIN(telemetry->device[PPU_TELEMETRY_DEVICE_SMS], (uint64_t)PPU_MAX_SMS); sm++) {
        busy_ns += telemetry->sm[sm][PPU_TELEMETRY_SM_BUSY_NS];
        for (uint32_t i = 0; i < PPU_COUNTERS; i++) {
            total[i] += telemetry->count[sm][i];
        }
    }
    add_count(line, "BUSY_NS", busy_ns);
#define PPU_COUNTER(name, number, doc) add_count(line, #name, total[number]);
#include "ppu/counter.def"
#undef PPU_COUNTER
}

/* One write: lines of processes that share the file do not mix. */
static void append(const char *path, struct line *line)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    ssize_t written = -1;

    line->length = PPU_MIN(line->length, (size_t)LINE_BYTES - 2);
    memcpy(line->text + line->length, "}\n", 2);
    line->length += 2;
    if (fd >= 0) {
        written = write(fd, line->text, line->length);
        close(fd);
    }
    if (written != (ssize_t)line->length) {
        fprintf(stderr, "libppu: write the counts: PPU_COUNTS=%s: %s\n", path, strerror(errno));
    }
}

static void write_counts(struct ppu_device *device, uint64_t before_ns)
{
    const char *path = secure_getenv("PPU_COUNTS");
    struct line line = { .text = "{", .length = 1 };
    struct view view;
    enum ppu_err err = device_state_take(device, &view);

    if (!path || err != PPU_OK) {
        fprintf(stderr, "libppu: write the counts: %s\n", ppu_error_text(path ? err : PPU_ERR_BAD_ARG));
        return;
    }
    add_count(&line, "PPU", device->info.instance);
    add_count(&line, "TIME_NS", view.area->telemetry.device[PPU_TELEMETRY_DEVICE_TIME_NS]);
    add_count(&line, "MCU_NS", view.area->telemetry.device[PPU_TELEMETRY_DEVICE_MCU_NS] - before_ns);
    add_totals(&line, &view.area->telemetry);
    view_free(&view);
    append(path, &line);
}

/* ---- which are open ---- */

static bool forget(const struct ppu_device *device, uint64_t *before_ns)
{
    bool known = false;

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < MAX_OPEN; i++) {
        if (open_devices[i] == device) {
            open_devices[i] = NULL;
            *before_ns = mcu_ns_before[i];
            known = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return known;
}

/* OpenCL's devices are never closed. */
static void write_all(void)
{
    for (uint32_t i = 0; i < MAX_OPEN; i++) {
        struct ppu_device *device = __atomic_load_n(&open_devices[i], __ATOMIC_ACQUIRE);
        if (device) {
            counts_end(device);
        }
    }
}

void counts_begin(struct ppu_device *device)
{
    uint64_t before_ns = 0;
    struct view view;
    uint32_t i = 0;

    if (!secure_getenv("PPU_COUNTS")) {
        return;
    }
    if (device_state_take(device, &view) == PPU_OK) {
        before_ns = view.area->telemetry.device[PPU_TELEMETRY_DEVICE_MCU_NS];
        view_free(&view);
    }
    pthread_mutex_lock(&lock);
    while (i < MAX_OPEN && open_devices[i]) {
        i++;
    }
    if (i < MAX_OPEN) {
        mcu_ns_before[i] = before_ns;
        __atomic_store_n(&open_devices[i], device, __ATOMIC_RELEASE);
        waits_for_exit = waits_for_exit || atexit(write_all) == 0;
    }
    pthread_mutex_unlock(&lock);
}

void counts_end(struct ppu_device *device)
{
    uint64_t before_ns = 0;

    if (forget(device, &before_ns)) {
        write_counts(device, before_ns);
    }
}
