/* SPDX-License-Identifier: MIT */
/* Shows variables, registers and lanes of a frame; each is an expression of the debugger, which reads and writes it. */
#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/dap/adapter.h"
#include "tools/dbg/frames.h"

#define NAME_BYTES 64u
#define WORD 4u /* of shared memory, which has no type */

/* ---- references ---- */

void variables_forget(struct adapter *adapter)
{
    for (uint32_t i = 0; i < adapter->references; i++) {
        free(adapter->reference[i].expression);
    }
    free(adapter->reference);
    adapter->reference = NULL;
    adapter->references = 0;
}

/* 0: there is no room, so what is in it is not shown. */
static uint32_t add_reference(struct adapter *adapter, struct adapter_reference reference)
{
    const uint32_t count = adapter->references;

    if ((count & (count - 1)) == 0) {
        const uint32_t room = count == 0 ? 1 : 2 * count;
        struct adapter_reference *bigger =
            count < ADAPTER_REFERENCES ? reallocarray(adapter->reference, room, sizeof(*bigger)) : NULL;
        if (!bigger) {
            free(reference.expression);
            return 0;
        }
        adapter->reference = bigger;
    }
    adapter->reference[adapter->references++] = reference;
    return adapter->references;
}

/* Moves the focus to who has them. NULL, and why. */
static const struct adapter_reference *use_reference(struct adapter *adapter, json_int_t number)
{
    if (number < 1 || number > adapter->references) {
        (void)adapter_refuse(adapter, "there are no variables %lld now", (long long)number);
        return NULL;
    }
    const struct adapter_reference *reference = &adapter->reference[number - 1];
    return threads_focus(adapter, reference->thread, reference->frame, reference->lane) ? reference : NULL;
}

/* ---- values ---- */

char *variables_text(struct adapter *adapter, const struct value *value, bool is_hex)
{
    struct session *session = &adapter->session;
    FILE *before = session->out;
    char *text = NULL;
    size_t bytes = 0;
    const char *why = "not enough memory for its text";

    session->out = open_memstream(&text, &bytes);
    bool good =
        session->out && ((is_hex && value_print(session, value, 'x', &why)) || value_print(session, value, 0, &why));
    if (session->out) {
        fclose(session->out);
    }
    session->out = before;
    if (!good) {
        free(text);
        (void)adapter_refuse(adapter, "%s", why);
        return NULL;
    }
    if (bytes != 0 && text[bytes - 1] == '\n') {
        text[bytes - 1] = 0;
    }
    return text;
}

static bool count_member(void *opaque, const char *name)
{
    (void)name;
    ++*(uint32_t *)opaque;
    return true;
}

static bool is_pointer(Dwarf_Die type)
{
    Dwarf_Die stripped = info_strip(type);

    return dwarf_tag(&stripped) == DW_TAG_pointer_type;
}

