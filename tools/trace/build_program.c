/* SPDX-License-Identifier: MIT */
/* Puts what a program did onto the timeline: calls by thread, commands by queue, doorbells, launches. */
#include "ppu/macros.h"
#include "tools/trace/build.h"

#define CL_STATE_COMPLETE 0
#define CL_STATE_RUNNING 1
#define CL_STATE_SUBMITTED 2

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static uint32_t name_of(const struct build *build, uint32_t process, uint32_t number, const char *otherwise)
{
    uint32_t text = map_get(&build->names, pair(process, number));

    return text != MAP_NONE ? text : texts_format(&build->timeline->texts, "%s", otherwise);
}

static void call_begins(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t thread = event->record.id[1], section = build->process[event->owner].section;
    uint32_t depth = map_get(&build->depth, pair(event->owner, thread));
    uint32_t track =
        timeline_track(timeline, section, TRACK_THREAD, thread, 0, texts_format(&timeline->texts, "Thread %u", thread));

    depth = depth == MAP_NONE ? 0 : depth;
    uint32_t slice = timeline_slice(timeline, track, event->time_ns,
                                    name_of(build, event->owner, event->record.id[0], "call"), &event->record);
    map_set(&build->call, pair(event->owner, thread) ^ (uint64_t)(depth + 1) << 48, slice);
    map_set(&build->depth, pair(event->owner, thread), depth + 1);
}

static void call_ends(struct build *build, const struct build_event *event)
{
    uint32_t thread = event->record.id[1];
    uint32_t depth = map_get(&build->depth, pair(event->owner, thread));

    if (depth != MAP_NONE && depth > 0) {
        uint32_t slice = map_get(&build->call, pair(event->owner, thread) ^ (uint64_t)depth << 48);
        timeline_close(build->timeline, slice, event->time_ns);
        build->timeline->slice[slice].id[2] = event->record.id[2]; /* the result */
        map_set(&build->depth, pair(event->owner, thread), depth - 1);
    }
}

/* A command is drawn from its submission on; until then it waits. */
static void command_made(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t section = build->process[event->owner].section, queue = event->record.id[2];
    uint32_t lane = build_lane(build, section, TRACK_QUEUE, queue);
    uint32_t track =
        timeline_track(timeline, section, TRACK_QUEUE, queue, lane, texts_format(&timeline->texts, "Queue %u", queue));
    uint32_t slice = timeline_slice(timeline, track, event->time_ns,
                                    name_of(build, event->owner, event->record.id[1], "command"), &event->record);

    timeline->command = list_more(timeline->command, timeline->commands, sizeof(*timeline->command));
    timeline->command[timeline->commands] = (struct timeline_command){ .slice = slice };
    map_set(&build->command, pair(event->owner, event->record.id[0]), timeline->commands++);
    build_count(build, section, "Commands of OpenCL", 0, event->time_ns, 1);
}

static void command_reaches(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t number = map_get(&build->command, pair(event->owner, event->record.id[0]));
    int32_t state = (int32_t)event->record.id[1];

    if (number == MAP_NONE) {
        return;
    }
    struct timeline_command *times = &timeline->command[number];
    struct timeline_slice *command = &timeline->slice[times->slice];
    if (state == CL_STATE_SUBMITTED && times->submitted_ns == 0) {
        times->submitted_ns = event->time_ns;
        command->wait_us = (uint32_t)((event->time_ns - command->start_ns) / 1000u);
    }
    if (state == CL_STATE_RUNNING && times->running_ns == 0) {
        times->running_ns = event->time_ns;
    }
    if (state <= CL_STATE_COMPLETE && command->length_ns == TIMELINE_INSTANT) {
        times->ended_ns = event->time_ns;
        timeline_close(timeline, times->slice, event->time_ns);
        build_free_lane(build, command);
        build_count(build, build->process[event->owner].section, "Commands of OpenCL", 0, event->time_ns, -1);
    }
}

static uint32_t device_of(const struct build *build, uint32_t process, uint32_t recorded)
{
    return map_get(&build->recorded, pair(process, recorded));
}

static void command_becomes_block(struct build *build, const struct build_event *event)
{
    uint32_t device = device_of(build, event->owner, event->record.id[1]);
    uint32_t number = map_get(&build->command, pair(event->owner, event->record.id[0]));

    if (device != MAP_NONE && number != MAP_NONE) {
        uint32_t slice = build->timeline->command[number].slice;
        build->timeline->slice[slice].correlation = event->record.correlation;
        map_set(&build->command_block, pair(device, event->record.correlation), number);
    }
}

static void launch_made(struct build *build, const struct build_event *event)
{
    uint32_t device = device_of(build, event->owner, event->record.id[2]);
    uint64_t key = pair(device, event->record.correlation);
    uint32_t last = map_get(&build->launch_last, key);

    if (device == MAP_NONE) {
        return;
    }
    build->launch = list_more(build->launch, build->launches, sizeof(*build->launch));
    build->launch[build->launches] =
        (struct build_launch){ .name = name_of(build, event->owner, event->record.id[0], "kernel"), .next = MAP_NONE };
    if (last == MAP_NONE) {
        map_set(&build->launch_first, key, build->launches);
    } else {
        build->launch[last].next = build->launches;
    }
    map_set(&build->launch_last, key, build->launches++);
}

static void doorbell_rung(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t track = timeline_track(timeline, build->process[event->owner].section, TRACK_RING, 0, 0,
                                    texts_format(&timeline->texts, "Doorbells"));

    timeline_slice(timeline, track, event->time_ns,
                   texts_format(&timeline->texts, "channel %u is rung", event->record.id[0]), &event->record);
}

void build_program_event(struct build *build, const struct build_event *event)
{
    switch (event->record.type) {
    case PPU_TRACE_CALL:
        call_begins(build, event);
        break;
    case PPU_TRACE_CALL_END:
        call_ends(build, event);
        break;
    case PPU_TRACE_COMMAND:
        command_made(build, event);
        break;
    case PPU_TRACE_COMMAND_STATE:
        command_reaches(build, event);
        break;
    case PPU_TRACE_COMMAND_BLOCK:
        command_becomes_block(build, event);
        break;
    case PPU_TRACE_KERNEL:
        launch_made(build, event);
        break;
    case PPU_TRACE_RING:
        doorbell_rung(build, event);
        break;
    default: /* KERNEL_SHAPE is in the task's descriptor too; a type of a later release */
        break;
    }
}
