/* SPDX-License-Identifier: MIT */
/* Serves requests of an editor: finds who answers, and answers once. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "tools/dap/adapter.h"

#define PATH_BYTES 4096u
#define WORDS_MOST 65536u /* of a command line or an environment */

/* ---- arguments ---- */

json_int_t argument_number(const json_t *arguments, const char *name, json_int_t other)
{
    const json_t *value = json_object_get(arguments, name);

    return json_is_integer(value) ? json_integer_value(value) : other;
}

const char *argument_text(const json_t *arguments, const char *name)
{
    return json_string_value(json_object_get(arguments, name));
}

bool argument_true(const json_t *arguments, const char *name)
{
    return json_is_true(json_object_get(arguments, name));
}

/* ---- the beginning ---- */

static json_t *filters(void)
{
    return json_pack("[{s:s, s:s, s:b}, {s:s, s:s}, {s:s, s:s}, {s:s, s:s}]", "filter", "fault", "label",
                     "Faults of kernels", "default", 1, "filter", "entry", "label", "Entries of kernels", "filter",
                     "launch", "label", "Entries of kernels that threads launch", "filter", "divergence", "label",
                     "Lanes that part");
}

json_t *request_initialize(struct adapter *adapter, const json_t *arguments)
{
    static const char *const can[] = { "supportsConfigurationDoneRequest",
                                       "supportsFunctionBreakpoints",
                                       "supportsConditionalBreakpoints",
                                       "supportsHitConditionalBreakpoints",
                                       "supportsEvaluateForHovers",
                                       "supportsSetVariable",
                                       "supportsSetExpression",
                                       "supportsExceptionInfoRequest",
                                       "supportTerminateDebuggee",
                                       "supportsTerminateRequest",
                                       "supportsDelayedStackTraceLoading",
                                       "supportsLoadedSourcesRequest",
                                       "supportsDataBreakpoints",
                                       "supportsDataBreakpointBytes",
                                       "supportsReadMemoryRequest",
                                       "supportsWriteMemoryRequest",
                                       "supportsDisassembleRequest",
                                       "supportsInstructionBreakpoints",
                                       "supportsSteppingGranularity",
                                       "supportsSingleThreadExecutionRequests",
                                       "supportsClipboardContext",
                                       "supportsValueFormattingOptions" };

    if (adapter->state != ADAPTER_NEW) {
        return adapter_refuse(adapter, "it was done already");
    }
    const char *format = argument_text(arguments, "pathFormat");
    if (format && strcmp(format, "path") != 0) {
        return adapter_refuse(adapter, "pathFormat \"%.32s\": only \"path\" is understood", format);
    }
    adapter->state = ADAPTER_INITIALIZED;
    adapter->knows_invalidated = argument_true(arguments, "supportsInvalidatedEvent");
    adapter->knows_memory = argument_true(arguments, "supportsMemoryEvent");
    adapter->lines_from_0 = json_is_false(json_object_get(arguments, "linesStartAt1"));
    json_t *body = json_object();
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(can); i++) {
        json_object_set_new(body, can[i], json_true());
    }
    json_object_set_new(body, "exceptionBreakpointFilters", filters());
    adapter_tell(adapter, "initialized", NULL);
    return body;
}

static bool is_program(const char *path)
{
    struct stat status;

    return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Looks for the program as execvp() will, from the folder on; false: errno says why not. */
static bool can_be_found(const char *program, const char *folder)
{
    char path[PATH_BYTES];
    const char *folders = getenv("PATH");

    if (strchr(program, '/')) {
        const bool is_below = program[0] != '/' && folder;
        snprintf(path, sizeof(path), "%s%s%s", is_below ? folder : "", is_below ? "/" : "", program);
        return is_program(path);
    }
    for (const char *at = folders; at && *at != 0; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(at, ":"), at, program);
        if (is_program(path)) {
            return true;
        }
    }
    errno = ENOENT;
    return false;
}

