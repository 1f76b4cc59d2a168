/* SPDX-License-Identifier: MIT */
#include "demo/parts.h"

#include <string.h>

#include "ppu/macros.h"
#include "ppu/tmd.h"

/* As demo/parts.s has them. */
#define TABLE_ROWS 16u
#define ROW_WORDS 64u
#define MIX_ROUNDS 16u
#define MIX_THREADS 64u
#define REACH_ROWS 8u
#define REACH_WORDS 32u
#define REACH_THREADS 128u

#define MIX_CTAS 128u
#define REACH_CTAS 4u
#define REACH_TIMES 40u
#define NEAR_BYTES 4u                                    /* lanes read words that lie side by side */
#define FAR_BYTES (REACH_ROWS * REACH_WORDS * 4u)        /* each lane has rows of its own */
#define DATA_WORDS (REACH_THREADS * FAR_BYTES / 4u + 64) /* a first-level cache has half of it */

#define CHOSEN_CTAS 192u
#define CHOSEN_COUNTED 128u /* the first CTA that waits for others, and is counted with them */
#define CHOSEN_WORDS 64u    /* of each thread, in as many lines */
#define CHOSEN_ROUNDS 4u    /* words of each line */
#define LINE_WORDS 32u
#define CHOSEN_FAR (CHOSEN_WORDS * LINE_WORDS * 4u)
#define CHOSEN_DATA (MIX_THREADS * CHOSEN_FAR / 4u + CHOSEN_ROUNDS)

struct counts {
    uint32_t now, most, full;
};

struct mix_params {
    uint64_t table, counts, results;
    uint32_t room; /* warps that are waited for */
};

struct chosen_params {
    uint64_t data, counts, results;
    uint32_t room, between, counted;
};

struct reach_params {
    uint64_t data, sums;
    uint32_t between, times;
};

/* What the kernels read and write. */
struct parts {
    struct ppu_memory *table, *counts, *results, *data, *sums;
};

static struct parts parts_new(const struct user *user)
{
    const struct parts parts = {
        .table = user_memory(user, PPU_MEMORY_VRAM, TABLE_ROWS * ROW_WORDS * sizeof(uint32_t)),
        .counts = user_memory(user, PPU_MEMORY_VRAM, sizeof(struct counts)),
        .results = user_memory(user, PPU_MEMORY_VRAM, CHOSEN_CTAS * MIX_THREADS * sizeof(uint32_t)),
        .data = user_memory(user, PPU_MEMORY_VRAM, PPU_MAX(DATA_WORDS, CHOSEN_DATA) * sizeof(uint32_t)),
        .sums = user_memory(user, PPU_MEMORY_VRAM, REACH_CTAS * REACH_THREADS * sizeof(uint32_t)),
    };
    uint32_t *table = ppu_memory_host(parts.table), *data = ppu_memory_host(parts.data);

    for (uint32_t i = 0; i < TABLE_ROWS * ROW_WORDS; i++) {
        table[i] = i * 0x9e3779b1u;
    }
    for (uint32_t i = 0; i < PPU_MAX(DATA_WORDS, CHOSEN_DATA); i++) {
        data[i] = i * 0x85ebca6bu;
    }
    return parts;
}

static void parts_free(const struct parts *parts)
{
    struct ppu_memory *const all[] = { parts->table, parts->counts, parts->results, parts->data, parts->sums };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(all); i++) {
        need(ppu_memory_free(all[i]), "memory given back");
    }
}

/* ---- more warps at once ---- */

static uint32_t mixed(const uint32_t *table, uint32_t thread)
{
    uint32_t result = thread;

    for (uint32_t round = 0; round < MIX_ROUNDS; round++) {
        const uint32_t *row = table + (thread % MIX_THREADS + round) % TABLE_ROWS * ROW_WORDS;

        for (uint32_t i = ROW_WORDS; i-- != 0;) {
            result = result * 31u + row[i];
        }
    }
    return result;
}

