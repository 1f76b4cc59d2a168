/* SPDX-License-Identifier: MIT */
/* Keeps the breakpoints of an editor, which sends all of a kind anew whenever one changes. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/dap/adapter.h"

#define WISH_BYTES (3 * SESSION_TEXT)
#define LINE_BYTES 24u /* of a number behind a path */

static void free_break(struct adapter_break *one)
{
    free(one->source);
    free(one->wish);
}

void breaks_free(struct adapter *adapter)
{
    for (uint32_t i = 0; i < adapter->breaks; i++) {
        free_break(&adapter->break_[i]);
    }
    free(adapter->break_);
}

const struct adapter_break *breaks_find(const struct adapter *adapter, uint32_t number)
{
    for (uint32_t i = 0; i < adapter->breaks; i++) {
        if (adapter->break_[i].number == number) {
            return &adapter->break_[i];
        }
    }
    return NULL;
}

/* ---- all of a kind ---- */

static void mark_stale(struct adapter *adapter, enum break_kind kind, const char *source)
{
    for (uint32_t i = 0; i < adapter->breaks; i++) {
        struct adapter_break *one = &adapter->break_[i];
        one->is_stale = one->kind == kind && strcmp(one->source, source) == 0;
    }
}

static void drop_stale(struct adapter *adapter)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < adapter->breaks; i++) {
        struct adapter_break *one = &adapter->break_[i];
        if (one->is_stale) {
            (void)session_delete(&adapter->session, one->number);
            free_break(one);
        } else {
            adapter->break_[kept++] = *one;
        }
    }
    adapter->breaks = kept;
}

/* One that was there before keeps its number and its hits. */
static struct adapter_break *find_stale(struct adapter *adapter, const char *wish)
{
    for (uint32_t i = 0; i < adapter->breaks; i++) {
        struct adapter_break *one = &adapter->break_[i];
        if (one->is_stale && strcmp(one->wish, wish) == 0 && session_point(&adapter->session, one->number)) {
            one->is_stale = false;
            return one;
        }
    }
    return NULL;
}

static struct adapter_break *add_break(struct adapter *adapter, enum break_kind kind, const char *source,
                                       const char *wish, uint32_t number)
{
    struct adapter_break one = { .kind = kind, .source = strdup(source), .wish = strdup(wish), .number = number };
    struct adapter_break *bigger =
        one.source && one.wish ? reallocarray(adapter->break_, (size_t)adapter->breaks + 1, sizeof(*bigger)) : NULL;

    if (!bigger) {
        free_break(&one);
        (void)session_delete(&adapter->session, number);
        return NULL;
    }
    adapter->break_ = bigger;
    bigger[adapter->breaks] = one;
    return &bigger[adapter->breaks++];
}

/* ---- where they are ---- */

static const struct loaded *program_at(const struct session *session, uint64_t address)
{
    for (uint32_t i = session->loads; i-- > 0;) {
        const struct loaded *loaded = &session->loaded[i];
        if (address >= loaded->code && address - loaded->code < loaded->view.header->code_bytes) {
            return loaded;
        }
    }
    return NULL;
}

/* The line that a breakpoint is at, and its source; 0: it has no place yet, or no line. */
static uint32_t line_of_point(const struct adapter *adapter, const struct point *point, json_t **source)
{
    const struct loaded *loaded = point->sites != 0 ? program_at(&adapter->session, point->address[0]) : NULL;
    const char *file = NULL;

    if (!loaded || !loaded->info) {
        return 0;
    }
    uint32_t line = info_line(loaded->info, (uint32_t)((point->address[0] - loaded->code) / PPU_INSN_BYTES), &file);
    if (line != 0) {
        *source = sources_of_line(adapter, loaded, file, &line);
    }
    return line;
}

static json_t *unverified(const char *sentence)
{
    return json_pack("{s:b, s:o}", "verified", 0, "message", wire_text(sentence, strlen(sentence)));
}

static json_t *break_json(struct adapter *adapter, struct adapter_break *one)
{
    const struct point *point = session_point(&adapter->session, one->number);
    json_t *source = NULL;

    if (!point) {
        return unverified("set a breakpoint: it was deleted");
    }
    const uint32_t line = point->is_watch ? 0 : line_of_point(adapter, point, &source);
    one->told_verified = point->sites != 0;
    one->told_line = line;
    json_t *body = json_pack("{s:i, s:b}", "id", (int)one->number, "verified", one->told_verified ? 1 : 0);
    if (line != 0) {
        json_object_set_new(body, "line", json_integer(adapter_line(adapter, line)));
    }
    if (source) {
        json_object_set_new(body, "source", source);
    }
    if (point->sites != 0 && !point->is_watch) {
        char reference[32];
        snprintf(reference, sizeof(reference), "0x%llx", (unsigned long long)point->address[0]);
        json_object_set_new(body, "instructionReference", json_string(reference));
    }
    if (point->sites == 0) {
        json_object_set_new(body, "message", json_string("No program that is loaded has code there yet"));
        json_object_set_new(body, "reason", json_string("pending"));
    }
    return body;
}

