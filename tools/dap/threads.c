/* SPDX-License-Identifier: MIT */
/* Shows warps as threads, and the functions that they are in as frames. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/dap/adapter.h"
#include "tools/dbg/frames.h"

/* Numbers of frames stay numbers of JSON and of editors. */
#define NUMBERS_MOST (INT32_MAX / INFO_DEPTH - 1)

static bool is_same(const struct ppu_debug_warp *a, const struct ppu_debug_warp *b)
{
    return memcmp(&a->at, &b->at, sizeof(a->at)) == 0;
}

/* Lists come in the same order again and again, so the thread is looked for from `near` on. */
static struct adapter_thread *find_warp(struct adapter *adapter, const struct ppu_debug_warp *warp, uint32_t near)
{
    for (uint32_t i = 0; i < adapter->threads; i++) {
        struct adapter_thread *thread = &adapter->thread[(near + i) % adapter->threads];
        if (is_same(&thread->warp, warp)) {
            return thread;
        }
    }
    return NULL;
}

static uint32_t first_lane(const struct ppu_debug_warp *warp)
{
    for (uint32_t lane = 0; lane < PPU_MAX_WAVE; lane++) {
        if ((warp->active[lane / 32] >> lane % 32 & 1u) != 0) {
            return lane;
        }
    }
    return 0;
}

static struct adapter_thread *add_thread(struct adapter *adapter, const struct ppu_debug_warp *warp)
{
    if (adapter->threads == ADAPTER_WARPS || adapter->thread_numbers >= NUMBERS_MOST) {
        return NULL;
    }
    struct adapter_thread *bigger = reallocarray(adapter->thread, (size_t)adapter->threads + 1, sizeof(*bigger));
    if (!bigger) {
        return NULL;
    }
    adapter->thread = bigger;
    bigger[adapter->threads] =
        (struct adapter_thread){ .id = ADAPTER_HOST + ++adapter->thread_numbers, .lane = first_lane(warp) };
    return &bigger[adapter->threads++];
}

static struct adapter_thread *keep_warp(struct adapter *adapter, const struct ppu_debug_warp *warp,
                                        const struct ppu_debug_task *task, uint32_t near)
{
    struct adapter_thread *thread = adapter->threads != 0 ? find_warp(adapter, warp, near) : NULL;

    thread = thread ? thread : add_thread(adapter, warp);
    if (thread) {
        thread->warp = *warp;
        thread->stop = adapter->stops;
        thread->context = task->context;
        thread->task = task->task;
        thread->depth = task->depth;
        snprintf(thread->kernel, sizeof(thread->kernel), "%s", session_kernel(&adapter->session, task));
    }
    return thread;
}

/* Warps that are on no SM any more. */
static void drop_gone(struct adapter *adapter)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < adapter->threads; i++) {
        struct adapter_thread *thread = &adapter->thread[i];
        if (thread->stop == adapter->stops) {
            adapter->thread[kept++] = *thread;
        } else if (thread->told) {
            adapter_tell(adapter, "thread", json_pack("{s:s, s:i}", "reason", "exited", "threadId", (int)thread->id));
        }
    }
    adapter->threads = kept;
}

/* Reads all warps that stand. */
static void read_warps(struct adapter *adapter)
{
    static struct ppu_debug_warp warps[ADAPTER_WARPS];
    struct ppu_debug_task tasks[PPU_MAX_SLOTS];
    struct session *session = &adapter->session;
    const uint32_t count = session_tasks(session, tasks, PPU_MAX_SLOTS);
    uint32_t read = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t here = session_warps(session, tasks[i].slot, warps, ADAPTER_WARPS - read);
        for (uint32_t w = 0; w < here; w++) {
            if (!keep_warp(adapter, &warps[w], &tasks[i], read + w)) {
                drop_gone(adapter);
                (void)keep_warp(adapter, &warps[w], &tasks[i], read + w);
            }
        }
        read += here;
    }
    drop_gone(adapter);
}

struct adapter_thread *threads_of_focus(struct adapter *adapter)
{
    const struct focus *focus = &adapter->session.focus;
    struct adapter_thread *thread = focus->valid ? keep_warp(adapter, &focus->warp, &focus->task, 0) : NULL;

    if (thread) {
        thread->lane = focus->lane;
    }
    return thread;
}

static struct adapter_thread *find_thread(struct adapter *adapter, json_int_t id)
{
    for (uint32_t i = 0; i < adapter->threads; i++) {
        if (adapter->thread[i].id == id && adapter->thread[i].stop == adapter->stops) {
            return &adapter->thread[i];
        }
    }
    return NULL;
}

bool threads_focus(struct adapter *adapter, json_int_t id, uint32_t frame, uint32_t lane)
{
    struct session *session = &adapter->session;

    if ((session->motion.kind != MOTION_NONE && !session_goes_alone(session)) || session->pid == 0) {
        (void)adapter_refuse(adapter, "no kernel stands still; `pause` stops those of a program that runs");
        return false;
    }
    struct adapter_thread *thread = find_thread(adapter, id);
    if (!thread) {
        read_warps(adapter);
        thread = find_thread(adapter, id);
    }
    if (!thread) {
        (void)adapter_refuse(adapter, "thread %lld is no warp that stands", (long long)id);
        return false;
    }
    if (!session_stands(session, thread->context, thread->task)) {
        (void)adapter_refuse(adapter, "thread %lld runs", (long long)id);
        return false;
    }
    lane = PPU_MIN(lane == ADAPTER_SAME_LANE ? thread->lane : lane, session_lanes(&thread->warp) - 1);
    if (session->focus.valid && is_same(&session->focus.warp, &thread->warp)) {
        session->focus.lane = lane;
    } else if (!session_focus(session, &thread->warp, lane)) {
        (void)adapter_refuse(adapter, "%s", box_why(&session->box));
        return false;
    }
    session->focus.frame = frame;
    return true;
}

