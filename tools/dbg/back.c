/* SPDX-License-Identifier: MIT */
/* Goes back to instructions, lines, functions, stops and writes before, in what the device has recorded. */
#include <stdio.h>
#include <string.h>

#include "tools/dbg/frames.h"
#include "tools/dbg/motion.h"
#include "tools/dbg/points.h"
#include "tools/dbg/session.h"
#include "tools/dbg/stretch.h"

#define STRETCHES_MOST 100000u

/* ---- recording ---- */

bool session_record(struct session *session, bool on)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_RECORD, .flags = on ? PPU_DEBUG_RECORDS : 0 };

    session->records = on;
    if (session->box.shared && !box_done(&session->box, &request)) {
        session->records = false;
        session_complain(session, "cannot record: %s", box_why(&session->box));
        return false;
    }
    return true;
}

/* Where in what is recorded the state is. */
static uint64_t recorded_at(struct session *session)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_RECORDED };
    struct ppu_debug_record record = { .at = 0 };

    if (box_done(&session->box, &request) && session->box.answer.bytes >= sizeof(record)) {
        memcpy(&record, session->box.answer.data, sizeof(record));
    }
    return record.at;
}

/* ---- lines ---- */

/* What a way back leaves: the line, with the functions that it has called (BACK_OVER), or the function (BACK_OUT). */
static enum stretch_part part_of(const struct motion *motion)
{
    return motion->back == BACK_OUT ? STRETCH_FUNCTION : motion->back == BACK_OVER ? STRETCH_LINE_CALLED : STRETCH_LINE;
}

/* The line before, as the steps see it: over functions, the line that has called them. */
static struct stretch stretch_before(struct session *session)
{
    const struct motion *motion = &session->motion;
    struct stretch stretch = stretch_of_focus(session);
    struct frame frames[INFO_DEPTH];
    const uint32_t count = frames_list(session, frames);

    if (motion->back == BACK_OVER && count > motion->from.depth) {
        uint32_t first = count - motion->from.depth, end = first;
        const struct frame *frame = &frames[first];
        while (end < count && frames[end].insn == frame->insn) {
            end++;
        }
        stretch =
            (struct stretch){ frame->at.name ? frame->at.name : "", motion->from.depth, end - first, frame->at.line };
    }
    return stretch;
}

/* ---- one way back after the other ---- */

static bool by_insn(const struct motion *motion)
{
    return motion->back == BACK_BY_INSN || motion->back == BACK_BY_INSN_OVER;
}

static void begin_way(struct session *session, enum ppu_debug_back what, struct ppu_debug_request *request)
{
    session->motion.kind = MOTION_RETURNS;
    session->motion.stretches++;
    request->op = PPU_DEBUG_DO_BACK;
    request->at = session->focus.warp.at;
    request->flags = what;
    request->lane = what == PPU_DEBUG_BACK_STOP ? PPU_DEBUG_ANY_LANE : session->motion.lane;
    if ((what == PPU_DEBUG_BACK_OUT || what == PPU_DEBUG_BACK_ENTRY) && !by_insn(&session->motion)) {
        stretch_ask(session, &session->motion.from, part_of(&session->motion), request);
    }
    if (!box_done(&session->box, request)) {
        session->motion.kind = MOTION_NONE;
        session_complain(session, "cannot go back: %s", box_why(&session->box));
    }
}

static void begin_plain_way(struct session *session, enum ppu_debug_back what)
{
    struct ppu_debug_request request = { .ranges = 0 };

    begin_way(session, what, &request);
}

static void begin_step(struct session *session)
{
    struct motion *motion = &session->motion;

    session->focus.frame = 0;
    motion->from = stretch_of_focus(session);
    motion->stretches = 0;
    motion->lane = session->focus.lane;
    motion->back_from = recorded_at(session);
    if (motion->back == BACK_TO_STOP) {
        begin_plain_way(session, PPU_DEBUG_BACK_STOP);
    } else if (by_insn(motion) || motion->from.depth == 0) {
        motion->back = motion->from.depth == 0 ? BACK_BY_INSN : motion->back;
        begin_plain_way(session, PPU_DEBUG_BACK_INSN);
    } else if (motion->back == BACK_OUT) {
        motion->phase = BACK_TO_BEFORE;
        begin_plain_way(session, PPU_DEBUG_BACK_OUT);
    } else {
        motion->phase = BACK_TO_BEGIN;
        begin_plain_way(session, PPU_DEBUG_BACK_ENTRY);
    }
}

