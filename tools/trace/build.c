/* SPDX-License-Identifier: MIT */
#include "tools/trace/build.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"

#define MOST_OWNERS 4096u

/* ---- lanes and counters ---- */

uint32_t build_lane(struct build *build, uint32_t section, enum track_kind kind, uint32_t number)
{
    uint32_t lane = 0;

    while (map_get(&build->lanes, timeline_track_key(section, kind, number, lane)) == 1) {
        lane++;
    }
    map_set(&build->lanes, timeline_track_key(section, kind, number, lane), 1);
    return lane;
}

void build_free_lane(struct build *build, const struct timeline_slice *slice)
{
    const struct timeline_track *track = &build->timeline->track[slice->track];

    map_set(&build->lanes, timeline_track_key(track->section, track->kind, track->number, track->lane), 0);
}

void build_count(struct build *build, uint32_t section, const char *name, uint32_t number, uint64_t time_ns, int change)
{
    uint64_t key = (uint64_t)section << 32 | number;
    uint32_t value = map_get(&build->counter, key);
    uint32_t text = texts_format(&build->timeline->texts, "%s", name);
    uint32_t track = timeline_track(build->timeline, section, TRACK_COUNTER, number, 0, text);

    value = value == MAP_NONE ? 0 : value;
    value = change < 0 && value < (uint32_t)-change ? 0 : value + (uint32_t)change;
    map_set(&build->counter, key, value);
    timeline_point(build->timeline, track, time_ns, value);
}

/* ---- kernels ---- */

uint32_t build_kernel(struct build *build, uint32_t section, uint32_t name)
{
    struct timeline *timeline = build->timeline;
    uint64_t key = (uint64_t)section << 32 | name;
    uint32_t found = map_get(&build->kernel_of, key);

    if (found == MAP_NONE) {
        found = timeline->kernels++;
        timeline->kernel = list_more(timeline->kernel, found, sizeof(*timeline->kernel));
        timeline->kernel[found] = (struct timeline_kernel){ .name = name, .section = section };
        map_set(&build->kernel_of, key, found);
    }
    return found;
}

void build_occupancy(struct timeline_kernel *kernel, const struct record_device *device)
{
    uint32_t wave = kernel->wave ? kernel->wave : 32;
    uint32_t warps = (kernel->cta_threads + wave - 1) / wave;
    const struct {
        uint64_t most;
        const char *what;
    } limit[] = {
        { device->sm_ctas, "CTAs of an SM" },
        { warps ? device->sm_warps / warps : 0, "warps" },
        { warps && kernel->vregs ? device->sm_vregs / ((uint64_t)wave * kernel->vregs * warps) : UINT32_MAX,
          "registers" },
        { kernel->shared_bytes ? device->sm_shared / kernel->shared_bytes : UINT32_MAX, "shared memory" },
    };

    kernel->resident = 0;
    kernel->limit = NULL;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(limit) && warps; i++) {
        if (!kernel->limit || limit[i].most < kernel->resident) {
            kernel->resident = (uint32_t)limit[i].most;
            kernel->limit = limit[i].what;
        }
    }
}

/* ---- chunks ---- */

static void take_process(struct build *build, const struct record_process *process, const char *command, uint32_t bytes)
{
    struct timeline *timeline = build->timeline;

    if (process->process != build->processes || build->processes == MOST_OWNERS) {
        return;
    }
    uint32_t name = texts_format(&timeline->texts, "%.*s (process %u)", (int)bytes, command, process->pid);
    build->process = list_more(build->process, build->processes, sizeof(*build->process));
    build->process[build->processes++] = (struct build_process){ timeline_section(timeline, name), process->pid };
}

