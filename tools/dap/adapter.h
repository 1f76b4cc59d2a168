/* SPDX-License-Identifier: MIT */
/*
 * Serves an editor that speaks the Debug Adapter Protocol: requests become calls of the debugger's session, and what
 * stops becomes events. Warps are threads; each thread has the lane that is looked at.
 */
#ifndef TOOLS_DAP_ADAPTER_H
#define TOOLS_DAP_ADAPTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/dap/wire.h"
#include "tools/dbg/session.h"
#include "tools/dbg/value.h"

#define ADAPTER_HOST 1            /* the thread that stands for the program on the host */
#define ADAPTER_WARPS 4096u       /* shown as threads */
#define ADAPTER_REFERENCES 65536u /* to variables, that an editor has at a time */
#define ADAPTER_BREAKS 4096u
#define ADAPTER_SAME_LANE UINT32_MAX

/* A warp that an editor has seen. */
struct adapter_thread {
    uint32_t id;
    uint32_t stop; /* the stop that `warp` was read at */
    uint32_t lane;
    bool told; /* the editor was told of it by an event */
    struct ppu_debug_warp warp;
    uint32_t context, task; /* that it is of */
    uint32_t depth;
    char kernel[64];
};

enum reference_kind {
    REFERENCE_ARGUMENTS,
    REFERENCE_LOCALS,
    REFERENCE_GLOBALS,
    REFERENCE_LANE,
    REFERENCE_LANES,
    REFERENCE_ONE_LANE,
    REFERENCE_VECTORS,
    REFERENCE_SCALARS,
    REFERENCE_PREDICATES,
    REFERENCE_SHARED,
    REFERENCE_VALUE, /* what an expression has in it */
};

struct adapter_reference {
    enum reference_kind kind;
    uint32_t thread, frame;
    uint32_t lane; /* ADAPTER_SAME_LANE: that of the thread */
    char *expression;
};

enum break_kind {
    BREAK_SOURCE,
    BREAK_FUNCTION,
    BREAK_INSTRUCTION,
    BREAK_DATA,
};

struct adapter_break {
    enum break_kind kind;
    char *source; /* of BREAK_SOURCE: the path, or the number of a text; else "" */
    char *wish;   /* everything that it was asked for with */
    uint32_t number;
    bool is_stale, told_verified;
    uint32_t told_line;
};

enum adapter_state {
    ADAPTER_NEW,
    ADAPTER_INITIALIZED,
    ADAPTER_LAUNCHED,
    ADAPTER_RUNS,
    ADAPTER_ENDED,
};

struct adapter {
    struct session session;
    struct wire wire;
    enum adapter_state state;
    bool configured, stop_on_entry, lets_go, leaves;
    bool knows_invalidated, knows_memory, lines_from_0;
    json_t *later; /* events that follow the response, while a request is served */
    char *text;    /* what the session said */
    size_t text_bytes;
    char **program; /* owned, with `folder` and `variable` */
    char *folder;
    struct start_variable *variable;
    json_t *launch;   /* what the strings above are of */
    int files[3];     /* of the program */
    int output[2];    /* its standard output and error; -1: closed */
    char spare[2][4]; /* of a character that has not come wholly */
    uint32_t spares[2];
    uint32_t exceptions; /* PPU_DEBUG_AT_*, as the editor wants them */
    uint32_t stops;      /* so far */
    struct adapter_thread *thread;
    uint32_t threads, thread_numbers;
    struct adapter_reference *reference;
    uint32_t references;
    struct adapter_break *break_;
    uint32_t breaks;
    uint32_t texts_told;
    char why[512]; /* why a request was refused, without what failed */
};

/* ---- the adapter ---- */

void adapter_begin(struct adapter *adapter, int in, int out);
void adapter_end(struct adapter *adapter);
/* Serves the editor until it leaves or is gone; false: it has not taken leave. */
bool adapter_serve(struct adapter *adapter);
/* Serves one message, which is given back. */
void adapter_message(struct adapter *adapter, json_t *message);
/* Serves the messages that have come. */
void adapter_messages(struct adapter *adapter);
/* Tells the editor what has happened since. */
void adapter_turn(struct adapter *adapter);
/* The program goes on alone, until it ends. */
void adapter_leave(struct adapter *adapter);

/* A line of a source as the editor counts them; 0: none. */
static inline json_int_t adapter_line(const struct adapter *adapter, uint32_t line)
{
    return (json_int_t)line - (adapter->lines_from_0 && line != 0 ? 1 : 0);
}

