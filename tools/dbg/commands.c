/* SPDX-License-Identifier: MIT */
#include "tools/dbg/commands.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/dbg/frames.h"
#include "tools/dbg/show.h"
#include "tools/dbg/value.h"

#define LINE_BYTES 1024u
#define FILES_DEEPEST 8u
#define WARPS_MOST 4096u
#define EXAMINE_MOST 4096u

/* ---- words ---- */

static const char *behind_blanks(const char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    return text;
}

/* A whole number; false: it is none, which was said. */
static bool read_number(struct session *session, const char *text, uint32_t *number)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    if (end == text || *behind_blanks(end) != 0 || value > UINT32_MAX) {
        session_complain(session, "\"%s\": expected a number from 0 to %u", text, UINT32_MAX);
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

static bool evaluate(struct session *session, const char *text, struct value *value)
{
    const char *why = NULL;

    if (value_of(session, text, value, &why)) {
        return true;
    }
    session_complain(session, "%s: %s", text, why);
    return false;
}

static bool stands(struct session *session)
{
    if (!session_refresh(session)) {
        session_complain(session, SESSION_NONE_STANDS);
        return false;
    }
    return true;
}

/* ---- running ---- */

static void do_run(struct session *session, const char *rest)
{
    (void)rest;
    if (session->pid != 0) {
        session_complain(session, "the program runs already; `continue` lets it go on, and `kill` ends it");
    } else if (!session->start.program || !*session->start.program) {
        session_complain(session, "no program was named: start ppu-dbg with one, or `attach` to a process");
    } else if (session_run(session)) {
        session_continue(session);
        session_wait(session);
    }
}

static void do_attach(struct session *session, const char *rest)
{
    uint32_t pid = 0;

    if (session->pid != 0) {
        session_complain(session, "a program is debugged already; `detach` or `kill` ends that");
    } else if (session->in_background) {
        session_complain(session, "the editor does this, with its request `attach`");
    } else if (read_number(session, rest, &pid)) {
        (void)session_attach(session, (pid_t)pid);
    }
}

static void do_detach(struct session *session, const char *rest)
{
    (void)rest;
    if (!session->attached) {
        session_complain(session, "nothing is attached; `kill` ends a program that `run` has started");
    } else if (session->in_background) {
        session_complain(session, "the editor does this, with its request `disconnect`");
    } else {
        session_detach(session);
        fputs("[detached]\n", session->out);
    }
}

static void do_continue(struct session *session, const char *rest)
{
    if (strcmp(rest, "all") == 0) {
        session_continue_all(session);
    } else if (*rest != 0) {
        session_complain(session, "\"%s\": expected nothing or `all`", rest);
        return;
    } else {
        session_continue(session);
    }
    session_wait(session);
}

static void do_scope(struct session *session, const char *rest)
{
    const bool one_task = strcmp(rest, "task") == 0;

    if (session->in_background) {
        session_complain(session, "it is not changed under an editor, which stops all kernels");
    } else if (one_task || strcmp(rest, "all") == 0) {
        session_scope(session, one_task);
    } else if (*rest == 0) {
        fprintf(session->out, "scope %s\n", session->one_task ? "task" : "all");
    } else {
        session_complain(session, "\"%s\": expected all or task", rest);
    }
}

/* A count of steps may follow. */
static void steps(struct session *session, const char *rest, enum session_step how)
{
    uint32_t count = 1;

    if (*rest != 0 && !read_number(session, rest, &count)) {
        return;
    }
    session_step(session, how, count);
    session_wait(session);
}

static void do_step(struct session *session, const char *rest)
{
    steps(session, rest, STEP_LINE);
}

static void do_next(struct session *session, const char *rest)
{
    steps(session, rest, STEP_OVER);
}

static void do_stepi(struct session *session, const char *rest)
{
    steps(session, rest, STEP_INSN);
}

static void do_nexti(struct session *session, const char *rest)
{
    steps(session, rest, STEP_INSN_OVER);
}

static void do_finish(struct session *session, const char *rest)
{
    (void)rest;
    session_step(session, STEP_OUT, 1);
    session_wait(session);
}

/* ---- going back ---- */

static void do_record(struct session *session, const char *rest)
{
    const bool on = *rest == 0;

    if (!on && strcmp(rest, "stop") != 0) {
        session_complain(session, "\"%s\": expected nothing or `stop`", rest);
    } else if (session_record(session, on)) {
        fputs(on ? "[recording]\n" : "[not recording]\n", session->out);
    }
}

static void back(struct session *session, const char *rest, enum session_back how)
{
    uint32_t count = 1;

    if (*rest != 0 && !read_number(session, rest, &count)) {
        return;
    }
    session_back(session, how, count);
    session_wait(session);
}

static void do_reverse_step(struct session *session, const char *rest)
{
    back(session, rest, BACK_BY_LINE);
}

static void do_reverse_next(struct session *session, const char *rest)
{
    back(session, rest, BACK_OVER);
}

static void do_reverse_stepi(struct session *session, const char *rest)
{
    back(session, rest, BACK_BY_INSN);
}

static void do_reverse_nexti(struct session *session, const char *rest)
{
    back(session, rest, BACK_BY_INSN_OVER);
}

static void do_reverse_finish(struct session *session, const char *rest)
{
    back(session, rest, BACK_OUT);
}

static void do_reverse_continue(struct session *session, const char *rest)
{
    back(session, rest, BACK_TO_STOP);
}

static void do_last_write(struct session *session, const char *rest)
{
    struct value value;

    if (stands(session) && evaluate(session, rest, &value)) {
        const uint64_t bytes = value.kind == VALUE_OBJECT ? info_bytes(value.type) : 0;
        if (value.kind == VALUE_REGISTER && value.bank == 'v') {
            session_back_to_register(session, value.reg);
        } else if (bytes != 0 && bytes <= sizeof(uint64_t) && (bytes & (bytes - 1)) == 0) {
            session_back_to_memory(session, value.space, value.address, (uint32_t)bytes);
        } else {
            session_complain(session, "%s: it is no vector register, and not 1, 2, 4 or 8 bytes of memory", rest);
        }
        session_wait(session);
    }
}

static void do_kill(struct session *session, const char *rest)
{
    (void)rest;
    session_kill(session);
}

/* ---- breakpoints ---- */

/* Makes the expression behind the asterisk a number, as it is looked for in programs that come later, too. */
static bool compute_address(struct session *session, char where[LINE_BYTES])
{
    struct value value;
    char *end;
    const char *why = NULL;
    int64_t address;

    (void)strtoull(where + 1, &end, 0);
    if (end != where + 1 && *behind_blanks(end) == 0) {
        return true;
    }
    (void)session_refresh(session);
    if (!evaluate(session, where + 1, &value)) {
        return false;
    }
    if (!value_number(session, &value, &address, &why)) {
        session_complain(session, "%s: %s", where + 1, why);
        return false;
    }
    snprintf(where, LINE_BYTES, "*0x%" PRIx64, (uint64_t)address);
    return true;
}

static void set_break(struct session *session, const char *rest, bool once)
{
    char where[LINE_BYTES];
    const char *condition = strstr(rest, " if ");

    snprintf(where, sizeof(where), "%.*s", condition ? (int)(condition - rest) : (int)strlen(rest), rest);
    if (where[0] == 0) {
        session_complain(session, "no location is given: expected LINE, FILE:LINE, a function or *ADDRESS");
        return;
    }
    if (where[0] == '*' && !compute_address(session, where)) {
        return;
    }
    const struct wish wish = { .where = where,
                               .condition = condition ? behind_blanks(condition + 4) : "",
                               .once = once };
    session_break(session, &wish);
}

static void do_break(struct session *session, const char *rest)
{
    set_break(session, rest, false);
}

static void do_tbreak(struct session *session, const char *rest)
{
    set_break(session, rest, true);
}

static void do_watch(struct session *session, const char *rest)
{
    struct value value;

    if (stands(session) && evaluate(session, rest, &value)) {
        const bool global = value.kind == VALUE_OBJECT && value.space != PPU_DEBUG_PRIVATE &&
                            value.space != PPU_DEBUG_SHARED && value.space != PPU_DEBUG_PARAMETER;
        if (global) {
            session_watch(session, session->focus.task.context, value.address, (uint32_t)info_bytes(value.type), rest);
        } else {
            session_complain(session, "%s: only global memory is watched", rest);
        }
    }
}

static void complain_no_point(struct session *session, uint32_t number)
{
    session_complain(session, "there is no breakpoint %u; `info breakpoints` lists them", number);
}

/* The breakpoint or watchpoint whose number stands before something else; NULL: it is none, which was said. */
static struct point *read_point(struct session *session, const char *rest, const char *other, char **behind)
{
    char *end;
    const uint32_t number = (uint32_t)strtoul(rest, &end, 10);
    struct point *point = session_point(session, number);

    if (end == rest) {
        session_complain(session, "\"%s\": expected the number of a breakpoint, and %s", rest, other);
        return NULL;
    }
    if (!point) {
        complain_no_point(session, number);
    }
    while (isspace((unsigned char)*end)) {
        end++;
    }
    *behind = end;
    return point;
}

static void do_delete(struct session *session, const char *rest)
{
    uint32_t number = 0;

    if ((*rest == 0 || read_number(session, rest, &number)) && !session_delete(session, number)) {
        complain_no_point(session, number);
    }
}

static void enable(struct session *session, const char *rest, bool enabled)
{
    uint32_t number;

    if (!read_number(session, rest, &number) || session_enable(session, number, enabled)) {
        return;
    }
    if (session_point(session, number)) {
        session_complain(session, "%u is a watchpoint, which `delete %u` removes", number, number);
    } else {
        complain_no_point(session, number);
    }
}

static void do_enable(struct session *session, const char *rest)
{
    enable(session, rest, true);
}

static void do_disable(struct session *session, const char *rest)
{
    enable(session, rest, false);
}

static void do_condition(struct session *session, const char *rest)
{
    char *expression;
    struct point *point = read_point(session, rest, "EXPRESSION", &expression);

    if (point && strlen(expression) >= SESSION_TEXT) {
        session_complain(session, "the expression has more than %u characters", SESSION_TEXT - 1);
    } else if (point) {
        snprintf(point->condition, sizeof(point->condition), "%s", expression);
    }
}

static void do_ignore(struct session *session, const char *rest)
{
    char *text;
    struct point *point = read_point(session, rest, "COUNT", &text);
    uint32_t count;

    if (point && read_number(session, text, &count)) {
        point->ignore = count;
    }
}

static void do_catch(struct session *session, const char *rest)
{
    static const struct {
        const char *word;
        uint32_t flag;
    } words[] = {
        { "entry", PPU_DEBUG_AT_ENTRY },
        { "fault", PPU_DEBUG_AT_FAULT },
        { "divergence", PPU_DEBUG_AT_DIVERGENCE },
        { "launch", PPU_DEBUG_AT_CHILD },
    };
    const bool no = strncmp(rest, "no ", 3) == 0;
    const char *word = no ? behind_blanks(rest + 3) : rest;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(words); i++) {
        if (strcmp(word, words[i].word) == 0) {
            session_stop_at(session, no ? session->stop_at & ~words[i].flag : session->stop_at | words[i].flag);
            return;
        }
    }
    session_complain(session, "\"%s\": expected entry, fault, divergence or launch, or `no` before one", rest);
}

