/* SPDX-License-Identifier: MIT */
#include "tools/dbg/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/token.h"
#include "tools/asm/ppuasm.h"
#include "tools/dbg/frames.h"
#include "tools/dbg/tree.h"
#include "tools/dbg/value.h"

#define WARPS_MOST 4096u
#define LIST_LINES 10u
#define CODE_INSNS 16u
#define INDENT_MOST 16u

static struct ppu_debug_warp warps[WARPS_MOST];

/* ---- source ---- */

/* The line of a text, without its end; NULL: it has none of this number. */
static const char *line_of(const char *text, uint32_t line, int *bytes)
{
    for (uint32_t i = 1; text && i < line; i++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text || *text == 0 || line == 0) {
        return NULL;
    }
    *bytes = (int)strcspn(text, "\n");
    return text;
}

static void say_source(const struct session *session, const struct loaded *loaded, uint32_t line)
{
    int bytes = 0;
    const char *text = line_of(loaded->source, line, &bytes);

    if (text) {
        fprintf(session->out, "%u\t%.*s\n", line, bytes, text);
    } else {
        fprintf(session->out, "%u\n", line);
    }
}

static void say_frame(const struct session *session, uint32_t number, const struct frame *frame)
{
    fprintf(session->out, "#%u  %s at %s:%u\n", number, frame->at.name ? frame->at.name : "??",
            frame->at.file ? frame->at.file : "??", frame->at.line);
}

void session_say_line(const struct session *session, const struct loaded *loaded, uint32_t insn)
{
    const char *file = NULL;
    struct info_frame frames[INFO_DEPTH];
    const uint32_t line = loaded && loaded->info ? info_line(loaded->info, insn, &file) : 0;

    if (line == 0) {
        fprintf(session->out, "%s at instruction %u\n", session_kernel(session, &session->focus.task), insn);
        return;
    }
    const uint32_t count = info_frames(loaded->info, insn, frames);
    fprintf(session->out, "%s at %s:%u\n", count != 0 && frames[0].name ? frames[0].name : "??", file ? file : "??",
            line);
    say_source(session, loaded, line);
}

void session_say_frame(struct session *session)
{
    const struct loaded *loaded = session_loaded(session);
    const struct focus *focus = &session->focus;
    struct frame frame;

    if (!frames_chosen(session, &frame)) {
        session_say_line(session, loaded, focus->warp.pc);
        return;
    }
    say_frame(session, focus->frame, &frame);
    say_source(session, loaded, frame.at.line);
}

void show_list(struct session *session, uint32_t line)
{
    static uint32_t next = 1;
    const struct loaded *loaded = session_loaded(session);

    loaded = loaded ? loaded : session->loads != 0 ? &session->loaded[session->loads - 1] : NULL;
    if (!loaded) {
        session_complain(session, "no program of the device is loaded yet; `run` to where a kernel stops");
        return;
    }
    if (!loaded->source) {
        session_complain(session, "the program of the kernel came without its source, as one from a binary does; build "
                                  "it from source, with -g");
        return;
    }
    if (line != 0) {
        next = line > LIST_LINES / 2 ? line - LIST_LINES / 2 : 1;
    }
    for (uint32_t i = 0; i < LIST_LINES; i++) {
        int bytes;
        if (line_of(loaded->source, next, &bytes)) {
            say_source(session, loaded, next++);
        }
    }
}

void show_backtrace(struct session *session)
{
    const struct loaded *loaded = session_loaded(session);
    struct frame frames[INFO_DEPTH];

    if (!session_refresh(session) || !loaded) {
        session_complain(session, SESSION_NONE_STANDS);
        return;
    }
    const uint32_t count = frames_list(session, frames);
    for (uint32_t i = 0; i < count; i++) {
        say_frame(session, i, &frames[i]);
    }
    if (count == 0) {
        fprintf(session->out, "#0  %s at instruction %u\n", session_kernel(session, &session->focus.task),
                session->focus.warp.pc);
    }
}

