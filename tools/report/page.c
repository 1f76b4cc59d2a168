/* SPDX-License-Identifier: MIT */
#include "tools/report/page.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/report/page_profile.h"
#include "tools/report/page_roofline.h"
#include "tools/report/page_stacks.h"

#define FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ESCAPE_SLASH)
#define DATA_MARK "@DATA@"
#define CELL_BYTES 64u
#define MOST_TREES 1000u
#define MOST_FAULTS 1000u
#define COUNTER_SPANS 2000u

/* The page, from page.html. */
extern const char page_start[] __asm__("_binary_tools_report_page_html_start");
extern const char page_end[] __asm__("_binary_tools_report_page_html_end");

static const struct timeline *sorted;

static int compare_tracks(const void *a, const void *b)
{
    const struct timeline_track *first = &sorted->track[*(const uint32_t *)a];
    const struct timeline_track *second = &sorted->track[*(const uint32_t *)b];
    const uint64_t keys[2][4] = { { first->section, first->kind, first->number, first->lane },
                                  { second->section, second->kind, second->number, second->lane } };

    for (uint32_t i = 0; i < 4; i++) {
        if (keys[0][i] != keys[1][i]) {
            return keys[0][i] < keys[1][i] ? -1 : 1;
        }
    }
    return 0;
}

uint32_t *page_order(const struct timeline *timeline, uint32_t *count)
{
    uint32_t *order = calloc(timeline->tracks + 1, sizeof(*order));

    *count = 0;
    for (uint32_t i = 0; order && i < timeline->tracks; i++) {
        if (timeline->track[i].kind != TRACK_COUNTER) {
            order[(*count)++] = i;
        }
    }
    sorted = timeline;
    if (*count > 0) {
        qsort(order, *count, sizeof(*order), compare_tracks);
    }
    return order;
}

static void add_slice(json_t *track, const struct timeline *timeline, const struct timeline_slice *slice)
{
    bool has_length = slice->length_ns != TIMELINE_INSTANT;

    json_array_append_new(json_object_get(track, "start"),
                          json_integer((json_int_t)(slice->start_ns - timeline->began_ns)));
    json_array_append_new(json_object_get(track, "length"),
                          json_integer(has_length ? (json_int_t)slice->length_ns : -1));
    json_array_append_new(json_object_get(track, "name"), json_integer(slice->name));
    json_array_append_new(json_object_get(track, "correlation"), json_integer(slice->correlation));
}

/* What few slices have: an object of a track, by the number of the slice in it. */
static void add_note(json_t *track, const char *name, json_t *note)
{
    char number[16];

    if (!note) {
        return;
    }
    if (!json_object_get(track, name)) {
        json_object_set_new(track, name, json_object());
    }
    snprintf(number, sizeof(number), "%zu", json_array_size(json_object_get(track, "start")) - 1);
    json_object_set_new(json_object_get(track, name), number, note);
}

static json_t *time_of_state(const struct timeline *timeline, uint64_t time_ns)
{
    return time_ns != 0 ? json_integer((json_int_t)(time_ns - timeline->began_ns)) : json_null();
}

/* When a command of OpenCL was submitted, ran and ended; NULL: the slice is none. */
static json_t *states_of(const struct timeline *timeline, uint32_t slice)
{
    const struct timeline_command *command = timeline_command_of(timeline, slice);

    return command ? json_pack("[o, o, o]", time_of_state(timeline, command->submitted_ns),
                               time_of_state(timeline, command->running_ns), time_of_state(timeline, command->ended_ns))
                   : NULL;
}

static json_t *tracks_of(const struct timeline *timeline)
{
    uint32_t count = 0;
    uint32_t *order = page_order(timeline, &count);
    json_t *tracks = json_array();
    json_t **by_number = calloc(timeline->tracks + 1, sizeof(json_t *));

    for (uint32_t i = 0; order && by_number && i < count; i++) {
        const struct timeline_track *track = &timeline->track[order[i]];
        char title[CELL_BYTES * 2];
        snprintf(title, sizeof(title), "%.90s%s", timeline->texts.text[track->name],
                 track->lane && track->kind != TRACK_WARP ? " ..." : "");
        by_number[order[i]] =
            json_pack("{s:s, s:[], s:[], s:[], s:[]}", "title", title, "start", "length", "name", "correlation");
        json_array_append_new(tracks, by_number[order[i]]);
    }
    for (uint32_t i = 0; by_number && i < timeline->slices; i++) {
        const struct timeline_slice *slice = &timeline->slice[i];
        json_t *track = by_number[slice->track];
        add_slice(track, timeline, slice);
        add_note(track, "states", states_of(timeline, i));
        if (slice->weight != 0 && timeline->track[slice->track].kind == TRACK_FIRMWARE) {
            add_note(track, "insns", json_integer(slice->weight));
        }
    }
    free(order);
    free(by_number);
    return tracks;
}

/* ---- tables ---- */