void breaks_tell_changes(struct adapter *adapter)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < adapter->breaks; i++) {
        struct adapter_break *one = &adapter->break_[i];
        const struct point *point = session_point(&adapter->session, one->number);
        if (!point) { /* a command has deleted it */
            adapter_tell(adapter, "breakpoint",
                         json_pack("{s:s, s:{s:i, s:b}}", "reason", "removed", "breakpoint", "id", (int)one->number,
                                   "verified", 0));
            free_break(one);
            continue;
        }
        if ((point->sites != 0) != one->told_verified) {
            adapter_tell(adapter, "breakpoint",
                         json_pack("{s:s, s:o}", "reason", "changed", "breakpoint", break_json(adapter, one)));
        }
        adapter->break_[kept++] = *one;
    }
    adapter->breaks = kept;
}

/* ---- setting ---- */

/* "5" and ">= 5" stop at the fifth hit, "> 5" at the sixth. False: it is something else. */
static bool read_hits(const char *text, uint32_t *ignore)
{
    char *end;
    uint32_t more = 0;

    *ignore = 0;
    if (!text || text[0] == 0) {
        return true;
    }
    text += strspn(text, " ");
    if (text[0] == '>') {
        more = text[1] != '=';
        text += more ? 1 : 2;
    }
    text += strspn(text, " ");
    const unsigned long count = strtoul(text, &end, 10);
    *ignore = (uint32_t)count + more - 1;
    return isdigit((unsigned char)text[0]) && end[strspn(end, " ")] == 0 && count + more != 0 && count < UINT32_MAX;
}

/* A breakpoint that an element of a request asks for. */
static json_t *set_one(struct adapter *adapter, enum break_kind kind, const char *source, struct wish wish,
                       const json_t *element)
{
    const char *condition = argument_text(element, "condition"), *hits = argument_text(element, "hitCondition");
    char all[WISH_BYTES];

    if (strlen(wish.where) >= SESSION_TEXT - 1) {
        return unverified("set a breakpoint: its name is too long; at most 1,023 characters are kept");
    }
    if (!read_hits(hits, &wish.ignore)) {
        return unverified("set a breakpoint: the hit condition is N, >= N or > N");
    }
    if (condition && strlen(condition) >= SESSION_TEXT) {
        return unverified("set a breakpoint: its condition is too long; at most 1,023 characters are kept");
    }
    wish.condition = condition ? condition : "";
    snprintf(all, sizeof(all), "%s\n%s\n%u", wish.where, wish.condition, wish.ignore);
    struct adapter_break *one = find_stale(adapter, all);
    if (!one && adapter->breaks < ADAPTER_BREAKS) {
        const uint32_t number = session_break(&adapter->session, &wish);
        one = number != 0 ? add_break(adapter, kind, source, all, number) : NULL;
    }
    free(adapter_take_text(adapter)); /* the answer says it */
    return one ? break_json(adapter, one) : unverified("set a breakpoint: there are too many; remove others");
}

json_t *request_set_breakpoints(struct adapter *adapter, const json_t *arguments)
{
    const json_t *source = json_object_get(arguments, "source"), *wanted = json_object_get(arguments, "breakpoints");
    const char *path = argument_text(source, "path");
    const json_int_t number = argument_number(source, "sourceReference", 0);
    char where[SESSION_TEXT], key[SESSION_TEXT - LINE_BYTES];
    json_t *element;
    size_t index;

    if ((!path || path[0] == 0) && (number <= 0 || number > UINT32_MAX)) {
        return adapter_refuse(adapter, "the source has neither a path nor a reference");
    }
    if (strlen(path && number <= 0 ? path : "") >= sizeof(key)) {
        return adapter_refuse(adapter, "the path has %zu bytes or more", sizeof(key));
    }
    const bool has_path = number <= 0;
    if (has_path) {
        snprintf(key, sizeof(key), "%s", path);
    } else {
        snprintf(key, sizeof(key), "%lld", (long long)number);
    }
    mark_stale(adapter, BREAK_SOURCE, key);
    json_t *list = json_array();
    json_array_foreach(wanted, index, element)
    {
        const json_int_t line = argument_number(element, "line", 0) + (adapter->lines_from_0 ? 1 : 0);
        const struct wish wish = { .where = where, .text = has_path ? 0 : (uint32_t)number };
        if (line <= 0 || line > INT32_MAX) {
            json_array_append_new(list, unverified("set a breakpoint: it has no line"));
            continue;
        }
        snprintf(where, sizeof(where), "%s%s%lld", has_path ? key : "", has_path ? ":" : "", (long long)line);
        json_array_append_new(list, set_one(adapter, BREAK_SOURCE, key, wish, element));
    }
    drop_stale(adapter);
    return json_pack("{s:o}", "breakpoints", list);
}