void show_code(struct session *session)
{
    const struct loaded *loaded = session_loaded(session);

    if (!session_refresh(session) || !loaded) {
        session_complain(session, SESSION_NONE_STANDS);
        return;
    }
    const uint32_t pc = session->focus.warp.pc, most = loaded->view.header->code_bytes / PPU_INSN_BYTES;
    for (uint32_t i = pc > CODE_INSNS / 2 ? pc - CODE_INSNS / 2 : 0; i < most && i < pc + CODE_INSNS / 2; i++) {
        char text[PPUASM_TEXT_BYTES];
        const uint64_t at = loaded->code + (uint64_t)i * PPU_INSN_BYTES;
        uint64_t word;
        memcpy(&word, loaded->view.code + (size_t)i * PPU_INSN_BYTES, sizeof(word));
        ppuasm_disassemble(word, text);
        fprintf(session->out, "%s 0x%llx %5u  line %-4u  %s\n", i == pc ? "=>" : "  ", (unsigned long long)at, i,
                loaded->info ? info_line(loaded->info, i, NULL) : ppu_program_line(&loaded->view, i), text);
    }
}

/* ---- who is there ---- */

void show_kernels(struct session *session)
{
    struct ppu_debug_task tasks[PPU_MAX_SLOTS];
    const uint32_t count = session_tasks(session, tasks, PPU_MAX_SLOTS);

    fprintf(session->out,
            "  kernel name                     context depth grid              cta             on SMs state\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct ppu_debug_task *task = &tasks[i];
        const bool is_focus = session->focus.valid && session->focus.task.slot == task->slot;
        fprintf(session->out, "%c %6u %-24s %7u %5u (%u,%u,%u)%*s(%u,%u,%u)%*s%6u %s\n", is_focus ? '*' : ' ',
                task->slot, session_kernel(session, task), task->context, task->depth, task->grid[0], task->grid[1],
                task->grid[2], 4, "", task->cta[0], task->cta[1], task->cta[2], 4, "", task->ctas,
                task->halted ? "stopped" : "runs");
    }
}

/* Deep trees would leave no room for what is said of a task. */
static int tree_indent(const struct tree_task *task)
{
    return (int)PPU_MIN(task->level, INDENT_MOST);
}

static void show_wait(const struct session *session, const struct tree_task *task, const struct tree_wait *wait)
{
    const struct loaded *loaded = session_loaded_of(session, &task->task);
    const char *file = NULL;
    const uint32_t line = loaded && loaded->info ? info_line(loaded->info, wait->pc, &file) : 0;

    fprintf(session->out, "  %*s  cta (%u,%u,%u) waits for children at ", 2 * tree_indent(task), "", wait->cta[0],
            wait->cta[1], wait->cta[2]);
    if (line != 0) {
        fprintf(session->out, "%s:%u\n", file ? file : "??", line);
    } else {
        fprintf(session->out, "instruction %u\n", wait->pc);
    }
}

static void show_task(const struct session *session, const struct tree_task *task)
{
    const struct ppu_debug_task *known = &task->task;
    const bool is_focus = session->focus.valid && session->focus.task.task == known->task;

    fprintf(session->out, "%c %*stask 0x%x %s", is_focus ? '*' : ' ', 2 * tree_indent(task), "", known->task,
            task->known ? session_kernel(session, known) : "??");
    if (task->known) {
        fprintf(session->out, " (%u,%u,%u)", known->grid[0], known->grid[1], known->grid[2]);
    }
    fprintf(session->out, ", depth %u, %u child%s: %s%s\n", task->level + 1, task->children,
            task->children == 1 ? "" : "ren", task->why, known->halted ? ", stopped" : "");
    for (uint32_t i = 0; i < task->waits; i++) {
        show_wait(session, task, &task->wait[i]);
    }
}

void show_tasks(struct session *session)
{
    struct tree tree;
    const char *why = session->pid == 0 ? "the program does not run; `run` starts it" : session_tree(session, &tree);

    if (why) {
        session_complain(session, "list the tasks: %s", why);
        return;
    }
    for (uint32_t i = 0; i < tree.tasks; i++) {
        show_task(session, &tree.task[i]);
    }
    if (tree.tasks == 0) {
        fputs("No tasks.\n", session->out);
    }
    tree_free(&tree);
}

static uint32_t focus_warps(struct session *session)
{
    if (!session->focus.valid) {
        session_complain(session, SESSION_NONE_STANDS);
        return 0;
    }
    return session_warps(session, session->focus.task.slot, warps, WARPS_MOST);
}

void show_ctas(struct session *session)
{
    const uint32_t count = focus_warps(session);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t of_it = 0;
        bool is_first = true;
        for (uint32_t j = 0; j < count; j++) {
            const bool same = warps[j].at.cta == warps[i].at.cta;
            of_it += same;
            is_first = is_first && !(same && j < i);
        }
        if (is_first) {
            fprintf(session->out, "%c (%u,%u,%u)  SM %u, %u warps\n",
                    warps[i].at.cta == session->focus.warp.at.cta ? '*' : ' ', warps[i].cta[0], warps[i].cta[1],
                    warps[i].cta[2], warps[i].at.sm, of_it);
        }
    }
}