/* ---- focus ---- */

static void do_lane(struct session *session, const char *rest)
{
    uint32_t lane = session->focus.lane;

    if (!stands(session) || (*rest != 0 && !read_number(session, rest, &lane))) {
        return;
    }
    const uint32_t lanes = session_lanes(&session->focus.warp);
    if (lane >= lanes) {
        session_complain(session, "the warp has %u lanes, and none of number %u", lanes, lane);
        return;
    }
    session->focus.lane = lane;
    session_say_focus(session);
}

/* The first warp that is asked for: of a kernel, a CTA, a number; UINT32_MAX: of any. */
static void focus_on(struct session *session, uint32_t slot, const uint32_t *cta, uint32_t number)
{
    static struct ppu_debug_warp warps[WARPS_MOST];
    const uint32_t count = session_warps(session, slot, warps, WARPS_MOST);

    for (uint32_t i = 0; i < count; i++) {
        if ((!cta || memcmp(cta, warps[i].cta, sizeof(warps[i].cta)) == 0) &&
            (number == UINT32_MAX || warps[i].number == number)) {
            session_focus(session, &warps[i], PPU_MIN(session->focus.lane, session_lanes(&warps[i]) - 1));
            session_say_focus(session);
            session_say_line(session, session_loaded(session), warps[i].pc);
            return;
        }
    }
    session_complain(session, "no such warp is on an SM; `info kernels` and `info warps` list what is");
}

