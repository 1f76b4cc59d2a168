/* SPDX-License-Identifier: MIT */
/* Puts what warps did onto the timeline, when a tool had asked for it: their states, and tokens in their queues. */
#include "ppu/macros.h"
#include "tools/trace/build.h"

static const char *const states[] = {
#define PPU_WARP_STATE(name, number, doc) [number] = #name,
#include "ppu/warp_state.def"
#undef PPU_WARP_STATE
};

uint32_t build_warp_name(struct build *build, const char *kernel, uint32_t state)
{
    struct texts *texts = &build->timeline->texts;

    if (state == PPU_TRACE_WARP_READY) {
        return texts_format(texts, "%s", kernel);
    }
    return texts_format(texts, "%s: %s", kernel, state < PPU_ARRAY_SIZE(states) ? states[state] : "?");
}

static void count_tokens(struct build *build, const struct build_event *event, uint64_t key, uint32_t tokens)
{
    uint32_t before = map_get(&build->tokens, key);

    before = before == MAP_NONE ? 0 : before;
    if (tokens != before) {
        map_set(&build->tokens, key, tokens);
        build_count(build, build->timeline->device[event->owner].section, "Tokens in queues", BUILD_COUNTER_TOKENS,
                    event->time_ns, (int)tokens - (int)before);
    }
}

void build_warp_event(struct build *build, const struct build_event *event)
{
    struct timeline *timeline = build->timeline;
    uint32_t sm = event->record.id[0], warp = event->record.id[1] & 0xffffu, slot = event->record.id[1] >> 16;
    uint32_t state = event->record.id[2] & 0xffffu, task = build_task_in(build, event, slot);
    uint64_t key = (uint64_t)event->owner << 48 ^ (uint64_t)sm << 16 ^ warp;
    uint32_t before = map_get(&build->warp, key);

    if (before != MAP_NONE && timeline->slice[before].length_ns == TIMELINE_INSTANT) {
        timeline_close(timeline, before, event->time_ns);
    }
    count_tokens(build, event, key, event->record.id[2] >> 16);
    if (state == PPU_TRACE_WARP_FREE || state == PPU_TRACE_WARP_DONE) {
        return;
    }
    const char *kernel =
        task != MAP_NONE ? timeline->texts.text[timeline->kernel[timeline->task[task].kernel].name] : "warp";
    uint32_t track = timeline_track(timeline, timeline->device[event->owner].section, TRACK_WARP, sm, warp,
                                    texts_format(&timeline->texts, "SM %u warp %u", sm, warp));
    uint32_t slice =
        timeline_slice(timeline, track, event->time_ns, build_warp_name(build, kernel, state), &event->record);
    map_set(&build->warp, key, slice);
    if (task == MAP_NONE) {
        build_early(build, event, slot, slice);
    }
}