static bool can_begin(struct session *session)
{
    if (session->motion.kind != MOTION_NONE || !session_refresh(session)) {
        session_complain(session, SESSION_NONE_STANDS);
        return false;
    }
    return true;
}

void session_back(struct session *session, enum session_back how, uint32_t count)
{
    if (count == 0 || !can_begin(session)) {
        return;
    }
    if (how == BACK_OUT && stretch_of_focus(session).depth < 2) {
        session_complain(session, "cannot go back out of a kernel: nobody has called it");
        return;
    }
    session->motion = (struct motion){ .back = how, .steps = count };
    begin_step(session);
}

void session_back_to_register(struct session *session, uint32_t number)
{
    struct ppu_debug_request request = { .number = number };

    if (can_begin(session)) {
        session->motion = (struct motion){ .back = BACK_TO_WRITE, .steps = 1, .lane = session->focus.lane };
        begin_way(session, PPU_DEBUG_BACK_REGISTER, &request);
    }
}

void session_back_to_memory(struct session *session, enum ppu_debug_space space, uint64_t address, uint32_t bytes)
{
    struct ppu_debug_request request = { .count = bytes };

    if (can_begin(session) && session_locate(session, space, address, &request)) {
        session->motion = (struct motion){ .back = BACK_TO_WRITE, .steps = 1, .lane = session->focus.lane };
        begin_way(session, PPU_DEBUG_BACK_MEMORY, &request);
    }
}

/* ---- where it has led to ---- */

/* It is before the line that it was in, or still inside where there are more ranges than can be asked for. */
static void look_at_before(struct session *session)
{
    struct motion *motion = &session->motion;
    const struct loaded *loaded = session_loaded(session);
    const bool knows = loaded && loaded->info;

    if (motion->stretches < STRETCHES_MOST && knows &&
        stretch_has(session, &motion->from, part_of(motion), session->focus.warp.pc)) {
        begin_plain_way(session, PPU_DEBUG_BACK_OUT);
    } else if (motion->stretches < STRETCHES_MOST && knows && stretch_of_focus(session).line == 0) {
        begin_plain_way(session, PPU_DEBUG_BACK_INSN);
    } else if (motion->back == BACK_OUT || !knows) {
        motion_end_step(session, begin_step);
    } else {
        motion->from = stretch_before(session);
        motion->phase = BACK_TO_ITS_BEGIN;
        begin_plain_way(session, PPU_DEBUG_BACK_ENTRY);
    }
}

/* The instruction before is of a function that has been called since: the way goes on to its call. */
static void look_at_insn(struct session *session)
{
    struct motion *motion = &session->motion;
    const struct stretch now = stretch_of_focus(session);
    struct ppu_debug_request request = { .ranges = 0 };

    if (motion->back == BACK_BY_INSN || now.depth <= motion->from.depth || motion->stretches >= STRETCHES_MOST) {
        motion_end_step(session, begin_step);
        return;
    }
    stretch_ask(session, &now, STRETCH_FUNCTION, &request);
    begin_way(session, PPU_DEBUG_BACK_OUT, &request);
}

static void look_at_step(struct session *session)
{
    struct motion *motion = &session->motion;

    session->focus.lane = motion->lane;
    session->stop = (struct stop){ .why = PPU_DEBUG_STEPPED };
    motion->kind = MOTION_NONE;
    if (!session_refresh(session)) {
        return;
    }
    const bool has_begun = motion->phase == BACK_TO_BEGIN && recorded_at(session) != motion->back_from;
    if (by_insn(motion)) {
        look_at_insn(session);
    } else if (motion->phase == BACK_TO_ITS_BEGIN || has_begun) {
        motion_end_step(session, begin_step);
    } else if (motion->phase == BACK_TO_BEFORE) {
        look_at_before(session);
    } else {
        motion->phase = BACK_TO_BEFORE;
        begin_plain_way(session, PPU_DEBUG_BACK_OUT);
    }
}

void back_look_at(struct session *session, const struct ppu_debug_event *event)
{
    const uint32_t before_lane = session->focus.lane;

    switch (event->why) {
    case PPU_DEBUG_TURNED:
        session->motion.kind = MOTION_NONE;
        motion_say_turning(session, event);
        return;
    case PPU_DEBUG_STEPPED:
        look_at_step(session);
        return;
    default:
        session->motion.kind = MOTION_NONE;
        if (motion_look_at(session, event)) {
            return;
        }
        session->focus.lane = before_lane;
        begin_plain_way(session, PPU_DEBUG_BACK_STOP);
    }
}