/* Words that operators which come behind them hold together. */
static bool is_simple(const char *expression)
{
    return expression[strspn(expression, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.[]")] == 0;
}

/* An expression that another can be put behind; the caller frees it. */
static char *copy_expression(const char *expression)
{
    const size_t bytes = strlen(expression) + 3;
    char *copy = malloc(bytes);

    if (copy) {
        snprintf(copy, bytes, is_simple(expression) ? "%s" : "(%s)", expression);
    }
    return copy;
}

static void describe_type(json_t *answer, Dwarf_Die type)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (out) {
        info_type_name(type, out);
        fclose(out);
        json_object_set_new(answer, "type", wire_text(text, bytes));
    }
    free(text);
}

void variables_describe(struct adapter *adapter, json_t *answer, const char *expression, const struct value *value,
                        uint32_t lane)
{
    const struct focus *focus = &adapter->session.focus;
    uint32_t members = 0, number = 0;
    uint64_t address = value->address;
    char memory[96];

    if (value->kind == VALUE_OBJECT) {
        const uint64_t elements = info_elements(value->type);
        const uint32_t thread = threads_frame_id(adapter) / INFO_DEPTH;
        info_members(value->type, count_member, &members);
        describe_type(answer, value->type);
        if (elements != 0 || members != 0 || is_pointer(value->type)) {
            char *copy = copy_expression(expression);
            number = copy ? add_reference(adapter, (struct adapter_reference){ REFERENCE_VALUE, thread, focus->frame,
                                                                               lane, copy })
                          : 0;
        }
        if (elements != 0) {
            json_object_set_new(answer, "indexedVariables", json_integer((json_int_t)PPU_MIN(elements, INT32_MAX)));
        }
        memory_name(adapter, value->space, address, memory);
        json_object_set_new(answer, "memoryReference", json_string(memory));
    }
    json_object_set_new(answer, "variablesReference", json_integer(number));
}

/* A variable with the value of an expression, or with why it has none. */
static json_t *variable_json(struct adapter *adapter, const char *name, const char *expression, uint32_t lane,
                             bool is_hex)
{
    json_t *one = json_pack("{s:o, s:o, s:i}", "name", wire_text(name, strlen(name)), "evaluateName",
                            wire_text(expression, strlen(expression)), "variablesReference", 0);
    const char *why = NULL;
    struct value value;
    char *text = NULL;

    if (value_of(&adapter->session, expression, &value, &why)) {
        text = variables_text(adapter, &value, is_hex);
        why = adapter->why;
    }
    if (text) {
        json_object_set_new(one, "value", wire_text(text, strlen(text)));
        variables_describe(adapter, one, expression, &value, lane);
    } else {
        char sentence[128];
        snprintf(sentence, sizeof(sentence), "<%.120s>", why ? why : "it has no value");
        json_object_set_new(one, "value", json_string(sentence));
    }
    free(text);
    return one;
}

/* ---- lists ---- */

struct listing {
    struct adapter *adapter;
    json_t *list;
    const char *base; /* of members */
    uint32_t lane;
    json_int_t first, most; /* most 0: all */
    json_int_t number;      /* that were seen */
    bool arguments, locals, globals;
    bool is_hex;
};

static bool is_wanted(struct listing *listing)
{
    const json_int_t number = listing->number++;

    return number >= listing->first && (listing->most == 0 || number - listing->first < listing->most);
}

static void put_variable(struct listing *listing, const char *name, const char *expression)
{
    if (is_wanted(listing)) {
        json_array_append_new(listing->list,
                              variable_json(listing->adapter, name, expression, listing->lane, listing->is_hex));
    }
}

static bool has_name(const json_t *list, const char *name)
{
    json_t *one;
    size_t index;

    json_array_foreach(list, index, one)
    {
        const char *other = argument_text(one, "name");
        if (other && strcmp(other, name) == 0) {
            return true;
        }
    }
    return false;
}

/* One that another of its name hides is not seen. */
static bool list_variable(void *opaque, const struct info_variable *variable)
{
    struct listing *listing = opaque;
    const bool wanted = variable->is_global      ? listing->globals
                        : variable->is_parameter ? listing->arguments
                                                 : listing->locals;

    if (wanted && !has_name(listing->list, variable->name)) {
        put_variable(listing, variable->name, variable->name);
    }
    return true;
}

static void list_variables(struct listing *listing)
{
    struct session *session = &listing->adapter->session;
    struct frame frame;

    if (frames_chosen(session, &frame)) {
        info_variables(session_loaded(session)->info, frame.insn, frame.inlined, list_variable, listing);
    }
}

static void list_registers(struct listing *listing, char bank, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "$%c%u", bank, i);
        put_variable(listing, name, name);
    }
}

static bool list_member(void *opaque, const char *name)
{
    struct listing *listing = opaque;
    char *expression = NULL;

    if (strlen(name) < NAME_BYTES && asprintf(&expression, "%s.%s", listing->base, name) > 0) {
        put_variable(listing, name, expression);
        free(expression);
    }
    return true;
}

