/* SPDX-License-Identifier: MIT */
/*
 * Defines the machine IR: instructions over virtual registers, in the basic blocks of a flow graph (flow.h).
 *
 * A register is a tuple of 1, 2 or 4 words of one class; a reference names a run of its words. What is live is known
 * word by word, what gets a physical register is the tuple. Registers are not in SSA form: phis are copies, and a tuple
 * may be written word by word.
 *
 * Scalar registers are one for all lanes. They are written only in convergent blocks, where all living lanes of the
 * warp pass together (compiler/analysis/uniformity.c).
 */
#ifndef COMPILER_MIR_MIR_H
#define COMPILER_MIR_MIR_H

#include "compiler/analysis/flow.h"
#include "compiler/base/compilation.h"
#include "compiler/debug/variable.h"
#include "ppu/isa.h"

enum mir_class {
    MIR_VECTOR,
    MIR_SCALAR,
    MIR_PRED,
    MIR_CLASSES,
};

#define MIR_NO_PHYS 0xffffu
#define MIR_MAX_WORDS 4u

/* Words [sub, sub + n) of a register; how many the operand says. */
struct mir_ref {
    uint32_t reg; /* 0: none */
    uint8_t sub;
    bool negated; /* predicates that are read */
};

struct mir_reg {
    uint8_t class; /* enum mir_class */
    uint8_t words;
    bool brief;     /* made by spilling: it cannot be spilled again */
    uint32_t value; /* 1 + the value of the function it holds, 0: none; names what to keep out of scalar registers */
    uint32_t word;  /* number of its first word among all words; set by mir_number_words() */
    uint16_t phys;  /* physical register, MIR_NO_PHYS before it has one */
};

struct mir_insn {
    struct ppu_insn code; /* all but the register numbers */
    struct mir_ref d, a, b, c;
    struct mir_ref pred;  /* operand of sel */
    struct mir_ref guard; /* reg 0: always */
    uint32_t site;        /* of the source (compiler/debug/site.h), 0: not known */
    uint32_t
        data; /* 1 + index of the compilation's variable whose offset from the code's base is added to the immediate */
    uint32_t callee;                /* of call: 1 + number among the kernel's functions */
    uint16_t clobbers[MIR_CLASSES]; /* of call: machine registers below these are the callee's */
    bool ordered;                   /* a volatile or atomic access: stays where it is */
    bool keeps;                     /* d's former value matters to lanes that the guard leaves out: d is read too */
};

enum mir_end {
    MIR_EXIT,
    MIR_RETURN, /* of a function */
    MIR_JUMP,   /* to successor 0 */
    MIR_BRANCH, /* to successor 0 when cond, else 1 */
};

struct mir_block {
    struct mir_insn *insns;
    uint32_t count;
    unsigned cap;
    enum mir_end end;
    struct mir_ref cond;
    uint32_t site; /* of the end */
};

/* How the parts of a wave enter a kernel (D6). */
enum mir_entry {
    MIR_ENTRY_TOGETHER,
    MIR_ENTRY_SEGMENT, /* one by one: a segment is there */
    MIR_ENTRY_LEAVES,  /* one by one, and are brought together first */
};

struct segment_plan;

struct mir {
    struct compilation *compilation;
    const char *name;
    LLVMValueRef function;            /* that it is the code of */
    struct debug_variables variables; /* of the function */
    struct flow *flow;
    struct mir_reg *regs; /* 0 is none */
    uint32_t reg_count;
    unsigned reg_cap;
    struct mir_block *blocks; /* as many as the flow has, in its order, and one that selection needs */
    bool allocated;           /* registers have physical registers */
    uint32_t words;           /* after mir_number_words() */
    uint32_t return_at;       /* of a function: where it keeps the address that it returns to */
    uint32_t local_bytes;     /* private memory in use, without spills */
    uint32_t spill_bytes;
    uint32_t spilled;              /* registers */
    uint32_t rematerialized;       /* registers that are recomputed where they are used */
    uint32_t used[MIR_CLASSES];    /* machine registers, after assignment */
    struct segment_plan *segments; /* of the kernel that parts of a wave run through one by one; NULL: not looked for */
    uint32_t plain_vregs;          /* that it would use without them; 0: not known */
    enum mir_entry entry;
    uint32_t shared; /* of the vector registers in use, the highest, which parts share inside segments */
};

struct mir *mir_new(struct compilation *compilation, const char *name, struct flow *flow);
struct mir_ref mir_reg(struct mir *mir, enum mir_class class, uint32_t words, uint32_t value);

static inline struct mir_ref mir_sub(struct mir_ref ref, uint32_t word)
{
    ref.sub = (uint8_t)(ref.sub + word);
    return ref;
}

static inline enum mir_class mir_class_of(const struct mir *mir, struct mir_ref ref)
{
    return mir->regs[ref.reg].class;
}

/* An instruction with the widths and the format of its row; registers are for the caller to set. */
struct mir_insn mir_insn(enum ppu_op op);
/* Appends it; the copy in the block, valid until the next one. */
struct mir_insn *mir_add(struct mir *mir, uint32_t block, const struct mir_insn *insn);

/* One operand of an instruction. */
struct mir_operand {
    struct mir_ref *ref;
    uint8_t words;
    bool pred;  /* must be a predicate */
    bool def;   /* written */
    bool reads; /* read; both for d when the instruction keeps */
};
#define MIR_MAX_OPERANDS 6u

/* The operands that are registers; how many. */
uint32_t mir_operands(struct mir_insn *insn, struct mir_operand operands[MIR_MAX_OPERANDS]);

bool mir_is_store(uint32_t op);
bool mir_is_of_lanes(uint32_t op); /* tells what other lanes of the warp have, or which are active */
bool mir_reads_lane(uint32_t op);  /* a scalar operation that reads a vector register of one lane */
/* True when it can be left out if nobody reads what it writes. */
bool mir_is_pure(const struct mir_insn *insn);
/* True for a copy of registers, and how many words it copies. */
bool mir_is_copy(const struct mir_insn *insn, uint32_t *words);

/* True for a copy of a register onto itself. */
bool mir_is_idle(const struct mir_insn *insn);

/* True for a block that does nothing but end, or go on to one: jumps to it end instead. */
bool mir_only_ends(const struct mir *mir, uint32_t block);

/* How often each register is written and read. */
struct mir_counts {
    uint32_t *reads;
    uint32_t *writes;
};
/* Room for the registers that there are now. */
struct mir_counts mir_counts_new(const struct mir *mir);
void mir_count(struct mir *mir, struct mir_counts *counts);

void mir_number_words(struct mir *mir);

void mir_print(struct mir *mir, const char *pass);

#endif
