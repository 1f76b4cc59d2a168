/* SPDX-License-Identifier: MIT */
/*
 * Surface: instruction words that the tier translates to code of the host, beside another context on the same SM.
 *
 * An input is a task as of the target `engine`, but its code is made of what is translated: straight code, loops that
 * count, that lanes leave one by one or at different times, branches that some lanes take, rows of memory at affine
 * addresses, in pages that are missing, read-only, of system memory or at the end of a page, and any word between.
 * Two machines do the same with it; one interprets, the other translates each unit before it goes on, by the sources of
 * ppu-tier.so. After each step warps, registers, predicates, memory, counters and the victim must be the same, to the
 * bit; the victim must be unharmed and go on, as in `engine`. So a store of generated code that leaves what its warp
 * was given is seen where it lands in VRAM, a neighbour's registers or shared memory.
 *
 * One of some inputs has more CTAs, which begin alone on the SM, and may be run from begin to end by one translation.
 * The order of their warps is another then, so that the attacker's own memory may be different; all else is compared
 * in the end.
 *
 * When less than a quarter of the inputs ran translated code, that is a finding: the target would test nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"
#include "qemu-device/core/tier/heads.h"
#include "qemu-device/core/tier/tier.h"
#include "tests/fuzz/attacker.h"
#include "tests/fuzz/tier_at_once.h"
#include "tests/fuzz/tier_code.h"

#define FILE_WORDS (2u * PPU_LANES * PPU_MAX_VREGS)
#define LEAST_CTAS 4u /* what a warp does once is known when a CTA has ended */
#define MORE_CTAS 8u
#define MOST_STEPS 16u
#define MOST_RUN 2048u
#define MAGIC 0x5ec2e700u
#define SHARED_MAGIC 0xa5c3a500u
#define PROGRAM_BYTES 320u
#define SHOWN_FROM 100u /* inputs, before too few translations are a finding */
#define WHOLE_CTAS 32u
#define WHOLE_TURNS 8u

enum { INTERPRETED, TRANSLATED, WAYS };
enum kind {
    PLAIN,
    CACHES,
    WHOLE,
    KINDS
}; /* of machines: with a model of the caches, with CTAs run from begin to end */

static struct board *machines[KINDS][WAYS];
static uint8_t pattern[PPU_PAGE_64K];
static uint64_t inputs, translated_inputs, insns;

/* ---- the machines ---- */

static enum kind kind_of(uint32_t first)
{
    return first % 16 == 1 ? CACHES : first % 16 == 5 ? WHOLE : PLAIN;
}

static struct board *machine(enum kind kind, uint32_t way)
{
    struct core_config config = attacker_config(FILE_WORDS);

    if (!machines[kind][way]) {
        config.cache_model = kind == CACHES;
        config.engine_tier = way == TRANSLATED ? TIER_AT_ONCE : TIER_OFF;
        tier_at_once_set_whole(kind == WHOLE);
        machines[kind][way] = board_new(&config);
        if (kind == WHOLE) {
            machines[kind][way]->core->config.sm_threads =
                1; /* for the SM, which nobody else runs: CTAs come in lots */
        }
    }
    return machines[kind][way];
}

/* Numbers and floats of all kinds, NaNs and infinities among them. */
static void make_pattern(void)
{
    static const uint32_t floats[] = { 0x7fc00000, 0xff812345, 0x7f800000, 0x80000000,
                                       0x3f800000, 0x00000001, 0xc2280000 };
    uint32_t word = 1;

    for (uint32_t at = 0; at < sizeof(pattern); at += sizeof(word)) {
        word = word * 1664525u + 1013904223u;
        const uint32_t value = word % 5 == 0   ? floats[word / 8 % PPU_ARRAY_SIZE(floats)]
                               : word % 3 == 0 ? word >> 22
                                               : word;
        memcpy(pattern + at, &value, sizeof(value));
    }
}

/* ---- they are the same ---- */

static void same_lanes(const char *what, uint32_t warp, const struct lanes *a, const struct lanes *b)
{
    if (memcmp(a, b, sizeof(*a)) != 0) {
        fuzz_found("warp %u: %s: lanes are %08x%08x%08x%08x, interpreted %08x%08x%08x%08x", warp, what, b->m[3],
                   b->m[2], b->m[1], b->m[0], a->m[3], a->m[2], a->m[1], a->m[0]);
    }
}