static void list_elements(struct listing *listing, const char *base, uint64_t elements)
{
    const uint64_t first = PPU_MIN((uint64_t)listing->first, elements), left = elements - first;
    const uint64_t most = listing->most == 0 ? left : PPU_MIN((uint64_t)listing->most, left);

    for (uint64_t i = first; i < first + PPU_MIN(most, (uint64_t)ADAPTER_REFERENCES); i++) {
        char name[32], *expression = NULL;
        snprintf(name, sizeof(name), "[%llu]", (unsigned long long)i);
        listing->number = listing->first;
        if (asprintf(&expression, "%s%s", base, name) > 0) {
            put_variable(listing, name, expression);
            free(expression);
        }
    }
}

static void list_value(struct listing *listing, const char *base)
{
    const char *why = NULL;
    struct value value;

    if (!value_of(&listing->adapter->session, base, &value, &why) || value.kind != VALUE_OBJECT) {
        return;
    }
    if (info_elements(value.type) != 0) {
        list_elements(listing, base, info_elements(value.type));
    } else if (is_pointer(value.type)) {
        char *expression = NULL;
        if (asprintf(&expression, "%s[0]", base) > 0) {
            put_variable(listing, "*", expression);
            free(expression);
        }
    } else {
        listing->base = base;
        info_members(value.type, list_member, listing);
    }
}

/* Words of shared memory, which the focus reaches. The device says how many there are, and may say anything. */
static void list_shared(struct listing *listing)
{
    const struct session *session = &listing->adapter->session;
    const uint32_t words = PPU_MIN(session->focus.task.shared_bytes / WORD, ADAPTER_REFERENCES);

    for (uint32_t i = 0; i < words; i++) {
        char name[32], text[32], memory[96];
        uint32_t word;
        if (!is_wanted(listing)) {
            continue;
        }
        snprintf(name, sizeof(name), "[%u]", i);
        const uint64_t address = (uint64_t)i * WORD;
        const bool good = session_read(&listing->adapter->session, PPU_DEBUG_SHARED, address, &word, sizeof(word));
        snprintf(text, sizeof(text), good ? "0x%08x" : "<it cannot be read>", good ? word : 0);
        memory_name(listing->adapter, PPU_DEBUG_SHARED, address, memory);
        json_array_append_new(listing->list, json_pack("{s:s, s:s, s:i, s:s}", "name", name, "value", text,
                                                       "variablesReference", 0, "memoryReference", memory));
    }
}

/* ---- lanes ---- */

static const char *lane_word(const struct ppu_debug_warp *warp, uint32_t lane)
{
    const bool active = (warp->active[lane / 32] >> lane % 32 & 1u) != 0;
    const bool live = (warp->live[lane / 32] >> lane % 32 & 1u) != 0;

    return active ? "active" : live ? "waits" : "ended";
}

static void list_lanes(struct listing *listing)
{
    struct adapter *adapter = listing->adapter;
    const struct focus *focus = &adapter->session.focus;

    for (uint32_t lane = 0; lane < session_lanes(&focus->warp); lane++) {
        char name[32], text[64];
        uint32_t id[3];
        if (!is_wanted(listing)) {
            continue;
        }
        session_thread(&focus->warp, lane, id);
        snprintf(name, sizeof(name), "[%u]", lane);
        snprintf(text, sizeof(text), "thread (%u,%u,%u), %s%s", id[0], id[1], id[2], lane_word(&focus->warp, lane),
                 lane == focus->lane ? ", chosen" : "");
        const struct adapter_reference reference = { .kind = REFERENCE_ONE_LANE,
                                                     .thread = threads_frame_id(adapter) / INFO_DEPTH,
                                                     .frame = focus->frame,
                                                     .lane = lane };
        json_array_append_new(listing->list, json_pack("{s:s, s:s, s:i}", "name", name, "value", text,
                                                       "variablesReference", (int)add_reference(adapter, reference)));
    }
}