json_t *request_set_function_breakpoints(struct adapter *adapter, const json_t *arguments)
{
    json_t *list = json_array(), *element;
    size_t index;

    mark_stale(adapter, BREAK_FUNCTION, "");
    json_array_foreach(json_object_get(arguments, "breakpoints"), index, element)
    {
        const char *name = argument_text(element, "name");
        const bool is_name = name && (isalpha((unsigned char)name[0]) || name[0] == '_');
        const struct wish wish = { .where = is_name ? name : "" };
        json_array_append_new(list, is_name ? set_one(adapter, BREAK_FUNCTION, "", wish, element)
                                            : unverified("set a breakpoint: it has no name of a function"));
    }
    drop_stale(adapter);
    return json_pack("{s:o}", "breakpoints", list);
}

json_t *request_set_instruction_breakpoints(struct adapter *adapter, const json_t *arguments)
{
    json_t *list = json_array(), *element;
    size_t index;

    mark_stale(adapter, BREAK_INSTRUCTION, "");
    json_array_foreach(json_object_get(arguments, "breakpoints"), index, element)
    {
        const char *reference = argument_text(element, "instructionReference");
        uint64_t address = reference ? strtoull(reference, NULL, 0) : 0;
        char where[32];
        const struct wish wish = { .where = where };
        address += (uint64_t)argument_number(element, "offset", 0);
        snprintf(where, sizeof(where), "*0x%" PRIx64, address);
        json_array_append_new(list, address != 0 ? set_one(adapter, BREAK_INSTRUCTION, "", wish, element)
                                                 : unverified("set a breakpoint: it has no address"));
    }
    drop_stale(adapter);
    return json_pack("{s:o}", "breakpoints", list);
}

json_t *request_set_exception_breakpoints(struct adapter *adapter, const json_t *arguments)
{
    static const struct {
        const char *word;
        uint32_t flag;
    } words[] = { { "entry", PPU_DEBUG_AT_ENTRY },
                  { "fault", PPU_DEBUG_AT_FAULT },
                  { "divergence", PPU_DEBUG_AT_DIVERGENCE },
                  { "launch", PPU_DEBUG_AT_CHILD } };
    uint32_t flags = 0;
    json_t *element;
    size_t index;

    json_array_foreach(json_object_get(arguments, "filters"), index, element)
    {
        const char *word = json_string_value(element);
        for (uint32_t i = 0; word && i < PPU_ARRAY_SIZE(words); i++) {
            flags |= strcmp(word, words[i].word) == 0 ? words[i].flag : 0;
        }
    }
    adapter->exceptions = flags;
    session_stop_at(&adapter->session, flags | (adapter->stop_on_entry ? PPU_DEBUG_AT_ENTRY : 0));
    return json_object();
}

json_t *request_exception_info(struct adapter *adapter, const json_t *arguments)
{
    const struct stop *stop = &adapter->session.stop;
    char text[128];

    (void)arguments;
    if (adapter->session.motion.kind != MOTION_NONE ||
        (stop->why != PPU_DEBUG_FAULTED && stop->why != PPU_DEBUG_DIVERGED)) {
        return adapter_refuse(adapter,
                              "the kernels stand at no fault, and not where lanes part; `continue` goes on to one");
    }
    const bool is_fault = stop->why == PPU_DEBUG_FAULTED;
    snprintf(text, sizeof(text), is_fault ? "Fault %s at address 0x%llx" : "Lanes part",
             session_fault_word(stop->fault), (unsigned long long)stop->address);
    return json_pack("{s:s, s:s, s:s}", "exceptionId", is_fault ? session_fault_word(stop->fault) : "divergence",
                     "description", text, "breakMode", "always");
}

/* ---- memory that is written ---- */

static json_t *no_data(const char *why)
{
    return json_pack("{s:n, s:o}", "dataId", "description", wire_text(why, strlen(why)));
}

