/* SPDX-License-Identifier: MIT */
#include "tools/dbg/value.h"
#include "tools/dbg/frames.h"

#include <ctype.h>
#include <dwarf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"

#define NAME_BYTES 64u
#define DEEPEST 64u /* parentheses and operators within one another */
#define MOST_BYTES (1u << 20)

struct parser {
    struct session *session;
    const char *at;
    const char *why; /* NULL: nothing is wrong so far */
    uint32_t depth;
};

static bool fails(struct parser *parser, const char *why)
{
    parser->why = parser->why ? parser->why : why;
    return false;
}

static void skip_blanks(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at)) {
        parser->at++;
    }
}

static bool takes(struct parser *parser, const char *word)
{
    skip_blanks(parser);
    if (strncmp(parser->at, word, strlen(word)) != 0) {
        return false;
    }
    parser->at += strlen(word);
    return true;
}

/* ---- values ---- */

static struct value number_value(int64_t number)
{
    return (struct value){ .kind = VALUE_NUMBER, .number = number };
}

/* Bytes of an object of at most 8; sign-extended where its type is signed. */
static bool load_scalar(struct session *session, const struct value *object, struct value *value, const char **why)
{
    const uint64_t bytes = info_bytes(object->type);
    uint64_t word = 0;
    float single;

    if (bytes == 0 || bytes > sizeof(word) || (info_elements(object->type) != 0 && info_bytes(object->type) > 8)) {
        *why = "it is no number";
        return false;
    }
    if (!session_read(session, object->space, object->address, &word, bytes)) {
        *why = box_why(&session->box);
        return false;
    }
    *value = number_value((int64_t)word);
    if (info_is_float(object->type) && bytes == sizeof(single)) {
        memcpy(&single, &word, sizeof(single));
        value->kind = VALUE_FLOAT;
        value->real = (double)single;
    } else if (info_is_float(object->type) && bytes == sizeof(double)) {
        value->kind = VALUE_FLOAT;
        memcpy(&value->real, &word, sizeof(value->real));
    } else if (info_is_signed(object->type) && bytes < sizeof(word) && (word >> (8 * bytes - 1) & 1u) != 0) {
        value->number = (int64_t)(word | ~0ull << (8 * bytes));
    } else {
        value->is_unsigned = !info_is_signed(object->type);
    }
    return true;
}

/* A number or a float in place of what holds it. */
static bool load_number(struct session *session, const struct value *from, struct value *value, const char **why)
{
    if (from->kind == VALUE_OBJECT) {
        return load_scalar(session, from, value, why);
    }
    *value = *from;
    value->kind = from->kind == VALUE_REGISTER ? VALUE_NUMBER : from->kind;
    return true;
}

bool value_number(struct session *session, const struct value *value, int64_t *number, const char **why)
{
    struct value loaded;

    if (!load_number(session, value, &loaded, why)) {
        return false;
    }
    *number = loaded.kind == VALUE_FLOAT ? (int64_t)loaded.real : loaded.number;
    return true;
}

/* ---- names ---- */

static bool read_register(struct parser *parser, char bank, uint32_t number, struct value *value)
{
    struct session *session = parser->session;
    const uint32_t lane = session->focus.lane, size = PPU_MAX_WAVE_WORDS;
    struct ppu_debug_request request = { .op = bank == 's'   ? PPU_DEBUG_DO_READ_SCALAR
                                               : bank == 'p' ? PPU_DEBUG_DO_READ_PREDICATES
                                                             : PPU_DEBUG_DO_READ_VECTOR,
                                         .at = session->focus.warp.at,
                                         .number = number,
                                         .count = 1 };
    uint32_t at = bank == 's' ? number : bank == 'p' ? number * size + lane / 32 : lane, word;

    if (number >= (bank == 's' ? PPU_SREGS : bank == 'p' ? PPU_PREDS : PPU_MAX_VREGS)) {
        return fails(parser, "there is no such register");
    }
    if (!box_done(&session->box, &request) || (at + 1) * sizeof(word) > session->box.answer.bytes) {
        return fails(parser, "there is no such register now");
    }
    memcpy(&word, session->box.answer.data + at * sizeof(word), sizeof(word));
    *value = (struct value){ .kind = VALUE_REGISTER, .bank = bank, .reg = number };
    value->number = bank == 'p' ? word >> lane % 32 & 1u : word;
    return true;
}

