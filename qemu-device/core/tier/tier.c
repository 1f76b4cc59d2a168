/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps translations by content: SMs that come to the same loop share one, and a loop that was written anew is another.
 * What no SM uses any more stays for the next launch, until there are too many.
 */
#define _POSIX_C_SOURCE 200809L /* strdup */

#include "qemu-device/core/tier/tier.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/tier/unit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOT_TIMES (64u << 10)
#define NS_PER_S 1000000000l
#define LOOK_NS 1000000 /* how often a wait for a translation looks whether it shall end */
#define MOST_ENTRIES 512u

enum entry_state {
    ENTRY_ASKED,
    ENTRY_READY,
    ENTRY_NEVER,
};

struct tier_entry {
    struct tier_entry *next; /* taken last first */
    uint64_t hash;
    uint32_t users;
    uint32_t state; /* enum entry_state; atomic, written by the thread once */
    bool begun;     /* the thread is at it, or done */
    struct tier_translation translation;
    size_t unit_bytes;
    struct tier_unit *unit;
};

struct tier {
    char *path;
    bool at_once;
    uint32_t sms;         /* that share what loops execute */
    pthread_mutex_t lock; /* guards what follows; taken with no other lock */
    pthread_cond_t asked;
    pthread_cond_t answered;
    pthread_t thread;
    bool started;
    bool quit;
    const struct tier_module *module;
    struct tier_entry *entries;
    uint32_t count;
    uint64_t made; /* atomic */
};

/* ---- the module ---- */

/* It stays: LLVM cannot be unloaded. */
static const struct tier_module *load(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct tier_module *const module = library ? dlsym(library, TIER_MODULE_SYMBOL) : NULL;

    if (module && module->layout() == tier_layout()) {
        return module;
    }
    if (!module) {
        const char *const why = dlerror();
        fprintf(stderr, "ppu: load the module that translates loops: %s; they are interpreted\n", why ? why : path);
    } else {
        fprintf(stderr, "ppu: load the module that translates loops: %s is of another version; they are interpreted\n",
                path);
    }
    return NULL;
}

/* ---- the thread ---- */

static struct tier_entry *next_asked(const struct tier *tier)
{
    struct tier_entry *found = NULL;

    for (struct tier_entry *entry = tier->entries; entry; entry = entry->next) {
        found = entry->begun ? found : entry;
    }
    return found;
}

static void translate_entry(struct tier *tier, struct tier_entry *entry)
{
    const bool good = tier->module && tier->module->translate(entry->unit, &entry->translation);

    if (good) {
        __atomic_fetch_add(&tier->made, 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&entry->state, good ? ENTRY_READY : ENTRY_NEVER, __ATOMIC_RELEASE);
}

static void *thread_main(void *opaque)
{
    struct tier *const tier = opaque;

    const struct tier_module *const module = load(tier->path);

    pthread_mutex_lock(&tier->lock);
    tier->module = module;
    while (!tier->quit) {
        struct tier_entry *const entry = next_asked(tier);
        if (!entry) {
            pthread_cond_wait(&tier->asked, &tier->lock);
            continue;
        }
        entry->begun = true;
        pthread_mutex_unlock(&tier->lock);
        translate_entry(tier, entry);
        pthread_mutex_lock(&tier->lock);
        pthread_cond_broadcast(&tier->answered);
    }
    pthread_mutex_unlock(&tier->lock);
    return NULL;
}

/* ---- entries; under the lock ---- */

static uint64_t hash_of(const struct tier_unit *unit, size_t bytes)
{
    const uint8_t *const at = (const uint8_t *)unit;
    uint64_t hash = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    }
    return hash;
}

static size_t bytes_of(const struct tier_unit *unit)
{
    return offsetof(struct tier_unit, insn) + unit->insns * sizeof(unit->insn[0]);
}

static void entry_free(const struct tier *tier, struct tier_entry *entry)
{
    if (entry->state == ENTRY_READY) {
        tier->module->drop(&entry->translation);
    }
    free(entry->unit);
    free(entry);
}

static bool entry_idle(const struct tier_entry *entry)
{
    return entry->users == 0 && __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) != ENTRY_ASKED;
}

/* The one that was taken longest ago goes, of those that nobody uses. */
static bool make_room(struct tier *tier)
{
    struct tier_entry **oldest = NULL;

    for (struct tier_entry **at = &tier->entries; *at; at = &(*at)->next) {
        oldest = entry_idle(*at) ? at : oldest;
    }
    if (oldest) {
        struct tier_entry *const entry = *oldest;
        *oldest = entry->next;
        entry_free(tier, entry);
        tier->count--;
    }
    return oldest;
}

static struct tier_entry *entry_new(struct tier *tier, const struct tier_unit *unit, size_t bytes, uint64_t hash)
{
    struct tier_entry *entry;

    if (tier->count >= MOST_ENTRIES && !make_room(tier)) {
        return NULL;
    }
    entry = calloc(1, sizeof(*entry));
    if (!entry) {
        return NULL;
    }
    entry->unit = malloc(sizeof(*unit));
    if (!entry->unit) {
        free(entry);
        return NULL;
    }
    memcpy(entry->unit, unit, bytes);
    entry->unit_bytes = bytes;
    entry->hash = hash;
    tier->count++;
    return entry;
}

