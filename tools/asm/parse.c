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
    int n;

    if (cur->failed) {
        return;
    }
    cur->failed = true;
    n = snprintf(cur->message, PPUASM_MESSAGE_BYTES, "%.96s:%u:%u: error: ", cur->file, cur->line,
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
    const char *start;

    cursor_space(cur);
    start = cur->at;
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
    unsigned long long magnitude;

    if (!isdigit((unsigned char)*digits)) {
        return take_symbol(cur, value);
    }
    errno = 0;
    magnitude = strtoull(digits, &end, 0);
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
    const char *save = cur->at, *name;
    size_t len;
    unsigned number = 0;

    name = cursor_name(cur, &len);
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
    const char *name;

    cursor_space(cur);
    name = cursor_name(cur, &len);
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
    const char *save;
    bool minus = false, bars = false;

    cursor_space(cur);
    save = cur->at;
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
    bool hex = strstr(text, "0x") != NULL;
    const char *at = cur->at;
    int64_t value = 0;

    cursor_space(cur);
    if (take_symbol(cur, &value)) {
        if (value < INT32_MIN || value > (int64_t)UINT32_MAX) {
            cursor_fail(cur, at, "number does not fit in 32 bits");
        }
        return (int32_t)value;
    }
    if (row && (row->flags & PPU_IF_X) && !hex && (strpbrk(text, ".en") != NULL)) {
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
static void parse_address(struct cursor *cur, struct ppu_insn *insn)
{
    bool atomic = insn->format == PPU_FMT_ATOM;
    uint8_t *offset = atomic ? &insn->rc : &insn->rb, scalar = 0;

    expect(cur, '[');
    cursor_space(cur);
    if (!take_register(cur, &insn->ra, &insn->a_scalar)) {
        insn->no_base = 1;
        parse_offset(cur, insn);
    } else {
        const char *save;
        cursor_space(cur);
        save = cur->at;
        if (cursor_take(cur, '+') && (cursor_space(cur), take_register(cur, offset, &scalar))) {
            insn->lane_off = insn->format != PPU_FMT_GATHER;
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

static void parse_data(struct cursor *cur, struct ppu_insn *insn)
{
    cursor_space(cur);
    if (insn->format == PPU_FMT_ATOM && cur->at < cur->end && *cur->at == '_') {
        cur->at++;
        insn->no_old = 1;
        return;
    }
    need_register(cur, &insn->rd, &insn->scalar);
}

static void parse_operands(struct cursor *cur, const struct ppu_isa_row *row, struct ppu_insn *insn,
                           struct asm_insn *out)
{
    switch (insn->format) {
    case PPU_FMT_NONE:
    case PPU_FMT_FENCE:
        return;
    case PPU_FMT_D:
        need_register(cur, &insn->rd, &insn->scalar);
        return;
    case PPU_FMT_SR:
        need_register(cur, &insn->rd, &insn->scalar);
        expect(cur, ',');
        parse_sr(cur, insn);
        return;
    case PPU_FMT_DB:
        need_register(cur, &insn->rd, &insn->scalar);
        expect(cur, ',');
        parse_b(cur, row, insn);
        return;
    case PPU_FMT_DA:
    case PPU_FMT_CVT:
    case PPU_FMT_FIRST:
        need_register(cur, &insn->rd, &insn->scalar);
        expect(cur, ',');
        need_source(cur, row, insn, 0, &insn->ra, &insn->a_scalar);
        return;
    case PPU_FMT_DAB:
    case PPU_FMT_LANE:
    case PPU_FMT_DABC:
    case PPU_FMT_SEL:
        need_register(cur, &insn->rd, &insn->scalar);
        expect(cur, ',');
        need_source(cur, row, insn, 0, &insn->ra, &insn->a_scalar);
        expect(cur, ',');
        if (insn->format == PPU_FMT_DAB || insn->format == PPU_FMT_LANE) {
            parse_b(cur, row, insn);
            return;
        }
        need_source(cur, row, insn, 1, &insn->rb, &insn->b_scalar);
        expect(cur, ',');
        if (insn->format == PPU_FMT_SEL) {
            insn->pred = need_predicate(cur, true);
        } else {
            need_source(cur, row, insn, 2, &insn->rc, &insn->c_scalar);
        }
        return;
    case PPU_FMT_SETP:
        insn->rd = need_predicate(cur, false);
        expect(cur, ',');
        need_source(cur, row, insn, 0, &insn->ra, &insn->a_scalar);
        expect(cur, ',');
        parse_b(cur, row, insn);
        return;
    case PPU_FMT_PLOP:
        insn->rd = need_predicate(cur, false);
        expect(cur, ',');
        insn->ra = need_predicate(cur, true);
        expect(cur, ',');
        insn->rb = need_predicate(cur, true);
        return;
    case PPU_FMT_VOTE:
        insn->rd = need_predicate(cur, false);
        expect(cur, ',');
        insn->ra = need_predicate(cur, true);
        return;
    case PPU_FMT_BALLOT:
        need_register(cur, &insn->rd, &insn->scalar);
        expect(cur, ',');
        insn->ra = need_predicate(cur, true);
        return;
    case PPU_FMT_AI:
        need_register(cur, &insn->ra, &insn->a_scalar);
        expect(cur, ',');
        insn->immed = 1;
        insn->imm = need_immediate(cur, row);
        return;
    case PPU_FMT_MEM:
    case PPU_FMT_GATHER:
        parse_data(cur, insn);
        expect(cur, ',');
        parse_address(cur, insn);
        return;
    case PPU_FMT_ATOM:
        parse_data(cur, insn);
        expect(cur, ',');
        parse_address(cur, insn);
        expect(cur, ',');
        need_register(cur, &insn->rb, &insn->b_scalar);
        return;
    case PPU_FMT_IMM:
        insn->immed = 1;
        insn->imm = need_immediate(cur, row);
        return;
    case PPU_FMT_A:
        need_register(cur, &insn->ra, &insn->a_scalar);
        return;
    case PPU_FMT_B:
        parse_b(cur, row, insn);
        return;
    case PPU_FMT_AB:
        if (insn->op == PPU_OP_SEMREL || insn->op == PPU_OP_SEMRELT) {
            expect(cur, '[');
            need_register(cur, &insn->ra, &insn->a_scalar);
            expect(cur, ']');
        } else {
            need_register(cur, &insn->ra, &insn->a_scalar);
        }
        expect(cur, ',');
        parse_b(cur, row, insn);
        return;
    case PPU_FMT_TARGET:
        parse_target(cur, insn, out, TARGET_RELATIVE);
        return;
    case PPU_FMT_ABSOLUTE:
        parse_target(cur, insn, out, TARGET_ABSOLUTE);
        return;
    case PPU_FMT_CALL:
        need_register(cur, &insn->rd, &insn->scalar);
        expect(cur, ',');
        parse_target(cur, insn, out, TARGET_RELATIVE);
        return;
    default:
        cursor_fail(cur, cur->at, "operation has an unknown format");
    }
}

/* ---- mnemonic ---- */

static bool modifier_of(enum names_table table, const char *text, size_t len, uint8_t *field)
{
    int number = names_find(table, text, len);

    if (number < 0) {
        return false;
    }
    *field = (uint8_t)number;
    return true;
}

/* The n-th modifier (from 0); false: the format has none of this name. */
static bool parse_modifier(const struct ppu_isa_row *row, struct ppu_insn *insn, unsigned n, const char *text,
                           size_t len)
{
    bool plain_scalar = insn->format == PPU_FMT_SETP || insn->format == PPU_FMT_AB || insn->format == PPU_FMT_B;

    if (plain_scalar && len == 1 && text[0] == 's') {
        insn->scalar = 1;
        return true;
    }
    switch (insn->format) {
    case PPU_FMT_SETP:
        return n == 0 && modifier_of(row->flags & PPU_IF_F ? NAMES_FCMP : NAMES_ICMP, text, len, &insn->cmp);
    case PPU_FMT_CVT:
        if (n < 2) {
            return modifier_of(NAMES_TYPE, text, len, n ? &insn->stype : &insn->dtype);
        }
        if (len == 3 && memcmp(text, "sat", 3) == 0) {
            insn->sat = 1;
            return true;
        }
        return modifier_of(NAMES_ROUND, text, len, &insn->round);
    case PPU_FMT_MEM:
        return n == 0 && modifier_of(NAMES_WIDTH, text, len, &insn->width);
    case PPU_FMT_GATHER:
        insn->width = (uint8_t)(text[len - 1] - '1');
        return n == 0 && len == 2 && text[0] == 'n' && insn->width < 4;
    case PPU_FMT_ATOM:
        if (n == 0) {
            return modifier_of(NAMES_AOP, text, len, &insn->aop);
        }
        if (len == 3 && memcmp(text, "b64", 3) == 0) {
            insn->wide = 1;
            return true;
        }
        return modifier_of(NAMES_ORDER, text, len, &insn->order) || modifier_of(NAMES_SCOPE, text, len, &insn->scope);
    case PPU_FMT_FENCE:
        return modifier_of(NAMES_ORDER, text, len, &insn->order) || modifier_of(NAMES_SCOPE, text, len, &insn->scope);
    default:
        return false;
    }
}

static unsigned modifiers_needed(uint32_t format)
{
    switch (format) {
    case PPU_FMT_CVT:
        return 2;
    case PPU_FMT_SETP:
    case PPU_FMT_MEM:
    case PPU_FMT_GATHER:
    case PPU_FMT_ATOM:
        return 1;
    default:
        return 0;
    }
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
    size_t len = 0, stem;
    const char *name = cursor_name(cur, &len);
    const char *dot = name ? memchr(name, '.', len) : NULL;
    const struct ppu_isa_row *row;
    unsigned n = 0;

    stem = dot ? (size_t)(dot - name) : len;
    row = name ? find_row(name, stem, &insn->op) : NULL;
    if (!row) {
        cursor_fail(cur, name ? name : cur->at, "no such instruction");
        return NULL;
    }
    insn->format = row->format;
    for (const char *end = name + len, *at = name + stem; at < end;) {
        const char *word = at + 1;
        at = memchr(word, '.', (size_t)(end - word));
        at = at ? at : end;
        if (at == word || !parse_modifier(row, insn, n, word, (size_t)(at - word))) {
            cursor_fail(cur, word, "%s has no modifier '%.*s' here", row->mnemonic, (int)(at - word), word);
            return NULL;
        }
        n += at - word != 1 || word[0] != 's';
    }
    if (n < modifiers_needed(row->format)) {
        cursor_fail(cur, name, "%s needs a modifier", row->mnemonic);
        return NULL;
    }
    return row;
}

bool parse_insn(struct cursor *cur, struct asm_insn *out)
{
    struct ppu_insn insn = { 0 }, check;
    const struct ppu_isa_row *row;
    const char *start;

    if (cursor_take(cur, '@')) {
        insn.guard = need_predicate(cur, true) | PPU_GUARD_ON;
    }
    cursor_space(cur);
    start = cur->at;
    row = parse_mnemonic(cur, &insn);
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
