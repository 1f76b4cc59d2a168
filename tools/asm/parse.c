/* SPDX-License-Identifier: MIT */
/* Parses one instruction: modifiers, operands and immediates. */
#include "tools/asm/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cursor ---- */

void cursor_fail(struct cursor *cur, const char *at, const char *format, ...)
{
    va_list args;

    if (cur->failed) {
        return;
    }
    cur->failed = true;
    int n = snprintf(cur->message, PPUASM_MESSAGE_BYTES, "%.96s:%u:%u: error: ", cur->file, cur->line,
                     (unsigned)(at - cur->start) + 1u);
    va_start(args, format);
    vsnprintf(cur->message + n, (size_t)(PPUASM_MESSAGE_BYTES - n), format, args);
    va_end(args);
}

void cursor_space(struct cursor *cur)
{
    while (cur->at < cur->end && isspace((unsigned char)*cur->at)) {
        cur->at++;
    }
}

bool cursor_take(struct cursor *cur, char c)
{
    cursor_space(cur);
    if (cur->at < cur->end && *cur->at == c) {
        cur->at++;
        return true;
    }
    return false;
}

bool cursor_done(struct cursor *cur)
{
    cursor_space(cur);
    return cur->at == cur->end || *cur->at == '#' || *cur->at == ';' ||
           (*cur->at == '/' && cur->at + 1 < cur->end && cur->at[1] == '/');
}

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '%';
}

const char *cursor_name(struct cursor *cur, size_t *len)
{
    cursor_space(cur);
    const char *start = cur->at;
    if (start == cur->end || !name_char(*start) || isdigit((unsigned char)*start)) {
        return NULL;
    }
    while (cur->at < cur->end && name_char(*cur->at)) {
        cur->at++;
    }
    *len = (size_t)(cur->at - start);
    return start;
}

/* Copies the letters of a number so that strtod() and strtoull() stop at the end of the line. */
static const char *number_text(struct cursor *cur, char *buf, size_t size)
{
    size_t len = 0;

    cursor_space(cur);
    while (cur->at + len < cur->end && len + 1 < size &&
           (isalnum((unsigned char)cur->at[len]) || strchr("+-._", cur->at[len]))) {
        buf[len] = cur->at[len];
        len++;
    }
    buf[len] = 0;
    return buf;
}

const struct asm_symbol *symbols_find(const struct asm_symbols *symbols, const char *name, size_t len)
{
    for (size_t i = 0; i < symbols->count; i++) {
        if (strlen(symbols->list[i].name) == len && memcmp(symbols->list[i].name, name, len) == 0) {
            return &symbols->list[i];
        }
    }
    return NULL;
}

/* The value of a symbol, also of a negated one. */
static bool take_symbol(struct cursor *cur, int64_t *value)
{
    const char *save = cur->at;
    bool minus = cursor_take(cur, '-');
    size_t len = 0;
    const char *name = cursor_name(cur, &len);
    const struct asm_symbol *symbol = name ? symbols_find(cur->symbols, name, len) : NULL;

    if (!symbol) {
        cur->at = save;
        return false;
    }
    *value = minus ? (int64_t)(0ull - (uint64_t)symbol->value) : symbol->value;
    return true;
}

bool cursor_number(struct cursor *cur, int64_t *value)
{
    char buf[64], *end;
    const char *text = number_text(cur, buf, sizeof(buf));
    const char *digits = text + (*text == '-' || *text == '+');

    if (!isdigit((unsigned char)*digits)) {
        return take_symbol(cur, value);
    }
    errno = 0;
    unsigned long long magnitude = strtoull(digits, &end, 0);
    if (errno || name_char(*end)) {
        cursor_fail(cur, cur->at, "malformed number");
        return false;
    }
    *value = (int64_t)(*text == '-' ? 0ull - magnitude : magnitude);
    cur->at += end - text;
    return true;
}

/* ---- operands ---- */

static void expect(struct cursor *cur, char c)
{
    if (!cursor_take(cur, c)) {
        cursor_fail(cur, cur->at, "expected '%c'", c);
    }
}

