/* SPDX-License-Identifier: MIT */
/*
 * Computes which words of registers are live at the ends of blocks, as lists. The time and the memory that it takes
 * grow with the live words, and not with all words times all blocks.
 */
#ifndef COMPILER_MIR_LIVENESS_H
#define COMPILER_MIR_LIVENESS_H

#include "compiler/mir/mir.h"

/* Holds numbers of words (mir_number_words), in ascending order. */
struct live_words {
    uint32_t *list;
    uint32_t count;
    unsigned cap;
};

/* Words live at the beginning and at the end of each block. */
struct liveness {
    struct live_words *in;
    struct live_words *out;
};

/* Numbers the words, and finds what is live. The result lies in the compilation's arena. */
struct liveness liveness_find(struct mir *mir);

/* Numbers the words. Returns 1 + the first word that is live where the code begins: it is read before it is written. */
uint32_t liveness_first_unwritten(struct mir *mir);

bool live_words_have(const struct live_words *words, uint32_t word);

#endif
