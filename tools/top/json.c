/* SPDX-License-Identifier: MIT */
/*
 * Writes samples as JSON. What the device measures has the names of telemetry.def and counter.def, what the firmware
 * keeps those of state.def, in small letters.
 */
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "ppu/macros.h"
#include "runtime/state/why.h"
#include "tools/top/sheet.h"

#define NAME_BYTES 48u

/* ---- names and numbers ---- */

static void put(json_t *object, const char *name, json_t *value)
{
    char small[NAME_BYTES];
    size_t bytes = PPU_MIN(strlen(name), sizeof(small) - 1);

    for (size_t i = 0; i < bytes; i++) {
        small[i] = (char)tolower((unsigned char)name[i]);
    }
    small[bytes] = 0;
    json_object_set_new(object, small, value);
}

static json_t *percent(double load)
{
    return load < 0 ? json_null() : json_real(load);
}

static json_t *percents(const double *loads, uint32_t count)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(array, percent(loads[i]));
    }
    return array;
}

static json_t *counts(const uint32_t values[PPU_PRIORITIES])
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < PPU_PRIORITIES; i++) {
        json_array_append_new(array, json_integer(values[i]));
    }
    return array;
}

/* ---- rows of tables ---- */

struct member {
    enum ppu_state_member member;
    const char *name;
};

static json_t *row_object(const struct view *view, const struct member *members, size_t count, uint32_t row)
{
    json_t *object = json_object();

    put(object, "number", json_integer(row));
    for (size_t i = 0; i < count; i++) {
        put(object, members[i].name, json_integer((json_int_t)view_get(view, members[i].member, row)));
    }
    return object;
}