static void same_number(const char *what, uint32_t warp, uint64_t a, uint64_t b)
{
    if (a != b) {
        fuzz_found("warp %u: %s is 0x%llx, interpreted 0x%llx", warp, what, (unsigned long long)b,
                   (unsigned long long)a);
    }
}

static void same_bytes(const char *what, const uint8_t *a, const uint8_t *b, size_t bytes)
{
    if (memcmp(a, b, bytes) != 0) {
        size_t at = 0;
        while (a[at] == b[at]) {
            at++;
        }
        fuzz_found("byte 0x%zx of %s is 0x%02x, interpreted 0x%02x", at, what, b[at], a[at]);
    }
}

static void same_warp(uint32_t index, const struct warp *a, const struct warp *b)
{
    same_number("its state", index, a->state, b->state);
    if (a->state == WARP_FREE || a->state == WARP_DONE) {
        return; /* what a warp has left is nobody's */
    }
    same_number("pc", index, a->pc, b->pc);
    same_number("what it has begun", index, a->partial | a->held | a->section << 8,
                b->partial | b->held | b->section << 8);
    same_lanes("active", index, &a->active, &b->active);
    same_lanes("alive", index, &a->live, &b->live);
    for (uint32_t i = 0; i < PPU_PREDS; i++) {
        char name[] = "p0";
        const struct lanes mine = lanes_and(&a->pred[i], &a->live), theirs = lanes_and(&b->pred[i], &b->live);
        name[1] = (char)('0' + i);
        same_lanes(name, index, &mine, &theirs); /* nobody looks at those of lanes that have ended */
    }
    for (uint32_t i = 0; i < PPU_SREGS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "s%u", i);
        same_number(name, index, a->sreg[i], b->sreg[i]);
    }
    same_bytes("the lanes' reasons", a->reason, b->reason, sizeof(a->reason));
    same_bytes("where lanes go on", (const uint8_t *)a->wait_pc, (const uint8_t *)b->wait_pc, sizeof(a->wait_pc));
    same_number("tokens", index, a->token_count, b->token_count);
    same_number("the first token", index, a->token_first, b->token_first);
    same_number("yields", index, a->yield_count, b->yield_count);
    same_number("its chance", index, a->random, b->random);
    same_bytes("its segment", (const uint8_t *)&a->segment, (const uint8_t *)&b->segment, sizeof(a->segment));
    for (uint32_t lane = 0; a->yields && lane < PPU_MAX_WAVE; lane++) {
        same_number("turns to a yield", index, a->yield_turns[lane], b->yields ? b->yield_turns[lane] : 0);
    }
}

static void same_registers(const struct sm *a, const struct sm *b, const struct sm_cta *cta, uint32_t warp)
{
    const uint32_t stride = ppu_tmd_warp_vregs(&cta->cta.task->tmd, cta->cta.wide), wave = cta->cta.task->tmd.wave;
    const size_t at = cta->block[SM_FILE_VREGS].off + (size_t)warp * stride * sizeof(uint32_t);
    const uint32_t *const x = (const uint32_t *)(const void *)(a->file[SM_FILE_VREGS].bytes + at);
    const uint32_t *const y = (const uint32_t *)(const void *)(b->file[SM_FILE_VREGS].bytes + at);

    for (uint32_t i = 0; i < stride; i++) {
        if (x[i] != y[i]) {
            fuzz_found("register %u of lane %u of warp %u is 0x%x, interpreted 0x%x", i / wave, i % wave,
                       cta->warp[warp], y[i], x[i]);
        }
    }
}

static void same_cta(const struct sm *a, const struct sm *b, uint32_t i)
{
    const struct sm_cta *const x = &a->cta[i], *const y = &b->cta[i];

    same_number("its CTA's being there", i, x->used, y->used);
    if (!x->used) {
        return;
    }
    same_number("its CTA", i, x->cta.number, y->cta.number);
    same_number("its CTA's threads", i, x->threads_left, y->threads_left);
    for (uint32_t n = 0; n < PPU_COUNTERS; n++) {
        same_number("a counter", n, x->count[n], y->count[n]);
    }
    for (uint32_t id = 0; id < SM_FILE_COUNT; id++) {
        same_number("a block", id, x->block[id].off, y->block[id].off);
        same_number("a block's size", id, x->block[id].len, y->block[id].len);
    }
    for (uint32_t warp = 0; warp < x->cta.task->cta_warps; warp++) {
        same_warp(x->warp[warp], &a->warp[x->warp[warp]], &b->warp[y->warp[warp]]);
        if (a->warp[x->warp[warp]].state != WARP_DONE) {
            same_registers(a, b, x, warp);
        }
    }
    same_bytes("shared memory", a->file[SM_FILE_SHARED].bytes + x->block[SM_FILE_SHARED].off,
               b->file[SM_FILE_SHARED].bytes + y->block[SM_FILE_SHARED].off, x->block[SM_FILE_SHARED].len);
}

