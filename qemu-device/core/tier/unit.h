/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says what the engine and the program that translates code know of each other. Both are of the same tree; that they
 * agree about the layout of a warp is checked with each request.
 *
 * A unit is a loop: instructions that follow one another, entered at the first. Translated code keeps nothing of a warp
 * between two of its groups of instructions: registers, predicates and pc are in memory, as the interpreter has them.
 * Or it is straight: what a warp executes once when it begins, or behind a barrier of its CTA. That is done as a whole
 * or not at all.
 */
#ifndef QEMU_DEVICE_CORE_TIER_UNIT_H
#define QEMU_DEVICE_CORE_TIER_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/isa.h"
#include "ppu/macros.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/step.h"
#include "qemu-device/core/sm/warp.h"
#include "qemu-device/core/tier/heads.h"

#define TIER_CHUNK 16u /* lanes that translated code computes at once */
#define TIER_MODULE_SYMBOL "ppu_tier_module"

/* An instruction of a unit, as an SM has decoded it. */
struct tier_insn {
    struct ppu_insn insn;
    uint32_t imm[2];
    uint16_t vregs; /* as code_insn.vregs */
    uint8_t kinds;
    uint8_t known; /* 0: the interpreter does it, whatever it is */
    uint32_t steady;
};

/* What is translated; two that are equal byte by byte have the same code. */
struct tier_unit {
    uint32_t wave;
    uint32_t modelled; /* caches are modelled: accesses to memory are the interpreter's */
    uint32_t straight; /* enum tier_straight */
    uint32_t insns;
    struct tier_insn insn[TIER_MAX_INSNS];
};

/* How long each way through a loop takes that has code for lanes together and for one after the other, as measured. */
struct tier_pace { /* SMs write to it at the same time: it chooses between ways that do the same */
    uint32_t rounds;
    uint32_t cost[2]; /* of lanes together, and of one after the other: ticks of an instruction of a lane, << 8 */
    uint32_t failed;  /* rounds that lanes could not go through one after the other */
};

/* How far a warp is in its turn. */
struct tier_turn {
    uint32_t done; /* instructions */
    uint32_t budget;
    uint32_t step;  /* enum step: STEP_NEXT: it goes on at its pc; else as of an instruction */
    uint32_t whole; /* not 0: it must end, or nothing be done, as it has no registers; nothing of the warp is written */
    struct tier_pace *pace; /* of the loop; straight code has none */
};

/* Where the lanes of a load or a store lie on the host. */
struct tier_row {
    uint8_t *host;
    uint64_t step;  /* from the bytes of a chunk to those of the next; 0: all lanes have `word` */
    uint32_t lines; /* transactions */
    uint32_t word[TIER_CHUNK];
};

/* What translated code calls of the engine. False: it returns at once, and turn->step is set. */
struct tier_calls {
    /* Interprets `count` instructions one behind the other, from the warp's pc on. */
    bool (*straight)(struct exec *x, const struct code_insn *code, uint32_t count, struct tier_turn *turn);
    /* Interprets a transfer of control; the warp's pc is set. */
    bool (*control)(struct exec *x, const struct code_insn *code, struct tier_turn *turn);
    /* Finds a load or store of a whole warp at `base` and an offset of each lane; false: not here, nothing is done. */
    bool (*row)(struct exec *x, const struct code_insn *code, uint64_t base, struct tier_row *row);
    /* Finds the bytes that a scalar load wants; NULL: not here, nothing is done. */
    const uint8_t *(*one)(struct exec *x, const struct code_insn *code, uint64_t at);
    /* Finds bytes that a load or a store wants, near those found before; NULL: not here, nothing is done. */
    uint8_t *(*near)(struct exec *x, const struct code_insn *code, uint64_t at, uint32_t bytes);
};

/* `head`: the first instruction. The warp's pc is at it, all of its registers are as in normal mode. */
typedef void tier_code(struct exec *x, const struct code_insn *head, struct tier_turn *turn,
                       const struct tier_calls *calls);

struct tier_translation {
    tier_code *code;
    uint32_t vregs; /* registers that a warp must have */
    uint32_t wave;
    uint32_t insns; /* at most, between two places where the turn's budget is looked at */
    bool ends;      /* turns that are whole have ended when anything was done, and no register was written */
    void *memory;   /* where the code lies */
    size_t bytes;
    struct tier_pace *pace; /* of all SMs; on the heap, given back with the memory */
};

/* Levels of the host's instruction set that code is made for, as engine-level counts them. */
enum tier_level {
    TIER_LEVEL_NONE = 0,
    TIER_LEVEL_V3 = 3, /* AVX2 */
    TIER_LEVEL_V4 = 4, /* AVX-512 */
};

/* Code that runs wherever it lies. */
struct tier_code_bytes {
    uint8_t *at; /* from malloc(), the caller's */
    size_t bytes;
    size_t entry;
    uint32_t vregs, wave, insns; /* as in struct tier_translation */
    bool ends;
};

/* What the module that has LLVM exports. */
struct tier_module {
    uint64_t (*layout)(void); /* as tier_layout() of the module */
    /* Once, before others; false: LLVM cannot make code of this level. */
    bool (*prepare)(enum tier_level level);
    /* False: it cannot be translated, or does not pay, unless `always`. */
    bool (*translate)(const struct tier_unit *unit, bool always, struct tier_code_bytes *out);
};

/* Bytes of a unit that say something. */
static inline size_t tier_unit_bytes(const struct tier_unit *unit)
{
    return offsetof(struct tier_unit, insn) + unit->insns * sizeof(unit->insn[0]);
}

/* Tells one layout of what translated code accesses from another. */
static inline uint64_t tier_layout(void)
{
    const size_t at[] = {
        sizeof(struct exec),
        offsetof(struct exec, w),
        offsetof(struct exec, cta),
        offsetof(struct exec, sm),
        offsetof(struct exec, vreg),
        offsetof(struct exec, steady),
        offsetof(struct exec, whole),
        offsetof(struct exec, task),
        offsetof(struct exec, found),
        offsetof(struct exec, lanes),
        offsetof(struct exec, shared),
        sizeof(struct warp),
        offsetof(struct warp, pc),
        offsetof(struct warp, active),
        offsetof(struct warp, pred),
        offsetof(struct warp, sreg),
        offsetof(struct warp, yields),
        offsetof(struct warp, yield_turns),
        sizeof(struct sm),
        offsetof(struct sm, attention),
        offsetof(struct sm, pending_adds),
        sizeof(struct dist_task),
        offsetof(struct dist_task, params),
        offsetof(struct dist_task, tmd) + offsetof(struct ppu_tmd, shared_bytes),
        offsetof(struct sm_cta, count),
        sizeof(struct code_insn),
        sizeof(struct tier_unit),
        sizeof(struct tier_turn),
        offsetof(struct tier_turn, whole),
        offsetof(struct tier_turn, pace),
        sizeof(struct tier_row),
        sizeof(struct tier_calls),
    };
    uint64_t all = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(at); i++) {
        all = (all ^ at[i]) * 0x100000001b3ull;
    }
    return all;
}

#endif
