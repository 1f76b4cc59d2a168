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
};

/* A function of the kit. Types are letters of engine/alu.def: of the result, of a, of b, of c; z: there is none. */
struct tier_op {
    const char *name; /* NULL: none */
    const char *types;
    bool one_only; /* there is no function of lanes */
};

/* What the instruction computes; name NULL: no function of the kit. */
struct tier_op tier_op_of(const struct tier_insn *insn);
enum tier_kind tier_kind_of(const struct tier_unit *unit, const struct tier_insn *insn);

#endif
