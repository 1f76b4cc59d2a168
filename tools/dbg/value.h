/* SPDX-License-Identifier: MIT */
/*
 * Computes expressions of C over what the focus sees: variables, members, elements, what pointers point to, registers
 * ($v3, $s2, $p1, $pc, $lane), numbers, and operators.
 */
#ifndef TOOLS_DBG_VALUE_H
#define TOOLS_DBG_VALUE_H

#include "tools/dbg/session.h"

enum value_kind {
    VALUE_NUMBER,
    VALUE_FLOAT,
    VALUE_OBJECT,   /* of a type, in memory */
    VALUE_REGISTER, /* its word is `number` */
};

struct value {
    enum value_kind kind;
    int64_t number;
    double real;
    bool is_unsigned, is_address;
    Dwarf_Die type;
    enum ppu_debug_space space;
    uint64_t address;
    char bank; /* of a register: v, s, p */
    uint32_t reg;
};

/* False: `why` says why not. */
bool value_of(struct session *session, const char *text, struct value *value, const char **why);
/* The number that a value is; of a pointer the address. */
bool value_number(struct session *session, const struct value *value, int64_t *number, const char **why);
/* Prints it as C would; 'x': in hexadecimal. */
bool value_print(struct session *session, const struct value *value, char format, const char **why);
/* Makes an object or a register another number. */
bool value_assign(struct session *session, const struct value *to, const struct value *from, const char **why);

#endif
