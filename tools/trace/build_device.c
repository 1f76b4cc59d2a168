/* SPDX-License-Identifier: MIT */
/* Puts what firmware and device did onto the timeline: channels, tasks, CTAs, copies, semaphores, faults. */
#include <string.h>

#include "ppu/fault.h"
#include "ppu/macros.h"
#include "tools/trace/build.h"

#define MOST_WAITING_LANES 32u /* tasks that wait and are drawn, of a priority; counters have all */
#define EXHAUSTED (MAP_NONE - 1u)

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static const char *fault_name(uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *name;
    } names[] = {
#define PPU_FAULT(name, code, scope, retryable, payload, location, error, text) { (code), #name },
#include "ppu/fault.def"
#undef PPU_FAULT
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "unknown fault";
}

static uint32_t section_of(const struct build *build, const struct build_event *event)
{
    return build->timeline->device[event->owner].section;
}

static uint32_t text(struct build *build, const char *words)
{
    return texts_format(&build->timeline->texts, "%s", words);
}

static uint32_t instant(struct build *build, const struct build_event *event, enum track_kind kind, uint32_t number,
                        const char *track_name, uint32_t name)
{
    uint32_t track =
        timeline_track(build->timeline, section_of(build, event), kind, number, 0, text(build, track_name));

    return timeline_slice(build->timeline, track, event->time_ns, name, &event->record);
}

/* ---- channels ---- */

static uint32_t channel_track(struct build *build, const struct build_event *event, uint32_t channel)
{
    return timeline_track(build->timeline, section_of(build, event), TRACK_CHANNEL, channel, 0,
                          texts_format(&build->timeline->texts, "Channel %u", channel));
}

static void end_block(struct build *build, const struct build_event *event, uint32_t channel)
{
    uint32_t slice = map_get(&build->block, pair(event->owner, channel));

    if (slice != MAP_NONE && build->timeline->slice[slice].length_ns == TIMELINE_INSTANT) {
        timeline_close(build->timeline, slice, event->time_ns);
    }
}

/* The slice in which the channel waits for a semaphore; MAP_NONE: it does not. */
static uint32_t parked_slice(const struct build *build, const struct build_event *event, uint32_t channel)
{
    uint32_t parked = map_get(&build->parked, pair(event->owner, channel));

    return parked != MAP_NONE && build->timeline->slice[parked].length_ns == TIMELINE_INSTANT ? parked : MAP_NONE;
}

/* The channel goes on. That its semaphore has passed may be among the records that were lost. */
static void end_parked(struct build *build, const struct build_event *event, uint32_t channel)
{
    uint32_t parked = parked_slice(build, event, channel);

    if (parked != MAP_NONE) {
        timeline_close(build->timeline, parked, event->time_ns);
    }
}

static void block_begins(struct build *build, const struct build_event *event)
{
    uint32_t channel = event->record.id[0];

    end_parked(build, event, channel);
    end_block(build, event, channel);
    uint32_t slice =
        timeline_slice(build->timeline, channel_track(build, event, channel), event->time_ns,
                       texts_format(&build->timeline->texts, "block of %u words", event->record.id[2]), &event->record);
    map_set(&build->block, pair(event->owner, channel), slice);
    uint32_t number = map_get(&build->command_block, pair(event->owner, event->record.correlation));
    if (number != MAP_NONE) {
        struct timeline_command *command = &build->timeline->command[number];
        command->running_ns = command->running_ns != 0 ? command->running_ns : event->time_ns;
        timeline_arrow(build->timeline, command->slice, slice, "command");
    }
}

static void semaphore_tested(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t channel = event->record.id[0], address = event->record.id[2] & ~1u;
    bool passed = event->record.id[2] & 1u;
    uint32_t parked = parked_slice(build, event, channel);

    if (!passed && parked == MAP_NONE) {
        uint32_t name = texts_format(&timeline->texts, "parked: semaphore %#x for %u", address, event->record.id[1]);
        parked = timeline_slice(timeline, channel_track(build, event, channel), event->time_ns, name, &event->record);
        map_set(&build->parked, pair(event->owner, channel), parked);
        return;
    }
    if (passed && parked != MAP_NONE) {
        timeline_close(timeline, parked, event->time_ns);
        uint32_t released = map_get(&build->released, pair(event->owner, address));
        if (released != MAP_NONE) {
            timeline_arrow(timeline, released, parked, "semaphore");
        }
    }
}

