/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps translations by content: SMs that come to the same loop share one, and a loop that was written anew is another.
 * What no SM uses any more stays for the next launch, until there are too many.
 */
#define _POSIX_C_SOURCE 200809L /* pthread_cond_timedwait() and clocks */

#include "qemu-device/core/tier/tier.h"
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/tier/translator.h"
#include "qemu-device/core/tier/unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KEPT_TIMES (2u << 10) /* to look for a translation that is kept takes less than these executions */
#define NS_PER_S 1000000000l
#define LOOK_NS 1000000 /* how often a wait for a translation looks whether it shall end */
#define MOST_ENTRIES 512u
#define MOST_SOUGHT 1u /* at once: each takes a millisecond */
#define MOST_OPEN (MOST_SOUGHT + TIER_MOST_MADE)

struct tier_entry {
    struct tier_entry *next; /* taken last first */
    uint64_t hash;
    uint32_t users;
    uint32_t context; /* of the kernel that asked last */
    uint32_t state;   /* enum tier_state; atomic */
    uint64_t times;   /* atomic: executions of each instruction by SMs that have given it back */
    bool open;        /* the thread's: it has asked, and waits for the reply */
    struct tier_translation translation;
    size_t unit_bytes;
    struct tier_unit *unit;
};

struct tier {
    int socket; /* the program that translates is at its other end */
    int wake;   /* an eventfd: somebody asks, or it is the end */
    bool at_once;
    uint32_t sms; /* that share what loops execute */
    /* The thread's: */
    bool lost;                          /* the program has gone: what has no translation is interpreted */
    struct tier_entry *open[MOST_OPEN]; /* by the tags of their requests */
    uint32_t seeking, making;           /* of them */
    uint32_t most_made;                 /* at once, as the program has said */
    uint32_t served;                    /* whose entry was asked for last */
    pthread_mutex_t lock;               /* guards what follows; taken with no other lock */
    pthread_cond_t answered;
    pthread_t thread;
    bool started;
    bool quit;
    struct tier_entry *entries;
    uint32_t count;
    uint32_t used; /* of them: they have users */
    uint64_t made; /* atomic */
};

/* ---- the thread ---- */

static bool is_waiting(const struct tier_entry *entry)
{
    const uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);

    return state == TIER_IS_SOUGHT || state == TIER_IS_ASKED;
}

static enum tier_how how_of(const struct tier *tier, const struct tier_entry *entry)
{
    return tier->at_once ? TIER_ALWAYS : entry->state == TIER_IS_SOUGHT ? TIER_KEPT_ONLY : TIER_WORTH;
}

/* Counts open requests of the entry's kind. */
static uint32_t *open_of_kind(struct tier *tier, const struct tier_entry *entry)
{
    return how_of(tier, entry) == TIER_KEPT_ONLY ? &tier->seeking : &tier->making;
}

/* So many may be open of its kind. */
static bool may_be_asked(const struct tier *tier, const struct tier_entry *entry)
{
    return is_waiting(entry) && !entry->open &&
           (how_of(tier, entry) == TIER_KEPT_ONLY ? tier->seeking < MOST_SOUGHT : tier->making < tier->most_made);
}

/* Contexts take turns. Of one context, what may be kept goes before what is to be made. */
static bool goes_before(const struct tier *tier, const struct tier_entry *entry, const struct tier_entry *other)
{
    const uint32_t turn = (entry->context - tier->served - 1) % PPU_MAX_CONTEXTS;
    const uint32_t turn_of_other = (other->context - tier->served - 1) % PPU_MAX_CONTEXTS;

    return turn != turn_of_other ? turn < turn_of_other : entry->state < other->state;
}

/* The kernels that run now go before those of their context that have ended: entries taken last are first. */
static struct tier_entry *next_to_ask(const struct tier *tier)
{
    struct tier_entry *found = NULL;

    for (struct tier_entry *entry = tier->entries; entry; entry = entry->next) {
        if (may_be_asked(tier, entry) && (!found || goes_before(tier, entry, found))) {
            found = entry;
        }
    }
    return found;
}

