/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds what the parts of the translator know of a unit that is straight (straight.c). */
#ifndef QEMU_DEVICE_TIER_STRAIGHT_H
#define QEMU_DEVICE_TIER_STRAIGHT_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"
#include "qemu-device/tier/chunk.h"
#include "qemu-device/tier/forms.h"
#include "qemu-device/tier/same.h"
#include "qemu-device/tier/writer.h"

#define STRAIGHT_CHUNKS (PPU_LANES / TIER_CHUNK) /* of a pass */
#define STRAIGHT_EXITS 8u
#define STRAIGHT_STORES 8u

/* Loads behind stores. */
enum reload {
    RELOAD_NONE,  /* the unit ends before them */
    RELOAD_ROWS,  /* they are taken, as all rows are known and compared */
    RELOAD_EMPTY, /* they are taken, as no lane of the warp executes a store before them, which has a guard */
};

/* A load or a store of a warp whose lanes lie in a row, or all at one place; host NULL: nothing is known. */
struct row {
    LLVMValueRef host;   /* of the first lane */
    LLVMValueRef offset; /* i64: of the first lane, from the base */
    LLVMValueRef apart;  /* i64: from lane to lane */
};

/* Lanes of the pass that execute an instruction with a guard, as they were computed last. */
struct executing {
    LLVMValueRef alive, pred[STRAIGHT_CHUNKS]; /* from these; NULL: not yet */
    LLVMValueRef set;
};

/* An access to a row whose transactions are still to be counted for the pass. */
struct uncounted {
    uint32_t n;
    LLVMValueRef set; /* i32: lanes that access */
};

struct straight {
    struct writer *t;
    uint32_t end; /* instructions */
    bool ends;    /* the last is the warp's end */
    bool in_part; /* for warps that have not all lanes of the wave */
    uint32_t passes;
    struct same same;
    struct chunk chunk[STRAIGHT_CHUNKS];
    LLVMValueRef base[TIER_MAX_INSNS]; /* of loads and stores: what is the same for all lanes */
    LLVMValueRef shared, shared_bytes; /* shared memory of the CTA; NULL: nothing accesses it */
    bool in_place;                     /* passes store at once */
    enum reload reload;
    bool reloads;                     /* there are some, and they are taken */
    bool empty[STRAIGHT_STORES];      /* no lane may execute it */
    struct forms *forms;              /* NULL: nothing is known of how lanes lie */
    struct form form[TIER_MAX_INSNS]; /* of what an instruction writes */
    struct row row[TIER_MAX_INSNS];   /* of loads and stores */
    uint32_t exits[STRAIGHT_EXITS], exit_count;
    uint32_t stores[STRAIGHT_STORES], store_count;
    bool reg_written[PPU_MAX_VREGS], pred_written[PPU_PREDS];
    uint32_t reg_first[PPU_MAX_VREGS]; /* which instruction writes it first */
    bool pred_is_same[PPU_PREDS];      /* for all lanes, where the look is */
    LLVMValueRef pred_same[PPU_PREDS]; /* what it is then, where the writing is: all ones or 0; NULL: it differs */
    /* Variables. */
    LLVMValueRef lanes, lines;           /* i64: instructions of lanes, transactions */
    LLVMValueRef done;                   /* i32: instructions of the pass that went furthest */
    LLVMValueRef left[STRAIGHT_EXITS];   /* struct lanes */
    LLVMValueRef store[STRAIGHT_STORES]; /* struct kit_store of each pass */
    LLVMValueRef alive_at_end;           /* struct lanes */
    LLVMValueRef reg[PPU_MAX_VREGS];     /* the warp's lanes, behind the unit */
    LLVMValueRef pred[PPU_PREDS];        /* struct lanes, the same */
    LLVMValueRef request, value, words;  /* struct kit_lanes, what it loads, lanes */
    /* What is written now. */
    LLVMValueRef pass;                                /* i64 */
    LLVMValueRef alive;                               /* i32: lanes of the pass that have not ended */
    struct executing executing[2 * PPU_GUARD_NEGATE]; /* by guard */
    struct uncounted uncounted[TIER_MAX_INSNS];
    uint32_t uncounted_count;
    uint32_t since; /* the first instruction that is not counted for them */
};

static inline const struct ppu_insn *straight_insn(const struct straight *s, uint32_t n)
{
    return &s->t->unit->insn[n].insn;
}

/* It accesses shared memory. */
static inline bool straight_is_shared(const struct straight *s, uint32_t n)
{
    return straight_insn(s, n)->op == PPU_OP_LDS || straight_insn(s, n)->op == PPU_OP_STS;
}

/* struct code_insn of an instruction. */
static inline LLVMValueRef straight_code(const struct straight *s, uint32_t n)
{
    return write_field(s->t, s->t->head, n * sizeof(struct code_insn));
}

/* Finds where a load or a store of lanes with known addresses goes, for the whole warp. */
void straight_find_row(struct straight *s, uint32_t n);
/* Lanes of the pass that execute an instruction; i32. */
LLVMValueRef straight_executing(struct straight *s, uint32_t n);
void straight_load(struct straight *s, uint32_t n);
/* Adds transactions; i32. */
void straight_add_lines(const struct straight *s, LLVMValueRef lines);
/* Notes that lanes of the pass access a row that is known; straight_count_rows() counts its transactions. */
void straight_note_row(struct straight *s, uint32_t n, LLVMValueRef set);
/* Counts those that were noted. The pass does so before it ends anywhere. */
void straight_count_rows(struct straight *s);
/* Finds where the pass stores, and keeps what. */
void straight_store(struct straight *s, uint32_t n, uint32_t which);
/*
 * Where all rows are known nothing can fail once the passes begin. Each pass stores at once then, if what lanes of one
 * pass store no lane of another loads or stores, before or later; else the unit begins as if nothing was known. Returns
 * whether it does.
 */
bool straight_stores_in_place(struct straight *s);
/* Stores what all passes have kept. */
void straight_commit(struct straight *s, uint32_t which);

#endif
