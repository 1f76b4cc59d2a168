/* SPDX-License-Identifier: MIT */
/*
 * Debugs the kernels of one program: which of its programs are loaded, where it stops, and what is looked at. All that
 * comes from the program and the device is checked.
 */
#ifndef TOOLS_DBG_SESSION_H
#define TOOLS_DBG_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "ppu/image.h"
#include "tools/dbg/box.h"
#include "tools/dbg/info.h"
#include "tools/trace/door.h"
#include "tools/trace/start.h"
#include "tools/trace/watch.h"

#define SESSION_SITES 32u /* places of a breakpoint */
#define SESSION_NONE_STANDS "no kernel stands still; `run` or `continue` goes on to where one stops"
#define SESSION_NO_VARIABLES "the program was built without -g, so its variables are not known; build it with -g"
#define SESSION_TEXT 1024u

/* A program image that is loaded. */
struct loaded {
    uint32_t number; /* in the process */
    uint32_t context;
    uint64_t code;
    uint8_t *image;
    struct ppu_program_view view;
    struct info *info; /* NULL: it was built without -g */
    char *source;      /* NULL: it is not known */
    uint32_t text;     /* programs with the same source have the same number; 0: it is not known */
};

/* A file on disk that programs may have been made of. */
struct known_file {
    char *path;
    char *text; /* without blanks at its end */
    uint32_t lines;
};

struct point {
    uint32_t number;
    bool enabled, once, is_watch;
    char where[SESSION_TEXT];     /* as it was typed */
    char condition[SESSION_TEXT]; /* "": none */
    uint32_t hits;
    uint32_t ignore; /* so many hits stop nobody */
    uint32_t text;   /* only of programs with this source; 0: of all */
    uint32_t sites;
    uint32_t site[SESSION_SITES]; /* numbers at the device */
    uint64_t address[SESSION_SITES];
};

/* What a breakpoint is asked for with. */
struct wish {
    const char *where;     /* LINE, FILE:LINE, a function, *ADDRESS */
    const char *condition; /* "": none */
    bool once;
    uint32_t ignore;
    uint32_t text; /* as of struct point */
};

struct focus {
    bool valid;
    struct ppu_debug_warp warp;
    struct ppu_debug_task task;
    uint32_t lane;
    uint32_t frame; /* of the functions that it is in: 0 the innermost */
};

/* A line of a function, as steps compare them. */
struct stretch {
    const char *function;
    uint32_t depth;   /* functions that it is in, with those that have called; 0: that is not known */
    uint32_t inlined; /* of them, those that one instruction tells */
    uint32_t line;
};

enum session_step {
    STEP_INSN,
    STEP_INSN_OVER,
    STEP_LINE,
    STEP_OVER,
    STEP_OUT,
};

/* Where to go back to. */
enum session_back {
    BACK_BY_INSN,
    BACK_BY_INSN_OVER, /* and over what has been called between */
    BACK_BY_LINE,
    BACK_OVER,
    BACK_OUT,
    BACK_TO_STOP,
    BACK_TO_WRITE,
};

enum motion_kind {
    MOTION_NONE,
    MOTION_GOES,  /* everything or a task, until something stops */
    MOTION_STEPS, /* one warp */
    MOTION_RETURNS,
};

struct motion {
    enum motion_kind kind;
    bool ordered;           /* the device was told to let it go */
    uint32_t context, task; /* that goes alone; task PPU_TASK_NULL: everything does */
    uint64_t looked_ns;     /* when it was there last */
    enum session_step how;
    uint32_t steps;       /* that are left */
    uint32_t stretches;   /* that this one has taken */
    uint32_t begun_after; /* the number of the last event before the device began the stretch */
    uint32_t lane;
    struct stretch from;
    enum session_back back;
    enum back_phase {
        BACK_TO_BEGIN,  /* of the line that it is in, unless it is there already */
        BACK_TO_BEFORE, /* what it came from */
        BACK_TO_ITS_BEGIN,
    } phase;
    uint64_t back_from; /* ppu_debug_record.at before it began */
};

/* Why the kernels stand. */
struct stop {
    uint32_t why;     /* enum ppu_debug_why; 0: they were interrupted */
    bool of_task;     /* with PPU_DEBUG_ENDED: the task that went alone, while others stand */
    uint32_t turning; /* enum ppu_debug_turning, with PPU_DEBUG_TURNED */
    uint32_t point;   /* number of the breakpoint or watchpoint; 0: none */
    uint32_t fault;   /* code of fault.def */
    uint64_t address; /* of the fault */
};

struct session {
    struct watch watch;
    struct door door;
    bool door_open;
    struct start start; /* the program, and what it gets besides PPU_TRACE */
    FILE *out, *errors;
    bool in_background; /* who executes commands takes the turns himself */
    bool as_built;      /* kernels are compiled as the program says, not for debugging */
    pid_t pid;          /* 0: it does not run */
    bool attached;      /* it ran before, and is not the debugger's child */
    int end_fd;         /* of what is attached: can be read when it has ended */
    uint64_t looked_ns; /* when its programs were looked for last */
    int status;
    struct box box;
    struct loaded *loaded;
    uint32_t loads, texts;
    struct known_file *file;
    uint32_t files;
    struct point *point;
    uint32_t points, numbers;
    bool site_used[PPU_DEBUG_BREAKS];
    uint32_t stop_at; /* PPU_DEBUG_AT_* */
    bool one_task;    /* a stop stops its task alone */
    bool records;     /* what kernels do, so that it can be taken back */
    uint32_t told;    /* events that were looked at */
    struct focus focus;
    struct motion motion;
    struct stop stop;
    const char *doing; /* the command that is executed; NULL: none */
    bool failed;       /* a command of a script */
};

