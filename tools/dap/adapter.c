/* SPDX-License-Identifier: MIT */
#include "tools/dap/adapter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "tools/dbg/commands.h"
#include "tools/trace/process.h"

#define MOVES_MS 1
#define STANDS_MS 20
#define OUTPUT_BYTES 8192u

/* ---- saying ---- */

json_t *adapter_refuse(struct adapter *adapter, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(adapter->why, sizeof(adapter->why), format, arguments);
    va_end(arguments);
    return NULL;
}

void adapter_tell(struct adapter *adapter, const char *event, json_t *body)
{
    json_t *message = json_pack("{s:s, s:s}", "type", "event", "event", event);

    if (body) {
        json_object_set_new(message, "body", body);
    }
    if (adapter->later) {
        json_array_append_new(adapter->later, message);
    } else {
        wire_send(&adapter->wire, message);
    }
}

void adapter_say(struct adapter *adapter, const char *category, const char *bytes, size_t count)
{
    if (count != 0) {
        adapter_tell(adapter, "output",
                     json_pack("{s:s, s:o}", "category", category, "output", wire_text(bytes, count)));
    }
}

static void hear(struct adapter *adapter)
{
    adapter->text = NULL;
    adapter->text_bytes = 0;
    adapter->session.out = open_memstream(&adapter->text, &adapter->text_bytes);
    adapter->session.errors = adapter->session.out;
}

char *adapter_take_text(struct adapter *adapter)
{
    fclose(adapter->session.out);
    char *text = adapter->text;
    const size_t bytes = adapter->text_bytes;
    hear(adapter);
    if (text && bytes != 0 && text[bytes - 1] == '\n') {
        text[bytes - 1] = 0;
    }
    return text;
}

/* What the session says between requests. */
static void say_text(struct adapter *adapter)
{
    fflush(adapter->session.out);
    if (adapter->text_bytes != 0) {
        fclose(adapter->session.out);
        adapter_say(adapter, "console", adapter->text, adapter->text_bytes);
        free(adapter->text);
        hear(adapter);
    }
}

/* ---- the program's output ---- */

/* Bytes at the end that begin a character of UTF-8 which is not whole. */
static uint32_t unfinished(const char *bytes, size_t count)
{
    for (uint32_t back = 1; back <= 3 && back <= count; back++) {
        const unsigned char byte = (unsigned char)bytes[count - back];
        if (byte >= 0xc0) {
            const uint32_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
            return whole > back ? back : 0;
        }
        if (byte < 0x80) {
            return 0;
        }
    }
    return 0;
}

/* False: nothing is there now. */
static bool take_output(struct adapter *adapter, uint32_t which)
{
    static const char *const category[] = { "stdout", "stderr" };
    char bytes[OUTPUT_BYTES + 4];
    uint32_t begin = adapter->spares[which];

    memcpy(bytes, adapter->spare[which], begin);
    const ssize_t got = adapter->output[which] >= 0 ? read(adapter->output[which], bytes + begin, OUTPUT_BYTES) : -1;
    if (got <= 0) {
        if (got == 0) {
            close(adapter->output[which]);
            adapter->output[which] = -1;
            adapter->spares[which] = 0;
            adapter_say(adapter, category[which], bytes, begin);
        }
        return false;
    }
    const size_t count = begin + (size_t)got;
    adapter->spares[which] = unfinished(bytes, count);
    memcpy(adapter->spare[which], bytes + count - adapter->spares[which], adapter->spares[which]);
    adapter_say(adapter, category[which], bytes, count - adapter->spares[which]);
    return true;
}

/* A program that writes without end does not keep the editor from being heard. */
static void take_outputs(struct adapter *adapter)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(adapter->output); i++) {
        for (uint32_t turns = 0; turns < 16 && take_output(adapter, i); turns++) {
        }
    }
}

/* ---- stops ---- */

static const char *stop_reason(const struct adapter *adapter)
{
    static const char *const words[] = { "breakpoint", "function breakpoint", "instruction breakpoint",
                                         "data breakpoint" };
    const struct stop *stop = &adapter->session.stop;
    const struct adapter_break *one = stop->point != 0 ? breaks_find(adapter, stop->point) : NULL;

    switch (stop->why) {
    case PPU_DEBUG_AT_BREAK:
    case PPU_DEBUG_AT_WATCH:
        return one ? words[one->kind] : words[stop->why == PPU_DEBUG_AT_WATCH ? BREAK_DATA : BREAK_SOURCE];
    case PPU_DEBUG_ENTERED:
        return "entry";
    case PPU_DEBUG_FAULTED:
    case PPU_DEBUG_DIVERGED:
        return "exception";
    case PPU_DEBUG_STEPPED:
    case PPU_DEBUG_ENDED:
    case PPU_DEBUG_WRITES:
    case PPU_DEBUG_TURNED:
        return "step";
    default:
        return "pause";
    }
}