static void semaphore_released(struct build *build, const struct build_event *event)
{
    uint32_t channel = event->record.id[0];
    uint32_t name = texts_format(&build->timeline->texts, "releases semaphore %#x", event->record.id[2]);

    end_block(build, event, channel);
    uint32_t slice =
        timeline_slice(build->timeline, channel_track(build, event, channel), event->time_ns, name, &event->record);
    timeline_close(build->timeline, slice, event->time_ns + 1); /* an arrow begins in a slice */
    map_set(&build->released, pair(event->owner, event->record.id[2]), slice);
}

/* ---- tasks ---- */

/* A list that was used up is no list that has not begun. */
static uint32_t next_or_exhausted(uint32_t next)
{
    return next == MAP_NONE ? EXHAUSTED : next;
}

/* The kernel of a task: as its descriptor says, else the next launch of its block. */
static uint32_t kernel_name(struct build *build, const struct build_event *event, const struct record_task *described)
{
    uint64_t block = pair(event->owner, event->record.correlation);
    uint32_t launch = map_get(&build->launch_first, block);
    uint32_t name = MAP_NONE;

    bool is_child = event->record.type == PPU_TRACE_LAUNCH_CHILD || (described && described->depth > 1);
    if (launch != MAP_NONE && launch != EXHAUSTED && !is_child) {
        name = build->launch[launch].name;
        map_set(&build->launch_first, block, next_or_exhausted(build->launch[launch].next));
    }
    if (described) {
        uint32_t known = build_code_name(build, event->owner, described->context, described->code);
        name = known != MAP_NONE ? known : name;
        if (name == MAP_NONE) {
            name = texts_format(&build->timeline->texts, "kernel at %#llx", (unsigned long long)described->code);
        }
    }
    return name != MAP_NONE ? name : text(build, "a kernel");
}

static const struct record_task *description_of(const struct build *build, uint32_t device, uint32_t handle)
{
    uint32_t found = map_get(&build->description, pair(device, handle));

    return found != MAP_NONE ? &build->described[found] : NULL;
}

static struct timeline_task *add_task(struct build *build, const struct build_event *event, uint32_t handle)
{
    struct timeline *timeline = build->timeline;
    const struct record_task *described = description_of(build, event->owner, handle);
    uint32_t kernel = build_kernel(build, section_of(build, event), kernel_name(build, event, described));

    timeline->task = list_more(timeline->task, timeline->tasks, sizeof(*timeline->task));
    struct timeline_task *task = &timeline->task[timeline->tasks];
    *task = (struct timeline_task){
        .device = event->owner,
        .handle = handle,
        .kernel = kernel,
        .parent = MAP_NONE,
        .slice = MAP_NONE,
        .correlation = event->record.correlation,
        .channel = UINT32_MAX,
    };
    if (described) {
        struct timeline_kernel *of = &timeline->kernel[kernel];
        of->cta_threads = described->cta_threads;
        of->vregs = described->vregs;
        of->wave = described->wave;
        of->shared_bytes = described->shared_bytes;
        of->line = build_code_line(build, event->owner, described->context, described->code);
        build_occupancy(of, &timeline->device[event->owner].is);
    }
    map_set(&build->task, pair(event->owner, handle), timeline->tasks++);
    return task;
}

static void draw_launcher(struct build *build, const struct timeline_task *task);

/* The firmware may have started the task before it wrote that it accepted it. */
static void task_launched(struct build *build, const struct build_event *event)
{
    uint32_t found = map_get(&build->task, pair(event->owner, event->record.id[1]));
    bool runs = found != MAP_NONE && build->timeline->task[found].ended_ns == 0;
    struct timeline_task *task = runs ? &build->timeline->task[found] : add_task(build, event, event->record.id[1]);

    if (event->record.type == PPU_TRACE_LAUNCH_CHILD) {
        uint32_t parent = map_get(&build->task, pair(event->owner, event->record.id[0]));
        task->parent = parent;
        task->channel = parent != MAP_NONE ? build->timeline->task[parent].channel : UINT32_MAX;
    } else {
        task->channel = event->record.id[0];
    }
    if (runs) {
        draw_launcher(build, task);
        return;
    }
    task->launched_ns = event->time_ns;
    build_count(build, section_of(build, event), "Tasks that wait", BUILD_COUNTER_WAITING, event->time_ns, 1);
}

