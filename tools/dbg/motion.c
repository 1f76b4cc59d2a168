/* SPDX-License-Identifier: MIT */
/* Lets kernels run and step, and says what has stopped them. */
#include <stdio.h>
#include <string.h>

#include "ppu/fault.h"
#include "ppu/macros.h"
#include "ppu/task.h"
#include "tools/dbg/motion.h"
#include "tools/dbg/points.h"
#include "tools/dbg/session.h"
#include "tools/dbg/stretch.h"
#include "tools/dbg/value.h"
#include "tools/trace/clock.h"

#define SERVE_MS 1
#define ENDED_LOOK_NS (50 * CLOCK_NS_PER_MS) /* between looks at whether a task that goes alone is there */
#define STRETCHES_MOST 100000u               /* of a step until it has come where it is to come */

/* ---- events ---- */

static bool next_event(struct session *session, struct ppu_debug_event *event)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_EVENTS, .number = session->told + 1 };

    if (box_events(&session->box) <= session->told || !box_done(&session->box, &request) ||
        session->box.answer.bytes < sizeof(*event)) {
        return false;
    }
    memcpy(event, session->box.answer.data, sizeof(*event));
    session->told = PPU_MAX(event->number, session->told + 1); /* also when a device counts wrongly */
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

/* Why the way back or forth has come to an end. */
void motion_say_turning(struct session *session, const struct ppu_debug_event *event)
{
    static const char *const words[] = {
        [PPU_DEBUG_BEGIN] = "No more reverse-execution history.",
        [PPU_DEBUG_PRESENT] = "The history ends here; what comes next is executed for the first time.",
        [PPU_DEBUG_INTERFERED] = "The present has come back: somebody changes tasks or their memory.",
    };
    struct ppu_debug_warp warp;

    session->stop = (struct stop){ .why = PPU_DEBUG_TURNED, .turning = event->id };
    if (event->id < PPU_ARRAY_SIZE(words)) {
        fprintf(session->out, "%s\n", words[event->id]);
    } else {
        session_complain(session, "cannot go back: executed again the kernels do something else, as somebody else has "
                                  "written what they read");
    }
    if (!session_refresh(session) && find_warp(session, event, &warp)) {
        session_focus(session, &warp, session_first_active(&warp));
    }
    if (session->focus.valid) {
        session->focus.frame = 0;
        session_say_line(session, session_loaded(session), session->focus.warp.pc);
    }
}

/* The first active lane of which the condition is true becomes the focus's; false: there is none. */
static bool condition_holds(struct session *session, const struct point *point)
{
    struct focus *focus = &session->focus;
    const char *why = NULL;
    struct value value;
    int64_t number;

    for (uint32_t lane = 0; point->condition[0] != 0 && lane < session_lanes(&focus->warp); lane++) {
        if (!session_is_active(&focus->warp, lane)) {
            continue;
        }
        focus->lane = lane;
        if (!value_of(session, point->condition, &value, &why) || !value_number(session, &value, &number, &why)) {
            session_complain(session, "the condition of breakpoint %u: %s", point->number, why);
            return true;
        }
        if (number != 0) {
            return true;
        }
    }
    return point->condition[0] == 0;
}

const char *session_fault_word(uint32_t code)
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
        fprintf(session->out, "Breakpoint %u, ", point->number);
        break;
    case PPU_DEBUG_AT_WATCH:
        fprintf(session->out, "Watchpoint %u: %s, was %llu, is %llu\n", point->number, point->where,
                (unsigned long long)event->value[0], (unsigned long long)event->value[1]);
        break;
    case PPU_DEBUG_FAULTED:
        fprintf(session->out, "Fault %s at address 0x%llx, ", session_fault_word(event->id),
                (unsigned long long)event->value[0]);
        break;
    case PPU_DEBUG_ENTERED:
        fprintf(session->out, "Entry, ");
        break;
    case PPU_DEBUG_DIVERGED:
        fprintf(session->out, "Lanes part, ");
        break;
    case PPU_DEBUG_WRITES:
        fprintf(session->out, "Last write, ");
        break;
    default:
        break;
    }
    if (session->focus.valid) {
        session_say_line(session, session_loaded(session), session->focus.warp.pc);
    } else {
        fputs("somebody else than a kernel has written\n", session->out);
    }
}

/* The breakpoint is where the warp of the focus has stopped: the device's number may have been another one's before. */
static bool is_stop_at(const struct session *session, const struct point *point, uint32_t insn)
{
    return points_has_site(point, session->focus.task.code_va + (uint64_t)insn * PPU_INSN_BYTES);
}

