/* SPDX-License-Identifier: MIT */
/*
 * Surface: messages of an editor to ppu-dap, and what a device answers to it.
 *
 * An input is a list of actions: requests made of known commands, members and texts in any order and with any values,
 * bytes that are no message, turns, stops, programs that are loaded, a program that ends. The program and the device
 * are this target's: answers are made of the input. What must hold: each request has exactly one answer, a refusal says
 * what failed, all that is sent is JSON behind its header and numbered, and the device watches what the session does.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/task.h"
#include "ppu/tmd.h"
#include "tests/fuzz/input.h"
#include "tools/dap/adapter.h"
#include "tools/trace/start.h"

#define MOST_ACTIONS 48u
#define CODE_VA 0x100000000ull
#define PROGRAM_PID 4242
#define DEEPEST 3u

/* The image of tests/fuzz/dap.cl, as the linker names it. */
extern const uint8_t image_start[] __asm__("_binary_dap_image_start");
extern const uint8_t image_end[] __asm__("_binary_dap_image_end");

static struct play {
    struct fuzz_input in;
    struct adapter adapter;
    int out; /* what the adapter has sent */
    bool runs;
    uint32_t events, programs;
    bool watched[PPU_DEBUG_WATCHES];
    json_int_t asked; /* number of the last request */
    uint32_t answers; /* to it */
} play;

/* ---- the program ---- */

pid_t __wrap_start_program(const struct start *start);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
int __wrap_kill(pid_t pid, int number);
const char *__wrap_door_open(struct door *door);
void __wrap_door_serve(struct door *door, struct watch *watch, int timeout_ms, uint64_t until_ns);
void __wrap_door_close(struct door *door);

pid_t __wrap_start_program(const struct start *start)
{
    play.runs = start->program && start->program[0];
    return PROGRAM_PID;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    (void)options;
    *status = 0;
    return play.runs ? 0 : pid;
}

int __wrap_kill(pid_t pid, int number)
{
    if (pid != PROGRAM_PID) {
        fuzz_found("process %d gets signal %d", (int)pid, number);
    }
    play.runs = false;
    return 0;
}

const char *__wrap_door_open(struct door *door)
{
    snprintf(door->path, sizeof(door->path), "none");
    return NULL;
}

void __wrap_door_serve(struct door *door, struct watch *watch, int timeout_ms, uint64_t until_ns)
{
    (void)door, (void)watch, (void)timeout_ms, (void)until_ns;
}

void __wrap_door_close(struct door *door)
{
    (void)door;
}

/* ---- the device ---- */

const char *__wrap_box_open(struct box *box, uint32_t pid, const struct ppu_recorder_device *info);
void __wrap_box_close(struct box *box);
bool __wrap_box_ask(struct box *box, const struct ppu_debug_request *request);
bool __wrap_box_done(struct box *box, const struct ppu_debug_request *request);
uint32_t __wrap_box_events(const struct box *box);

static struct ppu_debug_box shared;

const char *__wrap_box_open(struct box *box, uint32_t pid, const struct ppu_recorder_device *info)
{
    (void)pid, (void)info;
    box->shared = &shared;
    return NULL;
}

void __wrap_box_close(struct box *box)
{
    box->shared = NULL;
    memset(play.watched, 0, sizeof(play.watched));
}

uint32_t __wrap_box_events(const struct box *box)
{
    return box->shared ? play.events : 0;
}

/* Two tasks of two warps each, of which some members are whatever the input says. */
static uint32_t answer_list(const struct ppu_debug_request *request, uint8_t *data)
{
    struct ppu_debug_task task = { .code_va = CODE_VA, .vregs = 16, .shared_bytes = 256, .grid = { 2, 1, 1 } };
    struct ppu_debug_warp warp = { .passes = 1, .threads = { 32, 1, 1 }, .active = { ~0u }, .live = { ~0u } };
    const bool tasks = request->op == PPU_DEBUG_DO_TASKS;
    const uint32_t count = fuzz_below(&play.in, 3), size = tasks ? sizeof(task) : sizeof(warp);

    for (uint32_t i = 0; i < count; i++) {
        task.slot = i;
        task.depth = 1 + i;
        warp.slot = request->slot;
        warp.number = i;
        warp.at = (struct ppu_debug_at){ .warp = i, .start = request->slot };
        warp.pc = fuzz_u8(&play.in);
        memcpy(data + (size_t)i * size, tasks ? (const void *)&task : (const void *)&warp, size);
        if (fuzz_below(&play.in, 8) == 0) {
            fuzz_bytes(&play.in, data + (size_t)i * size, size);
        }
    }
    return count * size;
}

