/* SPDX-License-Identifier: MIT */
/* Lets kernels run and step, and says what has stopped them. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ppu/fault.h"
#include "ppu/macros.h"
#include "tools/dbg/points.h"
#include "tools/dbg/session.h"
#include "tools/dbg/value.h"

#define SERVE_MS 1
#define LOOK_NS 1000000l
#define STEPS_MOST 100000u /* that a command makes until it has come where it wants */

/* ---- events ---- */

static bool next_event(struct session *session, struct ppu_debug_event *event)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_EVENTS, .number = session->told + 1 };

    if (box_events(&session->box) <= session->told || !box_done(&session->box, &request) ||
        session->box.answer.bytes < sizeof(*event)) {
        return false;
    }
    memcpy(event, session->box.answer.data, sizeof(*event));
    session->told = event->number;
    return true;
}

static bool find_warp(struct session *session, const struct ppu_debug_event *event, struct ppu_debug_warp *warp)
{
    static struct ppu_debug_warp warps[4096];
    const uint32_t count = session_warps(session, event->slot, warps, PPU_ARRAY_SIZE(warps));

    for (uint32_t i = 0; i < count; i++) {
        if (memcmp(&warps[i].at, &event->at, sizeof(event->at)) == 0) {
            *warp = warps[i];
            return true;
        }
    }
    return false;
}

static bool is_active(const struct ppu_debug_warp *warp, uint32_t lane)
{
    return (warp->active[lane / 32] >> lane % 32 & 1u) != 0;
}

static uint32_t first_active(const struct ppu_debug_warp *warp)
{
    for (uint32_t lane = 0; lane < PPU_MAX_WAVE; lane++) {
        if (is_active(warp, lane)) {
            return lane;
        }
    }
    return 0;
}

/* The first active lane of which the condition is true becomes the focus's; false: there is none. */
static bool condition_holds(struct session *session, const struct point *point)
{
    struct focus *focus = &session->focus;
    const char *why = NULL;
    struct value value;
    int64_t number;

    for (uint32_t lane = 0; point->condition[0] != 0 && lane < session_lanes(&focus->warp); lane++) {
        if (!is_active(&focus->warp, lane)) {
            continue;
        }
        focus->lane = lane;
        if (!value_of(session, point->condition, &value, &why) || !value_number(session, &value, &number, &why)) {
            session_complain(session, "condition of breakpoint %u: %s", point->number, why);
            return true;
        }
        if (number != 0) {
            return true;
        }
    }
    return point->condition[0] == 0;
}

static const char *fault_word(uint32_t code)
{
    switch (code) {
#define PPU_FAULT(name, value, ...) \
    case (value):                   \
        return #name;
#include "ppu/fault.def"
#undef PPU_FAULT
    default:
        return "fault";
    }
}

static void say_event(struct session *session, const struct ppu_debug_event *event, const struct point *point)
{
    switch (event->why) {
    case PPU_DEBUG_AT_BREAK:
        printf("Breakpoint %u, ", point->number);
        break;
    case PPU_DEBUG_AT_WATCH:
        printf("Watchpoint %u: %s, was %llu, is %llu\n", point->number, point->where,
               (unsigned long long)event->value[0], (unsigned long long)event->value[1]);
        break;
    case PPU_DEBUG_FAULTED:
        printf("Fault %s at address 0x%llx, ", fault_word(event->id), (unsigned long long)event->value[0]);
        break;
    case PPU_DEBUG_ENTERED:
        printf("Entry, ");
        break;
    case PPU_DEBUG_DIVERGED:
        printf("Lanes part, ");
        break;
    default:
        break;
    }
    if (session->focus.valid) {
        session_say_line(session, session_loaded(session), session->focus.warp.pc);
    } else {
        puts("somebody else than a kernel has written");
    }
}

/* False: it is nothing to stop for. */
static bool look_at_event(struct session *session, const struct ppu_debug_event *event)
{
    const bool is_break = event->why == PPU_DEBUG_AT_BREAK, is_watch = event->why == PPU_DEBUG_AT_WATCH;
    const struct focus before = session->focus;
    struct ppu_debug_warp warp;
    struct point *point = is_break || is_watch ? points_of_site(session, event->id, is_watch) : NULL;

    if ((is_break || is_watch) && !point) {
        return false;
    }
    if (find_warp(session, event, &warp)) {
        if (!session_focus(session, &warp, first_active(&warp))) {
            return false;
        }
    } else if (!is_watch) {
        return false;
    }
    if ((point && is_break && !condition_holds(session, point)) ||
        (event->why == PPU_DEBUG_ENTERED && (!session_loaded(session) || !session_loaded(session)->info))) {
        return false; /* kernels of the library itself have no source */
    }
    if (point) {
        point->hits++;
    }
    if (memcmp(&before.warp.at, &session->focus.warp.at, sizeof(before.warp.at)) != 0 || !before.valid) {
        session_say_focus(session);
    }
    say_event(session, event, point);
    if (point && point->once) {
        session_delete(session, point->number);
    }
    return true;
}

/* ---- running ---- */

static void order(struct session *session, enum ppu_debug_op op)
{
    const struct ppu_debug_request request = { .op = op, .context = PPU_DEBUG_ALL };

    (void)box_ask(&session->box, &request);
}

