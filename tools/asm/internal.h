/* SPDX-License-Identifier: MIT */
/* Declares what the files of the assembler share. */
#ifndef TOOLS_ASM_INTERNAL_H
#define TOOLS_ASM_INTERNAL_H

#include "ppu/image.h"
#include "tools/asm/ppuasm.h"

#define ASM_NAME_BYTES 64u

/* ---- names.c: spellings of modifiers; -1 when there is no such name ---- */
enum names_table {
    NAMES_SR,
    NAMES_ICMP,
    NAMES_FCMP,
    NAMES_TYPE,
    NAMES_ROUND,
    NAMES_WIDTH,
    NAMES_AOP,
    NAMES_ORDER,
    NAMES_SCOPE,
    NAMES_COUNT,
    NAMES_SCALAR,
    NAMES_WIDE,
    NAMES_SATURATE,
};
int names_find(enum names_table table, const char *text, size_t len);
const char *names_text(enum names_table table, uint32_t number);
/* The spellings of a modifier (enum ppu_modifier) of an operation. */
enum names_table names_of_modifier(const struct ppu_isa_row *row, uint32_t modifier);

/* ---- parse.c: one line ---- */
enum target_kind {
    TARGET_NONE,
    TARGET_RELATIVE,
    TARGET_ABSOLUTE,
};

/* A name for a number (.set). */
struct asm_symbol {
    char name[ASM_NAME_BYTES];
    int64_t value;
};

struct asm_symbols {
    struct asm_symbol *list;
    size_t count, cap;
};

const struct asm_symbol *symbols_find(const struct asm_symbols *symbols, const char *name, size_t len);

/* An instruction whose target may still be a label. */
struct asm_insn {
    uint64_t word; /* without target when `target` says there is one */
    uint32_t file; /* number of the text that it is from */
    uint32_t line;
    uint32_t start;  /* column of its first character */
    uint32_t column; /* of its target */
    enum target_kind target;
    char label[ASM_NAME_BYTES];
};

/* Cursor on one line of source. The first error stays. */
struct cursor {
    const char *start;
    const char *at;
    const char *end;
    const char *file;
    uint32_t line;
    const struct asm_symbols *symbols;
    char *message; /* PPUASM_MESSAGE_BYTES */
    bool failed;
};

void cursor_fail(struct cursor *cur, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void cursor_space(struct cursor *cur);
bool cursor_take(struct cursor *cur, char c);
bool cursor_done(struct cursor *cur); /* nothing but a comment is left */
/* Name of letters, digits, '_', '.', '%'; its length in *len; NULL when there is none. */
const char *cursor_name(struct cursor *cur, size_t *len);
/* In digits, or a symbol's. */
bool cursor_number(struct cursor *cur, int64_t *value);
/* Parses guard, mnemonic and operands of one instruction. */
bool parse_insn(struct cursor *cur, struct asm_insn *out);

#endif