/* False: they are no array of strings. */
static bool take_words(struct adapter *adapter, const char *program, const json_t *words)
{
    const size_t count = json_array_size(words);

    adapter->program = count < WORDS_MOST ? calloc(count + 2, sizeof(*adapter->program)) : NULL;
    if (!adapter->program || (words && !json_is_array(words))) {
        return false;
    }
    adapter->program[0] = (char *)(uintptr_t)program; /* it and the others are what `launch` has */
    for (size_t i = 0; i < count; i++) {
        adapter->program[i + 1] = (char *)(uintptr_t)json_string_value(json_array_get(words, i));
        if (!adapter->program[i + 1]) {
            return false;
        }
    }
    adapter->session.start.program = adapter->program;
    return true;
}

/* False: they are no object of strings and nulls. */
static bool take_variables(struct adapter *adapter, json_t *variables)
{
    const size_t count = json_object_size(variables);
    struct start *start = &adapter->session.start;
    const char *name;
    json_t *value;

    adapter->variable = count < WORDS_MOST ? calloc(count + 1, sizeof(*adapter->variable)) : NULL;
    if (!adapter->variable || (variables && !json_is_object(variables))) {
        return false;
    }
    json_object_foreach(variables, name, value)
    {
        if ((!json_is_string(value) && !json_is_null(value)) || name[0] == 0 || strchr(name, '=')) {
            return false;
        }
        adapter->variable[start->variables++] = (struct start_variable){ name, json_string_value(value) };
    }
    start->variable = adapter->variable;
    return true;
}

static json_t *take_sources(struct adapter *adapter, const json_t *sources)
{
    for (size_t i = 0; i < json_array_size(sources); i++) {
        const char *path = json_string_value(json_array_get(sources, i));
        if (!path || !session_know_file(&adapter->session, path)) {
            return adapter_refuse(adapter, "read %.256s: %s", path ? path : "sources",
                                  path ? strerror(errno) : "they are no strings");
        }
    }
    return json_object();
}

/* Gives back what a launch that was refused has left. */
static json_t *forget_launch(struct adapter *adapter)
{
    free(adapter->program);
    free(adapter->variable);
    json_decref(adapter->launch);
    adapter->program = NULL;
    adapter->variable = NULL;
    adapter->launch = NULL;
    adapter->session.start = (struct start){ .program = NULL };
    return NULL;
}

json_t *request_launch(struct adapter *adapter, const json_t *arguments)
{
    const char *program = argument_text(arguments, "program"), *folder = argument_text(arguments, "cwd");
    struct stat status;

    if (adapter->state != ADAPTER_INITIALIZED) {
        return adapter_refuse(adapter, "a program was launched already");
    }
    if (!program || program[0] == 0) {
        return adapter_refuse(adapter, "\"program\" is missing");
    }
    if (argument_true(arguments, "noDebug")) {
        adapter->session.as_built = true;
    }
    if (folder && (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))) {
        return adapter_refuse(adapter, "cwd %.256s is no folder", folder);
    }
    if (!can_be_found(program, folder)) {
        return adapter_refuse(adapter, "%.256s cannot be executed: %s", program, strerror(errno));
    }
    adapter->launch = json_deep_copy(arguments);
    if (!take_words(adapter, argument_text(adapter->launch, "program"), json_object_get(adapter->launch, "args"))) {
        (void)forget_launch(adapter);
        return adapter_refuse(adapter, "\"args\" is no array of strings");
    }
    if (!take_variables(adapter, json_object_get(adapter->launch, "env"))) {
        (void)forget_launch(adapter);
        return adapter_refuse(adapter, "\"env\" is no object of strings and nulls");
    }
    json_t *body = take_sources(adapter, json_object_get(arguments, "sources"));
    if (!body) {
        return forget_launch(adapter);
    }
    adapter->session.start.folder = argument_text(adapter->launch, "cwd");
    adapter->session.as_built = adapter->session.as_built || argument_true(arguments, "asBuilt");
    adapter->session.records = argument_true(arguments, "record");
    if (adapter->session.records) {
        adapter_tell(adapter, "capabilities", json_pack("{s:{s:b}}", "capabilities", "supportsStepBack", 1));
    }
    adapter->stop_on_entry = argument_true(arguments, "stopOnEntry") && !argument_true(arguments, "noDebug");
    adapter->exceptions = argument_true(arguments, "noDebug") ? 0 : adapter->exceptions;
    adapter->state = ADAPTER_LAUNCHED;
    return body;
}