static void draw_wait(struct build *build, const struct build_event *event, const struct timeline_task *task)
{
    struct timeline *timeline = build->timeline;
    uint32_t priority = event->record.id[2], section = section_of(build, event);

    for (uint32_t lane = 0; lane < MOST_WAITING_LANES; lane++) {
        uint64_t key = timeline_track_key(section, TRACK_WAITING, priority, lane);
        uint32_t last = map_get(&build->lanes, key);
        if (last == MAP_NONE || timeline->slice[last].start_ns + timeline->slice[last].length_ns <= task->launched_ns) {
            uint32_t track = timeline_track(timeline, section, TRACK_WAITING, priority, lane,
                                            texts_format(&timeline->texts, "Waiting, priority %u", priority));
            last =
                timeline_slice(timeline, track, task->launched_ns, timeline->kernel[task->kernel].name, &event->record);
            timeline_close(timeline, last, event->time_ns);
            map_set(&build->lanes, key, last);
            return;
        }
    }
}

static void draw_launcher(struct build *build, const struct timeline_task *task)
{
    struct timeline *timeline = build->timeline;

    if (task->parent != MAP_NONE && timeline->task[task->parent].slice != MAP_NONE) {
        timeline_arrow(timeline, timeline->task[task->parent].slice, task->slice, "child");
        return;
    }
    uint32_t block = map_get(&build->block, pair(task->device, task->channel));
    if (block != MAP_NONE && task->parent == MAP_NONE) {
        timeline_arrow(timeline, block, task->slice, "launch");
    }
}

/* A task that waits for its children, or makes room, has left its slot when it gets one again, or another task does. */
static void leave_slot(struct build *build, const struct build_event *event, struct timeline_task *task)
{
    struct timeline *timeline = build->timeline;

    if (task->slice != MAP_NONE && timeline->slice[task->slice].length_ns == TIMELINE_INSTANT) {
        uint64_t left_ns = PPU_MAX(task->saved_ns, task->started_ns);
        timeline_close(timeline, task->slice, left_ns != 0 ? left_ns : event->time_ns);
        timeline->kernel[task->kernel].run_ns += left_ns - task->started_ns;
        build_count(build, section_of(build, event), "Tasks that run", BUILD_COUNTER_RUNNING, event->time_ns, -1);
    }
}

static void leave_slots(struct build *build, const struct build_event *event, struct timeline_task *task)
{
    uint32_t other = map_get(&build->running, pair(event->owner, event->record.id[1]));

    leave_slot(build, event, task);
    if (other != MAP_NONE && build->timeline->task[other].ended_ns == 0) {
        leave_slot(build, event, &build->timeline->task[other]);
    }
}

/* Counts the warps of a CTA. */
static uint32_t warps_of(const struct timeline_kernel *kernel)
{
    uint32_t wave = kernel->wave ? kernel->wave : 32;

    return (kernel->cta_threads + wave - 1) / wave;
}

/* Warps of CTAs that came or left: the share of those that the SMs could hold. */
static void count_occupancy(struct build *build, const struct build_event *event, int warps)
{
    struct timeline *timeline = build->timeline;
    const struct record_device *device = &timeline->device[event->owner].is;
    uint64_t room = (uint64_t)device->sms * device->sm_warps, key = (uint64_t)2 << 60 | event->owner;
    uint32_t before = map_get(&build->counter, key);

    if (room == 0 || warps == 0) {
        return;
    }
    before = before == MAP_NONE ? 0 : before;
    uint32_t now = warps < 0 && before < (uint32_t)-warps ? 0 : before + (uint32_t)warps;
    uint32_t track = timeline_track(timeline, section_of(build, event), TRACK_COUNTER, BUILD_COUNTER_OCCUPANCY, 0,
                                    text(build, "Occupancy in %"));
    map_set(&build->counter, key, now);
    timeline_point(timeline, track, event->time_ns, 100.0 * (double)now / (double)room);
}