static void take_device(struct build *build, const struct record_device *device)
{
    struct timeline *timeline = build->timeline;

    if (device->device != timeline->devices || device->process >= build->processes ||
        timeline->devices == MOST_OWNERS) {
        return;
    }
    uint32_t name =
        texts_format(&timeline->texts, "PPU %u (process %u)", device->device, build->process[device->process].pid);
    timeline->device = list_more(timeline->device, timeline->devices, sizeof(*timeline->device));
    timeline->device[timeline->devices++] = (struct timeline_device){ .is = *device,
                                                                      .clock = { INT64_MIN, INT64_MAX, false },
                                                                      .section = timeline_section(timeline, name) };
    map_set(&build->recorded, (uint64_t)device->process << 32 | device->recorded, device->device);
}

static void take_task(struct build *build, const struct record_task *task)
{
    build->described = list_more(build->described, build->descriptions, sizeof(*build->described));
    build->described[build->descriptions] = *task;
    map_set(&build->description, (uint64_t)task->device << 32 | task->task, build->descriptions++);
}

static uint64_t code_key(uint32_t device, uint32_t context, uint64_t code)
{
    return code ^ (uint64_t)context << 48 ^ (uint64_t)device << 60;
}

static void take_kernel(struct build *build, const struct record_kernel *kernel)
{
    if (kernel->device < build->timeline->devices) {
        build->loaded = list_more(build->loaded, build->loads, sizeof(*build->loaded));
        build->loaded[build->loads] = *kernel;
        map_set(&build->kernels, code_key(kernel->device, kernel->context, kernel->code), build->loads++);
    }
}

static uint32_t text_of_kernel(struct build *build, const struct record_kernel *kernel)
{
    uint32_t process = build->timeline->device[kernel->device].is.process;

    return map_get(&build->names, (uint64_t)process << 32 | kernel->name);
}

static bool has_code(const struct record_kernel *kernel, uint32_t device, uint32_t context, uint64_t code)
{
    return kernel->device == device && kernel->context == context &&
           code - (kernel->code - kernel->entry) < kernel->code_bytes;
}

uint32_t build_code_line(const struct build *build, uint32_t device, uint32_t context, uint64_t code)
{
    for (uint32_t i = build->programs; i-- > 0;) {
        const struct build_program *program = &build->program[i];
        uint64_t at = code - program->is.code;
        if (program->is.device == device && program->is.context == context && at < program->view.header->code_bytes) {
            return ppu_program_line(&program->view, (uint32_t)(at / PPU_INSN_BYTES));
        }
    }
    return 0;
}

/* What is launched and is no kernel is a block of OpenCL C, in the program of a kernel. */
uint32_t build_code_name(struct build *build, uint32_t device, uint32_t context, uint64_t code)
{
    uint32_t found = map_get(&build->kernels, code_key(device, context, code));

    if (found != MAP_NONE) {
        return text_of_kernel(build, &build->loaded[found]);
    }
    for (uint32_t i = build->loads; i-- > 0;) {
        const struct record_kernel *kernel = &build->loaded[i];
        if (has_code(kernel, device, context, code)) {
            uint32_t name = text_of_kernel(build, kernel);
            const char *beside = name != MAP_NONE ? build->timeline->texts.text[name] : "a kernel";
            uint64_t at = code - (kernel->code - kernel->entry);
            uint32_t line = build_code_line(build, device, context, code);
            return line != 0 ? texts_format(&build->timeline->texts, "block at line %u beside %s", line, beside)
                             : texts_format(&build->timeline->texts, "block at %#llx beside %s", (unsigned long long)at,
                                            beside);
        }
    }
    return MAP_NONE;
}

static void add_event(struct build *build, const struct record_events *events, const struct ppu_trace_record *record)
{
    build->event = list_more(build->event, build->events, sizeof(*build->event));
    build->event[build->events] = (struct build_event){
        .record = *record, .order = build->events, .owner = (uint16_t)events->owner, .source = (uint8_t)events->source
    };
    build->events++;
}