/* An event; behind the response, while a request is served. The body is given away. */
void adapter_tell(struct adapter *adapter, const char *event, json_t *body);
void adapter_say(struct adapter *adapter, const char *category, const char *bytes, size_t count);
/* What the session has said since, as a string that the caller frees, without the last line's end. */
char *adapter_take_text(struct adapter *adapter);
/* NULL, and why. */
json_t *adapter_refuse(struct adapter *adapter, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Where it has stopped. */
void adapter_tell_stop(struct adapter *adapter);
/* Variables of a thread are others now. */
void adapter_tell_changed(struct adapter *adapter, uint32_t thread);

/* ---- arguments of requests ---- */

json_int_t argument_number(const json_t *arguments, const char *name, json_int_t other);
/* NULL: there is none. */
const char *argument_text(const json_t *arguments, const char *name);
bool argument_true(const json_t *arguments, const char *name);

/* ---- requests; the answer's body, or NULL and why not ---- */

json_t *request_initialize(struct adapter *adapter, const json_t *arguments);
json_t *request_launch(struct adapter *adapter, const json_t *arguments);
json_t *request_set_breakpoints(struct adapter *adapter, const json_t *arguments);
json_t *request_set_function_breakpoints(struct adapter *adapter, const json_t *arguments);
json_t *request_set_instruction_breakpoints(struct adapter *adapter, const json_t *arguments);
json_t *request_set_exception_breakpoints(struct adapter *adapter, const json_t *arguments);
json_t *request_data_breakpoint_info(struct adapter *adapter, const json_t *arguments);
json_t *request_set_data_breakpoints(struct adapter *adapter, const json_t *arguments);
json_t *request_exception_info(struct adapter *adapter, const json_t *arguments);
json_t *request_threads(struct adapter *adapter, const json_t *arguments);
json_t *request_tasks(struct adapter *adapter, const json_t *arguments);
json_t *request_stack_trace(struct adapter *adapter, const json_t *arguments);
json_t *request_scopes(struct adapter *adapter, const json_t *arguments);
json_t *request_variables(struct adapter *adapter, const json_t *arguments);
json_t *request_set_variable(struct adapter *adapter, const json_t *arguments);
json_t *request_set_expression(struct adapter *adapter, const json_t *arguments);
json_t *request_evaluate(struct adapter *adapter, const json_t *arguments);
json_t *request_source(struct adapter *adapter, const json_t *arguments);
json_t *request_loaded_sources(struct adapter *adapter, const json_t *arguments);
json_t *request_disassemble(struct adapter *adapter, const json_t *arguments);
json_t *request_read_memory(struct adapter *adapter, const json_t *arguments);
json_t *request_write_memory(struct adapter *adapter, const json_t *arguments);

/* ---- breakpoints ---- */

/* Tells the editor which are at another line now, or have been found. */
void breaks_tell_changes(struct adapter *adapter);
/* The kind of a breakpoint of the session. */
const struct adapter_break *breaks_find(const struct adapter *adapter, uint32_t number);
void breaks_free(struct adapter *adapter);

/* ---- threads ---- */

/* The thread of the focus, which is made when it is new; NULL: the focus is on no warp. */
struct adapter_thread *threads_of_focus(struct adapter *adapter);
/* Moves the focus to a thread and frame; false: it is not there, which `why` says. */
bool threads_focus(struct adapter *adapter, json_int_t id, uint32_t frame, uint32_t lane);
/* Moves the focus to what a number of a frame means. */
bool threads_focus_frame(struct adapter *adapter, json_int_t frame_id);
/* False, and refused: the focus's warp does not stand. */
bool threads_focus_stands(struct adapter *adapter);
/* The focus's task goes on alone: tells of its threads but for the one that the editor has named. */
void threads_tell_continued(struct adapter *adapter, json_int_t id);
uint32_t threads_frame_id(const struct adapter *adapter);

/* ---- sources ---- */

/* Describes the source of a line of a program; the line becomes that of the file. */
json_t *sources_of_line(const struct adapter *adapter, const struct loaded *loaded, const char *file, uint32_t *line);
/* Tells the editor of sources that are new. */
void sources_tell(struct adapter *adapter);

/* ---- variables ---- */

void variables_forget(struct adapter *adapter);
/* A value as text; NULL and why. The caller frees it. */
char *variables_text(struct adapter *adapter, const struct value *value, bool is_hex);
/* Adds type, reference to what is in it and to its memory to an answer about an expression. */
void variables_describe(struct adapter *adapter, json_t *answer, const char *expression, const struct value *value,
                        uint32_t lane);
/* The expression that a variable of a reference is; NULL and why. The caller frees it. */
char *variables_expression(struct adapter *adapter, json_int_t number, const char *name);

/* ---- memory ---- */

/* The text that an editor names memory with: "0x1000", or "shared:THREAD/LANE:0x10". */
void memory_name(const struct adapter *adapter, enum ppu_debug_space space, uint64_t address, char text[96]);

#endif