/* CTAs and warps that ran before the firmware wrote that it started their task get its name. */
static void name_early(struct build *build, const struct build_event *event, const struct timeline_task *task)
{
    struct timeline *timeline = build->timeline;
    uint64_t slot = pair(event->owner, event->record.id[1]);

    for (uint32_t i = map_get(&build->early, slot); i < timeline->slices; i++) {
        struct timeline_slice *slice = &timeline->slice[i];
        const struct timeline_track *track = &timeline->track[slice->track];
        const struct timeline_kernel *kernel = &timeline->kernel[task->kernel];
        if (track->section != section_of(build, event) || slice->correlation != task->correlation) {
            continue;
        }
        if (track->kind == TRACK_SM && slice->id[1] == event->record.id[1]) {
            slice->name = kernel->name;
            slice->weight = warps_of(kernel);
            count_occupancy(build, event, slice->length_ns == TIMELINE_INSTANT ? (int)slice->weight : 0);
        } else if (track->kind == TRACK_WARP && slice->id[1] >> 16 == event->record.id[1]) {
            slice->name = build_warp_name(build, timeline->texts.text[kernel->name], slice->id[2] & 0xffffu);
        }
    }
    map_set(&build->early, slot, MAP_NONE);
}

static void task_starts(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t handle = event->record.id[0], slot = event->record.id[1], section = section_of(build, event);
    uint32_t found = map_get(&build->task, pair(event->owner, handle));
    bool known = found != MAP_NONE && timeline->task[found].ended_ns == 0;
    struct timeline_task *task = known ? &timeline->task[found] : add_task(build, event, handle);

    leave_slots(build, event, task);
    uint32_t track =
        timeline_track(timeline, section, TRACK_SLOT, slot, 0, texts_format(&timeline->texts, "Slot %u", slot));
    uint32_t slice =
        timeline_slice(timeline, track, event->time_ns, timeline->kernel[task->kernel].name, &event->record);
    timeline->slice[slice].weight = timeline->kernel[task->kernel].line;
    name_early(build, event, task);
    bool again = task->started_ns != 0;
    task->slice = slice;
    task->started_ns = event->time_ns;
    map_set(&build->running, pair(event->owner, slot), (uint32_t)(task - timeline->task));
    if (task->launched_ns != 0 && !again) {
        uint64_t wait_ns = event->time_ns - task->launched_ns;
        timeline->slice[slice].wait_us = (uint32_t)(wait_ns / 1000u);
        timeline->kernel[task->kernel].wait_ns += wait_ns;
        draw_wait(build, event, task);
        draw_launcher(build, task);
        build_count(build, section, "Tasks that wait", BUILD_COUNTER_WAITING, event->time_ns, -1);
    }
    build_count(build, section, "Tasks that run", BUILD_COUNTER_RUNNING, event->time_ns, 1);
}

static void take_counts(struct build *build, const struct build_event *event, struct timeline_kernel *kernel)
{
    static const char *const name[PPU_COUNTERS] = {
#define PPU_COUNTER(name, number, doc) [number] = "Total " #name,
#include "ppu/counter.def"
#undef PPU_COUNTER
    };
    uint64_t key = pair(event->owner, event->record.correlation);
    uint32_t first = map_get(&build->counts_first, key);

    if (first == MAP_NONE || first == EXHAUSTED) {
        return;
    }
    const struct build_counts *counts = &build->counts[first];
    for (uint32_t i = 0; i < PPU_COUNTERS; i++) {
        kernel->count[i] += counts->count[i];
        if (counts->count[i] != 0) {
            uint32_t track = timeline_track(build->timeline, section_of(build, event), TRACK_COUNTER,
                                            BUILD_COUNTER_TOTAL + i, 0, text(build, name[i]));
            uint64_t total_key = (uint64_t)1 << 60 | (uint64_t)event->owner << 32 | i;
            uint32_t total = map_get(&build->counter, total_key);
            total = (total == MAP_NONE ? 0 : total) + (uint32_t)(counts->count[i] / 1000u);
            map_set(&build->counter, total_key, total);
            timeline_point(build->timeline, track, event->time_ns, 1000.0 * total);
        }
    }
    uint64_t insns = counts->count[PPU_COUNTER_INSNS];
    if (insns != 0) {
        uint32_t track = timeline_track(build->timeline, section_of(build, event), TRACK_COUNTER, BUILD_COUNTER_LANES,
                                        0, text(build, "Active lanes"));
        timeline_point(build->timeline, track, event->time_ns,
                       (double)counts->count[PPU_COUNTER_LANES] / (double)insns);
    }
    map_set(&build->counts_first, key, next_or_exhausted(counts->next));
}

