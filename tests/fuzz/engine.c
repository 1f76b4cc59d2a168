/* SPDX-License-Identifier: MIT */
/*
 * Surface: instruction words, of all bits, in a task beside a task of another context on the same SM.
 *
 * An input says what the attacker's task is like (wave, registers, mode, memory), what its code is, and what happens
 * while it runs: steps of some instructions, answers of the main loop, code written over, flushes, pages that become
 * others, saves, a snapshot, kills. It may write its own code, which lies twice so far apart that one copy makes the SM
 * forget the other, and registers may end where the file ends. The victim counts in a register and compares its shared
 * memory with what it wrote: its registers, its memory and its progress must be what they are without the attacker,
 * none of its words may come to the attacker's memory, and the attacker must end when it is killed. The victim's words
 * follow from the whole input, so that no input can have them by itself; a word that looks like one of them counts when
 * the same input, run beside a victim with other words, has those. The address sanitizer sees accesses outside of a
 * warp's own blocks.
 */
#include <string.h>

#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "tests/fuzz/attacker.h"

#define FILE_WORDS (PPU_LANES * PPU_MAX_VREGS)
#define MOST_WORDS 48u

static struct board *machines[2]; /* without and with a model of the caches */

static struct board *board_of(bool cache_model)
{
    struct core_config config = attacker_config(FILE_WORDS);

    if (!machines[cache_model]) {
        config.cache_model = cache_model;
        machines[cache_model] = board_new(&config);
    }
    return machines[cache_model];
}

static void write_code(struct attacker *attacker)
{
    uint64_t *const code = attacker_code(attacker, 0);

    attacker_prologue(attacker);
    for (uint32_t most = 1 + fuzz_below(&attacker->in, MOST_WORDS); most != 0; most--) {
        code[attacker->words++] = attacker_word(&attacker->in, &attacker->tmd);
    }
    code[attacker->words++] = PPU_OP_EXIT;
    memcpy(attacker_code(attacker, 1), code, attacker->words * PPU_INSN_BYTES);
}

/* ---- what must hold ---- */

/*
 * Returns the first of so many words that may be one of the victim's, or NULL. Goes through much memory, all of which
 * is the machine's.
 */
__attribute__((no_sanitize("address"))) static const uint32_t *leaked_in(const struct neighbour *victim,
                                                                         const uint8_t *bytes, uint32_t count)
{
    const uint32_t *const words = (const uint32_t *)(const void *)bytes;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t magic = words[i] & NEIGHBOUR_MASK;

        if (magic == victim->magic || magic == victim->shared_magic) {
            return &words[i];
        }
    }
    return NULL;
}

/*
 * The same of all memory that the attacker can write: its VRAM, its pages of system memory, and those that its odd page
 * is at times. What another input has left there are words of another victim.
 */
static const uint32_t *leaked(const struct attacker *attacker)
{
    const struct board *const board = attacker->board;
    const struct {
        const uint8_t *bytes;
        uint32_t count;
    } areas[] = {
        { board->vram + DATA_AT, OWN_BYTES / sizeof(uint32_t) },
        { board->sys, SYS_OWN_BYTES / sizeof(uint32_t) },
        { board->sys + PPU_PAGE_64K, PPU_PAGE_64K / sizeof(uint32_t) },
    };
    const uint32_t *word = NULL;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(areas) && !word; i++) {
        word = leaked_in(&attacker->victim, areas[i].bytes, areas[i].count);
    }
    return word;
}

/* FNV-1a. Differs with the salt, and with every byte of the input. */
static uint32_t hash_of(const uint8_t *bytes, size_t count, uint32_t salt)
{
    uint32_t hash = 0x811c9dc5u ^ salt;

    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 0x01000193u;
    }
    return hash;
}

/* Words that no instruction has by accident: neither a small number nor a small negative one. */
static uint32_t magic_of(const uint8_t *bytes, size_t count, uint32_t salt)
{
    return (hash_of(bytes, count, salt) & 0x3fffff00u) | 0x40000000u;
}

/* Runs an input beside a victim whose words follow from the input and the salt. Returns what leaked, or NULL. */
static const uint32_t *run_input(const uint8_t *bytes, size_t count, uint32_t salt)
{
    struct attacker attacker = { .in = fuzz_input(bytes, count) };
    const uint32_t first = fuzz_below(&attacker.in, 4);

    attacker.victim.magic = magic_of(bytes, count, salt);
    attacker.victim.shared_magic = attacker.victim.magic ^ 0xe1000000u;
    attacker.board = attacker.victim.board = board_of(first & 1u);
    attacker_board_again(attacker.board);
    attacker_make_task(&attacker, 4);
    write_code(&attacker);
    if (first & 2u) {
        attacker.tmd.grid[0] = 1; /* so that there is room for the victim behind it */
        attacker_start(&attacker);
        neighbour_run(attacker.board, 1);
    }
    neighbour_start(&attacker.victim);
    neighbour_begin(&attacker.victim);
    attacker_start(&attacker);
    for (uint32_t left = MOST_ACTIONS; left != 0 && !fuzz_ended(&attacker.in); left--) {
        attacker_act(&attacker);
    }
    neighbour_run(attacker.board, RUN_INSNS);
    board_settle(attacker.board);
    attacker_take_events(&attacker);
    uint32_t before = neighbour_check(&attacker.victim);
    attacker_end(&attacker);
    neighbour_run(attacker.board, RUN_INSNS);
    if (neighbour_check(&attacker.victim) - before < RUN_INSNS / 10) {
        fuzz_found("the victim has not gone on");
    }
    return leaked(&attacker);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (run_input(bytes, count, 0)) {
        const uint32_t *const word = run_input(bytes, count, 1);

        if (word) {
            fuzz_found("a word of the attacker's memory is the victim's 0x%x", *word);
        }
    }
    return 0;
}