static void answer_event(const struct ppu_debug_request *request, uint8_t *data)
{
    const struct ppu_debug_event event = { .number = fuzz_below(&play.in, 9) == 0 ? fuzz_u8(&play.in) : request->number,
                                           .why = fuzz_below(&play.in, 9),
                                           .at = { .warp = fuzz_below(&play.in, 3) },
                                           .id = fuzz_below(&play.in, 4) };

    memcpy(data, &event, sizeof(event));
}

bool __wrap_box_ask(struct box *box, const struct ppu_debug_request *request)
{
    struct ppu_debug_answer *answer = &box->answer;

    answer->status = !box->shared ? PPU_DEBUG_STATUSES : fuzz_below(&play.in, 16) == 1 ? fuzz_below(&play.in, 7) : 0;
    answer->bytes = 0;
    answer->more = 0;
    /* No device refuses this; where it does not answer in time, nobody can do more than ask. */
    if (request->op == PPU_DEBUG_DO_UNWATCH && request->number < PPU_DEBUG_WATCHES) {
        play.watched[request->number] = false;
    }
    if (answer->status != PPU_DEBUG_OK) {
        return box->shared;
    }
    switch (request->op) {
    case PPU_DEBUG_DO_TASKS:
    case PPU_DEBUG_DO_WARPS:
        answer->bytes = answer_list(request, answer->data);
        break;
    case PPU_DEBUG_DO_EVENTS:
        answer->bytes = sizeof(struct ppu_debug_event);
        answer_event(request, answer->data);
        break;
    case PPU_DEBUG_DO_READ_MEMORY:
        answer->bytes = request->count;
        break;
    case PPU_DEBUG_DO_WATCH:
        if (request->number < PPU_DEBUG_WATCHES) {
            play.watched[request->number] = true;
        }
        break;
    case PPU_DEBUG_DO_UNWATCH:
        break;
    default:
        answer->bytes = fuzz_u16(&play.in) % (PPU_DEBUG_DATA + 1);
        break;
    }
    if (request->op != PPU_DEBUG_DO_TASKS && request->op != PPU_DEBUG_DO_WARPS && request->op != PPU_DEBUG_DO_EVENTS) {
        fuzz_bytes(&play.in, answer->data, 16);
    }
    return true;
}

bool __wrap_box_done(struct box *box, const struct ppu_debug_request *request)
{
    return __wrap_box_ask(box, request) && box->answer.status == PPU_DEBUG_OK;
}

#define STATE_ROWS 8u
#define STATE_ROW 64u

/* Tasks whose records are near what there can be, or any bytes. */
const char *__wrap_box_view(struct box *box, struct view *view);

const char *__wrap_box_view(struct box *box, struct view *view)
{
    static uint8_t vram[4096];
    const uint32_t at = sizeof(struct ppu_state);
    uint16_t offset = 0;

    *view = (struct view){ calloc(1, at + STATE_ROWS * STATE_ROW), 0, vram, sizeof(vram) };
    if (!box->shared || !view->area || fuzz_below(&play.in, 8) == 1) {
        view_free(view);
        return "the input says so";
    }
    for (uint32_t member = PPU_STATE_TASK_HANDLE; member <= PPU_STATE_TASK_TASKQ; member++) {
        view->area->span[member] = (struct ppu_state_span){ offset, 4 };
        offset += 4;
    }
    view->area->table[PPU_STATE_TABLE_TASK] = (struct ppu_state_table){ STATE_ROW, 1, at, STATE_ROWS, STATE_ROW };
    for (uint32_t row = 0; row < STATE_ROWS; row++) {
        uint32_t *words = (uint32_t *)(void *)((uint8_t *)view->area + at + (size_t)row * STATE_ROW);
        words[0] = PPU_TASK_HANDLE(row, 1);
        words[PPU_STATE_TASK_STATE - PPU_STATE_TASK_HANDLE] = fuzz_below(&play.in, PPU_TASK_STATES + 1);
        words[PPU_STATE_TASK_PARENT - PPU_STATE_TASK_HANDLE] = STATE_ROW * fuzz_below(&play.in, STATE_ROWS + 2);
        words[PPU_STATE_TASK_TMD - PPU_STATE_TASK_HANDLE] = fuzz_u16(&play.in);
        if (fuzz_below(&play.in, 8) == 1) {
            fuzz_bytes(&play.in, words, STATE_ROW);
        }
    }
    fuzz_bytes(&play.in, vram, sizeof(struct ppu_tmd));
    return NULL;
}

