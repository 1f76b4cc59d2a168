/* SPDX-License-Identifier: MIT */
#include "tools/trace/chrome.h"

#include <jansson.h>
#include <stdlib.h>

#define US(ns) ((double)(ns) / 1000.0)
#define FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15))

struct writer {
    FILE *file;
    const struct timeline *timeline;
    bool any;
    bool failed;
};

/* Takes the reference. */
static void put_event(struct writer *writer, json_t *event)
{
    fputs(writer->any ? ",\n" : "\n", writer->file);
    writer->any = true;
    writer->failed |= !event || json_dumpf(event, writer->file, FLAGS) != 0;
    json_decref(event);
}

static const char *text_of(const struct writer *writer, uint32_t text)
{
    return writer->timeline->texts.text[text];
}

static double time_of(const struct writer *writer, uint64_t time_ns)
{
    return US((double)time_ns - (double)writer->timeline->began_ns);
}

static void put_names(struct writer *writer)
{
    const struct timeline *timeline = writer->timeline;

    for (uint32_t i = 0; i < timeline->sections; i++) {
        put_event(writer, json_pack("{s:s, s:s, s:i, s:{s:s}}", "ph", "M", "name", "process_name", "pid", (int)i + 1,
                                    "args", "name", text_of(writer, timeline->section[i].name)));
    }
    for (uint32_t i = 0; i < timeline->tracks; i++) {
        const struct timeline_track *track = &timeline->track[i];
        if (track->kind == TRACK_COUNTER) {
            continue;
        }
        put_event(writer,
                  json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name", "thread_name", "pid",
                            (int)track->section + 1, "tid", (int)i + 1, "args", "name", text_of(writer, track->name)));
        int order = (int)((uint32_t)track->kind << 24 | (track->number & 0xfffu) << 12 | (track->lane & 0xfffu));
        put_event(writer, json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "ph", "M", "name", "thread_sort_index", "pid",
                                    (int)track->section + 1, "tid", (int)i + 1, "args", "sort_index", order));
    }
}

static void add_time(json_t *arguments, const struct writer *writer, const char *name, uint64_t time_ns)
{
    if (time_ns != 0) {
        json_object_set_new(arguments, name, json_real(time_of(writer, time_ns)));
    }
}

/* The times of a command's states, by the clock of the events. */
static void add_states(json_t *arguments, const struct writer *writer, uint32_t slice)
{
    const struct timeline_command *command = timeline_command_of(writer->timeline, slice);

    if (command) {
        add_time(arguments, writer, "queued_us", writer->timeline->slice[slice].start_ns);
        add_time(arguments, writer, "submitted_us", command->submitted_ns);
        add_time(arguments, writer, "running_us", command->running_ns);
        add_time(arguments, writer, "ended_us", command->ended_ns);
    }
}

static void add_ids(json_t *arguments, const struct timeline_slice *slice)
{
    for (uint32_t i = 0; i < 3; i++) {
        const char *name = timeline_id_name(slice->type, i);
        if (name) {
            json_object_set_new(arguments, name, json_integer(slice->id[i]));
        }
    }
}

static void add_warp(json_t *arguments, const struct timeline_slice *slice)
{
    json_object_set_new(arguments, "sm", json_integer(slice->id[0]));
    json_object_set_new(arguments, "warp", json_integer(slice->id[1] & 0xffffu));
    json_object_set_new(arguments, "slot", json_integer(slice->id[1] >> 16));
    json_object_set_new(arguments, "tokens", json_integer(slice->id[2] >> 16));
}

static json_t *arguments_of(const struct writer *writer, uint32_t number)
{
    const struct timeline_slice *slice = &writer->timeline->slice[number];
    enum track_kind kind = writer->timeline->track[slice->track].kind;
    json_t *arguments = json_object();

    if (slice->correlation != 0) {
        json_object_set_new(arguments, "correlation", json_integer(slice->correlation));
    }
    if (kind == TRACK_WARP) {
        add_warp(arguments, slice);
    } else {
        add_ids(arguments, slice);
    }
    if (slice->wait_us != 0) {
        json_object_set_new(arguments, "waited_us", json_integer(slice->wait_us));
    }
    if (slice->weight != 0) {
        const char *name = kind == TRACK_FIRMWARE ? "mcu_instructions" : kind == TRACK_SLOT ? "source_line" : "warps";
        json_object_set_new(arguments, name, json_integer(slice->weight));
    }
    if (kind == TRACK_QUEUE) {
        add_states(arguments, writer, number);
    }
    return arguments;
}