static void put_fact(struct listing *listing, const char *name, const char *value, bool can_change)
{
    if (is_wanted(listing)) {
        json_t *one = json_pack("{s:s, s:s, s:i}", "name", name, "value", value, "variablesReference", 0);
        if (!can_change) {
            json_object_set_new(one, "presentationHint", json_pack("{s:[s]}", "attributes", "readOnly"));
        }
        json_array_append_new(listing->list, one);
    }
}

static void list_lane(struct listing *listing)
{
    const struct focus *focus = &listing->adapter->session.focus;
    const uint32_t *cta = focus->warp.cta;
    uint32_t id[3];
    char text[64];

    session_thread(&focus->warp, focus->lane, id);
    snprintf(text, sizeof(text), "%u", focus->lane);
    put_fact(listing, "lane", text, true);
    snprintf(text, sizeof(text), "(%u,%u,%u)", id[0], id[1], id[2]);
    put_fact(listing, "thread", text, false);
    snprintf(text, sizeof(text), "(%u,%u,%u)", cta[0], cta[1], cta[2]);
    put_fact(listing, "cta", text, false);
    put_fact(listing, "state", lane_word(&focus->warp, focus->lane), false);
}

/* ---- requests ---- */

static void add_scope(struct adapter *adapter, json_t *list, enum reference_kind kind, const char *name,
                      const char *hint, uint32_t indexed)
{
    const struct focus *focus = &adapter->session.focus;
    const struct adapter_reference reference = {
        .kind = kind, .thread = threads_frame_id(adapter) / INFO_DEPTH, .frame = focus->frame, .lane = ADAPTER_SAME_LANE
    };
    const bool is_cheap = kind == REFERENCE_ARGUMENTS || kind == REFERENCE_LOCALS || kind == REFERENCE_LANE;
    json_t *scope = json_pack("{s:s, s:i, s:b}", "name", name, "variablesReference",
                              (int)add_reference(adapter, reference), "expensive", is_cheap ? 0 : 1);

    if (hint) {
        json_object_set_new(scope, "presentationHint", json_string(hint));
    }
    if (indexed != 0) {
        json_object_set_new(scope, "indexedVariables", json_integer(indexed));
    }
    json_array_append_new(list, scope);
}

json_t *request_scopes(struct adapter *adapter, const json_t *arguments)
{
    const struct focus *focus = &adapter->session.focus;

    if (!threads_focus_frame(adapter, argument_number(arguments, "frameId", 0))) {
        return NULL;
    }
    json_t *list = json_array();
    const struct loaded *loaded = session_loaded(&adapter->session);
    if (loaded && loaded->info) {
        add_scope(adapter, list, REFERENCE_LOCALS, "Locals", "locals", 0);
        add_scope(adapter, list, REFERENCE_ARGUMENTS, "Arguments", "arguments", 0);
    }
    add_scope(adapter, list, REFERENCE_LANE, "Lane", NULL, 0);
    add_scope(adapter, list, REFERENCE_LANES, "Lanes", NULL, session_lanes(&focus->warp));
    if (loaded && loaded->info) {
        add_scope(adapter, list, REFERENCE_GLOBALS, "Program variables", "globals", 0);
    }
    add_scope(adapter, list, REFERENCE_VECTORS, "Vector registers", "registers", 0);
    add_scope(adapter, list, REFERENCE_SCALARS, "Scalar registers", "registers", 0);
    add_scope(adapter, list, REFERENCE_PREDICATES, "Predicates", "registers", 0);
    if (focus->task.shared_bytes >= WORD) {
        add_scope(adapter, list, REFERENCE_SHARED, "Shared memory", NULL, focus->task.shared_bytes / WORD);
    }
    return json_pack("{s:o}", "scopes", list);
}