/* "v12" or "s3"; the number must end the name. */
static bool take_register(struct cursor *cur, uint8_t *reg, uint8_t *scalar)
{
    const char *save = cur->at;
    size_t len;
    unsigned number = 0;

    const char *name = cursor_name(cur, &len);
    if (!name || (name[0] != 'v' && name[0] != 's') || len < 2 || len > 4) {
        cur->at = save;
        return false;
    }
    for (size_t i = 1; i < len; i++) {
        if (!isdigit((unsigned char)name[i])) {
            cur->at = save;
            return false;
        }
        number = number * 10u + (unsigned)(name[i] - '0');
    }
    if (number >= (name[0] == 's' ? PPU_SREGS : PPU_MAX_VREGS)) {
        cursor_fail(cur, name, "no such register");
    }
    *reg = (uint8_t)number;
    *scalar = name[0] == 's';
    return true;
}

static void need_register(struct cursor *cur, uint8_t *reg, uint8_t *scalar)
{
    cursor_space(cur);
    if (!take_register(cur, reg, scalar)) {
        cursor_fail(cur, cur->at, "expected a register");
    }
}

static uint8_t need_predicate(struct cursor *cur, bool may_negate)
{
    bool negate = may_negate && cursor_take(cur, '!');
    size_t len;

    cursor_space(cur);
    const char *name = cursor_name(cur, &len);
    if (!name || len != 2 || name[0] != 'p' || name[1] < '0' || name[1] >= (char)('0' + PPU_PREDS)) {
        cursor_fail(cur, name ? name : cur->at, "expected a predicate p0 to p7");
        return 0;
    }
    return (uint8_t)((unsigned)(name[1] - '0') | (negate ? PPU_PRED_NEGATE : 0u));
}

/* Source register with its float modifiers: -v1, |v1|, -|v1|. */
static bool take_source(struct cursor *cur, const struct ppu_isa_row *row, struct ppu_insn *insn, unsigned which,
                        uint8_t *reg, uint8_t *scalar)
{
    static const uint8_t negate[] = { PPU_FMOD_NEG_A, PPU_FMOD_NEG_B, PPU_FMOD_NEG_C };
    static const uint8_t absolute[] = { PPU_FMOD_ABS_A, PPU_FMOD_ABS_B, 0 };
    bool minus = false, bars = false;

    cursor_space(cur);
    const char *save = cur->at;
    if (row->flags & PPU_IF_F) {
        minus = cursor_take(cur, '-');
        bars = cursor_take(cur, '|');
    }
    if (!take_register(cur, reg, scalar)) {
        cur->at = save;
        return false;
    }
    if (bars) {
        expect(cur, '|');
    }
    if (bars && !absolute[which]) {
        cursor_fail(cur, save, "operand c has no absolute value");
    }
    insn->fmod |= (uint8_t)((minus ? negate[which] : 0) | (bars ? absolute[which] : 0));
    return true;
}

static void need_source(struct cursor *cur, const struct ppu_isa_row *row, struct ppu_insn *insn, unsigned which,
                        uint8_t *reg, uint8_t *scalar)
{
    if (!take_source(cur, row, insn, which, reg, scalar)) {
        cursor_fail(cur, cur->at, "expected a register");
    }
}

static int32_t float_bits(const struct ppu_isa_row *row, double value)
{
    union {
        double d;
        uint64_t u;
    } wide = { .d = value };
    union {
        float f;
        uint32_t u;
    } narrow = { .f = (float)value };

    return (int32_t)(row->widths[2] == '2' ? (uint32_t)(wide.u >> 32) : narrow.u);
}

