/* SPDX-License-Identifier: MIT */
/*
 * Goes back from each use of a word that the block does not write before: to the predecessors, to theirs, and so on,
 * until a block writes the word. A block is visited once for a word that is live there.
 */
#include "compiler/mir/liveness.h"

#define FIRST_MENTIONS 64u

/* One block in the list of a word. */
struct mention {
    uint32_t block;
    uint32_t next; /* 1 + index; 0: no more */
};

struct search {
    struct mir *mir;
    struct arena *arena;
    struct liveness live;     /* NULL: no lists are wanted */
    struct mention *mentions; /* of both kinds */
    uint32_t mention_count;
    unsigned mention_cap;
    uint32_t *uses;   /* of each word: first of the blocks that read it before they write it */
    uint32_t *writes; /* of each word: first of the blocks that write it */
    uint32_t *in;     /* of each block: 1 + the last word found live at its beginning */
    uint32_t *out;
    uint32_t *written; /* of each block: 1 + the last word known to be written there */
    uint32_t *waiting; /* blocks at whose end the word is live, to be looked at */
    uint32_t waiting_count;
};

/* ---- what blocks do ---- */

/* Blocks come in their order, so a block that is in the list of the word is its first. */
static void add_mention(struct search *s, uint32_t *first, uint32_t block)
{
    if (*first != 0 && s->mentions[*first - 1].block == block) {
        return;
    }
    s->mentions = arena_grow(s->arena, s->mentions, sizeof(s->mentions[0]), s->mention_count, &s->mention_cap);
    s->mentions[s->mention_count++] = (struct mention){ block, *first };
    *first = s->mention_count;
}

static void note_use(struct search *s, uint32_t block, const struct mir_ref *ref, uint32_t words)
{
    uint32_t first = s->mir->regs[ref->reg].word + ref->sub;

    for (uint32_t w = first; w < first + words; w++) {
        if (s->writes[w] == 0 || s->mentions[s->writes[w] - 1].block != block) {
            add_mention(s, &s->uses[w], block);
        }
    }
}

static void note_write(struct search *s, uint32_t block, const struct mir_ref *ref, uint32_t words)
{
    uint32_t first = s->mir->regs[ref->reg].word + ref->sub;

    for (uint32_t w = first; w < first + words; w++) {
        add_mention(s, &s->writes[w], block);
    }
}

static void note_block(struct search *s, uint32_t b)
{
    struct mir_block *block = &s->mir->blocks[b];
    struct mir_operand operands[MIR_MAX_OPERANDS];

    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t n = mir_operands(&block->insns[i], operands);
        for (uint32_t o = 0; o < n; o++) {
            if (operands[o].reads) {
                note_use(s, b, operands[o].ref, operands[o].words);
            }
        }
        for (uint32_t o = 0; o < n; o++) {
            if (operands[o].def) {
                note_write(s, b, operands[o].ref, operands[o].words);
            }
        }
    }
    if (block->end == MIR_BRANCH) {
        note_use(s, b, &block->cond, 1);
    }
}

/* ---- one word ---- */

static void add_word(struct search *s, struct live_words *of, uint32_t block, uint32_t word)
{
    struct live_words *words = of ? &of[block] : NULL;

    if (!words) {
        return;
    }
    words->list = arena_grow(s->arena, words->list, sizeof(words->list[0]), words->count, &words->cap);
    words->list[words->count++] = word;
}

/* The word is live at the beginning of the block, so at the end of each that leads there. */
static void enter_block(struct search *s, uint32_t word, uint32_t block)
{
    const struct flow_block *at = &s->mir->flow->blocks[block];

    if (s->in[block] == word + 1) {
        return;
    }
    s->in[block] = word + 1;
    add_word(s, s->live.in, block, word);
    for (uint32_t p = 0; p < at->pred_count; p++) {
        uint32_t pred = at->preds[p];
        if (s->out[pred] != word + 1) {
            s->out[pred] = word + 1;
            add_word(s, s->live.out, pred, word);
            s->waiting[s->waiting_count++] = pred;
        }
    }
}

static void find_word(struct search *s, uint32_t word)
{
    for (uint32_t m = s->writes[word]; m != 0; m = s->mentions[m - 1].next) {
        s->written[s->mentions[m - 1].block] = word + 1;
    }
    for (uint32_t m = s->uses[word]; m != 0; m = s->mentions[m - 1].next) {
        enter_block(s, word, s->mentions[m - 1].block);
    }
    while (s->waiting_count != 0) {
        uint32_t block = s->waiting[--s->waiting_count];
        if (s->written[block] != word + 1) {
            enter_block(s, word, block);
        }
    }
}

/* Numbers the words, and notes which blocks use and write them. */
static struct search search_new(struct mir *mir)
{
    struct arena *arena = &mir->compilation->arena;
    uint32_t blocks = mir->flow->count;

    mir_number_words(mir);
    struct search s = { .mir = mir,
                        .arena = arena,
                        .mentions = arena_new(arena, struct mention, FIRST_MENTIONS),
                        .mention_cap = FIRST_MENTIONS,
                        .uses = arena_new(arena, uint32_t, mir->words + 1),
                        .writes = arena_new(arena, uint32_t, mir->words + 1),
                        .in = arena_new(arena, uint32_t, blocks),
                        .out = arena_new(arena, uint32_t, blocks),
                        .written = arena_new(arena, uint32_t, blocks),
                        .waiting = arena_new(arena, uint32_t, blocks) };

    for (uint32_t b = 0; b < blocks; b++) {
        note_block(&s, b);
    }
    return s;
}

struct liveness liveness_find(struct mir *mir)
{
    struct search s = search_new(mir);

    s.live.in = arena_new(s.arena, struct live_words, mir->flow->count);
    s.live.out = arena_new(s.arena, struct live_words, mir->flow->count);
    for (uint32_t w = 0; w < mir->words; w++) {
        find_word(&s, w);
    }
    return s.live;
}

static bool is_mentioned(const struct search *s, uint32_t first, uint32_t block)
{
    uint32_t m = first;

    while (m != 0 && s->mentions[m - 1].block != block) {
        m = s->mentions[m - 1].next;
    }
    return m != 0;
}

uint32_t liveness_first_unwritten(struct mir *mir)
{
    struct search s = search_new(mir);

    for (uint32_t w = 0; w < mir->words; w++) {
        /* What the first block writes before it reads it is written, and need not be followed. */
        if (!is_mentioned(&s, s.writes[w], 0) || is_mentioned(&s, s.uses[w], 0)) {
            find_word(&s, w);
        }
        if (s.in[0] == w + 1) {
            return w + 1;
        }
    }
    return 0;
}

bool live_words_have(const struct live_words *words, uint32_t word)
{
    uint32_t from = 0, to = words->count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (words->list[middle] == word) {
            return true;
        }
        if (words->list[middle] < word) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return false;
}
