/* SPDX-License-Identifier: MIT */
/* Evaluates what is typed: expressions, and in the console also the debugger's own commands. */
#include <stdlib.h>
#include <string.h>

#include "tools/dap/adapter.h"
#include "tools/dbg/commands.h"

static const char command_word[] = "-exec ";

/* NULL, and why. */
static json_t *expression(struct adapter *adapter, const char *text, bool is_hex)
{
    struct session *session = &adapter->session;
    const char *why = NULL;
    struct value value;

    if (session->motion.kind != MOTION_NONE && !threads_focus_stands(adapter)) {
        return adapter_refuse(adapter, "%.256s: the kernels run", text);
    }
    if (!value_of(session, text, &value, &why)) {
        return adapter_refuse(adapter, "%.256s: %s", text, why);
    }
    char *result = variables_text(adapter, &value, is_hex);
    if (!result) {
        return NULL;
    }
    json_t *answer = json_pack("{s:o}", "result", wire_text(result, strlen(result)));
    variables_describe(adapter, answer, text, &value, ADAPTER_SAME_LANE);
    free(result);
    return answer;
}

/* The editor looks where a command has moved the focus. */
static void follow_focus(struct adapter *adapter, const struct focus *before)
{
    const struct session *session = &adapter->session;
    const struct focus *focus = &session->focus;

    if (session->motion.kind != MOTION_NONE || !focus->valid) {
        return;
    }
    const bool is_same = before->valid && memcmp(&before->warp.at, &focus->warp.at, sizeof(focus->warp.at)) == 0;
    const struct adapter_thread *thread = threads_of_focus(adapter);
    if (thread && !is_same) {
        adapter_tell_stop(adapter);
    } else if (thread && (before->lane != focus->lane || before->frame != focus->frame)) {
        adapter_tell_changed(adapter, thread->id);
    }
}

static json_t *command(struct adapter *adapter, const char *text)
{
    struct session *session = &adapter->session;
    const struct focus before = session->focus;

    if (adapter->state != ADAPTER_RUNS) {
        return adapter_refuse(adapter, "%.256s: the program does not run; request `launch` or `attach` first", text);
    }
    session->failed = false;
    const bool goes_on = command_execute(session, text);
    char *said = adapter_take_text(adapter);
    if (!goes_on) {
        session_kill(session);
    }
    if (session->failed || !said) {
        (void)adapter_refuse(adapter, "%.400s", said ? said : "not enough memory for the answer");
        free(said);
        return NULL;
    }
    follow_focus(adapter, &before);
    json_t *answer = json_pack("{s:o, s:i}", "result", wire_text(said, strlen(said)), "variablesReference", 0);
    free(said);
    return answer;
}

json_t *request_evaluate(struct adapter *adapter, const json_t *arguments)
{
    const char *text = argument_text(arguments, "expression"), *context = argument_text(arguments, "context");
    const json_int_t frame = argument_number(arguments, "frameId", 0);
    const bool is_typed = context && strcmp(context, "repl") == 0;
    const bool is_hex = argument_true(json_object_get(arguments, "format"), "hex");

    if (!text) {
        return adapter_refuse(adapter, "\"expression\" is missing");
    }
    if (frame != 0 && (adapter->session.motion.kind == MOTION_NONE || session_goes_alone(&adapter->session)) &&
        !threads_focus_frame(adapter, frame)) {
        return NULL;
    }
    if (is_typed && strncmp(text, command_word, strlen(command_word)) == 0) {
        return command(adapter, text + strlen(command_word));
    }
    json_t *answer = expression(adapter, text, is_hex);
    return answer || !is_typed ? answer : command(adapter, text);
}
