/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps decoded instructions. */
#ifndef QEMU_DEVICE_CORE_SM_CODE_H
#define QEMU_DEVICE_CORE_SM_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/isa.h"
#include "qemu-device/core/sm/step.h"

struct code_insn;
struct exec;
struct lanes;

#define SM_CODE_PAGES 16u
#define SM_PAGE_INSNS 512u

typedef enum step engine_op(struct exec *x, const struct code_insn *code, const struct lanes *mask);

#define CODE_SAME_A 1u /* source a is the same for all lanes: a scalar register, or the immediate */
#define CODE_SAME_B 2u
#define CODE_SAME_C 4u
#define CODE_MODIFIED 8u /* sources are negated or made absolute */
#define CODE_NOT_PLAIN UINT16_MAX

struct code_insn {
    engine_op *op; /* NULL: not decoded yet, or it has a fault */
    union {
        uint32_t imm[2];       /* operand b of the immediate form, of arithmetic */
        uint64_t word;         /* of one that has a fault */
        engine_op *unmodelled; /* of an access to memory: its operation when caches are not modelled */
    };
    struct ppu_insn insn;
    uint16_t plain; /* as vregs; CODE_NOT_PLAIN: engine_execute() must look at it */
    uint16_t fault; /* 0, or what executing it raises */
    uint16_t vregs; /* one more than the highest vector register it names */
    uint8_t kinds;  /* CODE_SAME_*, CODE_MODIFIED */
    bool known : 1;
    bool steady : 1; /* its operation says itself whether what it writes is steady */
    uint32_t keeps;  /* bit n: vector register n is as steady behind it as before, or `steady` */
};
_Static_assert(sizeof(struct code_insn) == 64, "a line of the host's cache");

struct code_page {
    uint64_t tag; /* address of the page | context | valid, or also: to be compared; 0: none */
    const uint8_t *bytes;
    uint64_t decoded[SM_PAGE_INSNS / 64]; /* a bit for each instruction that is known */
    uint64_t word[SM_PAGE_INSNS];         /* what those were decoded from */
    struct code_insn *insn;               /* in sm.insns, beside those of the pages before and behind it */
};

/* Decoded instructions of a task that lie one behind the other. */
struct code_window {
    const struct code_insn *insn; /* the first */
    uint32_t first;               /* its number */
    uint32_t count;               /* 0: none */
    uint64_t start;               /* dist_task.start of the task */
};

/*
 * True when lanes whose words follow one another may have addresses that do not: those from what the first adds, to
 * `more` bytes behind it. Offsets end with 32 bits, indexes have a sign.
 */
static inline bool code_lanes_wrap(bool indexed, uint64_t first, uint32_t more)
{
    const uint32_t most = indexed ? INT32_MAX : UINT32_MAX;

    return ((uint32_t)first & most) > most - more;
}

#endif