static void add_cell(json_t *row, bool known, const char *format, double value)
{
    char text[CELL_BYTES] = "";

    if (known) {
        snprintf(text, sizeof(text), format, value);
    }
    json_array_append_new(row, json_string(text));
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *const columns[] = {
    "kernel",
    "line",
    "tasks",
    "faults",
    "time in ms",
    "longest in us",
    "mean wait in us",
    "warp instructions",
    "lanes active",
    "divergent branches",
    "transactions",
    "transactions an access",
    "L1 hits",
    "L2 hits",
    "CTAs an SM can hold",
    "limited by",
    "warps resident",
};

static json_t *kernel_row(const struct timeline *timeline, const struct timeline_kernel *kernel,
                          const struct page_accesses *accesses)
{
    const uint64_t *count = kernel->count;
    uint64_t insns = count[PPU_COUNTER_INSNS];
    uint64_t l1 = count[PPU_COUNTER_L1_HITS] + count[PPU_COUNTER_L1_MISSES];
    uint64_t l2 = count[PPU_COUNTER_L2_HITS] + count[PPU_COUNTER_L2_MISSES];
    json_t *row = json_array();

    json_array_append_new(row, json_string(timeline->texts.text[kernel->name]));
    add_cell(row, kernel->line != 0, "%.0f", kernel->line);
    add_cell(row, true, "%.0f", (double)kernel->tasks);
    add_cell(row, true, "%.0f", (double)kernel->faults);
    add_cell(row, true, "%.3f", (double)kernel->run_ns / 1e6);
    add_cell(row, true, "%.1f", (double)kernel->longest_ns / 1e3);
    add_cell(row, kernel->tasks != 0, "%.1f", (double)kernel->wait_ns / 1e3 / (double)PPU_MAX(kernel->tasks, 1));
    add_cell(row, insns != 0, "%.0f", (double)insns);
    add_cell(row, insns != 0, "%.1f", (double)count[PPU_COUNTER_LANES] / (double)PPU_MAX(insns, 1));
    add_cell(row, insns != 0, "%.2f %%", share(count[PPU_COUNTER_DIVERGENT], insns));
    add_cell(row, insns != 0, "%.0f", (double)count[PPU_COUNTER_TRANSACTIONS]);
    add_cell(row, accesses->accesses != 0, "%.2f",
             (double)accesses->transactions / (double)PPU_MAX(accesses->accesses, 1));
    add_cell(row, l1 != 0, "%.1f %%", share(count[PPU_COUNTER_L1_HITS], l1));
    add_cell(row, l2 != 0, "%.1f %%", share(count[PPU_COUNTER_L2_HITS], l2));
    add_cell(row, !!kernel->limit, "%.0f", kernel->resident);
    json_array_append_new(row, json_string(kernel->limit ? kernel->limit : ""));
    add_cell(row, kernel->room_ns != 0, "%.1f %%", share(kernel->warps_ns, kernel->room_ns));
    return row;
}

static json_t *kernels_of(const struct timeline *timeline, const struct profile *profile)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < timeline->kernels; i++) {
        const struct timeline_kernel *kernel = &timeline->kernel[i];
        struct page_accesses accesses = page_accesses(profile, timeline->texts.text[kernel->name]);
        json_array_append_new(rows, kernel_row(timeline, kernel, &accesses));
    }
    return rows;
}

struct tree {
    uint32_t tasks, depth, faults;
};

/* Parents come before their children. */
static uint32_t add_to_root(const struct timeline *timeline, struct tree *tree, uint32_t task)
{
    uint32_t depth = 1, root = task;

    while (timeline->task[root].parent != MAP_NONE) {
        root = timeline->task[root].parent;
        depth++;
    }
    tree[root].tasks++;
    tree[root].depth = PPU_MAX(tree[root].depth, depth);
    tree[root].faults += timeline->task[task].fault != 0;
    return root;
}

static json_t *trees_of(const struct timeline *timeline)
{
    struct tree *tree = calloc(timeline->tasks + 1, sizeof(*tree));
    json_t *rows = json_array();

    for (uint32_t i = 0; tree && i < timeline->tasks; i++) {
        add_to_root(timeline, tree, i);
    }
    for (uint32_t i = 0; tree && i < timeline->tasks && json_array_size(rows) < MOST_TREES; i++) {
        const struct timeline_task *root = &timeline->task[i];
        if (tree[i].tasks > 1) {
            json_t *row = json_pack("[s, i, i, i]", timeline->texts.text[timeline->kernel[root->kernel].name],
                                    (int)tree[i].tasks, (int)tree[i].depth, (int)tree[i].faults);
            bool known = root->ended_ns >= root->started_ns && root->started_ns != 0;
            add_cell(row, known, "%.3f", (double)(root->ended_ns - root->started_ns) / 1e6);
            json_array_append_new(rows, row);
        }
    }
    free(tree);
    return rows;
}