void session_interrupt(struct session *session)
{
    struct ppu_debug_task tasks[PPU_MAX_SLOTS];
    struct ppu_debug_warp warp;

    order(session, PPU_DEBUG_DO_HALT);
    const uint32_t count = session_tasks(session, tasks, PPU_MAX_SLOTS);
    for (uint32_t i = 0; i < count; i++) {
        if (session_warps(session, tasks[i].slot, &warp, 1) != 0 &&
            session_focus(session, &warp, first_active(&warp))) {
            session_say_focus(session);
            session_say_line(session, session_loaded(session), warp.pc);
            return;
        }
    }
    puts("[interrupted; no kernel runs]");
}

/* Until something is there to say. What stopped beside what was told is told before anything goes on. */
void session_continue(struct session *session)
{
    struct ppu_debug_event event;
    bool runs = false;

    if (session->pid == 0) {
        session_complain(session, "the program does not run; `run` starts it");
        return;
    }
    for (;;) {
        while (next_event(session, &event)) {
            if (look_at_event(session, &event)) {
                return;
            }
            runs = false;
        }
        if (!runs) {
            order(session, PPU_DEBUG_DO_GO);
            runs = true;
        }
        if (!session_serve(session, SERVE_MS)) {
            return;
        }
        if (session_interrupted()) {
            session_interrupt(session);
            return;
        }
    }
}

/* ---- steps ---- */

struct where {
    const char *function;
    uint32_t depth;
    uint32_t line;
};

static struct where where_is(const struct session *session)
{
    const struct loaded *loaded = session_loaded(session);
    struct info_frame frames[INFO_DEPTH];
    struct where where = { "", 0, 0 };

    if (loaded && loaded->info) {
        where.depth = info_frames(loaded->info, session->focus.warp.pc, frames);
        where.function = where.depth != 0 && frames[0].name ? frames[0].name : "";
        where.line = info_line(loaded->info, session->focus.warp.pc, NULL);
    }
    return where;
}

/* Instructions around the focus that belong to its line. */
static struct ppu_debug_range line_range(const struct session *session)
{
    const struct loaded *loaded = session_loaded(session);
    const uint32_t pc = session->focus.warp.pc;
    struct ppu_debug_range range = { pc, pc + 1 };

    if (loaded && loaded->info) {
        const uint32_t most = loaded->view.header->code_bytes / PPU_INSN_BYTES;
        const uint32_t line = info_line(loaded->info, pc, NULL);
        while (range.first > 0 && info_line(loaded->info, range.first - 1, NULL) == line) {
            range.first--;
        }
        while (range.end < most && info_line(loaded->info, range.end, NULL) == line) {
            range.end++;
        }
    }
    return range;
}

static bool has_arrived(const struct session *session, const struct where *from, enum session_step how)
{
    const struct where now = where_is(session);

    if (how == STEP_INSN || from->depth == 0) {
        return true;
    }
    if (how == STEP_OUT) {
        return now.depth < from->depth;
    }
    if (now.line == 0 || (how == STEP_OVER && now.depth > from->depth)) {
        return false;
    }
    return now.line != from->line || now.depth != from->depth || strcmp(now.function, from->function) != 0;
}

/* One stretch; false: something else has been said. */
static bool step_once(struct session *session, const struct where *from, enum session_step how)
{
    struct ppu_debug_request request = { .op = PPU_DEBUG_DO_STEP,
                                         .at = session->focus.warp.at,
                                         .lane = session->focus.lane };
    struct ppu_debug_event event;
    const uint32_t lane = session->focus.lane;

    if (how != STEP_INSN && from->depth != 0) {
        request.flags = PPU_DEBUG_IN_RANGE;
        request.ranges = 1;
        request.range[0] = line_range(session);
    }
    if (!box_done(&session->box, &request)) {
        session_complain(session, "cannot step: %s", box_why(&session->box));
        return false;
    }
    while (!next_event(session, &event)) {
        if (!session_serve(session, SERVE_MS)) {
            return false;
        }
        if (session_interrupted()) {
            session_interrupt(session);
            return false;
        }
    }
    if (event.why == PPU_DEBUG_ENDED) {
        puts("[the warp has ended]");
        session->focus.valid = false;
        return false;
    }
    if (event.why != PPU_DEBUG_STEPPED) {
        (void)look_at_event(session, &event);
        return false;
    }
    session->focus.lane = lane;
    return session_refresh(session);
}

void session_step(struct session *session, enum session_step how)
{
    if (!session_refresh(session)) {
        session_complain(session, "no kernel stands still");
        return;
    }
    const struct where from = where_is(session);
    for (uint32_t i = 0; i < STEPS_MOST; i++) {
        if (!step_once(session, &from, how)) {
            return;
        }
        if (has_arrived(session, &from, how)) {
            if (!is_active(&session->focus.warp, session->focus.lane)) {
                session->focus.lane = first_active(&session->focus.warp);
                session_say_focus(session);
            }
            session_say_line(session, session_loaded(session), session->focus.warp.pc);
            return;
        }
    }
    session_say_line(session, session_loaded(session), session->focus.warp.pc);
}
