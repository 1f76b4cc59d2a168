/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells what translated code can do of an instruction, and which function of the kit it is. */
#ifndef QEMU_DEVICE_TIER_OPS_H
#define QEMU_DEVICE_TIER_OPS_H

#include <stdbool.h>

struct tier_insn;
struct tier_unit;

enum tier_kind {
    KIND_OTHER,    /* the interpreter does it */
    KIND_LEAVE,    /* the code ends before it */
    KIND_CONTROL,  /* a transfer of control */
    KIND_VECTOR,   /* lanes of registers and predicates alone */
    KIND_SCALAR,   /* scalar registers alone */
    KIND_UNIFORM,  /* a comparison of scalars, for all lanes */
    KIND_LOAD,     /* of a whole warp, at a base and an offset of each lane */
    KIND_STORE,    /* the same */
    KIND_LOAD_ONE, /* to scalar registers */
    /* Straight units alone have these. Their KIND_LOAD and KIND_STORE are any of lanes with addresses of their own. */
    KIND_PARAM,   /* a scalar load from the parameters */
    KIND_SPECIAL, /* a special register that is there when a warp begins */
    KIND_EXIT,
    KIND_CHOICE, /* of scalars, by a predicate that is the same for all lanes */
};

/* A function of the kit. Types are letters of engine/alu.def: of the result, of a, of b, of c; z: there is none. */
struct tier_op {
    const char *name; /* NULL: none */
    const char *types;
};

/* What the instruction computes; name NULL: no function of the kit. */
struct tier_op tier_op_of(const struct tier_insn *insn);
enum tier_kind tier_kind_of(const struct tier_unit *unit, const struct tier_insn *insn);
/* Says it of a unit that is straight: KIND_LEAVE is what it ends before. */
enum tier_kind tier_straight_kind_of(const struct tier_unit *unit, const struct tier_insn *insn);

#endif