/* Immediate of 32 bits; float operations take 1.5 as well as its bits. */
static int32_t need_immediate(struct cursor *cur, const struct ppu_isa_row *row)
{
    char buf[64], *end;
    const char *text = number_text(cur, buf, sizeof(buf));
    bool hex = strstr(text, "0x");
    const char *at = cur->at;
    int64_t value = 0;

    cursor_space(cur);
    if (take_symbol(cur, &value)) {
        if (value < INT32_MIN || value > (int64_t)UINT32_MAX) {
            cursor_fail(cur, at, "number does not fit in 32 bits");
        }
        return (int32_t)value;
    }
    if (row && (row->flags & PPU_IF_X) && !hex && (strpbrk(text, ".en"))) {
        double number = strtod(text, &end);
        if (end == text || name_char(*end)) {
            cursor_fail(cur, cur->at, "malformed number");
            return 0;
        }
        cur->at += end - text;
        return float_bits(row, number);
    }
    if (!cursor_number(cur, &value)) {
        cursor_fail(cur, cur->at, "expected a register or a number");
    } else if (value < INT32_MIN || value > (int64_t)UINT32_MAX) {
        cursor_fail(cur, at, "number does not fit in 32 bits");
    }
    return (int32_t)value;
}

static void parse_b(struct cursor *cur, const struct ppu_isa_row *row, struct ppu_insn *insn)
{
    if (!take_source(cur, row, insn, 1, &insn->rb, &insn->b_scalar)) {
        insn->immed = 1;
        insn->imm = need_immediate(cur, row);
    }
}

static void parse_offset(struct cursor *cur, struct ppu_insn *insn)
{
    int64_t value = 0;
    const char *at = cur->at;

    if (!cursor_number(cur, &value)) {
        cursor_fail(cur, at, "expected an offset");
    } else if (value < -(1 << 18) || value >= 1 << 18) {
        cursor_fail(cur, at, "offset does not fit in 19 bits");
    }
    insn->imm = (int32_t)value;
}

/* *4: the lane offset is an index of accesses of so many bytes. */
static void parse_index(struct cursor *cur, struct ppu_insn *insn)
{
    const uint32_t bytes = ppu_isa_bytes(insn);
    const char *const at = cur->at;
    int64_t value = 0;

    if (!ppu_isa_may_index(insn->format)) {
        cursor_fail(cur, at, "this instruction has no index");
    } else if (!cursor_number(cur, &value) || value != bytes) {
        cursor_fail(cur, at, "an index counts accesses of %u bytes", bytes);
    }
    insn->indexed = 1;
}

/* [v2+8], [s2+v3+8], [s2+v3*4+8], [s2+8], [8] */
static void parse_address(struct cursor *cur, struct ppu_insn *insn, enum ppu_operand operand)
{
    bool atomic = operand == PPU_OPERAND_PLACE;
    uint8_t *offset = atomic ? &insn->rc : &insn->rb, scalar = 0;

    expect(cur, '[');
    cursor_space(cur);
    if (!take_register(cur, &insn->ra, &insn->a_scalar)) {
        insn->no_base = 1;
        parse_offset(cur, insn);
    } else {
        cursor_space(cur);
        const char *save = cur->at;
        if (cursor_take(cur, '+') && (cursor_space(cur), take_register(cur, offset, &scalar))) {
            insn->lane_off = operand != PPU_OPERAND_WORDS;
            if (scalar) {
                cursor_fail(cur, save, "lane offset is a vector register");
            }
            cursor_space(cur);
            if (cursor_take(cur, '*')) {
                cursor_space(cur);
                parse_index(cur, insn);
                cursor_space(cur);
            }
        } else {
            cur->at = save;
        }
        if (cursor_take(cur, '+') || (cur->at < cur->end && *cur->at == '-')) {
            parse_offset(cur, insn);
        }
    }
    if (atomic && (insn->imm || insn->no_base)) {
        cursor_fail(cur, cur->at, "atomics have a base and no constant offset");
    }
    expect(cur, ']');
}

static void parse_target(struct cursor *cur, struct ppu_insn *insn, struct asm_insn *out, enum target_kind kind)
{
    int64_t value;
    size_t len;
    const char *name;

    insn->immed = 1;
    cursor_space(cur);
    if (kind == TARGET_RELATIVE && cur->at + 1 < cur->end && *cur->at == '.' && strchr("+-", cur->at[1])) {
        cur->at++;
        insn->imm = need_immediate(cur, NULL);
    } else if (cursor_number(cur, &value)) {
        if (kind == TARGET_RELATIVE || value < 0 || value > (int64_t)UINT32_MAX) {
            cursor_fail(cur, cur->at, "expected a label");
        }
        insn->imm = (int32_t)value;
    } else if ((name = cursor_name(cur, &len)) && len < ASM_NAME_BYTES) {
        memcpy(out->label, name, len);
        out->label[len] = 0;
        out->target = kind;
        out->column = (uint32_t)(name - cur->start) + 1u;
    } else {
        cursor_fail(cur, cur->at, "expected a label");
    }
}