static double rate_of(uint64_t count, uint64_t run_ns)
{
    return run_ns != 0 ? (double)count * 1e9 / (double)run_ns : 0;
}

/* `lanes`, `transactions`: what the kernel had before the task. */
static void take_rates(struct timeline_kernel *kernel, uint64_t lanes, uint64_t transactions, uint64_t run_ns)
{
    kernel->lanes_rate = PPU_MAX(kernel->lanes_rate, rate_of(kernel->count[PPU_COUNTER_LANES] - lanes, run_ns));
    kernel->transactions_rate =
        PPU_MAX(kernel->transactions_rate, rate_of(kernel->count[PPU_COUNTER_TRANSACTIONS] - transactions, run_ns));
}

static void task_ends(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t found = map_get(&build->task, pair(event->owner, event->record.id[0]));

    if (found == MAP_NONE || timeline->task[found].ended_ns != 0) {
        return;
    }
    struct timeline_task *task = &timeline->task[found];
    struct timeline_kernel *kernel = &timeline->kernel[task->kernel];
    task->ended_ns = event->time_ns;
    task->fault = event->record.id[2];
    kernel->tasks++;
    kernel->faults += task->fault != 0;
    const uint64_t lanes = kernel->count[PPU_COUNTER_LANES], transactions = kernel->count[PPU_COUNTER_TRANSACTIONS];
    take_counts(build, event, kernel);
    if (task->slice == MAP_NONE) {
        return;
    }
    const struct record_device *device = &timeline->device[event->owner].is;
    bool runs = timeline->slice[task->slice].length_ns == TIMELINE_INSTANT;
    timeline->slice[task->slice].id[2] = task->fault;
    timeline->slice[task->slice].type = PPU_TRACE_TASK_END;
    if (!runs) {
        return;
    }
    timeline_close(timeline, task->slice, event->time_ns);
    uint64_t run_ns = event->time_ns - task->started_ns;
    kernel->run_ns += run_ns;
    kernel->longest_ns = PPU_MAX(kernel->longest_ns, run_ns);
    take_rates(kernel, lanes, transactions, run_ns);
    kernel->room_ns += run_ns * device->sms * device->sm_warps;
    build_count(build, section_of(build, event), "Tasks that run", BUILD_COUNTER_RUNNING, event->time_ns, -1);
}

static void task_counted(struct build *build, const struct build_event *event)
{
    uint64_t key = pair(event->owner, event->record.correlation);
    uint32_t last = map_get(&build->counts_last, key), counter = event->record.id[0];

    if (counter >= PPU_COUNTERS) {
        return;
    }
    if (last == MAP_NONE || build->counts[last].last >= counter) {
        build->counts = list_more(build->counts, build->counted, sizeof(*build->counts));
        build->counts[build->counted] = (struct build_counts){ .next = MAP_NONE };
        uint32_t first = map_get(&build->counts_first, key);
        if (first == MAP_NONE || first == EXHAUSTED) {
            map_set(&build->counts_first, key, build->counted);
        } else {
            build->counts[last].next = build->counted;
        }
        last = build->counted++;
        map_set(&build->counts_last, key, last);
    }
    build->counts[last].last = counter;
    build->counts[last].count[counter] = pair(event->record.id[2], event->record.id[1]);
}

/* ---- CTAs and copies ---- */

static uint64_t cta_key(const struct build_event *event)
{
    const uint32_t *id = event->record.id;

    return (uint64_t)event->owner << 52 ^ (uint64_t)id[0] << 42 ^ (uint64_t)id[1] << 34 ^ id[2];
}