/* Why a lane waits: a type of token, or another reason. */
static const char *reason_word(uint32_t reason)
{
    static const char *const words[] = {
        [PPU_TOKEN_NONE] = "active",      [PPU_TOKEN_SYNC] = "sync",        [PPU_TOKEN_DIVERGE] = "other side",
        [PPU_TOKEN_CALL] = "call",        [PPU_TOKEN_YIELD] = "yield",      [PPU_TOKEN_BRK] = "break",
        [PPU_TOKEN_CONT] = "continue",    [PPU_TOKEN_EXIT] = "exit",        [PPU_REASON_LOOP] = "other part",
        [PPU_REASON_PART] = "other part", [PPU_REASON_BARRIER] = "barrier", [PPU_REASON_ENDED] = "ended",
    };

    return reason < PPU_ARRAY_SIZE(words) && words[reason] ? words[reason] : "?";
}

static const char *state_word(const struct ppu_debug_warp *warp)
{
    static const char *const words[] = {
        "", "ready", "at a barrier", "waits for system memory", "waits for room in a ring", "has a fault", "has ended"
    };
    static const char *const stops[] = { "",       "at a breakpoint", "behind a watched write", "stepped",
                                         "enters", "at a fault",      "lanes have parted" };

    if (warp->stopped != 0 && warp->stopped < PPU_ARRAY_SIZE(stops)) {
        return stops[warp->stopped];
    }
    return warp->state < PPU_ARRAY_SIZE(words) ? words[warp->state] : "?";
}

void show_warps(struct session *session)
{
    const uint32_t count = focus_warps(session);
    const struct loaded *loaded = session_loaded(session);

    fprintf(session->out, "  cta          warp SM instruction line  active                            state\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct ppu_debug_warp *warp = &warps[i];
        char lanes[PPU_MAX_WAVE / 4 + 1] = "", *to = lanes;
        for (uint32_t pass = warp->passes % (PPU_MAX_WAVE_WORDS + 1); pass-- > 0;) {
            to += snprintf(to, 9, "%08x", warp->active[pass]);
        }
        fprintf(session->out, "%c (%u,%u,%u)%*s%4u %2u %11u %4u  %-32s  %s\n",
                memcmp(&warp->at, &session->focus.warp.at, sizeof(warp->at)) == 0 ? '*' : ' ', warp->cta[0],
                warp->cta[1], warp->cta[2], 5, "", warp->number, warp->at.sm, warp->pc,
                loaded && loaded->info ? info_line(loaded->info, warp->pc, NULL) : 0, lanes, state_word(warp));
    }
}

void show_lanes(struct session *session)
{
    if (!session_refresh(session)) {
        session_complain(session, SESSION_NONE_STANDS);
        return;
    }
    const struct ppu_debug_warp *warp = &session->focus.warp;
    const struct loaded *loaded = session_loaded(session);
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_LANES, .at = warp->at };
    struct ppu_debug_lane lanes[PPU_MAX_WAVE] = { { 0 } };

    if (!box_done(&session->box, &request)) {
        session_complain(session, "cannot read the lanes: %s", box_why(&session->box));
        return;
    }
    memcpy(lanes, session->box.answer.data, PPU_MIN(session->box.answer.bytes, (uint32_t)sizeof(lanes)));
    fprintf(session->out, "  lane thread         waits for   instruction line\n");
    for (uint32_t lane = 0; lane < session_lanes(warp); lane++) {
        const bool active = session_is_active(warp, lane);
        const bool live = (warp->live[lane / 32] >> lane % 32 & 1u) != 0;
        const uint32_t pc = active ? warp->pc : lanes[lane].wait;
        uint32_t id[3];
        session_thread(warp, lane, id);
        fprintf(session->out, "%c %4u (%u,%u,%u)%*s%-11s", lane == session->focus.lane ? '*' : ' ', lane, id[0], id[1],
                id[2], 8, "",
                active ? "active"
                : live ? reason_word(lanes[lane].reason)
                       : "ended");
        if (live) {
            fprintf(session->out, " %11u %4u", pc, loaded && loaded->info ? info_line(loaded->info, pc, NULL) : 0);
        }
        fputc('\n', session->out);
    }
}