/* Save areas also have what ended warps have left, which is nobody's. */
static void same_vram(const char *what, const struct attacker pair[WAYS], uint32_t from, uint32_t end)
{
    same_bytes(what, pair[INTERPRETED].board->vram + from, pair[TRANSLATED].board->vram + from, end - from);
}

/* What belongs to others, when all is done; what the device says of its work comes in another order. */
static void same_others(const struct attacker pair[WAYS])
{
    same_vram("parameters and page tables", pair, PARAMS_AT, SAVE_AT);
    same_vram("VRAM between the save area and the attacker's", pair, SAVE_AT + SAVE_BYTES, DATA_AT);
    same_vram("VRAM behind the attacker's", pair, DATA_AT + OWN_BYTES, MACHINE_VRAM);
}

/* Where CTAs may be run whole, they have come elsewhere. */
static void same_machines(const struct attacker pair[WAYS], bool whole)
{
    const struct sm *const a = attacker_sm(&pair[INTERPRETED]), *const b = attacker_sm(&pair[TRANSLATED]);
    const struct board *const x = pair[INTERPRETED].board, *const y = pair[TRANSLATED].board;

    if (whole) {
        return;
    }
    for (uint32_t i = 0; i < a->config->sm_ctas; i++) {
        same_cta(a, b, i);
    }
    for (uint32_t n = 0; n < PPU_COUNTERS; n++) {
        same_number("a counter of the SM", n, a->count[n], b->count[n]);
    }
    same_bytes("the attacker's memory", x->vram + DATA_AT, y->vram + DATA_AT, OWN_BYTES);
    same_bytes("system memory", x->sys, y->sys, SYS_OWN_BYTES);
}

/* ---- an input ---- */

/* The SM executes so many instructions, and the attacker sees what became of its task. */
static void run(struct attacker *attacker, uint32_t budget)
{
    neighbour_run(attacker->board, budget);
    board_settle(attacker->board);
    attacker_take_events(attacker);
}

/* CTAs have the SM for themselves, and are ended where they do not end. */
static void run_alone(struct attacker *attacker)
{
    const uint32_t ctas = attacker->tmd.grid[0];

    attacker->tmd.grid[0] = ctas + WHOLE_CTAS;
    attacker_start(attacker);
    for (uint32_t turns = 0; turns < WHOLE_TURNS; turns++) {
        run(attacker, MOST_RUN);
    }
    attacker_end(attacker);
    attacker->tmd.grid[0] = ctas;
}

static void begin(struct attacker *attacker, uint32_t first)
{
    const bool whole = kind_of(first) == WHOLE;

    attacker->victim.magic = MAGIC;
    attacker->victim.shared_magic = SHARED_MAGIC;
    attacker->victim.board = attacker->board;
    attacker->victim.code_at = first & 0x10u ? 0 : 8 * PPU_PAGE_4K;
    attacker_board_again(attacker->board);
    memcpy(attacker->board->vram + DATA_AT, pattern, sizeof(pattern));
    memcpy(attacker->board->vram + ODD_AT, pattern, sizeof(pattern));
    attacker_make_task(attacker, TIER_CODE_VREGS);
    attacker->tmd.grid[0] = LEAST_CTAS + fuzz_below(&attacker->in, MORE_CTAS);
    if ((first & 0xe0u) != 0) {
        attacker->tmd.flags &= (uint16_t)~PPU_TMD_SUBVECTOR; /* warps in it are interpreted */
    }
    if (whole) {
        attacker->tmd.cta[0] = PPU_MAX(attacker->tmd.cta[0] / attacker->tmd.wave, 1u) * attacker->tmd.wave;
    }
    tier_code_make(attacker, whole && (first & 0xc0u) != 0);
    if (whole) {
        run_alone(attacker);
    }
    if (first % 8 == 2) {
        attacker->tmd.grid[0] = 1; /* so that there is room for the victim behind it */
        attacker_start(attacker);
        neighbour_run(attacker->board, 1);
    }
    neighbour_start(&attacker->victim);
    neighbour_begin(&attacker->victim);
    attacker_start(attacker);
}