bool threads_focus_frame(struct adapter *adapter, json_int_t frame_id)
{
    return threads_focus(adapter, frame_id / INFO_DEPTH, (uint32_t)(frame_id % INFO_DEPTH), ADAPTER_SAME_LANE);
}

void threads_tell_continued(struct adapter *adapter, json_int_t id)
{
    const struct focus *focus = &adapter->session.focus;

    for (uint32_t i = 0; i < adapter->threads; i++) {
        const struct adapter_thread *thread = &adapter->thread[i];
        if (thread->id != id && thread->context == focus->task.context && thread->task == focus->task.task) {
            adapter_tell(adapter, "continued",
                         json_pack("{s:i, s:b}", "threadId", (int)thread->id, "allThreadsContinued", 0));
        }
    }
}

bool threads_focus_stands(struct adapter *adapter)
{
    const struct focus *focus = &adapter->session.focus;

    if (!focus->valid || !session_stands(&adapter->session, focus->task.context, focus->task.task)) {
        (void)adapter_refuse(adapter, "no kernel stands still; `pause` stops those of a program that runs");
        return false;
    }
    return true;
}

uint32_t threads_frame_id(const struct adapter *adapter)
{
    const struct focus *focus = &adapter->session.focus;

    for (uint32_t i = 0; focus->valid && i < adapter->threads; i++) {
        if (is_same(&adapter->thread[i].warp, &focus->warp)) {
            return adapter->thread[i].id * INFO_DEPTH + focus->frame;
        }
    }
    return 0;
}

/* ---- requests ---- */

json_t *request_threads(struct adapter *adapter, const json_t *arguments)
{
    json_t *list = json_array();
    const struct session *session = &adapter->session;

    (void)arguments;
    json_array_append_new(list, json_pack("{s:i, s:s}", "id", ADAPTER_HOST, "name", "host program"));
    if (adapter->state == ADAPTER_RUNS && (session->motion.kind == MOTION_NONE || session_goes_alone(session))) {
        read_warps(adapter);
    }
    for (uint32_t i = 0; i < adapter->threads; i++) {
        const struct adapter_thread *thread = &adapter->thread[i];
        const struct ppu_debug_warp *warp = &thread->warp;
        char name[160];
        const int bytes = snprintf(name, sizeof(name), "kernel %u %s%s, cta (%u,%u,%u), warp %u", warp->slot,
                                   thread->kernel, thread->depth > 1 ? ", launched by threads" : "", warp->cta[0],
                                   warp->cta[1], warp->cta[2], warp->number);
        json_array_append_new(list, json_pack("{s:i, s:o}", "id", (int)thread->id, "name",
                                              wire_text(name, PPU_MIN((size_t)bytes, sizeof(name) - 1))));
    }
    return json_pack("{s:o}", "threads", list);
}

static json_t *frame_json(const struct adapter *adapter, const struct loaded *loaded, const struct frame *frame,
                          uint32_t number)
{
    const uint64_t address = adapter->session.focus.task.code_va + (uint64_t)frame->insn * PPU_INSN_BYTES;
    const char *name = frame->at.name ? frame->at.name : "??";
    char reference[32];
    uint32_t line = frame->at.line;
    json_t *source = loaded && line != 0 ? sources_of_line(adapter, loaded, frame->at.file, &line) : NULL;
    json_t *one = json_pack("{s:i, s:o, s:i, s:i}", "id", (int)(threads_frame_id(adapter) + number), "name",
                            wire_text(name, strlen(name)), "line", (int)adapter_line(adapter, line), "column", 0);

    if (source) {
        json_object_set_new(one, "source", source);
    }
    if (frame->inlined == 0) {
        snprintf(reference, sizeof(reference), "0x%" PRIx64, address);
        json_object_set_new(one, "instructionPointerReference", json_string(reference));
    }
    return one;
}

json_t *request_stack_trace(struct adapter *adapter, const json_t *arguments)
{
    struct frame frames[INFO_DEPTH];
    const json_int_t thread = argument_number(arguments, "threadId", 0);
    const json_int_t first = argument_number(arguments, "startFrame", 0),
                     most = argument_number(arguments, "levels", 0);

    if (thread == ADAPTER_HOST) {
        return json_pack("{s:[], s:i}", "stackFrames", "totalFrames", 0);
    }
    if (!threads_focus(adapter, thread, 0, ADAPTER_SAME_LANE)) {
        return NULL;
    }
    struct session *session = &adapter->session;
    const struct loaded *loaded = session_loaded(session);
    uint32_t count = frames_list(session, frames);
    if (count == 0) {
        const struct info_frame kernel = { session_kernel(session, &session->focus.task), NULL, 0 };
        frames[count++] = (struct frame){ kernel, session->focus.warp.pc, 0 };
    }
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        if (i >= first && (most <= 0 || i - first < most)) {
            json_array_append_new(list, frame_json(adapter, loaded, &frames[i], i));
        }
    }
    return json_pack("{s:o, s:i}", "stackFrames", list, "totalFrames", (int)count);
}