bool motion_look_at(struct session *session, const struct ppu_debug_event *event)
{
    const bool is_break = event->why == PPU_DEBUG_AT_BREAK, is_watch = event->why == PPU_DEBUG_AT_WATCH;
    const struct focus before = session->focus;
    struct ppu_debug_warp warp;
    struct point *point = is_break || is_watch ? points_of_site(session, event->id, is_watch) : NULL;

    if (event->why == PPU_DEBUG_TURNED) {
        motion_say_turning(session, event);
        return true;
    }
    if (((is_break || is_watch) && !point) || event->why == PPU_DEBUG_STEPPED || event->why == PPU_DEBUG_ENDED ||
        (event->why == PPU_DEBUG_FAULTED && (session->stop_at & PPU_DEBUG_AT_FAULT) == 0)) {
        return false; /* nobody waits for it any more */
    }
    if (find_warp(session, event, &warp)) {
        const bool stays = event->why == PPU_DEBUG_WRITES && before.valid && session_is_active(&warp, before.lane) &&
                           memcmp(&before.warp.at, &warp.at, sizeof(warp.at)) == 0;
        if (!session_focus(session, &warp, stays ? before.lane : session_first_active(&warp))) {
            return false;
        }
    } else if (!is_watch) {
        return false;
    }
    if ((point && is_break && (!is_stop_at(session, point, event->pc) || !condition_holds(session, point))) ||
        (event->why == PPU_DEBUG_ENTERED && (!session_loaded(session) || !session_loaded(session)->info))) {
        return false; /* kernels of the library itself have no source */
    }
    if (point) {
        point->hits++;
        if (point->ignore != 0) {
            point->ignore--;
            return false;
        }
    }
    session->stop = (struct stop){
        .why = event->why, .point = point ? point->number : 0, .fault = event->id, .address = event->value[0]
    };
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

/* Everything, or one task. */
static void order(struct session *session, enum ppu_debug_op op, uint32_t context, uint32_t task)
{
    const struct ppu_debug_request request = {
        .op = op,
        .context = task != PPU_TASK_NULL ? context : PPU_DEBUG_ALL,
        .flags = task != PPU_TASK_NULL ? PPU_DEBUG_ONE_TASK : 0,
        .number = task,
    };

    (void)box_ask(&session->box, &request);
}

void session_scope(struct session *session, bool one_task)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_SCOPE, .flags = one_task ? PPU_DEBUG_ONE_TASK : 0 };

    session->one_task = one_task;
    if (session->box.shared && !box_done(&session->box, &request)) {
        session_complain(session, "cannot change the scope: %s", box_why(&session->box));
    }
}

/* What stood for an event that nobody waits for goes on. */
static void go_on_after(struct session *session, const struct ppu_debug_event *event)
{
    struct ppu_debug_task tasks[PPU_MAX_SLOTS];
    const uint32_t count = session->one_task ? session_tasks(session, tasks, PPU_MAX_SLOTS) : 0;

    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i].slot == event->slot && tasks[i].start == event->at.start) {
            order(session, PPU_DEBUG_DO_GO, tasks[i].context, tasks[i].task);
        }
    }
}

void session_interrupt(struct session *session)
{
    struct ppu_debug_task tasks[PPU_MAX_SLOTS];
    struct ppu_debug_warp warp;

    if (!session->one_task) {
        order(session, PPU_DEBUG_DO_HALT, PPU_DEBUG_ALL, PPU_TASK_NULL);
    }
    session->motion.kind = MOTION_NONE;
    session->stop = (struct stop){ .why = 0 };
    const uint32_t count = session_tasks(session, tasks, PPU_MAX_SLOTS);
    for (uint32_t i = 0; session->one_task && i < count; i++) {
        order(session, PPU_DEBUG_DO_HALT, tasks[i].context, tasks[i].task);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (session_warps(session, tasks[i].slot, &warp, 1) != 0 &&
            session_focus(session, &warp, session_first_active(&warp))) {
            session_say_focus(session);
            session_say_line(session, session_loaded(session), warp.pc);
            return;
        }
    }
    fputs("[interrupted; no kernel runs]\n", session->out);
}

/* ---- steps ---- */

