/* SPDX-License-Identifier: MIT */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include "tests/fuzz/tier_at_once.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "qemu-device/core/core.h"
#include "qemu-device/core/tier/tier.h"
#include "qemu-device/core/tier/translator.h"
#include "qemu-device/core/tier/unit.h"
#include "qemu-device/tier/ops.h"
#include "qemu-device/tier/translate.h"
#include "tests/fuzz/input.h"
#include "tools/translator/level.h"

#define MOST_ENTRIES 2048u /* that are kept from input to input: a translation takes longer than all else */

struct tier_entry {
    struct tier_entry *next; /* taken last first */
    uint32_t users;
    bool whole; /* of machines whose CTAs may be run so */
    enum tier_state state;
    struct tier_translation translation; /* whose code is enter() */
    tier_code *code;
    size_t unit_bytes;
    struct tier_unit unit;
};

struct tier {
    uint64_t made;
    bool whole;
};

static struct tier_entry *entries;
static uint32_t entry_count;
static struct tier_at_once_counts counts;
static bool machines_run_whole;

/* ---- code ---- */

bool tier_at_once_works(void)
{
    static bool tried, works;

    works = tried ? works : translate_prepare(level_of_host());
    tried = true;
    return works;
}

/*
 * Enters the code of the head's entry, and counts what it does. The sanitizer of function pointers would read what
 * stands before the code, which may be the first of its page.
 */
__attribute__((no_sanitize("function"))) static void enter(struct exec *x, const struct code_insn *head,
                                                           struct tier_turn *turn, const struct tier_calls *calls)
{
    const struct tier_entry *const entry = tier_head_at(x->sm->heads, head)->entry;
    const uint32_t before = turn->done;

    entry->code(x, head, turn, calls);
    counts.entered++;
    counts.executed += turn->done - before;
    if (entry->unit.straight) {
        counts.executed_straight += turn->done - before;
    }
    if (turn->whole) {
        counts.executed_whole += turn->done - before;
    }
}

/* A loop with a barrier, or of which the interpreter would do too much, has no translation, whatever is asked for. */
static bool may_be_refused(const struct tier_unit *unit)
{
    uint32_t own = 0, others = 0;
    bool barrier = false;

    for (uint32_t n = 0; n < unit->insns && !unit->straight; n++) {
        barrier = barrier || (unit->insn[n].known && unit->insn[n].insn.op == PPU_OP_BAR);
        const enum tier_kind kind = tier_kind_of(unit, &unit->insn[n]);
        others += kind == KIND_OTHER;
        own += kind != KIND_OTHER && kind != KIND_LEAVE && kind != KIND_CONTROL;
    }
    return !unit->straight && (barrier || own < 2 * others || own == 0);
}