static void take_events(struct build *build, const struct record_events *events, const uint8_t *bytes, uint32_t size)
{
    uint32_t owners = events->source == RECORD_OF_PROGRAM ? build->processes : build->timeline->devices;

    if (events->source >= RECORD_SOURCES || events->owner >= owners) {
        return;
    }
    for (; size >= sizeof(struct ppu_trace_record); size -= (uint32_t)sizeof(struct ppu_trace_record)) {
        struct ppu_trace_record record;
        memcpy(&record, bytes, sizeof(record));
        bytes += sizeof(record);
        if (record.version == PPU_TRACE_VERSION && record.size_bytes == sizeof(record)) {
            add_event(build, events, &record);
            build->timeline->records++;
        }
    }
}

static void take_clock(struct timeline *timeline, const struct record_clock *clock)
{
    if (clock->device < timeline->devices) {
        struct timeline_clock *known = &timeline->device[clock->device].clock;
        known->low_ns = PPU_MAX(known->low_ns, clock->low_ns);
        known->high_ns = PPU_MIN(known->high_ns, clock->high_ns);
    }
}

/* A record that stands for those that are missing: as an event, so that it is put at its place in time. */
static void take_lost(struct build *build, const struct record_lost *lost)
{
    const struct record_events events = { lost->source, lost->owner };
    uint32_t owners = lost->source == RECORD_OF_PROGRAM ? build->processes : build->timeline->devices;

    if (lost->source < RECORD_SOURCES && lost->owner < owners) {
        const struct ppu_trace_record record = { .type = 0, .id = { (uint32_t)lost->count, lost->source, 0 } };
        add_event(build, &events, &record);
        build->timeline->lost += lost->count;
    }
}

/* An image that is malformed has no lines. */
static void take_program(struct build *build, const struct record_program *program, const uint8_t *image, size_t bytes)
{
    struct ppu_program_view view;

    if ((uintptr_t)image % sizeof(uint32_t) == 0 && !ppu_program_open(image, bytes, &view)) {
        build->program = list_more(build->program, build->programs, sizeof(*build->program));
        build->program[build->programs++] = (struct build_program){ *program, view };
    }
}

static void take_served(struct build *build, const struct record_served *served, const uint8_t *insns, uint32_t bytes)
{
    build->served = list_more(build->served, build->serves, sizeof(*build->served));
    build->served[build->serves++] =
        (struct build_served){ served->device, served->first, bytes / (uint32_t)sizeof(uint32_t), insns };
}

/* The fixed part of a chunk; false: it is too short. */
static bool fixed_part(const struct record_chunk *chunk, const uint8_t *content, void *part, size_t bytes)
{
    if (chunk->bytes < bytes) {
        return false;
    }
    memcpy(part, content, bytes);
    return true;
}

static void take_chunk(struct build *build, const struct record_chunk *chunk, const uint8_t *content)
{
    struct timeline *timeline = build->timeline;
    union {
        struct record_process process;
        struct record_device device;
        struct record_name name;
        struct record_kernel kernel;
        struct record_task task;
        struct record_events events;
        struct record_lost lost;
        struct record_clock clock;
        struct record_served served;
        struct record_program program;
        struct record_end end;
    } part;
    size_t rest = 0;

#define PART(member) (rest = sizeof(part.member), fixed_part(chunk, content, &part.member, sizeof(part.member)))
    if (chunk->kind == RECORD_PROCESS && PART(process)) {
        take_process(build, &part.process, (const char *)content + rest, (uint32_t)(chunk->bytes - rest));
    } else if (chunk->kind == RECORD_DEVICE && PART(device)) {
        take_device(build, &part.device);
    } else if (chunk->kind == RECORD_NAME && PART(name)) {
        uint32_t text = texts_add(&timeline->texts, (const char *)content + rest,
                                  strnlen((const char *)content + rest, chunk->bytes - rest));
        map_set(&build->names, (uint64_t)part.name.process << 32 | part.name.name, text);
    } else if (chunk->kind == RECORD_KERNEL && PART(kernel)) {
        take_kernel(build, &part.kernel);
    } else if (chunk->kind == RECORD_TASK && PART(task)) {
        take_task(build, &part.task);
    } else if (chunk->kind == RECORD_EVENTS && PART(events)) {
        take_events(build, &part.events, content + rest, (uint32_t)(chunk->bytes - rest));
    } else if (chunk->kind == RECORD_LOST && PART(lost)) {
        take_lost(build, &part.lost);
    } else if (chunk->kind == RECORD_CLOCK && PART(clock)) {
        take_clock(timeline, &part.clock);
    } else if (chunk->kind == RECORD_PROGRAM && PART(program)) {
        take_program(build, &part.program, content + rest, chunk->bytes - rest);
    } else if (chunk->kind == RECORD_SERVED && PART(served)) {
        take_served(build, &part.served, content + rest, (uint32_t)(chunk->bytes - rest));
    } else if (chunk->kind == RECORD_END && PART(end)) {
        timeline->began_ns = part.end.began_ns;
        timeline->ended_ns = part.end.ended_ns;
    }
#undef PART
}