static void describe_stop(const struct adapter *adapter, char text[128])
{
    static const char *const turnings[] = {
        [PPU_DEBUG_BEGIN] = "No more history",
        [PPU_DEBUG_PRESENT] = "The history ends here",
        [PPU_DEBUG_INTERFERED] = "The present has come back: somebody changes tasks or their memory",
        [PPU_DEBUG_DIFFERED] = "Executed again the kernels do something else; the present has come back",
    };
    const struct stop *stop = &adapter->session.stop;

    if (stop->why == PPU_DEBUG_TURNED && stop->turning < PPU_ARRAY_SIZE(turnings)) {
        snprintf(text, 128, "%s", turnings[stop->turning]);
    } else if (stop->why == PPU_DEBUG_WRITES) {
        snprintf(text, 128, "Last write");
    } else if (stop->why == PPU_DEBUG_FAULTED) {
        snprintf(text, 128, "Fault %s at address 0x%llx", session_fault_word(stop->fault),
                 (unsigned long long)stop->address);
    } else if (stop->why == PPU_DEBUG_DIVERGED) {
        snprintf(text, 128, "Lanes part");
    } else if (stop->why == PPU_DEBUG_ENTERED) {
        snprintf(text, 128, "A kernel begins");
    } else if (stop->why == PPU_DEBUG_ENDED) {
        snprintf(text, 128, stop->of_task ? "The kernel has ended; others stand" : "The warp has ended");
    } else if (stop->why == 0 && !adapter->session.focus.valid) {
        snprintf(text, 128, "No kernel runs; those that begin wait");
    } else {
        text[0] = 0;
    }
}

void adapter_tell_stop(struct adapter *adapter)
{
    char text[128];
    const struct stop *stop = &adapter->session.stop;
    struct adapter_thread *thread = threads_of_focus(adapter);
    json_t *body = json_pack("{s:s, s:i, s:b}", "reason", stop_reason(adapter), "threadId",
                             thread ? (int)thread->id : ADAPTER_HOST, "allThreadsStopped", 1);

    if (thread && !thread->told) {
        thread->told = true;
        adapter_tell(adapter, "thread", json_pack("{s:s, s:i}", "reason", "started", "threadId", (int)thread->id));
    }
    describe_stop(adapter, text);
    if (text[0] != 0) {
        json_object_set_new(body, "description", json_string(text));
        json_object_set_new(body, "text", json_string(text));
    }
    if (stop->point != 0) {
        json_object_set_new(body, "hitBreakpointIds", json_pack("[i]", (int)stop->point));
    }
    adapter_tell(adapter, "stopped", body);
}

void adapter_tell_changed(struct adapter *adapter, uint32_t thread)
{
    if (adapter->knows_invalidated) {
        adapter_tell(adapter, "invalidated",
                     json_pack("{s:[s, s], s:i}", "areas", "stacks", "variables", "threadId", (int)thread));
    } else {
        adapter_tell(adapter, "stopped",
                     json_pack("{s:s, s:s, s:i, s:b}", "reason", "pause", "description", "Another lane", "threadId",
                               (int)thread, "allThreadsStopped", 1));
    }
}

/* The kernels stand now that have moved. */
static void stopped(struct adapter *adapter)
{
    const struct stop *stop = &adapter->session.stop;

    adapter->stops++;
    if (stop->why == PPU_DEBUG_ENTERED && adapter->stop_on_entry) {
        adapter->stop_on_entry = false;
        session_stop_at(&adapter->session, adapter->exceptions);
    }
    say_text(adapter);
    adapter_tell_stop(adapter);
}

static void ended(struct adapter *adapter)
{
    take_outputs(adapter);
    say_text(adapter);
    variables_forget(adapter);
    adapter->state = ADAPTER_ENDED;
    if (adapter->program) { /* nobody else learns it */
        adapter_tell(adapter, "exited", json_pack("{s:i}", "exitCode", adapter->session.status));
    }
    adapter_tell(adapter, "terminated", NULL);
}

/* ---- starting ---- */