/* Never writable and executable at once, as in a device. */
static void map_code(const struct tier_code_bytes *code, struct tier_entry *entry)
{
    void *const memory = mmap(NULL, code->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    struct tier_pace *const pace = calloc(1, sizeof(*pace));

    if (memory == MAP_FAILED || !pace) {
        abort();
    }
    memcpy(memory, code->at, code->bytes);
    if (mprotect(memory, code->bytes, PROT_READ | PROT_EXEC) != 0) {
        abort();
    }
    entry->translation = (struct tier_translation){ .code = enter,
                                                    .vregs = code->vregs,
                                                    .wave = code->wave,
                                                    .insns = code->insns,
                                                    .ends = entry->whole && code->ends,
                                                    .memory = memory,
                                                    .bytes = code->bytes,
                                                    .pace = pace };
    const uintptr_t at = (uintptr_t)memory + code->entry;
    memcpy(&entry->code, &at, sizeof(entry->code));
}

static void translate(struct tier_entry *entry)
{
    struct tier_code_bytes code = { 0 };

    entry->state = TIER_IS_NEVER;
    if (tier_at_once_works() && translate_unit(&entry->unit, true, &code)) {
        map_code(&code, entry);
        entry->state = TIER_IS_THERE;
    } else if (tier_at_once_works() && !may_be_refused(&entry->unit)) {
        fuzz_found("a unit of %u instructions that can be translated is not", entry->unit.insns);
    }
    free(code.at);
}

/* ---- entries ---- */

static void entry_free(struct tier_entry *entry)
{
    if (entry->state == TIER_IS_THERE) {
        translation_free(&entry->translation);
    }
    free(entry);
    entry_count--;
}

/* The one that was taken longest ago goes, of those that nobody uses. */
static void make_room(void)
{
    struct tier_entry **oldest = NULL;

    for (struct tier_entry **at = &entries; *at; at = &(*at)->next) {
        oldest = (*at)->users == 0 ? at : oldest;
    }
    if (oldest) {
        struct tier_entry *const entry = *oldest;
        *oldest = entry->next;
        entry_free(entry);
    }
}

static struct tier_entry *entry_new(const struct tier_unit *unit, size_t bytes, bool whole)
{
    struct tier_entry *const entry = calloc(1, sizeof(*entry));

    if (!entry) {
        abort();
    }
    memcpy(&entry->unit, unit, bytes);
    entry->unit_bytes = bytes;
    entry->whole = whole;
    entry_count++;
    translate(entry);
    return entry;
}

static struct tier_entry *entry_find(const struct tier_unit *unit, size_t bytes, bool whole)
{
    for (struct tier_entry **at = &entries; *at; at = &(*at)->next) {
        struct tier_entry *const entry = *at;
        if (entry->whole == whole && entry->unit_bytes == bytes && memcmp(&entry->unit, unit, bytes) == 0) {
            *at = entry->next;
            return entry;
        }
    }
    return NULL;
}

/* ---- tier.h ---- */

/* It is there at once, so nothing is counted. */
struct tier_entry *tier_count(struct tier *tier, const struct tier_unit *unit)
{
    const size_t bytes = tier_unit_bytes(unit);
    struct tier_entry *entry = entry_find(unit, bytes, tier->whole);

    if (!entry && entry_count >= MOST_ENTRIES) {
        make_room();
    }
    entry = entry ? entry : entry_new(unit, bytes, tier->whole);
    entry->next = entries;
    entries = entry;
    entry->users++;
    counts.asked++;
    counts.given += entry->state == TIER_IS_THERE;
    tier->made += entry->state == TIER_IS_THERE;
    return entry;
}

bool tier_is_crowded(struct tier *tier)
{
    (void)tier;
    return false;
}

bool tier_is_warm(const struct tier *tier, const struct tier_entry *entry, uint32_t times)
{
    (void)tier;
    (void)entry;
    (void)times;
    return true;
}

struct tier_entry *tier_seek(struct tier *tier, const struct tier_unit *unit, struct tier_entry *counted,
                             uint32_t context)
{
    (void)context;
    tier_give(tier, counted, 0);
    return tier_count(tier, unit);
}

void tier_give(struct tier *tier, struct tier_entry *entry, uint32_t times)
{
    (void)tier;
    (void)times;
    entry->users--;
}

/* Nothing is absent: what can be made was made when it was taken. */
void tier_translate(struct tier *tier, struct tier_entry *entry, uint32_t times, uint32_t context)
{
    (void)tier;
    (void)entry;
    (void)times;
    (void)context;
}

void tier_await(struct tier *tier, const struct tier_entry *entry, const uint32_t *attention)
{
    (void)tier;
    (void)entry;
    (void)attention;
}

enum tier_state tier_look(const struct tier_entry *entry, const struct tier_translation **translation)
{
    *translation = entry->state == TIER_IS_THERE ? &entry->translation : NULL;
    return entry->state;
}

uint32_t tier_kept_threshold(const struct tier *tier)
{
    (void)tier;
    return 0;
}

uint64_t tier_made(const struct tier *tier)
{
    return tier ? tier->made : 0;
}

struct tier *tier_new(const struct core_config *config)
{
    struct tier *const tier = config->engine_tier == TIER_AT_ONCE ? calloc(1, sizeof(*tier)) : NULL;

    if (tier) {
        tier->whole = machines_run_whole;
    }
    return tier;
}

void tier_free(struct tier *tier)
{
    free(tier);
}

void tier_at_once_set_whole(bool whole)
{
    machines_run_whole = whole;
}

struct tier_at_once_counts tier_at_once_counts(void)
{
    return counts;
}