static void put_slices(struct writer *writer)
{
    const struct timeline *timeline = writer->timeline;

    for (uint32_t i = 0; i < timeline->slices; i++) {
        const struct timeline_slice *slice = &timeline->slice[i];
        bool has_length = slice->length_ns != TIMELINE_INSTANT;
        json_t *event =
            json_pack("{s:s, s:s, s:i, s:i, s:f, s:o}", "ph", has_length ? "X" : "i", "name",
                      text_of(writer, slice->name), "pid", (int)timeline->track[slice->track].section + 1, "tid",
                      (int)slice->track + 1, "ts", time_of(writer, slice->start_ns), "args", arguments_of(writer, i));
        if (has_length) {
            json_object_set_new(event, "dur", json_real(US((double)slice->length_ns)));
        } else {
            json_object_set_new(event, "s", json_string("t"));
        }
        put_event(writer, event);
    }
}

static uint64_t end_of(const struct timeline_slice *slice)
{
    return slice->start_ns + (slice->length_ns != TIMELINE_INSTANT ? slice->length_ns : 0);
}

/* An arrow leaves its slice when the other begins, or at its end; it arrives no earlier than it has left. */
static void arrow_times(const struct timeline_slice *from, const struct timeline_slice *to, uint64_t time_ns[2])
{
    uint64_t leaves_ns = to->start_ns < end_of(from) ? to->start_ns : end_of(from);

    time_ns[0] = leaves_ns > from->start_ns ? leaves_ns : from->start_ns;
    time_ns[1] = to->start_ns > time_ns[0] ? to->start_ns : time_ns[0];
}

static void put_arrow_end(struct writer *writer, uint32_t number, uint32_t at, uint64_t time_ns, bool begins)
{
    const struct timeline *timeline = writer->timeline;
    const struct timeline_slice *slice = &timeline->slice[at];
    json_t *event = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:f}", "ph", begins ? "s" : "f", "cat", "arrow", "name",
                              text_of(writer, timeline->arrow[number].name), "id", (int)number, "pid",
                              (int)timeline->track[slice->track].section + 1, "tid", (int)slice->track + 1, "ts",
                              time_of(writer, time_ns));

    if (!begins) {
        json_object_set_new(event, "bp", json_string("e"));
    }
    put_event(writer, event);
}

static void put_arrows(struct writer *writer)
{
    const struct timeline *timeline = writer->timeline;

    for (uint32_t i = 0; i < timeline->arrows; i++) {
        const struct timeline_arrow *arrow = &timeline->arrow[i];
        uint64_t time_ns[2];
        arrow_times(&timeline->slice[arrow->from], &timeline->slice[arrow->to], time_ns);
        put_arrow_end(writer, i, arrow->from, time_ns[0], true);
        put_arrow_end(writer, i, arrow->to, time_ns[1], false);
    }
}

static void put_counters(struct writer *writer)
{
    const struct timeline *timeline = writer->timeline;

    for (uint32_t i = 0; i < timeline->points; i++) {
        const struct timeline_point *point = &timeline->point[i];
        const struct timeline_track *track = &timeline->track[point->track];
        put_event(writer, json_pack("{s:s, s:s, s:i, s:f, s:{s:f}}", "ph", "C", "name", text_of(writer, track->name),
                                    "pid", (int)track->section + 1, "ts", time_of(writer, point->time_ns), "args",
                                    "value", point->value));
    }
}

static void put_about(struct writer *writer)
{
    const struct timeline *timeline = writer->timeline;
    json_t *about = json_object(), *clocks = json_array();

    for (uint32_t i = 0; i < timeline->devices; i++) {
        const struct timeline_clock *clock = &timeline->device[i].clock;
        json_array_append_new(
            clocks, clock->contradicts ? json_null() : json_real(US((double)(clock->high_ns - clock->low_ns) / 2.0)));
    }
    json_object_set_new(about, "began_ns", json_integer((json_int_t)timeline->began_ns));
    json_object_set_new(about, "records", json_integer((json_int_t)timeline->records));
    json_object_set_new(about, "records_lost", json_integer((json_int_t)timeline->lost));
    json_object_set_new(about, "truncated", json_boolean(timeline->truncated));
    json_object_set_new(about, "clock_error_us", clocks);
    fputs("\n],\n\"otherData\":", writer->file);
    writer->failed |= json_dumpf(about, writer->file, FLAGS) != 0;
    json_decref(about);
    fputs("}\n", writer->file);
}

bool chrome_write(FILE *file, const struct timeline *timeline)
{
    struct writer writer = { .file = file, .timeline = timeline };

    fputs("{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[", file);
    put_names(&writer);
    put_slices(&writer);
    put_arrows(&writer);
    put_counters(&writer);
    put_about(&writer);
    return !writer.failed && fflush(file) == 0 && !ferror(file);
}