static json_t *request_attach(struct adapter *adapter, const json_t *arguments)
{
    const json_int_t pid = argument_number(arguments, "processId", 0);

    if (adapter->state != ADAPTER_INITIALIZED) {
        return adapter_refuse(adapter, "a program was launched already");
    }
    if (pid < 1 || pid > INT32_MAX) {
        return adapter_refuse(adapter, "\"processId\" is no number of a process");
    }
    json_t *body = take_sources(adapter, json_object_get(arguments, "sources"));
    if (!body) {
        return NULL;
    }
    adapter->session.records = argument_true(arguments, "record");
    if (!session_attach(&adapter->session, (pid_t)pid)) {
        char *text = adapter_take_text(adapter);
        (void)adapter_refuse(adapter, "%.400s", text ? text : "not enough memory for the reason");
        free(text);
        json_decref(body);
        return forget_launch(adapter);
    }
    if (adapter->session.records) {
        adapter_tell(adapter, "capabilities", json_pack("{s:{s:b}}", "capabilities", "supportsStepBack", 1));
    }
    adapter->stop_on_entry = argument_true(arguments, "stopOnEntry");
    adapter->state = ADAPTER_LAUNCHED;
    return body;
}

static json_t *request_configuration_done(struct adapter *adapter, const json_t *arguments)
{
    (void)arguments;
    if (adapter->configured) {
        return adapter_refuse(adapter, "it was done already");
    }
    adapter->configured = true;
    return json_object();
}

/* ---- running ---- */

/* False: nothing can go on now, which `why` says. */
static bool can_go(struct adapter *adapter)
{
    if (adapter->state != ADAPTER_RUNS) {
        (void)adapter_refuse(adapter, "the program does not run; request `launch` or `attach` first");
    } else if (adapter->session.motion.kind != MOTION_NONE) {
        (void)adapter_refuse(adapter, "the kernels run already");
    } else {
        return true;
    }
    return false;
}

static json_t *request_continue(struct adapter *adapter, const json_t *arguments)
{
    struct session *session = &adapter->session;
    const json_int_t thread = argument_number(arguments, "threadId", 0);

    if (argument_true(arguments, "singleThread")) {
        if (!can_go(adapter) || !threads_focus(adapter, thread, 0, ADAPTER_SAME_LANE)) {
            return NULL;
        }
        session_continue_one(session);
        threads_tell_continued(adapter, thread);
        return json_pack("{s:b}", "allThreadsContinued", 0);
    }
    if (adapter->state == ADAPTER_RUNS && session_goes_alone(session)) {
        session_continue_others(session);
        variables_forget(adapter);
    } else if (can_go(adapter)) {
        session_continue(session);
    } else {
        return NULL;
    }
    return json_pack("{s:b}", "allThreadsContinued", 1);
}

/* After what moves kernels: an answer, or what the debugger has said in place of moving them. */
static json_t *moved(struct adapter *adapter)
{
    if (adapter->session.motion.kind == MOTION_NONE) {
        char *text = adapter_take_text(adapter);
        (void)adapter_refuse(adapter, "%.256s", text ? text : "");
        free(text);
        return NULL;
    }
    return json_object();
}

static json_t *step(struct adapter *adapter, const json_t *arguments, enum session_step how)
{
    const char *granularity = argument_text(arguments, "granularity");
    struct session *session = &adapter->session;
    const json_int_t thread = argument_number(arguments, "threadId", 0);

    if (!can_go(adapter) || !threads_focus(adapter, thread, 0, ADAPTER_SAME_LANE)) {
        return NULL;
    }
    if (granularity && strcmp(granularity, "instruction") == 0 && how != STEP_OUT) {
        how = how == STEP_OVER ? STEP_INSN_OVER : STEP_INSN;
    }
    session_step(session, how, 1);
    return moved(adapter);
}