static void parse_sr(struct cursor *cur, struct ppu_insn *insn)
{
    size_t len = 0;
    const char *name = cursor_name(cur, &len);
    int number = name ? names_find(NAMES_SR, name, len) : -1;

    if (number < 0) {
        cursor_fail(cur, name ? name : cur->at, "no such special register");
        return;
    }
    insn->ra = (uint8_t)number;
}

/* A register, or `_`: no old value is wanted. */
static void parse_old(struct cursor *cur, struct ppu_insn *insn)
{
    cursor_space(cur);
    if (cur->at < cur->end && *cur->at == '_') {
        cur->at++;
        insn->no_old = 1;
        return;
    }
    need_register(cur, &insn->rd, &insn->scalar);
}

static void parse_pointer(struct cursor *cur, struct ppu_insn *insn)
{
    expect(cur, '[');
    need_register(cur, &insn->ra, &insn->a_scalar);
    expect(cur, ']');
}

static void parse_operand(struct cursor *cur, const struct ppu_isa_row *row, struct ppu_insn *insn,
                          struct asm_insn *out, enum ppu_operand operand)
{
    switch (operand) {
    case PPU_OPERAND_D:
        need_register(cur, &insn->rd, &insn->scalar);
        return;
    case PPU_OPERAND_OLD:
        parse_old(cur, insn);
        return;
    case PPU_OPERAND_A:
    case PPU_OPERAND_VECTOR:
        need_source(cur, row, insn, 0, &insn->ra, &insn->a_scalar);
        return;
    case PPU_OPERAND_B:
        need_source(cur, row, insn, 1, &insn->rb, &insn->b_scalar);
        return;
    case PPU_OPERAND_VALUE:
        parse_b(cur, row, insn);
        return;
    case PPU_OPERAND_C:
        need_source(cur, row, insn, 2, &insn->rc, &insn->c_scalar);
        return;
    case PPU_OPERAND_PD:
        insn->rd = need_predicate(cur, false);
        return;
    case PPU_OPERAND_PA:
        insn->ra = need_predicate(cur, true);
        return;
    case PPU_OPERAND_PB:
        insn->rb = need_predicate(cur, true);
        return;
    case PPU_OPERAND_PSEL:
        insn->pred = need_predicate(cur, true);
        return;
    case PPU_OPERAND_SPECIAL:
        parse_sr(cur, insn);
        return;
    case PPU_OPERAND_ADDRESS:
    case PPU_OPERAND_WORDS:
    case PPU_OPERAND_PLACE:
        parse_address(cur, insn, operand);
        return;
    case PPU_OPERAND_POINTER:
        parse_pointer(cur, insn);
        return;
    case PPU_OPERAND_IMMEDIATE:
        insn->immed = 1;
        insn->imm = need_immediate(cur, row);
        return;
    case PPU_OPERAND_TARGET:
        parse_target(cur, insn, out, TARGET_RELATIVE);
        return;
    case PPU_OPERAND_ABSOLUTE:
        parse_target(cur, insn, out, TARGET_ABSOLUTE);
        return;
    case PPU_OPERAND_NONE:
    case PPU_OPERAND_COUNT:
        return;
    }
}

static void parse_operands(struct cursor *cur, const struct ppu_isa_row *row, struct ppu_insn *insn,
                           struct asm_insn *out)
{
    const struct ppu_isa_format *format = ppu_isa_format(insn->format);

    for (uint32_t i = 0; i < PPU_FORMAT_FIELDS && format->operands[i] != PPU_OPERAND_NONE; i++) {
        if (i > 0) {
            expect(cur, ',');
        }
        parse_operand(cur, row, insn, out, format->operands[i]);
    }
}

/* ---- mnemonic ---- */