void show_tokens(struct session *session)
{
    struct ppu_debug_request request = { .op = PPU_DEBUG_DO_TOKENS };

    if (!session_refresh(session)) {
        session_complain(session, SESSION_NONE_STANDS);
        return;
    }
    request.at = session->focus.warp.at;
    if (!box_done(&session->box, &request)) {
        session_complain(session, "cannot read the token queue: %s", box_why(&session->box));
        return;
    }
    const uint32_t count = session->box.answer.bytes / (uint32_t)sizeof(struct ppu_token);
    fprintf(session->out, "%u tokens, the front first\n", count + session->box.answer.more);
    for (uint32_t i = 0; i < count; i++) {
        struct ppu_token token;
        memcpy(&token, session->box.answer.data + i * sizeof(token), sizeof(token));
        fprintf(session->out, "%-10s instruction %u, lanes", reason_word(token.type), token.address);
        for (uint32_t pass = session->focus.warp.passes % (PPU_MAX_WAVE_WORDS + 1); pass-- > 0;) {
            fprintf(session->out, " %08x", token.mask[pass]);
        }
        fputc('\n', session->out);
    }
}

void show_registers(struct session *session)
{
    char text[SESSION_TEXT];
    struct value value;
    const char *why = NULL;

    if (!session_refresh(session)) {
        session_complain(session, SESSION_NONE_STANDS);
        return;
    }
    static const struct {
        char bank;
        uint32_t count;
    } banks[] = { { 's', PPU_SREGS }, { 'p', PPU_PREDS }, { 'v', PPU_MAX_VREGS } };
    for (uint32_t b = 0; b < PPU_ARRAY_SIZE(banks); b++) {
        const uint32_t most = banks[b].bank == 'v' ? session->focus.task.vregs : banks[b].count;
        for (uint32_t i = 0; i < most && i < banks[b].count; i++) {
            snprintf(text, sizeof(text), "$%c%u", banks[b].bank, i);
            if (value_of(session, text, &value, &why)) {
                fprintf(session->out, "%-5s 0x%-8llx %lld\n", text, (unsigned long long)value.number,
                        (long long)(int32_t)value.number);
            }
        }
    }
}

/* ---- variables and breakpoints ---- */

struct locals {
    struct session *session;
    uint32_t count;
};

static bool show_variable(void *opaque, const struct info_variable *variable)
{
    struct locals *locals = opaque;
    struct value value;
    const char *why = NULL;

    if (variable->is_global) {
        return false;
    }
    locals->count++;
    fprintf(locals->session->out, "%s = ", variable->name);
    if (!value_of(locals->session, variable->name, &value, &why) || !value_print(locals->session, &value, 0, &why)) {
        fprintf(locals->session->out, "<%s>\n", why);
    }
    return true;
}

void show_locals(struct session *session)
{
    const struct loaded *loaded = session_loaded(session);
    struct locals locals = { session, 0 };
    struct frame frame;

    if (!session_refresh(session) || !loaded || !loaded->info) {
        session_complain(session, loaded ? SESSION_NO_VARIABLES : SESSION_NONE_STANDS);
        return;
    }
    if (frames_chosen(session, &frame)) {
        info_variables(loaded->info, frame.insn, frame.inlined, show_variable, &locals);
    }
    if (locals.count == 0) {
        fputs("No variables.\n", session->out);
    }
}

void show_points(struct session *session)
{
    for (uint32_t i = 0; i < session->points; i++) {
        const struct point *point = &session->point[i];
        fprintf(session->out, "%u  %s%s %s%s%s, %u place%s, hit %u time%s%s\n", point->number,
                point->is_watch ? "watch" : "break", point->once ? " once" : "", point->where,
                point->condition[0] ? " if " : "", point->condition, point->sites, point->sites == 1 ? "" : "s",
                point->hits, point->hits == 1 ? "" : "s", point->enabled ? "" : ", disabled");
    }
    if (session->points == 0) {
        fputs("No breakpoints.\n", session->out);
    }
}

void show_record(struct session *session)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_RECORDED };
    struct ppu_debug_record record;

    if (session->pid == 0) {
        session_complain(session, "tell what is recorded: the program does not run; `run` starts it");
        return;
    }
    if (!box_done(&session->box, &request) || session->box.answer.bytes < sizeof(record)) {
        session_complain(session, "cannot tell what is recorded: %s", box_why(&session->box));
        return;
    }
    memcpy(&record, session->box.answer.data, sizeof(record));
    fprintf(session->out, "%llu instructions and starts of CTAs, at %llu; %u pages of memory\n",
            (unsigned long long)record.units, (unsigned long long)record.at, record.pages);
}