/* ---- time ---- */

/* The program's time before it rings is before the device's time of the doorbell. */
static void bound_by_doorbells(struct build *build, uint32_t device)
{
    struct timeline_device *at = &build->timeline->device[device];
    struct map rung = { .size = 0 }; /* channel, put -> low word of the latest event */

    for (uint32_t i = 0; i < build->events; i++) {
        const struct build_event *event = &build->event[i];
        const uint32_t *id = event->record.id;
        if (event->source == RECORD_OF_PROGRAM && event->owner == at->is.process &&
            event->record.type == PPU_TRACE_RING && id[2] == at->is.recorded) {
            map_set(&rung, (uint64_t)id[0] << 32 | id[1], i);
        }
    }
    for (uint32_t i = 0; i < build->events; i++) {
        const struct build_event *event = &build->event[i];
        const uint32_t *id = event->record.id;
        if (event->source != RECORD_OF_DEVICE || event->owner != device || event->record.type != PPU_TRACE_DOORBELL) {
            continue;
        }
        uint32_t ring = map_get(&rung, (uint64_t)id[0] << 32 | id[1]);
        int64_t low_ns =
            ring == MAP_NONE ? INT64_MIN : (int64_t)build->event[ring].record.time_ns - (int64_t)event->record.time_ns;
        /* A ring buffer comes around to the same value: only the latest doorbell may be compared. */
        if (ring != MAP_NONE && low_ns <= at->clock.high_ns) {
            at->clock.low_ns = PPU_MAX(at->clock.low_ns, low_ns);
        }
    }
    map_free(&rung);
}

static int64_t difference_of(struct timeline_clock *clock)
{
    if (clock->low_ns == INT64_MIN || clock->high_ns == INT64_MAX) {
        clock->contradicts = true;
        return clock->high_ns != INT64_MAX ? clock->high_ns : clock->low_ns != INT64_MIN ? clock->low_ns : 0;
    }
    clock->contradicts = clock->low_ns > clock->high_ns;
    return clock->contradicts ? clock->high_ns
                              : clock->low_ns + (int64_t)(((uint64_t)clock->high_ns - (uint64_t)clock->low_ns) / 2);
}

static void set_times(struct build *build)
{
    uint64_t latest_ns = 0;

    for (uint32_t i = 0; i < build->timeline->devices; i++) {
        bound_by_doorbells(build, i);
    }
    for (uint32_t i = 0; i < build->events; i++) {
        struct build_event *event = &build->event[i];
        bool missing = event->record.type == 0;
        event->time_ns = event->record.time_ns;
        if (!missing && event->source != RECORD_OF_PROGRAM) {
            event->time_ns += (uint64_t)difference_of(&build->timeline->device[event->owner].clock);
        }
        latest_ns = PPU_MAX(latest_ns, event->time_ns);
    }
    /* What is missing was before the next record of the same recorder. */
    uint64_t next_ns[RECORD_SOURCES] = { 0 };
    for (uint32_t i = build->events; i-- > 0;) {
        struct build_event *event = &build->event[i];
        if (event->record.type == 0) {
            event->time_ns = next_ns[event->source] != 0 ? next_ns[event->source] : latest_ns;
        } else {
            next_ns[event->source] = event->time_ns;
        }
    }
}