static bool has_arrived(struct session *session)
{
    const struct stretch now = stretch_of_focus(session), *from = &session->motion.from;
    const enum session_step how = session->motion.how;

    if (how == STEP_INSN || from->depth == 0) {
        return true;
    }
    if (how == STEP_OUT) {
        return now.depth < from->depth;
    }
    if (how == STEP_INSN_OVER) {
        return now.depth <= from->depth;
    }
    if (now.line == 0 || (how == STEP_OVER && now.depth > from->depth)) {
        return false;
    }
    return now.line != from->line || now.depth != from->depth || strcmp(now.function, from->function) != 0;
}

/* What the warp may go through without being looked at: functions that a step leads over or out of are left at once. */
static void ask_for_ranges(struct session *session, struct ppu_debug_request *request)
{
    const struct motion *motion = &session->motion;
    const bool is_deeper = motion->stretches != 0 && stretch_of_focus(session).depth > motion->from.depth;

    if (motion->how == STEP_INSN_OVER && !is_deeper) {
        stretch_ask_call(session, request);
    } else if (motion->how == STEP_LINE || (motion->how == STEP_OVER && !is_deeper)) {
        stretch_ask_around(session, motion->how == STEP_LINE ? STRETCH_LINE : STRETCH_LINE_CALLED, request);
    } else {
        stretch_ask_around(session, STRETCH_FUNCTION, request);
    }
}

/* Lets the warp go for one stretch. */
static void begin_stretch(struct session *session)
{
    struct motion *motion = &session->motion;
    struct ppu_debug_request request = { .op = PPU_DEBUG_DO_STEP,
                                         .at = session->focus.warp.at,
                                         .lane = session->focus.lane };

    if (motion->how != STEP_INSN && motion->from.depth != 0) {
        request.flags = PPU_DEBUG_IN_RANGE;
        ask_for_ranges(session, &request);
    }
    motion->kind = MOTION_STEPS;
    motion->stretches++;
    if (!box_done(&session->box, &request)) {
        motion->kind = MOTION_NONE;
        session_complain(session, "step a warp: %s", box_why(&session->box));
    } else if (session->box.answer.bytes >= sizeof(motion->begun_after)) {
        memcpy(&motion->begun_after, session->box.answer.data, sizeof(motion->begun_after));
    }
}

static void begin_step(struct session *session)
{
    session->focus.frame = 0;
    session->motion.from = stretch_of_focus(session);
    session->motion.stretches = 0;
    session->motion.lane = session->focus.lane;
    begin_stretch(session);
}

static void say_arrived(struct session *session)
{
    if (!session_is_active(&session->focus.warp, session->focus.lane)) {
        session->focus.lane = session_first_active(&session->focus.warp);
        session_say_focus(session);
    }
    session_say_line(session, session_loaded(session), session->focus.warp.pc);
}

void motion_end_step(struct session *session, void (*begin)(struct session *session))
{
    struct motion *motion = &session->motion;

    say_arrived(session);
    session->stop = (struct stop){ .why = PPU_DEBUG_STEPPED };
    motion->kind = MOTION_NONE;
    if (--motion->steps != 0) {
        begin(session);
    }
}

static void end_with_warp(struct session *session)
{
    fputs("[the warp has ended]\n", session->out);
    session->focus.valid = false;
    session->stop = (struct stop){ .why = PPU_DEBUG_ENDED };
}

static void look_whether_arrived(struct session *session)
{
    struct motion *motion = &session->motion;

    session->focus.lane = motion->lane;
    session->stop = (struct stop){ .why = PPU_DEBUG_STEPPED };
    if (has_arrived(session) || motion->stretches >= STRETCHES_MOST) {
        motion_end_step(session, begin_step);
    } else {
        begin_stretch(session);
    }
}

/* What nobody waits for stops the step only if it came after the step began; the warp goes on then. */
static void look_past(struct session *session, const struct ppu_debug_event *event, const struct focus *before)
{
    struct motion *motion = &session->motion;

    session->focus = *before;
    go_on_after(session, event);
    if (event->number <= motion->begun_after) {
        motion->kind = MOTION_STEPS;
    } else if (!session_refresh(session)) {
        end_with_warp(session);
    } else if (session->focus.warp.pc == before->warp.pc) {
        begin_stretch(session);
    } else {
        look_whether_arrived(session);
    }
}

static void look_at_step(struct session *session, const struct ppu_debug_event *event)
{
    const struct focus before = session->focus;

    session->motion.kind = MOTION_NONE;
    if (event->why == PPU_DEBUG_ENDED) {
        end_with_warp(session);
    } else if (event->why != PPU_DEBUG_STEPPED) {
        if (!motion_look_at(session, event)) {
            look_past(session, event, &before);
        }
    } else if (session_refresh(session)) {
        look_whether_arrived(session);
    }
}