static json_t *request_next(struct adapter *adapter, const json_t *arguments)
{
    return step(adapter, arguments, STEP_OVER);
}

static json_t *request_step_in(struct adapter *adapter, const json_t *arguments)
{
    return step(adapter, arguments, STEP_LINE);
}

static bool can_go_back(struct adapter *adapter, const json_t *arguments)
{
    if (argument_true(arguments, "singleThread")) {
        (void)adapter_refuse(adapter, "all threads go back together");
        return false;
    }
    return can_go(adapter) && threads_focus(adapter, argument_number(arguments, "threadId", 0), 0, ADAPTER_SAME_LANE);
}

static json_t *request_step_back(struct adapter *adapter, const json_t *arguments)
{
    const char *granularity = argument_text(arguments, "granularity");
    const bool by_insn = granularity && strcmp(granularity, "instruction") == 0;

    if (!can_go_back(adapter, arguments)) {
        return NULL;
    }
    session_back(&adapter->session, by_insn ? BACK_BY_INSN_OVER : BACK_OVER, 1);
    return moved(adapter);
}

static json_t *request_reverse_continue(struct adapter *adapter, const json_t *arguments)
{
    if (!can_go_back(adapter, arguments)) {
        return NULL;
    }
    session_back(&adapter->session, BACK_TO_STOP, 1);
    return moved(adapter);
}

static json_t *request_step_out(struct adapter *adapter, const json_t *arguments)
{
    return step(adapter, arguments, STEP_OUT);
}

static json_t *request_pause(struct adapter *adapter, const json_t *arguments)
{
    (void)arguments;
    if (adapter->state != ADAPTER_RUNS) {
        return adapter_refuse(adapter, "the program does not run; request `launch` or `attach` first");
    }
    session_interrupt(&adapter->session);
    adapter->stops++;
    free(adapter_take_text(adapter)); /* the event says it */
    adapter_tell_stop(adapter);
    return json_object();
}

static json_t *request_terminate(struct adapter *adapter, const json_t *arguments)
{
    struct session *session = &adapter->session;

    (void)arguments;
    if (session->pid == 0) {
        return adapter_refuse(adapter, "the program does not run; request `launch` or `attach` first");
    }
    (void)kill(session->pid, SIGTERM); /* it ends also while its kernels stand */
    return json_object();
}

static json_t *request_disconnect(struct adapter *adapter, const json_t *arguments)
{
    const json_t *ends = json_object_get(arguments, "terminateDebuggee");

    adapter->leaves = true;
    adapter->lets_go = adapter->session.attached ? !json_is_true(ends) : json_is_false(ends);
    if (!adapter->lets_go) {
        session_kill(&adapter->session);
    }
    return json_object();
}

/* ---- the table ---- */

static const struct answerer {
    const char *command;
    const char *operation; /* what has failed, when it fails */
    json_t *(*serve)(struct adapter *adapter, const json_t *arguments);
} answerers[] = {
    { "initialize", "initialize", request_initialize },
    { "launch", "launch", request_launch },
    { "attach", "attach", request_attach },
    { "setBreakpoints", "set breakpoints", request_set_breakpoints },
    { "setFunctionBreakpoints", "set function breakpoints", request_set_function_breakpoints },
    { "setInstructionBreakpoints", "set instruction breakpoints", request_set_instruction_breakpoints },
    { "setExceptionBreakpoints", "set exception breakpoints", request_set_exception_breakpoints },
    { "dataBreakpointInfo", "describe a data breakpoint", request_data_breakpoint_info },
    { "setDataBreakpoints", "set data breakpoints", request_set_data_breakpoints },
    { "configurationDone", "end the configuration", request_configuration_done },
    { "threads", "list threads", request_threads },
    { "stackTrace", "list frames", request_stack_trace },
    { "scopes", "list scopes", request_scopes },
    { "variables", "list variables", request_variables },
    { "setVariable", "set a variable", request_set_variable },
    { "setExpression", "set an expression", request_set_expression },
    { "evaluate", "evaluate", request_evaluate },
    { "source", "read a source", request_source },
    { "tasks", "list tasks", request_tasks },
    { "loadedSources", "list sources", request_loaded_sources },
    { "disassemble", "disassemble", request_disassemble },
    { "readMemory", "read memory", request_read_memory },
    { "writeMemory", "write memory", request_write_memory },
    { "exceptionInfo", "describe an exception", request_exception_info },
    { "continue", "continue", request_continue },
    { "next", "step", request_next },
    { "stepIn", "step", request_step_in },
    { "stepOut", "step", request_step_out },
    { "stepBack", "step back", request_step_back },
    { "reverseContinue", "continue backwards", request_reverse_continue },
    { "pause", "pause", request_pause },
    { "terminate", "terminate", request_terminate },
    { "disconnect", "disconnect", request_disconnect },
};