static json_t *tasks(const struct view *view)
{
    static const struct member members[] = {
#define PPU_STATE_TASK(name, member, doc) { PPU_STATE_TASK_##name, #name },
#include "ppu/state.def"
    };
    json_t *array = json_array();

    for (uint32_t i = 0; i < view_rows(view, PPU_STATE_TABLE_TASK); i++) {
        uint64_t state = view_get(view, PPU_STATE_TASK_STATE, i);
        struct ppu_why why;
        if (state == PPU_TASK_STATE_FREE || state == PPU_TASK_STATE_LENT) {
            continue;
        }
        json_t *object = row_object(view, members, PPU_ARRAY_SIZE(members), i);
        why_task(view, (uint32_t)view_get(view, PPU_STATE_TASK_HANDLE, i), &why);
        put(object, "state", json_string(figures_task_state(state)));
        put(object, "channel", why.channel == UINT32_MAX ? json_null() : json_integer(why.channel));
        put(object, "parent", json_boolean(view_get(view, PPU_STATE_TASK_PARENT, i) != 0));
        put(object, "reason", json_string(why_name(why.reason)));
        put(object, "why", json_string(why.text));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *channels(const struct view *view)
{
    static const struct member members[] = {
#define PPU_STATE_CHANNEL(name, member, doc) { PPU_STATE_CHANNEL_##name, #name },
#include "ppu/state.def"
    };
    json_t *array = json_array();

    for (uint32_t i = 0; i < view_rows(view, PPU_STATE_TABLE_CHANNEL); i++) {
        uint64_t state = view_get(view, PPU_STATE_CHANNEL_STATE, i);
        struct ppu_why why;
        if (state == PPU_CHANNEL_CLOSED) {
            continue;
        }
        json_t *object = row_object(view, members, PPU_ARRAY_SIZE(members), i);
        why_channel(view, i, &why);
        put(object, "state", json_string(figures_channel_state(state)));
        put(object, "reason", json_string(why_name(why.reason)));
        put(object, "why", json_string(why.text));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *contexts(const struct device *device)
{
    struct context_figures figures[PPU_MAX_CONTEXTS];
    uint32_t count = figures_contexts(device, BY_NUMBER, figures);
    json_t *array = json_array();

    for (uint32_t i = 0; i < count; i++) {
        const struct context_figures *context = &figures[i];
        json_t *object = json_object();
        put(object, "number", json_integer(context->number));
        put(object, "load", percent(context->load));
        put(object, "sm_ns", json_integer((json_int_t)context->sm_ns));
        put(object, "vram_bytes", json_integer((json_int_t)context->mapped.vram_bytes));
        put(object, "system_bytes", json_integer((json_int_t)context->mapped.system_bytes));
        put(object, "tasks", json_integer(context->tasks));
        put(object, "channels", json_integer(context->channels));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *slots(const struct view *view)
{
    const struct ppu_telemetry *telemetry = &view->area->telemetry;
    json_t *array = json_array();

    for (uint32_t i = 0; i < PPU_MIN(view_rows(view, PPU_STATE_TABLE_SLOT), PPU_MAX_SLOTS); i++) {
        uint32_t task = view_pointed(view, PPU_STATE_TABLE_TASK, view_get(view, PPU_STATE_SLOT_TASK, i));
        json_t *object = json_object();
        put(object, "number", json_integer(i));
        put(object, "task",
            task == VIEW_NONE ? json_null() : json_integer((json_int_t)view_get(view, PPU_STATE_TASK_HANDLE, task)));
#define PPU_TELEMETRY_SLOT(name, doc) \
    put(object, #name, json_integer((json_int_t)telemetry->slot[i][PPU_TELEMETRY_SLOT_##name]));
#include "ppu/telemetry.def"
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- what the device measures ---- */

static json_t *sms(const struct view *view, const struct figures *figures)
{
    const struct ppu_telemetry *telemetry = &view->area->telemetry;
    json_t *array = json_array();

    for (uint32_t i = 0; i < figures->sms; i++) {
        json_t *object = json_object();
        put(object, "number", json_integer(i));
        put(object, "load", percent(figures->sm_load[i]));
        put(object, "occupancy", percent(figures->sm_occupancy[i]));
#define PPU_TELEMETRY_SM(name, doc) \
    put(object, #name, json_integer((json_int_t)telemetry->sm[i][PPU_TELEMETRY_SM_##name]));
#include "ppu/telemetry.def"
#define PPU_COUNTER(name, number, doc) put(object, #name, json_integer((json_int_t)telemetry->count[i][number]));
#include "ppu/counter.def"
#undef PPU_COUNTER
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *gpcs(const struct view *view)
{
    const struct ppu_telemetry *telemetry = &view->area->telemetry;
    json_t *array = json_array();

    for (uint32_t i = 0; i < PPU_MIN(telemetry->device[PPU_TELEMETRY_DEVICE_GPCS], (uint64_t)PPU_MAX_GPCS); i++) {
        json_t *object = json_object();
        put(object, "number", json_integer(i));
#define PPU_TELEMETRY_GPC(name, doc) \
    put(object, #name, json_integer((json_int_t)telemetry->gpc[i][PPU_TELEMETRY_GPC_##name]));
#include "ppu/telemetry.def"
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *measured(const struct view *view)
{
    const struct ppu_telemetry *telemetry = &view->area->telemetry;
    json_t *object = json_object();

#define PPU_TELEMETRY_DEVICE(name, doc) \
    put(object, #name, json_integer((json_int_t)telemetry->device[PPU_TELEMETRY_DEVICE_##name]));
#include "ppu/telemetry.def"
    return object;
}

static json_t *device_object(const struct device *device)
{
    struct figures figures;
    json_t *object = json_object();

    put(object, "pid", json_integer(device->pid));
    put(object, "instance", json_integer(device->info.instance));
    put(object, "command", json_string(device->command));
    put(object, "vram_bytes", json_integer((json_int_t)device->info.vram_bytes));
    put(object, "state", json_string(device->gone ? "gone" : device_is_shown(device) ? "shown" : "hidden"));
    if (!device_is_shown(device)) {
        put(object, "why_not", device->why_not ? json_string(device->why_not) : json_null());
        return object;
    }
    figures_compute(device, &figures);
    put(object, "seconds", json_real(figures.seconds));
    put(object, "device", measured(&device->now));
    put(object, "sms", sms(&device->now, &figures));
    put(object, "gpcs", gpcs(&device->now));
    put(object, "mcu_load", percent(figures.mcu_load));
    put(object, "process_load", percent(figures.process_load));
    put(object, "thread_loads", percents(figures.thread_load, figures.threads));
    put(object, "waiting", counts(figures.waiting));
    put(object, "running", counts(figures.running));
    put(object, "faults", json_integer((json_int_t)figures.faults));
    put(object, "contexts", contexts(device));
    put(object, "channels", channels(&device->now));
    put(object, "tasks", tasks(&device->now));
    put(object, "slots", slots(&device->now));
    return object;
}

bool sheet_json(FILE *file, const struct devices *devices)
{
    json_t *array = json_array(), *root = json_object();

    for (uint32_t i = 0; i < devices->count; i++) {
        json_array_append_new(array, device_object(devices->device[i]));
    }
    put(root, "version", json_integer(1));
    put(root, "ppus", array);
    bool written =
        json_dumpf(root, file, JSON_COMPACT | JSON_SORT_KEYS) == 0 && fputc('\n', file) != EOF && fflush(file) == 0;
    json_decref(root);
    return written;
}