static void do_warp(struct session *session, const char *rest)
{
    uint32_t number;

    if (stands(session) && *rest == 0) {
        session_say_focus(session);
    } else if (session->focus.valid && read_number(session, rest, &number)) {
        const struct ppu_debug_warp warp = session->focus.warp;
        focus_on(session, warp.slot, warp.cta, number);
    }
}

static void do_cta(struct session *session, const char *rest)
{
    uint32_t cta[3] = { 0 };
    int found = sscanf(*rest == '(' ? rest + 1 : rest, "%u ,%u ,%u", &cta[0], &cta[1], &cta[2]);

    if (stands(session) && *rest == 0) {
        session_say_focus(session);
    } else if (session->focus.valid && found >= 1) {
        focus_on(session, session->focus.warp.slot, cta, UINT32_MAX);
    } else if (session->focus.valid) {
        session_complain(session, "\"%s\": expected X,Y,Z", rest);
    }
}

static void do_kernel(struct session *session, const char *rest)
{
    uint32_t number;

    if (*rest == 0 && stands(session)) {
        session_say_focus(session);
    } else if (*rest != 0 && read_number(session, rest, &number)) {
        focus_on(session, number, NULL, UINT32_MAX);
    }
}

static void choose_frame(struct session *session, uint32_t frame)
{
    struct frame frames[INFO_DEPTH];

    if (frame >= PPU_MAX(frames_list(session, frames), 1u)) {
        session_complain(session, "there is no frame %d; `backtrace` lists them", (int)frame);
        return;
    }
    session->focus.frame = frame;
    session_say_frame(session);
}