static const struct answerer *find_answerer(const char *command)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(answerers); i++) {
        if (strcmp(answerers[i].command, command) == 0) {
            return &answerers[i];
        }
    }
    return NULL;
}

static json_t *call_answerer(struct adapter *adapter, const struct answerer *answerer, const char *command,
                             const json_t *arguments)
{
    if (!answerer) {
        return adapter_refuse(adapter, "there is no request \"%.64s\"", command);
    }
    if (adapter->state == ADAPTER_NEW && answerer->serve != request_initialize &&
        answerer->serve != request_disconnect) {
        return adapter_refuse(adapter, "initialize comes first");
    }
    if (arguments && !json_is_object(arguments)) {
        return adapter_refuse(adapter, "\"arguments\" is no object");
    }
    return answerer->serve(adapter, arguments);
}

static void answer_request(struct adapter *adapter, const char *command, json_int_t number, const json_t *arguments)
{
    const struct answerer *answerer = find_answerer(command);
    json_t *body = call_answerer(adapter, answerer, command, arguments);
    json_t *response = json_pack("{s:s, s:I, s:s, s:b}", "type", "response", "request_seq", number, "command", command,
                                 "success", body ? 1 : 0);

    if (body) {
        json_object_set_new(response, "body", body);
    } else {
        char text[640];
        const int bytes =
            snprintf(text, sizeof(text), "%s: %s", answerer ? answerer->operation : "serve a request", adapter->why);
        json_t *sentence = wire_text(text, PPU_MIN((size_t)bytes, sizeof(text) - 1));
        json_object_set_new(response, "body",
                            json_pack("{s:{s:i, s:O, s:b}}", "error", "id", 1, "format", sentence, "showUser", 0));
        json_object_set_new(response, "message", sentence);
    }
    wire_send(&adapter->wire, response);
}

void adapter_message(struct adapter *adapter, json_t *message)
{
    static const char sentence[] = "read a message: it is no request with a number and a command\n";
    const char *type = argument_text(message, "type"), *command = argument_text(message, "command");
    const json_t *number = json_object_get(message, "seq");
    const bool moves = adapter->session.motion.kind != MOTION_NONE;

    if (!type || strcmp(type, "request") != 0 || !command || !json_is_integer(number)) {
        adapter_say(adapter, "important", sentence, strlen(sentence));
        json_decref(message);
        return;
    }
    adapter->later = json_array();
    answer_request(adapter, command, json_integer_value(number), json_object_get(message, "arguments"));
    for (size_t i = 0; i < json_array_size(adapter->later); i++) {
        wire_send(&adapter->wire, json_incref(json_array_get(adapter->later, i)));
    }
    json_decref(adapter->later);
    adapter->later = NULL;
    if (!moves && adapter->session.motion.kind != MOTION_NONE && !session_goes_alone(&adapter->session)) {
        variables_forget(adapter);
        if (strcmp(command, "evaluate") == 0) {
            adapter_tell(adapter, "continued",
                         json_pack("{s:i, s:b}", "threadId", ADAPTER_HOST, "allThreadsContinued", 1));
        }
    }
    json_decref(message);
}