static bool special(struct parser *parser, const char *name, struct value *value)
{
    const struct focus *focus = &parser->session->focus;
    char *end;

    if (!focus->valid) {
        return fails(parser, SESSION_NONE_STANDS);
    }
    if (strcmp(name, "pc") == 0) {
        *value = number_value((int64_t)(focus->task.code_va + (uint64_t)focus->warp.pc * PPU_INSN_BYTES));
        value->is_address = true;
        return true;
    }
    if (strcmp(name, "lane") == 0 || strcmp(name, "warp") == 0) {
        *value = number_value(name[0] == 'l' ? focus->lane : focus->warp.number);
        return true;
    }
    const uint32_t number = (uint32_t)strtoul(name + 1, &end, 10);
    return strchr("vsp", name[0]) && end != name + 1 && *end == 0 ? read_register(parser, name[0], number, value)
                                                                  : fails(parser, "there is no such register");
}

/* The program's variables lie where the implicit arguments say. */
static bool locate_variable(struct parser *parser, const struct loaded *loaded, struct value *value)
{
    struct session *session = parser->session;
    uint64_t base = 0;

    if (value->space == PPU_DEBUG_CONSTANT) {
        value->address += session->focus.task.code_va;
    }
    if (value->space != PPU_DEBUG_VARIABLES) {
        return true;
    }
    for (uint32_t i = 0; i < loaded->view.header->kernels; i++) {
        const struct ppu_kernel_entry *kernel = &loaded->view.kernels[i];
        if (kernel->entry == session->focus.task.entry && kernel->implicit_at != 0 &&
            session_read(session, PPU_DEBUG_PARAMETER,
                         kernel->implicit_at + offsetof(struct ppu_implicit_args, variables_va), &base, sizeof(base))) {
            value->address += base;
            return true;
        }
    }
    return fails(parser, "it is not known where the program's variables are");
}

static bool variable(struct parser *parser, const char *name, struct value *value)
{
    const struct loaded *loaded = session_loaded(parser->session);
    struct info_variable found;
    struct frame frame = { .insn = parser->session->focus.warp.pc };

    if (!loaded || !loaded->info) {
        return fails(parser, loaded ? SESSION_NO_VARIABLES : SESSION_NONE_STANDS);
    }
    (void)frames_chosen(parser->session, &frame); /* outside of functions there are the program's variables */
    if (!info_find(loaded->info, frame.insn, frame.inlined, name, &found)) {
        return fails(parser, "there is no variable of this name here");
    }
    if (found.where == INFO_LOST) {
        return fails(parser, "optimised out");
    }
    *value = (struct value){ .kind = VALUE_OBJECT, .type = found.type, .space = found.space, .address = found.value };
    if (found.where == INFO_CONSTANT) {
        *value = number_value((int64_t)found.value);
        value->is_unsigned = !info_is_signed(found.type);
        return true;
    }
    return locate_variable(parser, loaded, value);
}

static bool name_of(struct parser *parser, char name[NAME_BYTES])
{
    uint32_t bytes = 0;

    skip_blanks(parser);
    while ((isalnum((unsigned char)parser->at[bytes]) || parser->at[bytes] == '_') && bytes < NAME_BYTES - 1) {
        bytes++;
    }
    memcpy(name, parser->at, bytes);
    name[bytes] = 0;
    parser->at += bytes;
    return bytes != 0 || fails(parser, "a name is missing");
}

/* ---- grammar ---- */

static bool expression(struct parser *parser, uint32_t level, struct value *value);

static bool literal(struct parser *parser, struct value *value)
{
    char *end, *real_end;
    const unsigned long long whole = strtoull(parser->at, &end, 0);
    const double real = strtod(parser->at, &real_end);

    *value = number_value((int64_t)whole);
    if (real_end > end) {
        *value = (struct value){ .kind = VALUE_FLOAT, .real = real };
        end = real_end;
    }
    while (strchr("uUlLfF", *end) && *end) {
        end++;
    }
    parser->at = end;
    return true;
}