/* ---- what is sent ---- */

static void look_at_response(const json_t *message)
{
    const char *sentence = argument_text(message, "message");

    play.answers++;
    if (argument_number(message, "request_seq", 0) != play.asked) {
        fuzz_found("request %d was answered late", (int)play.asked);
    }
    if (!argument_true(message, "success") && (!sentence || !strstr(sentence, ": "))) {
        fuzz_found("a refusal does not say what failed");
    }
}

static void look_at_message(const char *bytes, size_t count, json_int_t number)
{
    json_t *message = json_loadb(bytes, count, 0, NULL);
    const char *type = argument_text(message, "type");

    if (argument_number(message, "seq", 0) != number) {
        fuzz_found("message %d is not a numbered one", (int)number);
    }
    if (type && strcmp(type, "response") == 0) {
        look_at_response(message);
    } else if (!type || strcmp(type, "event") != 0 || !argument_text(message, "event")) {
        fuzz_found("message %d is neither a response nor an event", (int)number);
    }
    json_decref(message);
}

/* The length that a header says, and its own bytes; false: it is none. */
static bool look_at_header(const char *at, size_t count, size_t *length, size_t *header)
{
    const char *end = strstr(at, "\r\n\r\n");

    *header = end ? (size_t)(end - at) + 4 : 0;
    return end && sscanf(at, "Content-Length: %zu\r\n", length) == 1 && *length <= count - *header;
}

/* Reads all that was sent since. */
static void look_at_sent(void)
{
    static json_int_t number;
    const off_t bytes = lseek(play.out, 0, SEEK_CUR);
    char *text = bytes > 0 ? malloc((size_t)bytes + 1) : NULL;
    size_t length, header;

    number = play.adapter.wire.sent == 0 ? 0 : number;
    if (!text || pread(play.out, text, (size_t)bytes, 0) != bytes) {
        free(text);
        return;
    }
    text[bytes] = 0;
    for (size_t at = 0; at < (size_t)bytes; at += header + length) {
        if (!look_at_header(text + at, (size_t)bytes - at, &length, &header)) {
            fuzz_found("what is sent has no header");
        }
        look_at_message(text + at + header, length, ++number);
    }
    free(text);
    (void)lseek(play.out, 0, SEEK_SET);
    number = play.adapter.wire.sent;
}

static void look_at_watches(void)
{
    uint32_t here = 0, there = 0;

    for (uint32_t i = 0; i < play.adapter.session.points; i++) {
        here += play.adapter.session.point[i].is_watch && play.adapter.session.point[i].sites != 0;
    }
    for (uint32_t i = 0; i < PPU_DEBUG_WATCHES; i++) {
        there += play.watched[i];
    }
    if (play.adapter.session.box.shared && there > here) {
        fuzz_found("the device watches %u words, the session %u", there, here);
    }
}

/* ---- requests ---- */

/* Members that a request needs, each behind a letter that says what it is: see near_value(). */
static const struct {
    const char *command;
    const char *members;
} commands[] = {
    { "initialize", "" },
    { "launch", "tprogram" },
    { "attach", "" },
    { "configurationDone", "" },
    { "setBreakpoints", "ssource bbreakpoints" },
    { "setFunctionBreakpoints", "bbreakpoints" },
    { "setInstructionBreakpoints", "bbreakpoints" },
    { "setExceptionBreakpoints", "" },
    { "threads", "" },
    { "stackTrace", "nthreadId" },
    { "scopes", "fframeId" },
    { "variables", "nvariablesReference" },
    { "variables", "nvariablesReference" },
    { "variables", "nvariablesReference nstart ncount" },
    { "setVariable", "nvariablesReference tname tvalue" },
    { "setExpression", "fframeId texpression tvalue" },
    { "evaluate", "fframeId texpression" },
    { "evaluate", "ccontext texpression" },
    { "dataBreakpointInfo", "fframeId tname" },
    { "dataBreakpointInfo", "nvariablesReference tname" },
    { "setDataBreakpoints", "bbreakpoints" },
    { "exceptionInfo", "" },
    { "source", "nsourceReference" },
    { "loadedSources", "" },
    { "tasks", "" },
    { "disassemble", "tmemoryReference ninstructionCount" },
    { "readMemory", "tmemoryReference ncount" },
    { "writeMemory", "tmemoryReference tdata" },
    { "continue", "nthreadId" },
    { "next", "nthreadId" },
    { "stepIn", "nthreadId" },
    { "stepOut", "nthreadId" },
    { "pause", "" },
    { "terminate", "" },
    { "disconnect", "" },
};