/* The object that an expression is; false, and why. */
static bool find_data(struct adapter *adapter, const json_t *arguments, struct value *value, const char **why)
{
    const json_int_t reference = argument_number(arguments, "variablesReference", 0);
    const json_int_t frame = argument_number(arguments, "frameId", 0);
    const char *name = argument_text(arguments, "name");
    char *text = reference != 0 ? variables_expression(adapter, reference, name) : NULL;
    bool good = reference != 0 ? !!text : frame == 0 || threads_focus_frame(adapter, frame);

    if (!good) {
        *why = adapter->why;
        return false;
    }
    if (!threads_focus_stands(adapter)) {
        *why = adapter->why;
        good = false;
    }
    good = good && value_of(&adapter->session, text ? text : name, value, why);
    free(text);
    return good;
}

json_t *request_data_breakpoint_info(struct adapter *adapter, const json_t *arguments)
{
    const char *name = argument_text(arguments, "name"), *why = NULL;
    const bool is_address = argument_true(arguments, "asAddress");
    struct value value = { .kind = VALUE_NUMBER };
    char id[64], text[128];

    if (!name || name[0] == 0) {
        return adapter_refuse(adapter, "\"name\" is missing");
    }
    if (!find_data(adapter, arguments, &value, &why)) {
        return no_data(why);
    }
    uint64_t bytes = (uint64_t)argument_number(arguments, "bytes", 0);
    int64_t address = (int64_t)value.address;
    if (is_address && !value_number(&adapter->session, &value, &address, &why)) {
        return no_data(why);
    }
    if (!is_address && (value.kind != VALUE_OBJECT || value.space == PPU_DEBUG_PRIVATE ||
                        value.space == PPU_DEBUG_SHARED || value.space == PPU_DEBUG_PARAMETER)) {
        return no_data("find memory to watch: only global memory is watched");
    }
    if (bytes == 0) {
        bytes = is_address ? 4 : info_bytes(value.type);
    }
    if (bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0) {
        return no_data("find memory to watch: it must have 1, 2, 4 or 8 bytes");
    }
    snprintf(id, sizeof(id), "0x%llx/%llu/%u", (unsigned long long)address, (unsigned long long)bytes,
             adapter->session.focus.task.context);
    const int count = snprintf(text, sizeof(text), "%.64s, %llu bytes at 0x%llx", name, (unsigned long long)bytes,
                               (unsigned long long)address);
    return json_pack("{s:s, s:o, s:[s], s:b}", "dataId", id, "description", wire_text(text, (size_t)count),
                     "accessTypes", "write", "canPersist", 0);
}

static json_t *watch_one(struct adapter *adapter, const json_t *element)
{
    const char *id = argument_text(element, "dataId"), *access = argument_text(element, "accessType");
    const char *condition = argument_text(element, "condition");
    unsigned long long address = 0;
    unsigned bytes = 0, context = 0;
    char all[WISH_BYTES];
    uint32_t ignore;

    if (!id || strlen(id) >= 64 || sscanf(id, "%llx/%u/%u", &address, &bytes, &context) != 3) {
        return unverified("set a data breakpoint: it has no name of memory");
    }
    if ((access && strcmp(access, "write") != 0) || (condition && condition[0] != 0)) {
        return unverified("set a data breakpoint: it stops at each write only");
    }
    if (!read_hits(argument_text(element, "hitCondition"), &ignore)) {
        return unverified("set a data breakpoint: the hit condition is N, >= N or > N");
    }
    snprintf(all, sizeof(all), "%s\n%u", id, ignore);
    struct adapter_break *one = find_stale(adapter, all);
    if (!one && adapter->breaks < ADAPTER_BREAKS) {
        char name[48];
        snprintf(name, sizeof(name), "%u bytes at 0x%llx", bytes, address);
        const uint32_t number = session_watch(&adapter->session, context, address, bytes, name);
        struct point *point = session_point(&adapter->session, number);
        if (point) {
            point->ignore = ignore;
            one = add_break(adapter, BREAK_DATA, "", all, number);
        }
    }
    char *text = adapter_take_text(adapter), sentence[192];
    snprintf(sentence, sizeof(sentence), "set a data breakpoint: %.128s", text ? text : "");
    free(text);
    return one ? break_json(adapter, one) : unverified(sentence);
}

json_t *request_set_data_breakpoints(struct adapter *adapter, const json_t *arguments)
{
    json_t *list = json_array(), *element;
    size_t index;

    mark_stale(adapter, BREAK_DATA, "");
    json_array_foreach(json_object_get(arguments, "breakpoints"), index, element)
    {
        json_array_append_new(list, watch_one(adapter, element));
    }
    drop_stale(adapter);
    return json_pack("{s:o}", "breakpoints", list);
}