static bool primary(struct parser *parser, struct value *value)
{
    char name[NAME_BYTES];

    skip_blanks(parser);
    if (takes(parser, "(")) {
        return expression(parser, 0, value) && (takes(parser, ")") || fails(parser, ") is missing"));
    }
    if (isdigit((unsigned char)*parser->at) || *parser->at == '.') {
        return literal(parser, value);
    }
    if (takes(parser, "$")) {
        return name_of(parser, name) && special(parser, name, value);
    }
    return name_of(parser, name) && variable(parser, name, value);
}

/* What a pointer points to, or the first element. */
static bool points_to(struct parser *parser, struct value *value)
{
    Dwarf_Die target;
    enum ppu_debug_space space;
    struct value pointer;

    if (value->kind != VALUE_OBJECT || !info_target(value->type, &target, &space)) {
        return fails(parser, "it is no pointer");
    }
    Dwarf_Die stripped = info_strip(value->type);
    if (dwarf_tag(&stripped) == DW_TAG_pointer_type) {
        if (!load_scalar(parser->session, value, &pointer, &parser->why)) {
            return false;
        }
        value->address = (uint64_t)pointer.number;
        value->space = space;
    }
    value->type = target;
    return true;
}

static bool index_of(struct parser *parser, struct value *value)
{
    struct value index;
    int64_t number;

    if (!expression(parser, 0, &index) || !value_number(parser->session, &index, &number, &parser->why) ||
        !points_to(parser, value)) {
        return false;
    }
    value->address += (uint64_t)number * info_bytes(value->type);
    return takes(parser, "]") || fails(parser, "] is missing");
}

static bool member_of(struct parser *parser, struct value *value)
{
    char name[NAME_BYTES];
    Dwarf_Die member;
    uint64_t offset;

    if (!name_of(parser, name)) {
        return false;
    }
    if (value->kind != VALUE_OBJECT || !info_member(value->type, name, &member, &offset)) {
        return fails(parser, "there is no member of this name");
    }
    value->type = member;
    value->address += offset;
    return true;
}

static bool postfix(struct parser *parser, struct value *value)
{
    bool good = primary(parser, value);

    while (good) {
        if (takes(parser, "[")) {
            good = index_of(parser, value);
        } else if (takes(parser, "->")) {
            good = points_to(parser, value) && member_of(parser, value);
        } else if (takes(parser, ".")) {
            good = member_of(parser, value);
        } else {
            break;
        }
    }
    return good;
}

static bool negate(struct parser *parser, char sign, struct value *value)
{
    struct value loaded;

    if (!load_number(parser->session, value, &loaded, &parser->why)) {
        return false;
    }
    *value = loaded;
    if (sign == '!') {
        *value = number_value(loaded.kind == VALUE_FLOAT ? loaded.real == 0 : loaded.number == 0);
    } else if (sign == '~') {
        value->number = ~loaded.number;
    } else {
        value->number = (int64_t)(0 - (uint64_t)loaded.number);
        value->real = -loaded.real;
    }
    return true;
}

static bool unary(struct parser *parser, struct value *value)
{
    bool good;

    if (++parser->depth > DEEPEST) {
        return fails(parser, "it is nested too deeply");
    }
    if (takes(parser, "*")) {
        good = unary(parser, value) && points_to(parser, value);
    } else if (takes(parser, "&")) {
        good = unary(parser, value) && (value->kind == VALUE_OBJECT || fails(parser, "it has no address"));
        *value = good ? number_value((int64_t)value->address) : *value;
        value->is_address = good;
    } else if (takes(parser, "-")) {
        good = unary(parser, value) && negate(parser, '-', value);
    } else if (takes(parser, "!")) {
        good = unary(parser, value) && negate(parser, '!', value);
    } else if (takes(parser, "~")) {
        good = unary(parser, value) && negate(parser, '~', value);
    } else {
        good = postfix(parser, value);
    }
    parser->depth--;
    return good;
}

/* Longer words come first. */
static const struct {
    const char *word;
    uint32_t level;
} operators[] = {
    { "||", 1 }, { "&&", 2 }, { "==", 6 }, { "!=", 6 }, { "<<", 8 }, { ">>", 8 }, { "<=", 7 }, { ">=", 7 }, { "|", 3 },
    { "^", 4 },  { "&", 5 },  { "<", 7 },  { ">", 7 },  { "+", 9 },  { "-", 9 },  { "*", 10 }, { "/", 10 }, { "%", 10 },
};