/* Takes the entry out of the list; NULL: there is none of the unit. */
static struct tier_entry *entry_out(struct tier *tier, const struct tier_unit *unit, size_t bytes, uint64_t hash)
{
    for (struct tier_entry **at = &tier->entries; *at; at = &(*at)->next) {
        struct tier_entry *const entry = *at;
        if (entry->hash == hash && entry->unit_bytes == bytes && memcmp(entry->unit, unit, bytes) == 0) {
            *at = entry->next;
            return entry;
        }
    }
    return NULL;
}

static bool start(struct tier *tier)
{
    if (!tier->started) {
        tier->started = pthread_create(&tier->thread, NULL, thread_main, tier) == 0;
    }
    return tier->started;
}

struct tier_entry *tier_take(struct tier *tier, const struct tier_unit *unit)
{
    const size_t bytes = bytes_of(unit);
    const uint64_t hash = hash_of(unit, bytes);

    pthread_mutex_lock(&tier->lock);
    struct tier_entry *entry = start(tier) ? entry_out(tier, unit, bytes, hash) : NULL;
    if (!entry && tier->started) {
        entry = entry_new(tier, unit, bytes, hash);
    }
    if (entry) {
        entry->next = tier->entries;
        tier->entries = entry;
        entry->users++;
        pthread_cond_signal(&tier->asked);
    }
    pthread_mutex_unlock(&tier->lock);
    return entry;
}

static struct timespec look_again(void)
{
    struct timespec at;

    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += LOOK_NS;
    at.tv_sec += at.tv_nsec / NS_PER_S;
    at.tv_nsec %= NS_PER_S;
    return at;
}

/* Under the lock. LLVM has met an error that it does not return from. */
static bool has_failed(const struct tier *tier)
{
    return tier->module && tier->module->failed();
}

void tier_await(struct tier *tier, const struct tier_entry *entry, const uint32_t *attention)
{
    if (!tier->at_once) {
        return;
    }
    pthread_mutex_lock(&tier->lock);
    while (__atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) == ENTRY_ASKED && !has_failed(tier) &&
           __atomic_load_n(attention, __ATOMIC_RELAXED) == 0) {
        const struct timespec again = look_again();
        pthread_cond_timedwait(&tier->answered, &tier->lock, &again);
    }
    pthread_mutex_unlock(&tier->lock);
}

void tier_give(struct tier *tier, struct tier_entry *entry)
{
    pthread_mutex_lock(&tier->lock);
    entry->users--;
    pthread_mutex_unlock(&tier->lock);
}

const struct tier_translation *tier_ready(const struct tier_entry *entry, bool *never)
{
    const uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);

    *never = state == ENTRY_NEVER;
    return state == ENTRY_READY ? &entry->translation : NULL;
}

/* ---- life ---- */

uint32_t tier_threshold(const struct tier *tier)
{
    return tier->at_once ? 0 : HOT_TIMES / tier->sms;
}

uint64_t tier_made(const struct tier *tier)
{
    return tier ? __atomic_load_n(&tier->made, __ATOMIC_RELAXED) : 0;
}

struct tier *tier_new(const struct core_config *config)
{
    struct tier *tier;

    /* On the virtual clock turns are of few instructions: no loop would be entered. */
    if (config->engine_tier == TIER_OFF || config->sm_threads == 0 || !config->engine_tier_module ||
        !*config->engine_tier_module) {
        return NULL;
    }
    tier = calloc(1, sizeof(*tier));
    if (!tier) {
        return NULL;
    }
    tier->path = strdup(config->engine_tier_module);
    if (!tier->path) {
        free(tier);
        return NULL;
    }
    tier->at_once = config->engine_tier == TIER_AT_ONCE;
    tier->sms = config->sms != 0 ? config->sms : 1;
    pthread_mutex_init(&tier->lock, NULL);
    pthread_cond_init(&tier->asked, NULL);
    pthread_cond_init(&tier->answered, NULL);
    return tier;
}

void tier_free(struct tier *tier)
{
    if (!tier) {
        return;
    }
    pthread_mutex_lock(&tier->lock);
    tier->quit = true;
    pthread_cond_signal(&tier->asked);
    const bool stuck = has_failed(tier);
    pthread_mutex_unlock(&tier->lock);
    if (stuck) {
        pthread_detach(
            tier->thread); /* it stands in LLVM for ever, with an entry; no SM enters a translation any more */
        return;
    }
    if (tier->started) {
        pthread_join(tier->thread, NULL);
    }
    while (tier->entries) {
        struct tier_entry *const entry = tier->entries;
        tier->entries = entry->next;
        entry_free(tier, entry);
    }
    pthread_cond_destroy(&tier->answered);
    pthread_cond_destroy(&tier->asked);
    pthread_mutex_destroy(&tier->lock);
    free(tier->path);
    free(tier);
}