static bool make_pipes(struct adapter *adapter)
{
    int ends[2];

    adapter->files[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(adapter->output); i++) {
        if (adapter->files[0] < 0 || pipe2(ends, O_CLOEXEC) != 0) {
            return false;
        }
        (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
        adapter->output[i] = ends[0];
        adapter->files[i + 1] = ends[1];
    }
    return true;
}

static void tell_process(struct adapter *adapter, const char *name, const char *method)
{
    adapter_tell(adapter, "process",
                 json_pack("{s:o, s:i, s:b, s:s}", "name", wire_text(name, strlen(name)), "systemProcessId",
                           (int)adapter->session.pid, "isLocalProcess", 1, "startMethod", method));
    adapter_tell(adapter, "thread", json_pack("{s:s, s:i}", "reason", "started", "threadId", ADAPTER_HOST));
}

/* What runs already goes on with all that was set. */
static void begin_attached(struct adapter *adapter)
{
    struct session *session = &adapter->session;
    char command[PROCESS_COMMAND_BYTES];

    session_stop_at(session, adapter->exceptions | (adapter->stop_on_entry ? PPU_DEBUG_AT_ENTRY : 0));
    adapter->state = ADAPTER_RUNS;
    process_command((uint32_t)session->pid, command);
    tell_process(adapter, command, "attach");
    session_continue(session);
}

/* Both have come: what is to be started, and all that is to be set before. */
static void start_launched(struct adapter *adapter)
{
    struct session *session = &adapter->session;
    bool good = make_pipes(adapter);

    if (!good) {
        session_complain(session, "start %s: %s", adapter->program[0], strerror(errno));
    }
    session->start.files = adapter->files;
    session->stop_at = adapter->exceptions | (adapter->stop_on_entry ? PPU_DEBUG_AT_ENTRY : 0);
    good = good && session_run(session);
    session->start.program = NULL; /* it is started once */
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(adapter->files); i++) {
        if (adapter->files[i] >= 0) {
            close(adapter->files[i]);
        }
        adapter->files[i] = -1;
    }
    if (!good) {
        session->status = 126;
        ended(adapter);
        return;
    }
    adapter->state = ADAPTER_RUNS;
    tell_process(adapter, adapter->program[0], "launch");
    session_continue(session);
}

/* ---- turns ---- */

void adapter_turn(struct adapter *adapter)
{
    struct session *session = &adapter->session;

    if (adapter->state == ADAPTER_LAUNCHED && adapter->configured) {
        if (adapter->session.attached) {
            begin_attached(adapter);
        } else {
            start_launched(adapter);
        }
    }
    if (adapter->state != ADAPTER_RUNS) {
        return;
    }
    const bool moves = session->motion.kind != MOTION_NONE;
    take_outputs(adapter);
    if (moves) {
        (void)session_turn(session, 0);
    } else if (session->pid != 0) {
        (void)session_serve(session, 0);
    }
    breaks_tell_changes(adapter);
    sources_tell(adapter);
    if (session->pid == 0) {
        ended(adapter);
    } else if (moves && session->motion.kind == MOTION_NONE) {
        stopped(adapter);
    } else {
        say_text(adapter);
    }
}

static void wait_for_something(struct adapter *adapter)
{
    struct pollfd at[3] = { { .fd = adapter->wire.in, .events = POLLIN },
                            { .fd = adapter->output[0], .events = POLLIN },
                            { .fd = adapter->output[1], .events = POLLIN } };
    const bool runs = adapter->state == ADAPTER_RUNS;
    const bool moves = adapter->session.motion.kind != MOTION_NONE;

    if (poll(at, runs ? PPU_ARRAY_SIZE(at) : 1, !runs ? -1 : moves ? MOVES_MS : STANDS_MS) > 0 && at[0].revents) {
        wire_fill(&adapter->wire);
    }
}

void adapter_messages(struct adapter *adapter)
{
    enum wire_found found = WIRE_MESSAGE;

    while (!adapter->leaves && (found == WIRE_MESSAGE || found == WIRE_NO_JSON)) {
        char why[128], text[192];
        json_t *message = NULL;
        found = wire_next(&adapter->wire, &message, why);
        if (found == WIRE_MESSAGE) {
            adapter_message(adapter, message);
        } else if (found != WIRE_NOTHING) {
            snprintf(text, sizeof(text), "read a message: %s\n", why);
            adapter_say(adapter, "important", text, strlen(text));
            adapter->wire.ended = adapter->wire.ended || found == WIRE_BROKEN;
        }
    }
}

bool adapter_serve(struct adapter *adapter)
{
    while (!adapter->wire.ended && !adapter->leaves) {
        wait_for_something(adapter);
        adapter_messages(adapter);
        adapter_turn(adapter);
    }
    return adapter->leaves;
}

/* What the program writes meanwhile is read, so that it is not stopped by that. */
void adapter_leave(struct adapter *adapter)
{
    adapter->wire.ended = true;
    session_detach(&adapter->session);
    while (adapter->session.pid != 0) {
        take_outputs(adapter);
        (void)session_serve(&adapter->session, STANDS_MS);
    }
}

void adapter_begin(struct adapter *adapter, int in, int out)
{
    memset(adapter, 0, sizeof(*adapter));
    adapter->wire.in = in;
    adapter->wire.out = out;
    adapter->exceptions = PPU_DEBUG_AT_FAULT;
    adapter->session.in_background = true;
    memset(adapter->files, -1, sizeof(adapter->files));
    memset(adapter->output, -1, sizeof(adapter->output));
    hear(adapter);
}

void adapter_end(struct adapter *adapter)
{
    session_free(&adapter->session);
    fclose(adapter->session.out);
    free(adapter->text);
    variables_forget(adapter);
    breaks_free(adapter);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(adapter->output); i++) {
        if (adapter->output[i] >= 0) {
            close(adapter->output[i]);
        }
    }
    free(adapter->thread);
    free(adapter->program);
    free(adapter->variable);
    json_decref(adapter->launch);
    wire_close(&adapter->wire);
}