/* True: something has stopped beside what was told, which is told first. */
static bool told_before(struct session *session)
{
    struct ppu_debug_event event;

    while (next_event(session, &event)) {
        const struct focus before = session->focus;
        if (motion_look_at(session, &event)) {
            return true;
        }
        session->focus = before;
        go_on_after(session, &event);
    }
    return false;
}

void session_step(struct session *session, enum session_step how, uint32_t count)
{
    if (session->motion.kind != MOTION_NONE || !session_refresh(session)) {
        session_complain(session, SESSION_NONE_STANDS);
    } else if (count != 0 && !told_before(session)) {
        session->motion = (struct motion){ .how = how, .steps = count };
        begin_step(session);
    }
}

/* ---- running ---- */

static void go(struct session *session, const struct ppu_debug_task *task)
{
    if (session->pid == 0) {
        session_complain(session, "the program does not run; `run` starts it");
        return;
    }
    if (session->motion.kind != MOTION_NONE) {
        session_complain(session, "the kernels run already");
        return;
    }
    session->motion = (struct motion){ .kind = MOTION_GOES };
    if (task) {
        session->motion.context = task->context;
        session->motion.task = task->task;
    }
}

void session_continue(struct session *session)
{
    go(session, session->one_task && session->focus.valid ? &session->focus.task : NULL);
}

void session_continue_all(struct session *session)
{
    go(session, NULL);
}

void session_continue_one(struct session *session)
{
    go(session, session->focus.valid ? &session->focus.task : NULL);
}

void session_continue_others(struct session *session)
{
    session->motion = (struct motion){ .kind = MOTION_GOES };
}

bool session_goes_alone(const struct session *session)
{
    return session->motion.kind == MOTION_GOES && session->motion.task != PPU_TASK_NULL;
}

bool session_stands(const struct session *session, uint32_t context, uint32_t task)
{
    const struct motion *motion = &session->motion;

    return motion->kind == MOTION_NONE ||
           (session_goes_alone(session) && (motion->context != context || motion->task != task));
}

/* The task that goes alone has ended: that is told when others stand, which would be waited for in vain. */
static void look_whether_ended(struct session *session)
{
    struct motion *motion = &session->motion;
    const uint64_t now_ns = clock_now_ns();
    struct ppu_debug_task tasks[PPU_MAX_SLOTS];
    struct view view;
    bool stands = false;

    if (motion->task == PPU_TASK_NULL || now_ns - motion->looked_ns < ENDED_LOOK_NS || box_view(&session->box, &view)) {
        return;
    }
    const bool is_there = view_task(&view, motion->task) != VIEW_NONE;
    view_free(&view);
    motion->looked_ns = clock_now_ns();
    const uint32_t count = is_there ? 0 : session_tasks(session, tasks, PPU_MAX_SLOTS);
    for (uint32_t i = 0; i < count; i++) {
        stands = stands || tasks[i].halted != 0;
    }
    if (stands && box_events(&session->box) <= session->told) { /* else that is told */
        fputs("[the kernel has ended; others stand]\n", session->out);
        session->focus.valid = false;
        session->stop = (struct stop){ .why = PPU_DEBUG_ENDED, .of_task = true };
        motion->kind = MOTION_NONE;
    }
}

/* What stopped beside what was told is told before anything goes on. */
bool session_turn(struct session *session, int timeout_ms)
{
    struct motion *motion = &session->motion;
    struct ppu_debug_event event;

    while (motion->kind != MOTION_NONE && next_event(session, &event)) {
        if (motion->kind == MOTION_STEPS) {
            look_at_step(session, &event);
        } else if (motion->kind == MOTION_RETURNS) {
            back_look_at(session, &event);
        } else if (motion_look_at(session, &event)) {
            motion->kind = MOTION_NONE;
        } else if (session->one_task) {
            go_on_after(session, &event);
        } else {
            motion->ordered = false;
        }
    }
    if (motion->kind == MOTION_GOES && !motion->ordered) {
        order(session, PPU_DEBUG_DO_GO, motion->context, motion->task);
        motion->ordered = true;
        motion->looked_ns = clock_now_ns();
    } else if (motion->kind == MOTION_GOES) {
        look_whether_ended(session);
    }
    return motion->kind != MOTION_NONE && session_serve(session, timeout_ms) && motion->kind != MOTION_NONE;
}

void session_wait(struct session *session)
{
    while (!session->in_background && session_turn(session, SERVE_MS)) {
        if (session_interrupted()) {
            session_interrupt(session);
        }
    }
}
