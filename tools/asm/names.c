/* SPDX-License-Identifier: MIT */
/* Finds the names of instructions, registers and modifiers in tables expanded from isa.def. */
#include "ppu/macros.h"
#include "tools/asm/internal.h"

#include <string.h>

static const char *const sr_names[] = {
#define PPU_SR(name, text, number, of, most, doc) [number] = text,
#include "ppu/isa.def"
};
static const char *const icmp_names[] = {
#define PPU_ICMP(name, text, number, expression) [number] = text,
#include "ppu/isa.def"
};
static const char *const fcmp_names[] = {
#define PPU_FCMP(name, text, number, expression) [number] = text,
#include "ppu/isa.def"
};
static const char *const type_names[] = {
#define PPU_TYPE(name, text, number, words) [number] = text,
#include "ppu/isa.def"
};
static const char *const round_names[] = {
#define PPU_ROUND(name, text, number, doc) [number] = text,
#include "ppu/isa.def"
};
static const char *const width_names[] = {
#define PPU_WIDTH(name, text, number, bytes, words) [number] = text,
#include "ppu/isa.def"
};
static const char *const aop_names[] = {
#define PPU_AOP(name, text, number, doc) [number] = text,
#include "ppu/isa.def"
};
static const char *const order_names[] = {
#define PPU_ORDER(name, text, number, doc) [number] = text,
#include "ppu/isa.def"
};
static const char *const scope_names[] = {
#define PPU_SCOPE_OF(name, text, number, doc) [number] = text,
#include "ppu/isa.def"
};
static const char *const count_names[] = {
#define PPU_COUNT(name, text, number) [number] = text,
#include "ppu/isa.def"
};
/* Flags: 0 is never written. */
static const char *const scalar_names[] = { "", "s" };
static const char *const wide_names[] = { "", "b64" };
static const char *const saturate_names[] = { "", "sat" };

#define TABLE(names)                 \
    {                                \
        names, PPU_ARRAY_SIZE(names) \
    }
static const struct {
    const char *const *names;
    uint32_t count;
} tables[] = {
    [NAMES_SR] = TABLE(sr_names),
    [NAMES_ICMP] = TABLE(icmp_names),
    [NAMES_FCMP] = TABLE(fcmp_names),
    [NAMES_TYPE] = TABLE(type_names),
    [NAMES_ROUND] = TABLE(round_names),
    [NAMES_WIDTH] = TABLE(width_names),
    [NAMES_AOP] = TABLE(aop_names),
    [NAMES_ORDER] = TABLE(order_names),
    [NAMES_SCOPE] = TABLE(scope_names),
    [NAMES_COUNT] = TABLE(count_names),
    [NAMES_SCALAR] = TABLE(scalar_names),
    [NAMES_WIDE] = TABLE(wide_names),
    [NAMES_SATURATE] = TABLE(saturate_names),
};

int names_find(enum names_table table, const char *text, size_t len)
{
    for (uint32_t i = 0; i < tables[table].count; i++) {
        if (strlen(tables[table].names[i]) == len && memcmp(tables[table].names[i], text, len) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const char *names_text(enum names_table table, uint32_t number)
{
    return number < tables[table].count ? tables[table].names[number] : "?";
}

enum names_table names_of_modifier(const struct ppu_isa_row *row, uint32_t modifier)
{
    static const uint8_t tables_of[PPU_MODIFIER_COUNT] = {
        [PPU_MODIFIER_SCALAR] = NAMES_SCALAR, [PPU_MODIFIER_COMPARISON] = NAMES_ICMP,
        [PPU_MODIFIER_WIDTH] = NAMES_WIDTH,   [PPU_MODIFIER_WORDS] = NAMES_COUNT,
        [PPU_MODIFIER_ATOMIC] = NAMES_AOP,    [PPU_MODIFIER_WIDE] = NAMES_WIDE,
        [PPU_MODIFIER_ORDER] = NAMES_ORDER,   [PPU_MODIFIER_SCOPE] = NAMES_SCOPE,
        [PPU_MODIFIER_DTYPE] = NAMES_TYPE,    [PPU_MODIFIER_STYPE] = NAMES_TYPE,
        [PPU_MODIFIER_ROUND] = NAMES_ROUND,   [PPU_MODIFIER_SATURATE] = NAMES_SATURATE,
    };

    if (modifier == PPU_MODIFIER_COMPARISON && (row->flags & PPU_IF_F)) {
        return NAMES_FCMP;
    }
    return (enum names_table)tables_of[modifier];
}