static void do_frame(struct session *session, const char *rest)
{
    uint32_t frame = session->focus.frame;

    if (stands(session) && (*rest == 0 || read_number(session, rest, &frame))) {
        choose_frame(session, frame);
    }
}

static void do_up(struct session *session, const char *rest)
{
    (void)rest;
    if (stands(session)) {
        choose_frame(session, session->focus.frame + 1);
    }
}

static void do_down(struct session *session, const char *rest)
{
    (void)rest;
    if (stands(session)) {
        choose_frame(session, session->focus.frame - 1);
    }
}

/* ---- values ---- */

static void do_print(struct session *session, const char *rest)
{
    const char format = rest[0] == '/' && rest[1] != 0 ? rest[1] : 0;
    const char *why = NULL;
    struct value value;

    rest = format ? behind_blanks(rest + 2) : rest;
    if (format && format != 'x' && format != 'd') {
        session_complain(session, "\"/%c\": expected /x or /d", format);
        return;
    }
    if (session->focus.valid && !stands(session)) {
        return;
    }
    if (evaluate(session, rest, &value)) {
        fprintf(session->out, "%s = ", rest);
        if (!value_print(session, &value, format == 'x' ? 'x' : 0, &why)) {
            fputc('\n', session->out);
            session_complain(session, "%s: %s", rest, why);
        }
    }
}

static void do_set(struct session *session, const char *rest)
{
    char to[LINE_BYTES];
    const char *text = strncmp(rest, "var ", 4) == 0 ? behind_blanks(rest + 4) : rest;
    const char *equals = strchr(text, '=');
    const char *why = NULL;
    struct value left, right;

    if (!equals) {
        session_complain(session, "\"%s\": expected VARIABLE = EXPRESSION", rest);
        return;
    }
    snprintf(to, sizeof(to), "%.*s", (int)(equals - text), text);
    if (stands(session) && evaluate(session, to, &left) && evaluate(session, equals + 1, &right) &&
        !value_assign(session, &left, &right, &why)) {
        session_complain(session, "%s: %s", to, why ? why : "it cannot be written");
    }
}