uint32_t build_task_in(const struct build *build, const struct build_event *event, uint32_t slot)
{
    uint32_t found = map_get(&build->running, pair(event->owner, slot));
    const struct timeline_task *task = found != MAP_NONE ? &build->timeline->task[found] : NULL;

    return task && task->ended_ns == 0 && task->correlation == event->record.correlation ? found : MAP_NONE;
}

void build_early(struct build *build, const struct build_event *event, uint32_t slot, uint32_t slice)
{
    if (map_get(&build->early, pair(event->owner, slot)) == MAP_NONE) {
        map_set(&build->early, pair(event->owner, slot), slice);
    }
}

static void cta_starts(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t sm = event->record.id[0], section = section_of(build, event);
    uint32_t task = build_task_in(build, event, event->record.id[1]);
    uint32_t lane = build_lane(build, section, TRACK_SM, sm);
    uint32_t track = timeline_track(timeline, section, TRACK_SM, sm, lane, texts_format(&timeline->texts, "SM %u", sm));
    uint32_t name = task != MAP_NONE ? timeline->kernel[timeline->task[task].kernel].name : text(build, "CTA");

    uint32_t slice = timeline_slice(timeline, track, event->time_ns, name, &event->record);
    map_set(&build->cta, cta_key(event), slice);
    if (task == MAP_NONE) {
        build_early(build, event, event->record.id[1], slice);
    } else {
        timeline->slice[slice].weight = warps_of(&timeline->kernel[timeline->task[task].kernel]);
        count_occupancy(build, event, (int)timeline->slice[slice].weight);
    }
    build_count(build, section, "CTAs on SMs", BUILD_COUNTER_CTAS, event->time_ns, 1);
}

static void cta_ends(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t slice = map_get(&build->cta, cta_key(event));
    uint32_t task = build_task_in(build, event, event->record.id[1]);

    if (slice == MAP_NONE || timeline->slice[slice].length_ns != TIMELINE_INSTANT) {
        return;
    }
    timeline_close(timeline, slice, event->time_ns);
    build_free_lane(build, &timeline->slice[slice]);
    build_count(build, section_of(build, event), "CTAs on SMs", BUILD_COUNTER_CTAS, event->time_ns, -1);
    timeline->slice[slice].type = event->record.type;
    count_occupancy(build, event, -(int)timeline->slice[slice].weight);
    if (task != MAP_NONE && event->record.type == PPU_TRACE_CTA_SAVE) {
        timeline->task[task].saved_ns = event->time_ns;
    }
}

static void copy_starts(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t section = section_of(build, event), lane = build_lane(build, section, TRACK_COPY, 0);
    uint32_t track = timeline_track(timeline, section, TRACK_COPY, 0, lane, text(build, "Copies"));
    uint32_t name = texts_format(&timeline->texts, "copy of %u bytes", event->record.id[2]);

    map_set(&build->copy, pair(event->owner, event->record.id[1]),
            timeline_slice(timeline, track, event->time_ns, name, &event->record));
}

static void copy_ends(struct build *build, const struct build_event *event)
{
    uint32_t slice = map_get(&build->copy, pair(event->owner, event->record.id[0]));

    if (slice != MAP_NONE && build->timeline->slice[slice].length_ns == TIMELINE_INSTANT) {
        timeline_close(build->timeline, slice, event->time_ns);
        build_free_lane(build, &build->timeline->slice[slice]);
    }
}

/* ---- all ---- */

/* What the microcontroller executed since the record before; 0: it was not counted. */
static uint32_t instructions_of(const struct build *build, const struct build_event *event)
{
    for (uint32_t i = 0; i < build->serves; i++) {
        const struct build_served *served = &build->served[i];
        uint32_t number = event->record.sequence - served->first, insns = 0;
        if (served->device == event->owner && number < served->count) {
            memcpy(&insns, served->insns + (size_t)number * sizeof(insns), sizeof(insns));
            return insns;
        }
    }
    return 0;
}

static void firmware_served(struct build *build, const struct build_event *event)
{
    const char *name = timeline_type_name(event->record.type);
    uint32_t slice = instant(build, event, TRACK_FIRMWARE, 0, "Firmware", text(build, name ? name : "event"));

    build->timeline->slice[slice].weight = instructions_of(build, event);
}