static const char *const names[] = {
    "threadId",
    "frameId",
    "variablesReference",
    "sourceReference",
    "line",
    "count",
    "start",
    "name",
    "expression",
    "value",
    "context",
    "filter",
    "breakpoints",
    "source",
    "path",
    "condition",
    "hitCondition",
    "dataId",
    "accessType",
    "memoryReference",
    "offset",
    "data",
    "levels",
    "startFrame",
    "program",
    "args",
    "env",
    "cwd",
    "filters",
    "format",
    "hex",
    "asAddress",
    "bytes",
    "instructionReference",
    "instructionCount",
    "instructionOffset",
    "granularity",
    "stopOnEntry",
    "terminateDebuggee",
    "linesStartAt1",
    "supportsInvalidatedEvent",
    "supportsMemoryEvent",
    "allowPartial",
    "sources",
};

static const char *const texts[] = {
    "sh",
    "repl",
    "work",
    "twice",
    "i",
    "own",
    "own.next",
    "out",
    "part",
    "row",
    "lane",
    "*",
    "[1]",
    "x",
    "at",
    "n + l",
    "part[l ^ 1]",
    "*own.next",
    "$v3",
    "$s1",
    "$p0",
    "$pc",
    "lane 5",
    "info warps",
    "info lanes",
    "info registers",
    "info tasks",
    "continue",
    "step 3",
    "finish",
    "up",
    "bt",
    "break 20 if l == 3",
    "delete",
    "x/4dw out",
    "set own.x = 4",
    "list",
    "disassemble",
    "kill",
    "watch out[1].x",
    "shared:2/1:0x10",
    "0x100000008",
    "0x100000000/4/0",
    "write",
    "instruction",
    "fault",
    "entry",
    "named",
    "indexed",
    "AAAA",
    "> 1",
    "2",
    "-exec info tokens",
    "catch launch",
    "kernel",
    "cta 1,0,0",
};

static json_t *some_value(uint32_t depth);

static json_t *some_object(uint32_t depth)
{
    json_t *object = json_object();

    for (uint32_t i = fuzz_below(&play.in, 6); i > 0; i--) {
        const char *name = names[fuzz_below(&play.in, PPU_ARRAY_SIZE(names))];
        json_object_set_new(object, name, some_value(depth + 1));
    }
    return object;
}

static json_t *some_value(uint32_t depth)
{
    char bytes[24];
    json_t *array;

    switch (fuzz_below(&play.in, depth < DEEPEST ? 10 : 7)) {
    case 0:
        return json_integer((json_int_t)fuzz_u64(&play.in));
    case 1:
    case 2:
        return json_integer(fuzz_u8(&play.in));
    case 3:
        return fuzz_u8(&play.in) % 2 ? json_true() : json_null();
    case 4:
        fuzz_bytes(&play.in, bytes, sizeof(bytes));
        return wire_text(bytes, strnlen(bytes, sizeof(bytes)));
    case 5:
    case 6:
        return json_string(texts[fuzz_below(&play.in, PPU_ARRAY_SIZE(texts))]);
    case 7:
    case 8:
        array = json_array();
        for (uint32_t i = fuzz_below(&play.in, 4); i > 0; i--) {
            json_array_append_new(array, some_value(depth + 1));
        }
        return array;
    default:
        return some_object(depth);
    }
}

static void send_request(const char *command, json_t *arguments)
{
    play.answers = 0;
    play.asked++;
    adapter_message(&play.adapter, json_pack("{s:I, s:s, s:s, s:o}", "seq", play.asked, "type", "request", "command",
                                             command, "arguments", arguments));
    look_at_sent();
    if (play.answers != 1) {
        fuzz_found("request %s has %u answers", command, play.answers);
    }
}