/* x/NFU: words of 4 bytes in hexadecimal unless something else is said. */
static void do_examine(struct session *session, const char *rest)
{
    uint32_t count = 1, size = 4;
    char format = 'x';
    struct value value;
    const char *why = NULL;
    int64_t address = 0;

    if (*rest == '/') {
        char *end;
        const unsigned long many = strtoul(rest + 1, &end, 10);
        count = end != rest + 1 ? (uint32_t)PPU_MIN(many, (unsigned long)EXAMINE_MOST) : 1;
        for (; *end != 0 && !isspace((unsigned char)*end); end++) {
            size = *end == 'b' ? 1 : *end == 'h' ? 2 : *end == 'w' ? 4 : *end == 'g' ? 8 : size;
            format = strchr("xduf", *end) ? *end : format;
        }
        rest = behind_blanks(end);
    }
    if (!stands(session) || !evaluate(session, rest, &value)) {
        return;
    }
    if (!value_number(session, &value, &address, &why)) {
        session_complain(session, "%s: %s", rest, why);
        return;
    }
    enum ppu_debug_space space = PPU_DEBUG_GLOBAL;
    if (value.kind == VALUE_OBJECT) {
        Dwarf_Die target;
        (void)info_target(value.type, &target, &space);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = 0;
        float single;
        double real;
        if (!session_read(session, space, (uint64_t)address + (uint64_t)i * size, &word, size)) {
            fputc('\n', session->out);
            session_complain(session, "0x%llx: %s", (unsigned long long)address + (uint64_t)i * size,
                             box_why(&session->box));
            return;
        }
        memcpy(&single, &word, sizeof(single));
        memcpy(&real, &word, sizeof(real));
        if (i % (16 / size) == 0) {
            fprintf(session->out, "%s0x%llx:", i != 0 ? "\n" : "", (unsigned long long)address + (uint64_t)i * size);
        }
        if (format == 'f') {
            fprintf(session->out, " %.9g", size == 8 ? real : (double)single);
        } else if (format == 'x') {
            fprintf(session->out, " 0x%0*llx", (int)(2 * size), (unsigned long long)word);
        } else {
            const uint64_t sign = format == 'd' ? word >> (8 * size - 1) & 1u : 0;
            fprintf(session->out, " %lld", (long long)(sign != 0 && size < 8 ? word | ~0ull << 8 * size : word));
        }
    }
    fputc('\n', session->out);
}

/* ---- shows ---- */

static void do_list(struct session *session, const char *rest)
{
    uint32_t line = 0;

    if (*rest == 0 || read_number(session, rest, &line)) {
        const struct loaded *loaded = session_loaded(session);
        const bool has_line = line == 0 && session->focus.valid && loaded && loaded->info;
        show_list(session, has_line ? info_line(loaded->info, session->focus.warp.pc, NULL) : line);
    }
}

static void do_backtrace(struct session *session, const char *rest)
{
    (void)rest;
    show_backtrace(session);
}

static void do_disassemble(struct session *session, const char *rest)
{
    (void)rest;
    show_code(session);
}

static void do_info(struct session *session, const char *rest)
{
    static const struct {
        const char *word;
        void (*show)(struct session *session);
    } words[] = {
        { "kernels", show_kernels },    { "ctas", show_ctas },     { "warps", show_warps },
        { "lanes", show_lanes },        { "tokens", show_tokens }, { "registers", show_registers },
        { "locals", show_locals },      { "args", show_locals },   { "breakpoints", show_points },
        { "watchpoints", show_points }, { "tasks", show_tasks },   { "record", show_record },
    };
    const size_t bytes = strlen(rest);

    for (uint32_t i = 0; bytes != 0 && i < PPU_ARRAY_SIZE(words); i++) {
        if (strncmp(words[i].word, rest, bytes) == 0) {
            words[i].show(session);
            return;
        }
    }
    session_complain(session,
                     "\"%s\": expected kernels, tasks, ctas, warps, lanes, tokens, registers, locals, "
                     "breakpoints or record",
                     rest);
}

static void do_echo(struct session *session, const char *rest)
{
    fprintf(session->out, "%s\n", rest);
}

/* ---- the table ---- */

static void do_help(struct session *session, const char *rest);