static void list_reference(struct listing *listing, const struct adapter_reference *reference)
{
    const uint32_t vregs = PPU_MIN(listing->adapter->session.focus.task.vregs, PPU_MAX_VREGS);

    switch (reference->kind) {
    case REFERENCE_ARGUMENTS:
    case REFERENCE_LOCALS:
    case REFERENCE_GLOBALS:
    case REFERENCE_ONE_LANE:
        listing->locals = reference->kind == REFERENCE_LOCALS || reference->kind == REFERENCE_ONE_LANE;
        listing->arguments = reference->kind == REFERENCE_ARGUMENTS || reference->kind == REFERENCE_ONE_LANE;
        listing->globals = reference->kind == REFERENCE_GLOBALS;
        list_variables(listing);
        break;
    case REFERENCE_LANE:
        list_lane(listing);
        break;
    case REFERENCE_LANES:
        list_lanes(listing);
        break;
    case REFERENCE_VECTORS:
        list_registers(listing, 'v', vregs);
        break;
    case REFERENCE_SCALARS:
        list_registers(listing, 's', PPU_SREGS);
        break;
    case REFERENCE_PREDICATES:
        list_registers(listing, 'p', PPU_PREDS);
        break;
    case REFERENCE_SHARED:
        list_shared(listing);
        break;
    case REFERENCE_VALUE:
        break;
    }
}

static bool is_indexed(const struct adapter_reference *reference)
{
    return reference->kind == REFERENCE_LANES || reference->kind == REFERENCE_SHARED;
}

json_t *request_variables(struct adapter *adapter, const json_t *arguments)
{
    const struct adapter_reference *found = use_reference(adapter, argument_number(arguments, "variablesReference", 0));
    const char *filter = argument_text(arguments, "filter");
    struct listing listing = { .adapter = adapter,
                               .first = PPU_MAX(argument_number(arguments, "start", 0), (json_int_t)0),
                               .most = PPU_MAX(argument_number(arguments, "count", 0), (json_int_t)0) };

    if (!found) {
        return NULL;
    }
    const struct adapter_reference reference = *found; /* more are added, which moves them */
    listing.list = json_array();
    listing.lane = reference.lane;
    listing.is_hex = argument_true(json_object_get(arguments, "format"), "hex");
    if (filter && strcmp(filter, "named") == 0 && is_indexed(&reference)) {
        return json_pack("{s:o}", "variables", listing.list);
    }
    if (reference.kind == REFERENCE_VALUE) {
        char *base = strdup(reference.expression);
        if (base) {
            list_value(&listing, base);
        }
        free(base);
    } else {
        list_reference(&listing, &reference);
    }
    return json_pack("{s:o}", "variables", listing.list);
}

char *variables_expression(struct adapter *adapter, json_int_t number, const char *name)
{
    const struct adapter_reference *reference = use_reference(adapter, number);
    char *text = NULL;

    if (!reference || !name || strlen(name) >= NAME_BYTES) {
        if (reference) {
            (void)adapter_refuse(adapter, "\"name\" names nothing");
        }
        return NULL;
    }
    if (reference->kind != REFERENCE_VALUE) {
        return strdup(name);
    }
    const char *base = reference->expression;
    const int bytes = strcmp(name, "*") == 0 ? asprintf(&text, "%s[0]", base)
                      : name[0] == '['       ? asprintf(&text, "%s%s", base, name)
                                             : asprintf(&text, "%s.%s", base, name);
    return bytes > 0 ? text : NULL;
}

/* ---- writing ---- */

/* Writes an expression's value and tells what it is then. */
static json_t *assign(struct adapter *adapter, const char *expression, const char *text, uint32_t lane, bool is_hex)
{
    struct session *session = &adapter->session;
    const char *why = NULL;
    struct value to, from;

    if (!value_of(session, expression, &to, &why) || !value_of(session, text, &from, &why) ||
        !value_assign(session, &to, &from, &why) || !value_of(session, expression, &to, &why)) {
        return adapter_refuse(adapter, "%.128s: %s", expression, why ? why : "it cannot be written");
    }
    char *value = variables_text(adapter, &to, is_hex);
    if (!value) {
        return NULL;
    }
    json_t *answer = json_pack("{s:o}", "value", wire_text(value, strlen(value)));
    variables_describe(adapter, answer, expression, &to, lane);
    free(value);
    return answer;
}