/* Whether every thread has its result; *most is how many warps were on SMs at once. */
static enum ppu_err mix(const struct user *user, const struct parts *parts, const char *kernel, bool *right,
                        uint32_t *most)
{
    struct mix_params params = { user_va(user, parts->table), user_va(user, parts->counts),
                                 user_va(user, parts->results), 0 };
    const struct ppu_launch launch = {
        .grid = { MIX_CTAS }, .cta = { MIX_THREADS }, .params = &params, .param_bytes = sizeof(params)
    };
    const struct ppu_kernel *const mixing = user_kernel(user, kernel);
    const struct counts *counts = ppu_memory_host(parts->counts);
    uint32_t *results = ppu_memory_host(parts->results);

    memset(ppu_memory_host(parts->counts), 0, sizeof(struct counts));
    memset(results, 0, MIX_CTAS * MIX_THREADS * sizeof(uint32_t));
    params.room = ppu_kernel_resident(mixing, &launch);
    enum ppu_err err = user_run(user, mixing, &launch);
    *right = true;
    for (uint32_t t = 0; t < MIX_CTAS * MIX_THREADS; t++) {
        *right = *right && results[t] == mixed(ppu_memory_host(parts->table), t);
    }
    *most = counts->most;
    return err;
}

static void show_registers(struct report *report, const struct user *user, const struct parts *parts)
{
    bool whole_right, parted_right;
    uint32_t whole, parted;
    enum ppu_err err = mix(user, parts, "whole", &whole_right, &whole);

    err = err == PPU_OK ? mix(user, parts, "parted", &parted_right, &parted) : err;
    if (err != PPU_OK) {
        report_check(report, false, "warps at once", "%s", user_reason(user, err));
        return;
    }
    report_check(report, whole_right && parted_right && parted * 10 >= whole * 13, "warps at once",
                 "%9u    of 64 threads; %u when all threads have registers", parted, whole);
}

/* ---- the machine's choice of registers ---- */

static uint32_t chosen(const uint32_t *data, uint32_t thread, uint32_t between)
{
    uint32_t result = thread;

    for (uint32_t round = 0; round < CHOSEN_ROUNDS; round++) {
        const uint32_t *words = data + thread % MIX_THREADS * between / sizeof(uint32_t) + round;

        for (uint32_t i = CHOSEN_WORDS; i-- != 0;) {
            result = result * 31u + words[(size_t)i * LINE_WORDS];
        }
    }
    return result;
}

/*
 * As mix(), of the kernel whose registers the machine chooses; of those that come when it can know something. They wait
 * for so many tenths of those that there is room for with registers of their own.
 */
static enum ppu_err choose(const struct user *user, const struct parts *parts, uint32_t between, uint32_t tenths,
                           bool *right, uint32_t *most)
{
    struct chosen_params params = { user_va(user, parts->data),
                                    user_va(user, parts->counts),
                                    user_va(user, parts->results),
                                    0,
                                    between,
                                    CHOSEN_COUNTED };
    const struct ppu_launch launch = {
        .grid = { CHOSEN_CTAS }, .cta = { MIX_THREADS }, .params = &params, .param_bytes = sizeof(params)
    };
    const struct ppu_kernel *const choosing = user_kernel(user, "chosen");
    const struct counts *counts = ppu_memory_host(parts->counts);
    const uint32_t *results = ppu_memory_host(parts->results);

    memset(ppu_memory_host(parts->counts), 0, sizeof(struct counts));
    memset(ppu_memory_host(parts->results), 0, CHOSEN_CTAS * MIX_THREADS * sizeof(uint32_t));
    params.room = (ppu_kernel_resident(choosing, &launch) * tenths + 9) / 10;
    enum ppu_err err = user_run(user, choosing, &launch);
    *right = true;
    for (uint32_t t = 0; t < CHOSEN_CTAS * MIX_THREADS; t++) {
        *right = *right && results[t] == chosen(ppu_memory_host(parts->data), t, between);
    }
    *most = counts->most;
    return err;
}