/* The first that begins as it was typed is meant. */
static const struct command {
    const char *name;
    const char *alias; /* or NULL */
    void (*run)(struct session *session, const char *rest);
    const char *takes;
    const char *help;
} commands[] = {
    { "break", "b", do_break, "LINE | FILE:LINE | FUNCTION | *ADDRESS [if EXPRESSION]",
      "stop there; with a condition when it is true of an active lane, which becomes the focus" },
    { "tbreak", NULL, do_tbreak, "as break", "stop there once" },
    { "watch", NULL, do_watch, "EXPRESSION", "stop when a kernel has changed 1, 2, 4 or 8 bytes of global memory" },
    { "catch", NULL, do_catch, "[no] entry | fault | divergence | launch",
      "stop where a kernel begins, has a fault, lanes part, or a kernel begins that threads launched" },
    { "condition", NULL, do_condition, "NUMBER [EXPRESSION]", "give a breakpoint another condition, or none" },
    { "ignore", NULL, do_ignore, "NUMBER COUNT", "let a breakpoint or watchpoint pass so often" },
    { "enable", NULL, do_enable, "NUMBER", "let a breakpoint stop again" },
    { "disable", NULL, do_disable, "NUMBER", "let a breakpoint stop no more" },
    { "delete", "d", do_delete, "[NUMBER]", "remove a breakpoint or watchpoint, or all" },
    { "run", "r", do_run, "", "start the program" },
    { "attach", NULL, do_attach, "PROCESS",
      "debug a program that runs already, with PPU_DEBUG_KERNELS=1, and stop its kernels" },
    { "detach", NULL, do_detach, "", "let an attached program go on without the debugger" },
    { "continue", "c", do_continue, "[all]",
      "let all kernels go on until something stops them, or the focus's alone (scope task); ^C stops them" },
    { "scope", NULL, do_scope, "[all | task]",
      "what stops and goes on: all kernels of the program, or the task that has stopped while others run" },
    { "step", "s", do_step, "[COUNT]", "let the focus's warp go to another line; all others stand still" },
    { "next", "n", do_next, "[COUNT]", "the same, over the functions that the line calls" },
    { "stepi", "si", do_stepi, "[COUNT]", "let the warp execute one instruction" },
    { "nexti", "ni", do_nexti, "[COUNT]", "the same, over the function that it calls" },
    { "finish", "fin", do_finish, "", "let the warp go until it has left the function" },
    { "record", NULL, do_record, "[stop]",
      "record what kernels do from now on, so that it can be taken back; before `run`, as SMs take turns then" },
    { "reverse-step", "rs", do_reverse_step, "[COUNT]", "go back to where the line begins, or the line before" },
    { "reverse-next", "rn", do_reverse_next, "[COUNT]", "the same, over the functions that the line before called" },
    { "reverse-stepi", "rsi", do_reverse_stepi, "[COUNT]", "go back by one instruction of the warp" },
    { "reverse-nexti", "rni", do_reverse_nexti, "[COUNT]", "the same, over the function that returned there" },
    { "reverse-continue", "rc", do_reverse_continue, "[COUNT]",
      "go back to the last breakpoint, or the last change of watched memory" },
    { "reverse-finish", NULL, do_reverse_finish, "", "go back to where the function was called" },
    { "last-write", "lw", do_last_write, "EXPRESSION",
      "go back to what wrote a variable, memory of at most 8 bytes or a vector register of the lane ($v3) last" },
    { "kill", "k", do_kill, "", "end the program" },
    { "kernel", NULL, do_kernel, "[NUMBER]", "look at another kernel; without a number, say what the focus is" },
    { "cta", "block", do_cta, "[X,Y,Z]", "look at another CTA" },
    { "warp", NULL, do_warp, "[NUMBER]", "look at another warp of the CTA" },
    { "lane", NULL, do_lane, "[NUMBER]", "look at another lane of the warp" },
    { "print", "p", do_print, "[/x] EXPRESSION", "a value by C's rules: variables, $v3, $s2, $p1, $pc, operators" },
    { "set", NULL, do_set, "[var] EXPRESSION = EXPRESSION", "write a variable, memory or a register" },
    { "x", NULL, do_examine, "[/COUNT FORMAT SIZE] EXPRESSION",
      "words of memory; x d u f as in print, b h w g for 1, 2, 4, 8 bytes" },
    { "info", "i", do_info,
      "kernels | tasks | ctas | warps | lanes | tokens | registers | locals | breakpoints | record",
      "what there is; tasks: a tree of which threads launched which; * marks the focus" },
    { "backtrace", "bt", do_backtrace, "", "the functions that the focus is in" },
    { "frame", "f", do_frame, "[NUMBER]", "look at the variables of another of these functions" },
    { "up", NULL, do_up, "", "look at the function that called this one" },
    { "down", NULL, do_down, "", "look at the function that this one called" },
    { "list", "l", do_list, "[LINE]", "source around the focus or a line" },
    { "disassemble", "disas", do_disassemble, "", "code around the focus" },
    { "source", NULL, NULL, "FILE", "execute the commands of a file" },
    { "echo", NULL, do_echo, "TEXT", "print a text" },
    { "help", "h", do_help, "[COMMAND]", "this list" },
    { "quit", "q", NULL, "", "end the program and the debugger; what is attached goes on" },
};