static json_t *near_value(char kind)
{
    static const char *const keys[] = { "line", "name", "condition", "hitCondition", "dataId", "instructionReference" };
    json_t *list = json_array();

    switch (kind) {
    case 'n':
        json_decref(list);
        return json_integer(fuzz_below(&play.in, 24));
    case 'f':
        json_decref(list);
        return json_integer((1 + fuzz_below(&play.in, 3)) * INFO_DEPTH + fuzz_below(&play.in, 2));
    case 'c':
        json_decref(list);
        return json_string("repl");
    case 's':
        json_decref(list);
        return json_pack("{s:i}", "sourceReference", 1);
    case 'b':
        for (uint32_t i = fuzz_below(&play.in, 3); i > 0; i--) {
            json_t *one = json_pack("{s:i}", "line", (int)fuzz_below(&play.in, 34));
            for (uint32_t k = fuzz_below(&play.in, 3); k > 0; k--) {
                json_object_set_new(one, keys[fuzz_below(&play.in, PPU_ARRAY_SIZE(keys))], near_value('t'));
            }
            json_array_append_new(list, one);
        }
        return list;
    default:
        json_decref(list);
        return json_string(texts[fuzz_below(&play.in, PPU_ARRAY_SIZE(texts))]);
    }
}

static void send_any(void)
{
    const uint32_t which = fuzz_below(&play.in, PPU_ARRAY_SIZE(commands));
    json_t *arguments = fuzz_below(&play.in, 3) == 2 ? some_object(0) : json_object();

    for (const char *at = commands[which].members; *at != 0; at += strcspn(at, " "), at += *at == ' ') {
        char name[32];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " ") - 1, at + 1);
        if (!json_object_get(arguments, name)) {
            json_object_set_new(arguments, name, near_value(at[0]));
        }
    }
    send_request(commands[which].command, arguments);
}

static void send_bytes(void)
{
    char bytes[64];
    const uint32_t count = fuzz_below(&play.in, sizeof(bytes));

    fuzz_bytes(&play.in, bytes, count);
    if (!wire_put(&play.adapter.wire, bytes, count)) {
        fuzz_found("%u bytes have no room", count);
    }
    adapter_messages(&play.adapter);
}

/* ---- an input ---- */

static void load_program(void)
{
    const struct watch *watch = &play.adapter.session.watch;
    const struct record_program program = { .program = ++play.programs, .code = CODE_VA };
    const struct record_text text = { .program = play.programs };
    static const char source[] = "int twice(int a)\n{\n    int b = a + a;\n    return b;\n}\n";
    static struct watch_device device;
    static struct watch_process process;

    if (!play.runs || !watch->sink || play.adapter.session.pid == 0) {
        return;
    }
    play.adapter.session.watch.device = &device;
    play.adapter.session.watch.process = &process;
    watch->sink->profile(watch->sink->opaque, RECORD_PROGRAM, &program, sizeof(program), image_start,
                         (size_t)((uintptr_t)image_end - (uintptr_t)image_start));
    watch->sink->profile(watch->sink->opaque, RECORD_SOURCE, &text, sizeof(text), (const uint8_t *)source,
                         sizeof(source) - 1);
    play.adapter.session.watch.device = NULL;
    play.adapter.session.watch.process = NULL;
}

static void begin_program(void)
{
    send_request("initialize", json_pack("{s:b}", "supportsInvalidatedEvent", 1));
    send_request("launch", json_pack("{s:s, s:b}", "program", "sh", "stopOnEntry", 1));
    send_request("configurationDone", json_object());
    adapter_turn(&play.adapter);
    load_program();
}

static void act(void)
{
    switch (fuzz_below(&play.in, 12)) {
    case 0:
        send_bytes();
        break;
    case 1:
        load_program();
        break;
    case 2:
        play.runs = fuzz_below(&play.in, 16) != 1 && play.runs;
        break;
    case 3:
    case 4:
        play.events++;
        adapter_turn(&play.adapter);
        break;
    case 5:
        adapter_turn(&play.adapter);
        break;
    default:
        send_any();
        break;
    }
    look_at_sent();
    look_at_watches();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    play.out = memfd_create("sent", MFD_CLOEXEC);
    return play.out >= 0 ? 0 : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    play.in = fuzz_input(bytes, count);
    play.runs = false;
    play.events = play.programs = play.answers = 0;
    play.asked = 0;
    memset(play.watched, 0, sizeof(play.watched));
    (void)lseek(play.out, 0, SEEK_SET);
    adapter_begin(&play.adapter, -1, play.out);
    look_at_sent();
    if (fuzz_below(&play.in, 4) != 0) {
        begin_program();
    }
    const struct adapter *adapter = &play.adapter;
    for (uint32_t i = 0; i < MOST_ACTIONS && !fuzz_ended(&play.in) && !adapter->leaves && !adapter->wire.ended; i++) {
        act();
    }
    play.runs = false;
    adapter_end(&play.adapter);
    return 0;
}