void build_firmware_event(struct build *build, const struct build_event *event)
{
    switch (event->record.type) {
    case PPU_TRACE_BLOCK:
        block_begins(build, event);
        break;
    case PPU_TRACE_LAUNCH:
    case PPU_TRACE_LAUNCH_CHILD:
        task_launched(build, event);
        break;
    case PPU_TRACE_TASK_START:
        task_starts(build, event);
        break;
    case PPU_TRACE_TASK_END:
        task_ends(build, event);
        break;
    case PPU_TRACE_SEM_ACQUIRE:
        semaphore_tested(build, event);
        break;
    case PPU_TRACE_SEM_RELEASE:
        semaphore_released(build, event);
        break;
    case PPU_TRACE_COPY:
        copy_starts(build, event);
        break;
    case PPU_TRACE_COPY_END: /* the device has it too; who is first ends it */
        copy_ends(build, event);
        break;
    case PPU_TRACE_FAULT:
        instant(build, event, TRACK_FAULT, 0, "Faults", text(build, fault_name(event->record.id[0])));
        break;
    case PPU_TRACE_INTERRUPT:
        instant(build, event, TRACK_INTERRUPT, 0, "Interrupts",
                texts_format(&build->timeline->texts, "vector %u", event->record.id[0]));
        break;
    default:
        break;
    }
    firmware_served(build, event);
}

void build_device_event(struct build *build, const struct build_event *event)
{
    switch (event->record.type) {
    case PPU_TRACE_CTA_START:
    case PPU_TRACE_CTA_RESTORE:
        cta_starts(build, event);
        break;
    case PPU_TRACE_CTA_END:
    case PPU_TRACE_CTA_SAVE:
        cta_ends(build, event);
        break;
    case PPU_TRACE_TASK_COUNT:
        task_counted(build, event);
        break;
    case PPU_TRACE_COPY_END:
        copy_ends(build, event);
        break;
    case PPU_TRACE_DOORBELL:
        timeline_slice(build->timeline, channel_track(build, event, event->record.id[0]), event->time_ns,
                       text(build, "doorbell"), &event->record);
        break;
    case PPU_TRACE_WARP:
        build_warp_event(build, event);
        break;
    default: /* marks and yields: too many, and told by other records */
        break;
    }
}

/* What CTAs add to the table of kernels, by the names of their slices. */
static void count_ctas(struct build *build)
{
    struct timeline *timeline = build->timeline;

    for (uint32_t i = 0; i < timeline->slices; i++) {
        const struct timeline_slice *slice = &timeline->slice[i];
        const struct timeline_track *track = &timeline->track[slice->track];
        uint32_t found =
            track->kind == TRACK_SM ? map_get(&build->kernel_of, pair(track->section, slice->name)) : MAP_NONE;
        if (found != MAP_NONE) {
            struct timeline_kernel *kernel = &timeline->kernel[found];
            kernel->ctas += slice->type == PPU_TRACE_CTA_END;
            kernel->cta_ns += slice->length_ns;
            kernel->warps_ns += slice->length_ns * warps_of(kernel);
        }
    }
}

/* What had not ended when the record did reaches to its end. */
void build_end(struct build *build)
{
    struct timeline *timeline = build->timeline;

    for (uint32_t i = 0; i < timeline->slices; i++) {
        struct timeline_slice *slice = &timeline->slice[i];
        enum track_kind kind = timeline->track[slice->track].kind;
        bool has_length =
            kind == TRACK_THREAD || kind == TRACK_QUEUE || kind == TRACK_SLOT || kind == TRACK_SM ||
            kind == TRACK_WARP || kind == TRACK_COPY ||
            (kind == TRACK_CHANNEL && (slice->type == PPU_TRACE_BLOCK || slice->type == PPU_TRACE_SEM_ACQUIRE));
        if (slice->length_ns == TIMELINE_INSTANT && has_length) {
            timeline_close(timeline, i, PPU_MAX(timeline->ended_ns, slice->start_ns));
        }
    }
    count_ctas(build);
}
