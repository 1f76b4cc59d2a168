/* SPDX-License-Identifier: MIT */
#include "tools/dbg/stretch.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/dbg/frames.h"

struct stretch stretch_of_focus(struct session *session)
{
    const struct loaded *loaded = session_loaded(session);
    struct frame frames[INFO_DEPTH];
    struct stretch stretch = { "", 0, 0, 0 };

    stretch.depth = frames_list(session, frames);
    if (stretch.depth != 0) {
        const struct frame *frame = &frames[0];
        stretch.function = frame->at.name ? frame->at.name : "";
        while (stretch.inlined < stretch.depth && frames[stretch.inlined].insn == frame->insn) {
            stretch.inlined++;
        }
        stretch.line = info_line(loaded->info, frame->insn, NULL);
    }
    return stretch;
}

/* ---- marks ---- */

/* Instructions of a program that belong to something. */
struct marks {
    const struct loaded *loaded;
    uint8_t *on;
    uint32_t count; /* 0: no debug information, or no memory */
};

static struct marks no_marks(const struct session *session)
{
    struct marks marks = { .loaded = session_loaded(session) };

    if (marks.loaded && marks.loaded->info) {
        marks.count = marks.loaded->view.header->code_bytes / PPU_INSN_BYTES;
        marks.on = calloc(marks.count, 1);
        marks.count = marks.on ? marks.count : 0;
    }
    return marks;
}

/* Adds the function that begins at the instruction; false: it is there already. */
static bool mark_function(struct marks *marks, uint32_t insn)
{
    struct info_function function;

    if (insn >= marks->count || marks->on[insn] || !info_function(marks->loaded->info, insn, &function)) {
        return false;
    }
    memset(marks->on + function.begin, 1, PPU_MIN(function.end, marks->count) - function.begin);
    return true;
}

/* Adds the functions that what is marked calls. Each adds what it calls itself. */
static void mark_called(struct marks *marks)
{
    bool again = true;
    uint32_t target;

    while (again) {
        again = false;
        for (uint32_t i = 0; i < marks->count; i++) {
            again |= marks->on[i] && frames_is_call(marks->loaded, i, &target) && mark_function(marks, target);
        }
    }
}

/* The instruction is of the line, or of the function, itself or by what was inlined there. */
static bool is_of_part(const struct info *info, uint32_t insn, const struct stretch *stretch, enum stretch_part part)
{
    struct info_frame frames[INFO_DEPTH];
    const uint32_t count = info_frames(info, insn, frames);

    if (stretch->depth == 0 || count < stretch->inlined || (part == STRETCH_LINE && count != stretch->inlined)) {
        return false;
    }
    const struct info_frame *frame = &frames[count - stretch->inlined];
    return (part == STRETCH_FUNCTION || frame->line == stretch->line) &&
           strcmp(frame->name ? frame->name : "", stretch->function) == 0;
}

static struct marks mark_part(const struct session *session, const struct stretch *stretch, enum stretch_part part)
{
    struct marks marks = no_marks(session);

    for (uint32_t insn = 0; insn < marks.count; insn++) {
        marks.on[insn] = is_of_part(marks.loaded->info, insn, stretch, part);
    }
    if (part != STRETCH_LINE) {
        mark_called(&marks);
    }
    return marks;
}

bool stretch_has(const struct session *session, const struct stretch *stretch, enum stretch_part part, uint32_t insn)
{
    struct marks marks = mark_part(session, stretch, part);
    const bool has = insn < marks.count && marks.on[insn];

    free(marks.on);
    return has;
}

/* ---- ranges ---- */

static struct ppu_debug_range next_range(const struct marks *marks, uint32_t from)
{
    struct ppu_debug_range range = { from, from };

    while (range.first < marks->count && !marks->on[range.first]) {
        range.first++;
    }
    range.end = range.first;
    while (range.end < marks->count && marks->on[range.end]) {
        range.end++;
    }
    return range;
}

/* Asks for what is marked, and frees the marks. */
static void ask_for_marks(const struct session *session, struct marks *marks, struct ppu_debug_request *request)
{
    struct ppu_debug_range range = next_range(marks, 0);

    request->ranges = 0;
    for (; range.first < marks->count; range = next_range(marks, range.end)) {
        if (request->ranges == PPU_DEBUG_RANGES &&
            request->range[PPU_DEBUG_RANGES / 2].end <= session->focus.warp.pc) { /* the first is too far away */
            memmove(request->range, request->range + 1, --request->ranges * sizeof(range));
        }
        if (request->ranges < PPU_DEBUG_RANGES) {
            request->range[request->ranges++] = range;
        }
    }
    free(marks->on);
}

void stretch_ask(const struct session *session, const struct stretch *stretch, enum stretch_part part,
                 struct ppu_debug_request *request)
{
    struct marks marks = mark_part(session, stretch, part);

    ask_for_marks(session, &marks, request);
}

/* A function that nothing was inlined into here is marked as a whole. */
static bool mark_whole(struct marks *marks, uint32_t insn)
{
    struct info_frame frames[INFO_DEPTH];

    return info_frames(marks->loaded->info, insn, frames) == 1 && mark_function(marks, insn);
}

static void mark_run(struct marks *marks, uint32_t insn)
{
    const struct info *info = marks->loaded->info;
    const uint32_t line = info_line(info, insn, NULL);
    uint32_t first = insn, end = insn;

    while (first > 0 && info_line(info, first - 1, NULL) == line) {
        first--;
    }
    while (end < marks->count && info_line(info, end, NULL) == line) {
        end++;
    }
    memset(marks->on + first, 1, end - first);
}

void stretch_ask_around(const struct session *session, enum stretch_part part, struct ppu_debug_request *request)
{
    struct marks marks = no_marks(session);
    const uint32_t pc = session->focus.warp.pc;

    if (pc < marks.count && (part != STRETCH_FUNCTION || !mark_whole(&marks, pc))) {
        mark_run(&marks, pc);
    }
    if (part != STRETCH_LINE) {
        mark_called(&marks);
    }
    ask_for_marks(session, &marks, request);
}

void stretch_ask_call(const struct session *session, struct ppu_debug_request *request)
{
    struct marks marks = no_marks(session);
    const uint32_t pc = session->focus.warp.pc;

    if (pc < marks.count) {
        marks.on[pc] = 1;
        mark_called(&marks);
    }
    ask_for_marks(session, &marks, request);
}