/* Starts the program; false: it said why not. */
bool session_run(struct session *session);
/*
 * Debugs a program that runs already (PPU_DEBUG_KERNELS=1), and stops its kernels. False: it said why not, and nothing
 * has changed.
 */
bool session_attach(struct session *session, pid_t pid);
/* Serves the program for so long; false: it has ended. */
bool session_serve(struct session *session, int timeout_ms);
/* The program goes on without a debugger; session_serve() tells its end still, unless it was attached. */
void session_detach(struct session *session);
/* Ends the program. */
void session_kill(struct session *session);
void session_free(struct session *session);

/* Sets what a command asks for; 0 and a sentence to `errors`: it cannot be understood. */
uint32_t session_break(struct session *session, const struct wish *wish);
uint32_t session_watch(struct session *session, uint32_t context, uint64_t address, uint32_t bytes, const char *where);
bool session_delete(struct session *session, uint32_t number); /* 0: all */
bool session_enable(struct session *session, uint32_t number, bool enabled);
struct point *session_point(struct session *session, uint32_t number);
/* What stops kernels besides: PPU_DEBUG_AT_*. */
void session_stop_at(struct session *session, uint32_t flags);

/* What a stop stops and a continue lets go on: the task alone, or all. */
void session_scope(struct session *session, bool one_task);
/* Begins to let the kernels run until something stops: all, or what the scope says. */
void session_continue(struct session *session);
void session_continue_all(struct session *session);
/* The focus's task goes on alone. All others do as well, when one does. */
void session_continue_one(struct session *session);
void session_continue_others(struct session *session);
/* True: a task goes on alone, so that others can be looked at. */
bool session_goes_alone(const struct session *session);
/* True: what the task does can be looked at now. */
bool session_stands(const struct session *session, uint32_t context, uint32_t task);
/* Begins steps of the focus's warp. */
void session_step(struct session *session, enum session_step how, uint32_t count);
/* Records what kernels do from now on, so that it can be taken back, or does not; false: it said why not. */
bool session_record(struct session *session, bool on);
/* Begins to go back, so often. */
void session_back(struct session *session, enum session_back how, uint32_t count);
/* Begins to go back to the last write of a vector register of the focus's lane, or of memory, at most 8 bytes. */
void session_back_to_register(struct session *session, uint32_t number);
void session_back_to_memory(struct session *session, enum ppu_debug_space space, uint64_t address, uint32_t bytes);
/* Serves the program for so long, and says what has stopped, also when the program ends; false: nothing moves. */
bool session_turn(struct session *session, int timeout_ms);
/* Takes turns until nothing moves, or somebody interrupts; not in the background. */
void session_wait(struct session *session);
void session_interrupt(struct session *session);
const char *session_fault_word(uint32_t code);

/* The program that the focus is in; NULL: none is known. */
const struct loaded *session_loaded(const struct session *session);
const struct loaded *session_loaded_of(const struct session *session, const struct ppu_debug_task *task);
const char *session_kernel(const struct session *session, const struct ppu_debug_task *task);
/* Reads the warp of the focus again; false: it is there no more. */
bool session_refresh(struct session *session);
bool session_focus(struct session *session, const struct ppu_debug_warp *warp, uint32_t lane);
void session_say_focus(const struct session *session);
/* Where the frame of the focus is. */
void session_say_frame(struct session *session);
void session_say_line(const struct session *session, const struct loaded *loaded, uint32_t insn);
/* Lanes of a warp that have threads, at least 1: of a CTA's last warp there may be less than the wave. */
uint32_t session_lanes(const struct ppu_debug_warp *warp);
bool session_is_active(const struct ppu_debug_warp *warp, uint32_t lane);
uint32_t session_first_active(const struct ppu_debug_warp *warp); /* 0: no lane is */
/* The coordinates of a lane's thread in its CTA. */
void session_thread(const struct ppu_debug_warp *warp, uint32_t lane, uint32_t id[3]);
/* Tasks and warps; at most `most`. */
uint32_t session_tasks(struct session *session, struct ppu_debug_task *tasks, uint32_t most);
uint32_t session_warps(struct session *session, uint32_t slot, struct ppu_debug_warp *warps, uint32_t most);
/* Memory that the focus reaches; false: box_why() says why not. */
bool session_read(struct session *session, enum ppu_debug_space space, uint64_t address, void *bytes, uint64_t count);
/* The same memory for a request; false: there is no focus. */
bool session_locate(const struct session *session, enum ppu_debug_space space, uint64_t address,
                    struct ppu_debug_request *request);
bool session_write(struct session *session, enum ppu_debug_space space, uint64_t address, const void *bytes,
                   uint32_t count);

/* Reads a file that programs may have been made of, again if it is known; false: errno says why not. */
bool session_know_file(struct session *session, const char *path);
/* Lines of a program's source that come before a file's; false: the file is no part of it. */
bool session_file_in(const struct known_file *file, const struct loaded *loaded, uint32_t *before);
/* The file that a line of a program is of, and its line there; NULL: none is known. */
const struct known_file *session_file_of(const struct session *session, const struct loaded *loaded, const char *name,
                                         uint32_t *line);

/* A ^C that came since it was asked last. */
bool session_interrupted(void);
void session_catch_interrupts(void);
/* Says why a command has failed, behind its name; outside a command the sentence names what has failed. */
void session_complain(struct session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