/* Why there will be no more translations; NULL: there may be. */
static const char *lost_by(int result)
{
    switch (result) {
    case TIER_NO_MODULE:
        return "the module that makes code cannot be loaded, or not for this processor";
    case TIER_OTHER:
        return "the program that translates is of another version";
    case -1:
        return "the program that translates has gone";
    default:
        return NULL;
    }
}

static enum tier_state state_of(int result)
{
    switch (result) {
    case TIER_MADE:
        return TIER_IS_THERE;
    case TIER_NOT_KEPT:
        return TIER_IS_ABSENT;
    default:
        return TIER_IS_NEVER;
    }
}

/* Only this thread leaves the states of who waits, and asks. */
static void give_result(struct tier *tier, struct tier_entry *entry, int result)
{
    if (result == TIER_MADE) {
        __atomic_fetch_add(&tier->made, 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&entry->state, state_of(result), __ATOMIC_RELEASE);
}

/* The entry has its reply, or gets none. */
static struct tier_entry *close_request(struct tier *tier, uint64_t tag)
{
    struct tier_entry *const entry = tier->open[tag];

    *open_of_kind(tier, entry) -= 1;
    tier->open[tag] = NULL;
    entry->open = false;
    return entry;
}

static void lose(struct tier *tier, const char *why)
{
    if (!__atomic_load_n(&tier->quit, __ATOMIC_RELAXED)) {
        fprintf(stderr, "ppu: translate loops of kernels: %s; loops without a translation are interpreted\n", why);
    }
    tier->lost = true;
    for (uint64_t tag = 0; tag < MOST_OPEN; tag++) {
        if (tier->open[tag]) {
            give_result(tier, close_request(tier, tag), TIER_FAILED);
        }
    }
}

static void open_request(struct tier *tier, struct tier_entry *entry)
{
    uint64_t tag = 0;

    while (tier->open[tag]) {
        tag++; /* may_be_asked() has seen that one is free */
    }
    *open_of_kind(tier, entry) += 1;
    tier->open[tag] = entry;
    entry->open = true;
    if (!translator_ask(tier->socket, tag, entry->unit, how_of(tier, entry))) {
        lose(tier, lost_by(-1));
    }
}

static void take_reply(struct tier *tier)
{
    struct tier_reply reply;

    if (!translator_hear(tier->socket, &reply) || reply.tag >= MOST_OPEN || !tier->open[reply.tag]) {
        lose(tier, lost_by(-1));
        return;
    }
    const enum tier_how how = how_of(tier, tier->open[reply.tag]);
    struct tier_entry *const entry = close_request(tier, reply.tag);
    const int result = translator_take(tier->socket, &reply.answer, entry->unit, how, &entry->translation);
    const char *const why = lost_by(result);

    tier->most_made = reply.most_made;
    give_result(tier, entry, result);
    if (why) {
        lose(tier, why);
    }
}

/* Waits until there is a reply, somebody asks, or it is the end. */
static void wait_and_take(struct tier *tier)
{
    struct pollfd wait[] = {
        { .fd = tier->wake, .events = POLLIN },
        { .fd = tier->seeking + tier->making != 0 ? tier->socket : -1, .events = POLLIN },
    };
    eventfd_t times;

    if (poll(wait, PPU_ARRAY_SIZE(wait), -1) <= 0) {
        return;
    }
    if (wait[0].revents != 0) {
        (void)eventfd_read(tier->wake, &times);
    }
    if (wait[1].revents != 0) {
        take_reply(tier);
    }
}

static void *thread_main(void *opaque)
{
    struct tier *const tier = opaque;

    pthread_mutex_lock(&tier->lock);
    while (!tier->quit) {
        struct tier_entry *const entry = next_to_ask(tier);
        pthread_mutex_unlock(&tier->lock);
        if (!entry) {
            wait_and_take(tier);
        } else if (tier->lost) {
            give_result(tier, entry, TIER_FAILED);
        } else {
            tier->served = entry->context;
            open_request(tier, entry);
        }
        pthread_mutex_lock(&tier->lock);
        pthread_cond_broadcast(&tier->answered);
    }
    pthread_mutex_unlock(&tier->lock);
    return NULL;
}

/* ---- entries; under the lock ---- */

_Static_assert(sizeof(struct tier_insn) % sizeof(uint32_t) == 0, "a unit has no part of a word");

/* The sum of its words, each times an odd number of its own: a program comes here at each launch. */
static uint64_t hash_of(const struct tier_unit *unit, size_t bytes)
{
    uint64_t hash = bytes;
    uint32_t word;

    for (size_t at = 0; at < bytes; at += sizeof(word)) {
        memcpy(&word, (const uint8_t *)unit + at, sizeof(word));
        hash += (word ^ (uint64_t)word << 32) * (0x9e3779b97f4a7c15ull + 2 * at);
    }
    return hash;
}

static void entry_free(struct tier_entry *entry)
{
    if (entry->state == TIER_IS_THERE) {
        translation_free(&entry->translation);
    }
    free(entry->unit);
    free(entry);
}

static bool entry_idle(const struct tier_entry *entry)
{
    return entry->users == 0 && !is_waiting(entry);
}

/* The one that was taken longest ago goes, of those that nobody uses: of what is only counted, if there is some. */
static bool make_room(struct tier *tier)
{
    struct tier_entry **oldest = NULL;

    for (struct tier_entry **at = &tier->entries; *at; at = &(*at)->next) {
        const bool counted = (*at)->state == TIER_IS_COUNTED;
        oldest = entry_idle(*at) && (counted || !oldest || (*oldest)->state != TIER_IS_COUNTED) ? at : oldest;
    }
    if (oldest) {
        struct tier_entry *const entry = *oldest;
        *oldest = entry->next;
        entry_free(entry);
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

static void entry_first(struct tier *tier, struct tier_entry *entry)
{
    entry->next = tier->entries;
    tier->entries = entry;
}

/* The unit's entry, which is the first of the list then; NULL: there is none. */
static struct tier_entry *entry_find(struct tier *tier, const struct tier_unit *unit, size_t bytes, uint64_t hash)
{
    for (struct tier_entry **at = &tier->entries; *at; at = &(*at)->next) {
        struct tier_entry *const entry = *at;
        if (entry->hash == hash && entry->unit_bytes == bytes && memcmp(entry->unit, unit, bytes) == 0) {
            *at = entry->next;
            entry_first(tier, entry);
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

/* With the lock: the unit's entry, which may be new. */
static struct tier_entry *entry_take(struct tier *tier, const struct tier_unit *unit, size_t bytes, uint64_t hash)
{
    struct tier_entry *entry = entry_find(tier, unit, bytes, hash);

    if (!entry) {
        entry = entry_new(tier, unit, bytes, hash);
        if (entry) {
            entry_first(tier, entry);
        }
    }
    if (entry) {
        tier->used += entry->users++ == 0;
    }
    return entry;
}

/* With the lock: an SM has the entry no more. */
static void entry_give(struct tier *tier, struct tier_entry *entry)
{
    tier->used -= --entry->users == 0;
}

struct tier_entry *tier_count(struct tier *tier, const struct tier_unit *unit)
{
    const size_t bytes = tier_unit_bytes(unit);
    const uint64_t hash = hash_of(unit, bytes);

    pthread_mutex_lock(&tier->lock);
    struct tier_entry *const entry = entry_take(tier, unit, bytes, hash);
    pthread_mutex_unlock(&tier->lock);
    return entry;
}

bool tier_is_crowded(struct tier *tier)
{
    pthread_mutex_lock(&tier->lock);
    const bool crowded = tier->used >= MOST_ENTRIES / 2;
    pthread_mutex_unlock(&tier->lock);
    return crowded;
}

/* Other SMs are about as far. */
static uint64_t times_of_all(const struct tier *tier, const struct tier_entry *entry, uint32_t times)
{
    return __atomic_load_n(&entry->times, __ATOMIC_RELAXED) + (uint64_t)times * tier->sms;
}

bool tier_is_warm(const struct tier *tier, const struct tier_entry *entry, uint32_t times)
{
    return times >= tier_kept_threshold(tier) || times_of_all(tier, entry, times) >= KEPT_TIMES;
}

/* With the lock: the thread is to answer. */
static void ask_for(struct tier *tier, struct tier_entry *entry, enum tier_state state, uint32_t context)
{
    entry->context = context;
    __atomic_store_n(&entry->state, state, __ATOMIC_RELEASE);
    (void)eventfd_write(tier->wake, 1);
}

struct tier_entry *tier_seek(struct tier *tier, const struct tier_unit *unit, struct tier_entry *counted,
                             uint32_t context)
{
    const size_t bytes = tier_unit_bytes(unit);
    const uint64_t hash = hash_of(unit, bytes);

    pthread_mutex_lock(&tier->lock);
    struct tier_entry *const entry = start(tier) ? entry_take(tier, unit, bytes, hash) : NULL;
    entry_give(tier, counted);
    if (entry && entry->state == TIER_IS_COUNTED) {
        const uint64_t times = entry == counted ? 0 : __atomic_load_n(&counted->times, __ATOMIC_RELAXED);
        __atomic_fetch_add(&entry->times, times, __ATOMIC_RELAXED);
        ask_for(tier, entry, TIER_IS_SOUGHT, context);
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

void tier_translate(struct tier *tier, struct tier_entry *entry, uint32_t times, uint32_t context)
{
    if (!tier->at_once && times_of_all(tier, entry, times) < tier_hot_times(entry->unit->wave)) {
        return;
    }
    pthread_mutex_lock(&tier->lock);
    if (entry->state == TIER_IS_ABSENT) {
        ask_for(tier, entry, TIER_IS_ASKED, context);
    }
    pthread_mutex_unlock(&tier->lock);
}

void tier_await(struct tier *tier, const struct tier_entry *entry, const uint32_t *attention)
{
    if (!tier->at_once) {
        return;
    }
    pthread_mutex_lock(&tier->lock);
    while (is_waiting(entry) && __atomic_load_n(attention, __ATOMIC_RELAXED) == 0) {
        const struct timespec again = look_again();
        pthread_cond_timedwait(&tier->answered, &tier->lock, &again);
    }
    pthread_mutex_unlock(&tier->lock);
}

void tier_give(struct tier *tier, struct tier_entry *entry, uint32_t times)
{
    __atomic_fetch_add(&entry->times, times, __ATOMIC_RELAXED);
    pthread_mutex_lock(&tier->lock);
    entry_give(tier, entry);
    pthread_mutex_unlock(&tier->lock);
}

enum tier_state tier_look(const struct tier_entry *entry, const struct tier_translation **translation)
{
    const uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);

    *translation = state == TIER_IS_THERE ? &entry->translation : NULL;
    return (enum tier_state)state;
}

/* ---- life ---- */

uint32_t tier_kept_threshold(const struct tier *tier)
{
    return tier->at_once ? 0 : KEPT_TIMES / tier->sms;
}

uint64_t tier_made(const struct tier *tier)
{
    return tier ? __atomic_load_n(&tier->made, __ATOMIC_RELAXED) : 0;
}

struct tier *tier_new(const struct core_config *config)
{
    struct tier *tier;

    /* On the virtual clock turns are of few instructions: no loop would be entered. */
    if (config->engine_tier == TIER_OFF || config->sm_threads == 0 || config->engine_tier_socket < 0) {
        return NULL;
    }
    tier = calloc(1, sizeof(*tier));
    if (!tier) {
        return NULL;
    }
    tier->wake = eventfd(0, EFD_CLOEXEC);
    if (tier->wake < 0) {
        free(tier);
        return NULL;
    }
    tier->socket = config->engine_tier_socket;
    tier->most_made = 1;
    tier->at_once = config->engine_tier == TIER_AT_ONCE;
    tier->sms = config->sms != 0 ? config->sms : 1;
    pthread_mutex_init(&tier->lock, NULL);
    pthread_cond_init(&tier->answered, NULL);
    return tier;
}

/* No SM enters a translation any more. */
void tier_free(struct tier *tier)
{
    if (!tier) {
        return;
    }
    pthread_mutex_lock(&tier->lock);
    __atomic_store_n(&tier->quit, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&tier->lock);
    (void)eventfd_write(tier->wake, 1);
    shutdown(tier->socket, SHUT_RDWR); /* the thread may wait for an answer */
    if (tier->started) {
        pthread_join(tier->thread, NULL);
    }
    while (tier->entries) {
        struct tier_entry *const entry = tier->entries;
        tier->entries = entry->next;
        entry_free(entry);
    }
    pthread_cond_destroy(&tier->answered);
    pthread_mutex_destroy(&tier->lock);
    close(tier->wake);
    close(tier->socket);
    free(tier);
}