static json_t *warnings_of(const struct timeline *timeline)
{
    json_t *warnings = json_array();
    char text[2 * CELL_BYTES];

    if (timeline->truncated) {
        json_array_append_new(warnings, json_string("The record was cut off."));
    }
    if (timeline->lost > 0) {
        snprintf(text, sizeof(text), "%llu records are missing.", (unsigned long long)timeline->lost);
        json_array_append_new(warnings, json_string(text));
    }
    return warnings;
}

/* The kernel of the task that a fault has ended; "": none is known. */
static const char *kernel_of_fault(const struct timeline *timeline, const struct timeline_slice *fault)
{
    for (uint32_t i = 0; i < timeline->tasks; i++) {
        const struct timeline_task *task = &timeline->task[i];
        if (task->fault != 0 && task->fault == fault->id[0] && task->correlation == fault->correlation) {
            return timeline->texts.text[timeline->kernel[task->kernel].name];
        }
    }
    return "";
}

/* Faults, as the firmware recorded them. */
static json_t *faults_of(const struct timeline *timeline)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < timeline->slices && json_array_size(rows) < MOST_FAULTS; i++) {
        const struct timeline_slice *slice = &timeline->slice[i];
        if (timeline->track[slice->track].kind == TRACK_FAULT) {
            json_t *row = json_array();
            add_cell(row, true, "%.6f", (double)(slice->start_ns - timeline->began_ns) / 1e6);
            json_array_append_new(row, json_string(timeline->texts.text[slice->name]));
            json_array_append_new(row, json_string(kernel_of_fault(timeline, slice)));
            add_cell(row, true, "%.0f", slice->id[1]);
            json_array_append_new(row, json_sprintf("0x%x", slice->id[2]));
            json_array_append_new(rows, row);
        }
    }
    return rows;
}

static void add_span(json_t *at, json_t *values, uint64_t begun_ns, double highest)
{
    json_array_append_new(at, json_integer((json_int_t)begun_ns));
    json_array_append_new(values, json_real(highest));
}

/* Makes of a counter the highest value in each of some spans of time, and the last. */
static json_t *counter_of(const struct timeline *timeline, uint32_t track)
{
    uint64_t span_ns = (timeline->ended_ns - timeline->began_ns) / COUNTER_SPANS + 1, begun = UINT64_MAX;
    json_t *at = json_array(), *values = json_array();
    double highest = 0, last = 0;

    for (uint32_t i = 0; i < timeline->points; i++) {
        const struct timeline_point *point = &timeline->point[i];
        uint64_t span = point->track == track ? (point->time_ns - timeline->began_ns) / span_ns : begun;
        if (span != begun && begun != UINT64_MAX) {
            add_span(at, values, begun * span_ns, highest);
            highest = last;
        }
        begun = span;
        last = point->track == track ? point->value : last;
        highest = PPU_MAX(highest, last);
    }
    if (begun != UINT64_MAX) {
        add_span(at, values, begun * span_ns, highest);
    }
    return json_pack("{s:s, s:o, s:o}", "title", timeline->texts.text[timeline->track[track].name], "at", at, "value",
                     values);
}

static json_t *counters_of(const struct timeline *timeline)
{
    json_t *counters = json_array();

    for (uint32_t i = 0; i < timeline->tracks; i++) {
        if (timeline->track[i].kind == TRACK_COUNTER) {
            json_array_append_new(counters, counter_of(timeline, i));
        }
    }
    return counters;
}

static json_t *data_of(const struct page *page)
{
    const struct timeline *timeline = page->timeline;
    json_t *names = json_array(), *titles = json_array();

    for (uint32_t i = 0; i < timeline->texts.count; i++) {
        json_t *name = json_string(timeline->texts.text[i]);
        json_array_append_new(names, name ? name : json_string("?")); /* no UTF-8 */
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(columns); i++) {
        json_array_append_new(titles, json_string(columns[i]));
    }
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "length_ns",
                     (json_int_t)(timeline->ended_ns - timeline->began_ns), "records", (json_int_t)timeline->records,
                     "names", names, "tracks", tracks_of(timeline), "kernel_columns", titles, "kernels",
                     kernels_of(timeline, page->profile), "trees", trees_of(timeline), "warnings",
                     warnings_of(timeline), "faults", faults_of(timeline), "counters", counters_of(timeline), "profile",
                     page_profile(page->profile), "stacks", page_stacks(page->stacks), "roofline",
                     page_roofline(timeline, page->limits));
}

bool page_write(FILE *file, const struct page *page)
{
    size_t size = (uintptr_t)page_end - (uintptr_t)page_start; /* two objects to the compiler */
    const char *mark = memmem(page_start, size, DATA_MARK, strlen(DATA_MARK));
    json_t *data = data_of(page);
    size_t before = (size_t)(mark - page_start), after = size - before - strlen(DATA_MARK);

    bool written = data && fwrite(page_start, 1, before, file) == before && json_dumpf(data, file, FLAGS) == 0 &&
                   fwrite(mark + strlen(DATA_MARK), 1, after, file) == after;
    json_decref(data);
    return written && fflush(file) == 0 && !ferror(file);
}