static void show_chosen(struct report *report, const struct user *user, const struct parts *parts)
{
    bool near_right, far_right;
    uint32_t near, far;
    enum ppu_err err = choose(user, parts, NEAR_BYTES, 10, &near_right, &near);

    err = err == PPU_OK ? choose(user, parts, CHOSEN_FAR, 13, &far_right, &far) : err;
    if (err != PPU_OK) {
        report_check(report, false, "chosen by misses", "%s", user_reason(user, err));
        return;
    }
    /* On a host that does other work warps give up to wait before the last have come. */
    report_check(report, near_right && far_right && far * 10 >= near * 12, "chosen by misses",
                 "%9u    of 64 threads at once; %u of those that do not miss", far, near);
}

/* ---- the machine's choice of the mode ---- */

static bool sums_are_right(const struct parts *parts, uint32_t between)
{
    const uint32_t *data = ppu_memory_host(parts->data), *sums = ppu_memory_host(parts->sums);
    bool right = true;

    for (uint32_t t = 0; t < REACH_CTAS * REACH_THREADS; t++) {
        const uint32_t *rows = data + t % REACH_THREADS * between / sizeof(uint32_t);
        uint32_t sum = 0;

        for (uint32_t i = 0; i < REACH_ROWS * REACH_WORDS; i++) {
            sum += rows[i];
        }
        right = right && sums[t] == sum * REACH_TIMES;
    }
    return right;
}

/* Instructions that warps of the channel's tasks executed so far. */
static uint64_t instructions(const struct user *user)
{
    uint64_t count = 0;

    need(ppu_device_query(user->device, PPU_KEY_CHANNEL_INSNS, ppu_channel_index(user->channel), &count),
         "a count of instructions");
    return count;
}

/* *right becomes false when a sum is wrong; *insns is how many instructions that took. */
static enum ppu_err reach(const struct user *user, const struct parts *parts, uint32_t between, enum ppu_tmd_mode mode,
                          bool *right, uint64_t *insns)
{
    const struct reach_params params = { user_va(user, parts->data), user_va(user, parts->sums), between, REACH_TIMES };
    const struct ppu_launch launch = {
        .grid = { REACH_CTAS }, .cta = { REACH_THREADS }, .params = &params, .param_bytes = sizeof(params), .mode = mode
    };
    const uint64_t before = instructions(user);
    enum ppu_err err = user_run(user, user_kernel(user, "reach"), &launch);

    *insns = instructions(user) - before;
    *right = *right && err == PPU_OK && sums_are_right(parts, between);
    return err;
}

/* A part executes what all lanes would have executed at once: as many times the instructions as there are parts. */
static uint32_t percent_in_turns(uint64_t insns, uint64_t at_once)
{
    return (uint32_t)((insns - at_once) * 100 / (at_once * (REACH_THREADS / 32 - 1)));
}

static void show_choice(struct report *report, const struct user *user, const struct parts *parts)
{
    uint64_t at_once = 0, near = 0, far = 0;
    bool right = true;
    enum ppu_err err = reach(user, parts, FAR_BYTES, PPU_MODE_NORMAL, &right, &at_once);

    err = err == PPU_OK ? reach(user, parts, NEAR_BYTES, PPU_MODE_AUTO, &right, &near) : err;
    err = err == PPU_OK ? reach(user, parts, FAR_BYTES, PPU_MODE_AUTO, &right, &far) : err;
    if (err != PPU_OK) {
        report_check(report, false, "taken in turns", "%s", user_reason(user, err));
        return;
    }
    const uint32_t of_far = percent_in_turns(far, at_once), of_near = percent_in_turns(near, at_once);
    report_check(report, right && of_near == 0 && of_far >= 80, "taken in turns",
                 "%9u %%  of what misses the cache, %u %% of what does not", of_far, of_near);
}

void parts_show(struct report *report, const struct user *user)
{
    const struct parts parts = parts_new(user);

    report_section("Parts of a warp that take turns");
    show_registers(report, user, &parts);
    show_chosen(report, user, &parts);
    show_choice(report, user, &parts);
    parts_free(&parts);
}