static void step(struct attacker *attacker)
{
    const uint32_t byte = fuzz_u8(&attacker->in);

    if (byte % 8 != 7) {
        attacker_start(attacker);
        run(attacker, MOST_RUN - byte * (MOST_RUN / 256));
    } else {
        attacker_act(attacker);
    }
}

static void end(struct attacker *attacker)
{
    run(attacker, MOST_RUN);
    const uint32_t before = neighbour_check(&attacker->victim);
    attacker_end(attacker);
    neighbour_run(attacker->board, RUN_INSNS);
    if (neighbour_check(&attacker->victim) - before < RUN_INSNS / 10) {
        fuzz_found("the victim has not gone on");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct attacker pair[WAYS] = { { .in = fuzz_input(bytes, count) }, { .in = fuzz_input(bytes, count) } };
    const uint64_t before = tier_at_once_counts().executed;
    const uint32_t first = count != 0 ? bytes[0] : 0;
    const bool whole = kind_of(first) == WHOLE;

    for (uint32_t way = 0; way < WAYS; way++) {
        (void)fuzz_u8(&pair[way].in);
        pair[way].board = machine(kind_of(first), way);
        begin(&pair[way], first);
    }
    same_machines(pair, whole);
    for (uint32_t left = MOST_STEPS; left != 0 && !fuzz_ended(&pair[INTERPRETED].in); left--) {
        step(&pair[INTERPRETED]);
        step(&pair[TRANSLATED]);
        same_machines(pair, whole);
    }
    end(&pair[INTERPRETED]);
    end(&pair[TRANSLATED]);
    same_machines(pair, whole);
    if (!whole) {
        same_vram("the attacker's VRAM", pair, DATA_AT, DATA_AT + OWN_BYTES);
    }
    same_others(pair);
    inputs++;
    translated_inputs += tier_at_once_counts().executed != before;
    insns += attacker_sm(&pair[TRANSLATED])->count[PPU_COUNTER_INSNS];
    return 0;
}

/* ---- mutations ---- */

/*
 * One of four makes all anew from some place on, up to a length that most programs need: mutations of single bytes
 * repeat instructions more than they find new ones.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned int seed)
{
    uint64_t random = seed * 2ull + 1;

    if (random_below(&random, 4) != 0) {
        return LLVMFuzzerMutate(bytes, count, most);
    }
    const size_t from = random_below(&random, 2) ? random_below(&random, (uint32_t)count + 1) : 0;
    const size_t wanted = from + 32 + random_below(&random, PROGRAM_BYTES); /* PPU_MIN() would look twice */
    const size_t end = PPU_MIN(wanted, most);
    for (size_t at = from; at < end; at++) {
        bytes[at] = (uint8_t)random_below(&random, 256);
    }
    return PPU_MAX(from, end);
}

/* ---- the sanitizer ---- */

/* LLVM allocates and frees most of what there is: to remember where, and for long, took a third of the time. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "malloc_context_size=1:quarantine_size_mb=8:max_malloc_fill_size=0";
}

/* ---- how much was translated ---- */

static void show_part(void)
{
    const struct tier_at_once_counts counts = tier_at_once_counts();

    fprintf(
        stderr,
        "tier: %llu inputs, %llu of them ran translated code; of %llu units %llu had code; of %llu instructions %llu "
        "were translated, %llu of these straight, %llu of CTAs without a place\n",
        (unsigned long long)inputs, (unsigned long long)translated_inputs, (unsigned long long)counts.asked,
        (unsigned long long)counts.given, (unsigned long long)insns, (unsigned long long)counts.executed,
        (unsigned long long)counts.executed_straight, (unsigned long long)counts.executed_whole);
    if (inputs >= SHOWN_FROM && translated_inputs < inputs / 4 && tier_at_once_works()) {
        fuzz_found("only %llu of %llu inputs ran translated code", (unsigned long long)translated_inputs,
                   (unsigned long long)inputs);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    make_pattern();
    return atexit(show_part);
}