/* Chooses the lane that a thread is looked at in. */
static json_t *choose_lane(struct adapter *adapter, const char *text)
{
    struct session *session = &adapter->session;
    const uint32_t lanes = session_lanes(&session->focus.warp);
    char *end;
    const unsigned long lane = strtoul(text, &end, 10);
    char word[16];

    if (!isdigit((unsigned char)text[0]) || *end != 0 || lane >= lanes) {
        return adapter_refuse(adapter, "lane \"%.32s\": the warp has %u lanes", text, lanes);
    }
    session->focus.lane = (uint32_t)lane;
    const struct adapter_thread *thread = threads_of_focus(adapter);
    if (thread) {
        adapter_tell_changed(adapter, thread->id);
    }
    snprintf(word, sizeof(word), "%lu", lane);
    return json_pack("{s:s}", "value", word);
}

static json_t *set_shared(struct adapter *adapter, const char *name, const char *text)
{
    struct session *session = &adapter->session;
    const char *why = NULL;
    struct value from;
    int64_t number;
    char *end, word[16];
    const unsigned long index = name[0] == '[' ? strtoul(name + 1, &end, 10) : UINT32_MAX;

    if (index >= session->focus.task.shared_bytes / WORD) {
        return adapter_refuse(adapter, "there is no word %.32s of shared memory", name);
    }
    if (!value_of(session, text, &from, &why) || !value_number(session, &from, &number, &why)) {
        return adapter_refuse(adapter, "%.128s: %s", text, why);
    }
    const uint32_t bits = (uint32_t)number;
    if (!session_write(session, PPU_DEBUG_SHARED, (uint64_t)index * WORD, &bits, sizeof(bits))) {
        return adapter_refuse(adapter, "%s", box_why(&session->box));
    }
    snprintf(word, sizeof(word), "0x%08x", bits);
    return json_pack("{s:s}", "value", word);
}

json_t *request_set_variable(struct adapter *adapter, const json_t *arguments)
{
    const json_int_t number = argument_number(arguments, "variablesReference", 0);
    const char *name = argument_text(arguments, "name"), *text = argument_text(arguments, "value");
    char *expression = variables_expression(adapter, number, name);
    json_t *answer = NULL;

    if (!expression) {
        return NULL;
    }
    const struct adapter_reference reference = adapter->reference[number - 1];
    if (!text) {
        answer = adapter_refuse(adapter, "\"value\" is missing");
    } else if (reference.kind == REFERENCE_SHARED) {
        answer = set_shared(adapter, name, text);
    } else if (reference.kind == REFERENCE_LANE && strcmp(name, "lane") == 0) {
        answer = choose_lane(adapter, text);
    } else if (reference.kind == REFERENCE_LANE || reference.kind == REFERENCE_LANES) {
        answer = adapter_refuse(adapter, "%s cannot be changed", name);
    } else {
        const bool is_hex = argument_true(json_object_get(arguments, "format"), "hex");
        answer = assign(adapter, expression, text, reference.lane, is_hex);
    }
    free(expression);
    return answer;
}

json_t *request_set_expression(struct adapter *adapter, const json_t *arguments)
{
    const char *expression = argument_text(arguments, "expression"), *text = argument_text(arguments, "value");
    const json_int_t frame = argument_number(arguments, "frameId", 0);

    if (!expression || !text) {
        return adapter_refuse(adapter, "\"expression\" or \"value\" is missing");
    }
    if (frame != 0 && !threads_focus_frame(adapter, frame)) {
        return NULL;
    }
    if (!threads_focus_stands(adapter)) {
        return NULL;
    }
    return assign(adapter, expression, text, ADAPTER_SAME_LANE,
                  argument_true(json_object_get(arguments, "format"), "hex"));
}