static bool parse_modifier_as(const struct ppu_isa_row *row, struct ppu_insn *insn, uint32_t modifier, const char *text,
                              size_t len)
{
    int number = names_find(names_of_modifier(row, modifier), text, len);

    if (number < 0) {
        return false;
    }
    ((uint8_t *)insn)[ppu_isa_modifier(modifier)->member] = (uint8_t)number;
    return true;
}

/* The modifiers that an operation must have come first in its format. */
static unsigned modifiers_needed(const struct ppu_isa_format *format)
{
    unsigned needed = 0;

    while (needed < PPU_FORMAT_FIELDS && ppu_isa_modifier(format->modifiers[needed])->needed) {
        needed++;
    }
    return needed;
}

/* One modifier, `*read` of those that must be there having been read; false: there is none of this name here. */
static bool parse_modifier(const struct ppu_isa_row *row, struct ppu_insn *insn, unsigned *read, const char *text,
                           size_t len)
{
    const struct ppu_isa_format *format = ppu_isa_format(row->format);
    unsigned needed = modifiers_needed(format);

    for (unsigned i = needed; i < PPU_FORMAT_FIELDS && format->modifiers[i] != PPU_MODIFIER_NONE; i++) {
        bool early = format->modifiers[i] == PPU_MODIFIER_SCALAR;
        if ((early || *read == needed) && parse_modifier_as(row, insn, format->modifiers[i], text, len)) {
            return true;
        }
    }
    if (*read == needed || !parse_modifier_as(row, insn, format->modifiers[*read], text, len)) {
        return false;
    }
    ++*read;
    return true;
}

static const struct ppu_isa_row *find_row(const char *name, size_t len, uint8_t *op)
{
    for (uint32_t i = 0; i < PPU_ISA_OPS; i++) {
        const struct ppu_isa_row *row = ppu_isa_row(i);
        if (row->mnemonic && strlen(row->mnemonic) == len && memcmp(row->mnemonic, name, len) == 0) {
            *op = (uint8_t)i;
            return row;
        }
    }
    return NULL;
}

static const struct ppu_isa_row *parse_mnemonic(struct cursor *cur, struct ppu_insn *insn)
{
    size_t len = 0;
    const char *name = cursor_name(cur, &len);
    const char *dot = name ? memchr(name, '.', len) : NULL;
    unsigned read = 0;

    size_t stem = dot ? (size_t)(dot - name) : len;
    const struct ppu_isa_row *row = name ? find_row(name, stem, &insn->op) : NULL;
    if (!row) {
        cursor_fail(cur, name ? name : cur->at, "no such instruction");
        return NULL;
    }
    insn->format = row->format;
    for (const char *end = name + len, *at = name + stem; at < end;) {
        const char *word = at + 1;
        at = memchr(word, '.', (size_t)(end - word));
        at = at ? at : end;
        if (at == word || !parse_modifier(row, insn, &read, word, (size_t)(at - word))) {
            cursor_fail(cur, word, "%s has no modifier '%.*s' here", row->mnemonic, (int)(at - word), word);
            return NULL;
        }
    }
    if (read < modifiers_needed(ppu_isa_format(row->format))) {
        cursor_fail(cur, name, "%s needs a modifier", row->mnemonic);
        return NULL;
    }
    return row;
}

bool parse_insn(struct cursor *cur, struct asm_insn *out)
{
    struct ppu_insn insn = { 0 }, check;

    if (cursor_take(cur, '@')) {
        insn.guard = need_predicate(cur, true) | PPU_GUARD_ON;
    }
    cursor_space(cur);
    const char *start = cur->at;
    const struct ppu_isa_row *row = parse_mnemonic(cur, &insn);
    if (!row) {
        return false;
    }
    parse_operands(cur, row, &insn, out);
    if (!cursor_done(cur)) {
        cursor_fail(cur, cur->at, "text after the instruction");
    }
    out->word = ppu_isa_encode(&insn);
    if (!cur->failed && ppu_isa_decode(out->word, &check) == PPU_FAULT_ILLEGAL) {
        cursor_fail(cur, start, "operands do not fit %s: wrong kind of register, misaligned pair, or no such form",
                    row->mnemonic);
    }
    return !cur->failed;
}