static const struct command *find_command(const char *word)
{
    const size_t bytes = strlen(word);

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(commands); i++) {
        if (strcmp(word, commands[i].name) == 0 || (commands[i].alias && strcmp(word, commands[i].alias) == 0)) {
            return &commands[i];
        }
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(commands); i++) {
        if (strncmp(word, commands[i].name, bytes) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static void do_help(struct session *session, const char *rest)
{
    const struct command *one = *rest ? find_command(rest) : NULL;

    if (*rest && !one) {
        session_complain(session, "there is no command %s; `help` lists them", rest);
        return;
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(commands); i++) {
        if (!one || one == &commands[i]) {
            fprintf(session->out, "%s%s%s %s\n      %s\n", commands[i].name, commands[i].alias ? ", " : "",
                    commands[i].alias ? commands[i].alias : "", commands[i].takes, commands[i].help);
        }
    }
}

/* Behind the first part of a word that has one; elsewhere it is a minus. */
static bool has_hyphen(const char *text, size_t at)
{
    return text[at] == '-' &&
           ((at == 7 && strncmp(text, "reverse", 7) == 0) || (at == 4 && strncmp(text, "last", 4) == 0));
}

bool command_execute(struct session *session, const char *line)
{
    char text[LINE_BYTES], word[LINE_BYTES];
    size_t bytes = 0;
    bool go_on = true;

    if (strlen(behind_blanks(line)) >= sizeof(text)) {
        session_complain(session, "execute a command: the line has more than %u characters", LINE_BYTES - 1);
        return true;
    }
    snprintf(text, sizeof(text), "%s", behind_blanks(line));
    for (size_t end = strlen(text); end != 0 && isspace((unsigned char)text[end - 1]); end--) {
        text[end - 1] = 0;
    }
    if (text[0] == 0 || text[0] == '#') {
        return true;
    }
    while (isalpha((unsigned char)text[bytes]) || has_hyphen(text, bytes)) {
        bytes++;
    }
    snprintf(word, sizeof(word), "%.*s", (int)bytes, text);
    const struct command *command = bytes != 0 ? find_command(word) : NULL;
    const char *rest = behind_blanks(text + bytes);
    const char *before = session->doing;
    session->failed = false;
    session->doing = command ? command->name : NULL;
    if (!command) {
        session_complain(session, "execute a command: there is no command %s; `help` lists them", text);
    } else if (command->run) {
        command->run(session, rest);
    } else {
        go_on = strcmp(command->name, "quit") != 0 && command_file(session, rest);
    }
    session->doing = before;
    fflush(session->out);
    return go_on;
}

bool command_file(struct session *session, const char *path)
{
    static uint32_t depth;
    char line[LINE_BYTES];
    FILE *file = depth < FILES_DEEPEST ? fopen(path, "re") : NULL;
    bool go_on = true;

    if (!file) {
        session_complain(session, "read commands of %s: %s", path,
                         depth < FILES_DEEPEST ? strerror(errno) : "too many files execute each other");
        return true;
    }
    depth++;
    while (go_on && fgets(line, sizeof(line), file)) {
        go_on = command_execute(session, line);
        if (session->in_background && session->motion.kind != MOTION_NONE && fgets(line, sizeof(line), file)) {
            session_complain(session, "execute all of %s: kernels go on now, so the rest was left out", path);
            break;
        }
    }
    depth--;
    fclose(file);
    return go_on;
}
