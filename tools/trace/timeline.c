/* SPDX-License-Identifier: MIT */
#include "tools/trace/timeline.h"

#include <stdlib.h>

#include "ppu/macros.h"

static const struct {
    uint32_t type;
    const char *name;
    const char *id[3];
} types[] = {
#define PPU_TRACE(name, type, id0, id1, id2, doc) { (type), #name, { id0, id1, id2 } },
#include "ppu/trace.def"
#undef PPU_TRACE
};

const char *timeline_type_name(uint32_t type)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(types); i++) {
        if (types[i].type == type) {
            return types[i].name;
        }
    }
    return NULL;
}

const char *timeline_id_name(uint32_t type, uint32_t id)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(types); i++) {
        if (types[i].type == type && types[i].id[id][0] != 0) {
            return types[i].id[id];
        }
    }
    return NULL;
}

uint64_t timeline_track_key(uint32_t section, enum track_kind kind, uint32_t number, uint32_t lane)
{
    return (uint64_t)section << 42 | (uint64_t)kind << 36 | (uint64_t)(lane & 0x3fffu) << 22 | (number & 0x3fffffu);
}

uint32_t timeline_section(struct timeline *timeline, uint32_t name)
{
    timeline->section = list_more(timeline->section, timeline->sections, sizeof(*timeline->section));
    timeline->section[timeline->sections] = (struct timeline_section){ name };
    return timeline->sections++;
}

uint32_t timeline_track(struct timeline *timeline, uint32_t section, enum track_kind kind, uint32_t number,
                        uint32_t lane, uint32_t name)
{
    uint64_t key = timeline_track_key(section, kind, number, lane);
    uint32_t found = map_get(&timeline->track_of, key);

    if (found == MAP_NONE) {
        found = timeline->tracks++;
        timeline->track = list_more(timeline->track, found, sizeof(*timeline->track));
        timeline->track[found] = (struct timeline_track){ section, name, kind, number, lane };
        map_set(&timeline->track_of, key, found);
    }
    return found;
}

uint32_t timeline_slice(struct timeline *timeline, uint32_t track, uint64_t start_ns, uint32_t name,
                        const struct ppu_trace_record *record)
{
    timeline->slice = list_more(timeline->slice, timeline->slices, sizeof(*timeline->slice));
    timeline->slice[timeline->slices] = (struct timeline_slice){
        .start_ns = start_ns,
        .length_ns = TIMELINE_INSTANT,
        .track = track,
        .name = name,
        .correlation = record->correlation,
        .type = record->type,
        .id = { record->id[0], record->id[1], record->id[2] },
    };
    return timeline->slices++;
}

void timeline_close(struct timeline *timeline, uint32_t slice, uint64_t end_ns)
{
    struct timeline_slice *open = &timeline->slice[slice];

    open->length_ns = end_ns > open->start_ns ? end_ns - open->start_ns : 0;
}

void timeline_arrow(struct timeline *timeline, uint32_t from, uint32_t to, const char *name)
{
    uint32_t text = texts_format(&timeline->texts, "%s", name);

    timeline->arrow = list_more(timeline->arrow, timeline->arrows, sizeof(*timeline->arrow));
    timeline->arrow[timeline->arrows++] = (struct timeline_arrow){ from, to, text };
}

void timeline_point(struct timeline *timeline, uint32_t track, uint64_t time_ns, double value)
{
    timeline->point = list_more(timeline->point, timeline->points, sizeof(*timeline->point));
    timeline->point[timeline->points++] = (struct timeline_point){ time_ns, track, 0, value };
}

const struct timeline_command *timeline_command_of(const struct timeline *timeline, uint32_t slice)
{
    uint32_t low = 0, high = timeline->commands;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (timeline->command[middle].slice < slice) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < timeline->commands && timeline->command[low].slice == slice ? &timeline->command[low] : NULL;
}

void timeline_free(struct timeline *timeline)
{
    texts_free(&timeline->texts);
    map_free(&timeline->track_of);
    free(timeline->section);
    free(timeline->track);
    free(timeline->slice);
    free(timeline->arrow);
    free(timeline->point);
    free(timeline->command);
    free(timeline->kernel);
    free(timeline->task);
    free(timeline->device);
    *timeline = (struct timeline){ .sections = 0 };
}