static int compare_events(const void *a, const void *b)
{
    const struct build_event *first = a, *second = b;

    if (first->time_ns != second->time_ns) {
        return first->time_ns < second->time_ns ? -1 : 1;
    }
    return first->order < second->order ? -1 : first->order > second->order;
}

/* ---- all ---- */

static void build_missing(struct build *build, const struct build_event *event)
{
    static const char *const source[] = { "the firmware", "the device", "the program" };
    struct timeline *timeline = build->timeline;
    uint32_t section = event->source == RECORD_OF_PROGRAM ? build->process[event->owner].section
                                                          : timeline->device[event->owner].section;
    uint32_t track = timeline_track(timeline, section, TRACK_MISSING, 0, 0, texts_format(&timeline->texts, "Missing"));
    uint32_t name =
        texts_format(&timeline->texts, "%u records of %s are missing", event->record.id[0], source[event->source]);

    timeline_slice(timeline, track, event->time_ns, name, &event->record);
}

static void build_event(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;

    timeline->began_ns = PPU_MIN(timeline->began_ns, event->time_ns);
    timeline->ended_ns = PPU_MAX(timeline->ended_ns, event->time_ns);
    if (event->record.type == 0) {
        build_missing(build, event);
    } else if (event->source == RECORD_OF_PROGRAM) {
        build_program_event(build, event);
    } else if (event->source == RECORD_OF_FIRMWARE) {
        build_firmware_event(build, event);
    } else {
        build_device_event(build, event);
    }
}

static void build_free(struct build *build)
{
    struct map *maps[] = { &build->names,       &build->kernels,      &build->description, &build->task,
                           &build->running,     &build->launch_first, &build->launch_last, &build->counts_first,
                           &build->counts_last, &build->kernel_of,    &build->command,     &build->command_block,
                           &build->call,        &build->depth,        &build->lanes,       &build->cta,
                           &build->early,       &build->copy,         &build->block,       &build->parked,
                           &build->released,    &build->counter,      &build->recorded,    &build->warp,
                           &build->tokens };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(maps); i++) {
        map_free(maps[i]);
    }
    free(build->event);
    free(build->process);
    free(build->loaded);
    free(build->described);
    free(build->launch);
    free(build->counts);
    free(build->program);
    free(build->served);
}

const char *timeline_read(struct timeline *timeline, const void *bytes, size_t size)
{
    struct build build = { .timeline = timeline };
    struct record record;
    struct record_chunk chunk;
    const uint8_t *content = NULL;
    const char *why = record_open(&record, bytes, size);
    bool ended = false;

    *timeline = (struct timeline){ .sections = 0 };
    if (why) {
        return why;
    }
    while (record_next(&record, &chunk, &content, &timeline->truncated)) {
        take_chunk(&build, &chunk, content);
        ended |= chunk.kind == RECORD_END;
    }
    timeline->truncated |= !ended;
    set_times(&build);
    if (build.events > 0) {
        qsort(build.event, build.events, sizeof(*build.event), compare_events);
    }
    if (!ended) {
        timeline->began_ns = UINT64_MAX;
    }
    for (uint32_t i = 0; i < build.events; i++) {
        build_event(&build, &build.event[i]);
    }
    timeline->began_ns = timeline->began_ns == UINT64_MAX ? 0 : timeline->began_ns;
    build_end(&build);
    build_free(&build);
    return NULL;
}