static bool real_result(const char *word, double a, double b, struct value *value)
{
    *value = number_value(0);
    switch (word[0]) {
    case '=':
        value->number = a == b;
        return true;
    case '!':
        value->number = a != b;
        return true;
    case '<':
        value->number = word[1] == '=' ? a <= b : a < b;
        return word[1] != '<';
    case '>':
        value->number = word[1] == '=' ? a >= b : a > b;
        return word[1] != '>';
    case '+':
    case '-':
    case '*':
    case '/':
        *value = (struct value){ .kind = VALUE_FLOAT };
        value->real = word[0] == '+' ? a + b : word[0] == '-' ? a - b : word[0] == '*' ? a * b : a / b;
        return true;
    default:
        return false;
    }
}

static int64_t whole_quotient(const char *word, int64_t a, int64_t b, bool is_unsigned)
{
    if (b == -1 && !is_unsigned) {
        return word[0] == '/' ? (int64_t)(0 - (uint64_t)a) : 0;
    }
    if (is_unsigned) {
        return (int64_t)(word[0] == '/' ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
    }
    return word[0] == '/' ? a / b : a % b;
}

static int compare(int64_t a, int64_t b, bool is_unsigned)
{
    return a == b ? 0 : (is_unsigned ? (uint64_t)a < (uint64_t)b : a < b) ? -1 : 1;
}

static int64_t whole_result(const char *word, int64_t a, int64_t b, bool is_unsigned)
{
    const int order = compare(a, b, is_unsigned);
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

    switch (word[0]) {
    case '|':
        return word[1] == '|' ? a != 0 || b != 0 : (int64_t)(ua | ub);
    case '&':
        return word[1] == '&' ? a != 0 && b != 0 : (int64_t)(ua & ub);
    case '^':
        return (int64_t)(ua ^ ub);
    case '=':
        return order == 0;
    case '!':
        return order != 0;
    case '<':
        return word[1] == '<' ? (int64_t)(ua << (ub & 63)) : word[1] == '=' ? order <= 0 : order < 0;
    case '>':
        return word[1] == '>' ? (int64_t)(ua >> (ub & 63)) : word[1] == '=' ? order >= 0 : order > 0;
    case '+':
        return (int64_t)(ua + ub);
    case '-':
        return (int64_t)(ua - ub);
    case '*':
        return (int64_t)(ua * ub);
    default:
        return whole_quotient(word, a, b, is_unsigned);
    }
}

static bool compute(struct parser *parser, const char *word, struct value *value, const struct value *right)
{
    struct value a, b;

    if (!load_number(parser->session, value, &a, &parser->why) ||
        !load_number(parser->session, right, &b, &parser->why)) {
        return false;
    }
    if (a.kind == VALUE_FLOAT || b.kind == VALUE_FLOAT) {
        return real_result(word, a.kind == VALUE_FLOAT ? a.real : (double)a.number,
                           b.kind == VALUE_FLOAT ? b.real : (double)b.number, value) ||
               fails(parser, "this is not done with floats");
    }
    if ((word[0] == '/' || word[0] == '%') && b.number == 0) {
        return fails(parser, "it divides by 0");
    }
    *value = number_value(whole_result(word, a.number, b.number, a.is_unsigned || b.is_unsigned));
    value->is_unsigned = a.is_unsigned || b.is_unsigned;
    return true;
}

/* Operators of a level or tighter. */
static bool expression(struct parser *parser, uint32_t level, struct value *value)
{
    bool good = ++parser->depth <= DEEPEST ? unary(parser, value) : fails(parser, "it is nested too deeply");

    while (good) {
        uint32_t i = 0;
        struct value right;
        skip_blanks(parser);
        while (i < PPU_ARRAY_SIZE(operators) &&
               strncmp(parser->at, operators[i].word, strlen(operators[i].word)) != 0) {
            i++;
        }
        if (i == PPU_ARRAY_SIZE(operators) || operators[i].level <= level) {
            break;
        }
        parser->at += strlen(operators[i].word);
        good = expression(parser, operators[i].level, &right) && compute(parser, operators[i].word, value, &right);
    }
    parser->depth--;
    return good;
}

bool value_of(struct session *session, const char *text, struct value *value, const char **why)
{
    struct parser parser = { .session = session, .at = text };
    bool good = expression(&parser, 0, value);

    skip_blanks(&parser);
    if (good && *parser.at != 0) {
        good = fails(&parser, "something is behind it that does not belong there");
    }
    *why = parser.why;
    return good;
}

/* ---- printing and writing ---- */

static bool print_object(struct session *session, const struct value *value, const char **why)
{
    const uint64_t bytes = info_bytes(value->type);
    uint8_t *content = bytes != 0 && bytes <= MOST_BYTES ? malloc(bytes) : NULL;
    bool good = content && session_read(session, value->space, value->address, content, bytes);

    if (good) {
        info_print(value->type, content, session->out);
        fputc('\n', session->out);
    } else {
        *why = content ? box_why(&session->box) : "its size is not known";
    }
    free(content);
    return good;
}

bool value_print(struct session *session, const struct value *value, char format, const char **why)
{
    int64_t number;

    if (format == 0 && value->kind == VALUE_OBJECT) {
        return print_object(session, value, why);
    }
    if (format == 0 && value->kind == VALUE_FLOAT) {
        fprintf(session->out, "%.9g\n", value->real);
        return true;
    }
    if (!value_number(session, value, &number, why)) {
        return false;
    }
    if (format == 'x' || value->is_address) {
        uint64_t bytes = value->kind == VALUE_OBJECT ? info_bytes(value->type) : sizeof(number);
        uint64_t mask = bytes < sizeof(number) ? (1ull << 8 * bytes) - 1 : ~0ull;
        fprintf(session->out, "0x%llx\n", (unsigned long long)((uint64_t)number & mask));
    } else if (value->is_unsigned) {
        fprintf(session->out, "%llu\n", (unsigned long long)number);
    } else {
        fprintf(session->out, "%lld\n", (long long)number);
    }
    return true;
}

static bool assign_register(struct session *session, const struct value *to, int64_t number)
{
    struct ppu_debug_request request = { .op = to->bank == 's' ? PPU_DEBUG_DO_WRITE_SCALAR : PPU_DEBUG_DO_WRITE_VECTOR,
                                         .at = session->focus.warp.at,
                                         .number = to->reg,
                                         .value = (uint64_t)number };
    const uint32_t lane = session->focus.lane;

    request.lanes[lane / 32] = 1u << lane % 32;
    if (to->bank == 'p') {
        struct ppu_debug_request read = { .op = PPU_DEBUG_DO_READ_PREDICATES, .at = session->focus.warp.at };
        const uint64_t at = (uint64_t)to->reg * sizeof(request.lanes);
        if (!box_done(&session->box, &read) || at + sizeof(request.lanes) > session->box.answer.bytes) {
            return false;
        }
        memcpy(request.lanes, session->box.answer.data + at, sizeof(request.lanes));
        request.op = PPU_DEBUG_DO_WRITE_PREDICATE;
        request.lanes[lane / 32] &= ~(1u << lane % 32);
        request.lanes[lane / 32] |= (uint32_t)(number != 0) << lane % 32;
    }
    return box_done(&session->box, &request);
}

bool value_assign(struct session *session, const struct value *to, const struct value *from, const char **why)
{
    struct value loaded;

    if (!load_number(session, from, &loaded, why)) {
        return false;
    }
    const double real = loaded.kind == VALUE_FLOAT ? loaded.real : (double)loaded.number;
    const int64_t number = loaded.kind == VALUE_FLOAT ? (int64_t)loaded.real : loaded.number;
    const uint64_t bytes = to->kind == VALUE_OBJECT ? info_bytes(to->type) : 0;
    const float single = (float)real;
    bool good = false;

    *why = "it cannot be written";
    if (to->kind == VALUE_REGISTER) {
        good = assign_register(session, to, number);
    } else if (to->kind == VALUE_OBJECT && bytes <= sizeof(number) && bytes != 0 &&
               (!info_is_float(to->type) || bytes >= sizeof(single))) {
        const void *content = !info_is_float(to->type)  ? (const void *)&number
                              : bytes == sizeof(single) ? (const void *)&single
                                                        : (const void *)&real;
        good = session_write(session, to->space, to->address, content, (uint32_t)bytes);
        *why = good ? NULL : box_why(&session->box);
    }
    return good;
}
