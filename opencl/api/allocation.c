/* SPDX-License-Identifier: MIT */
#include "opencl/api/allocation.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"

#define FUNCTIONS 4u

struct allocation {
    struct allocation *next, *before;
    cl_context context; /* not in use: compared only */
    const char *function;
    uint32_t call; /* of that function, from 1 on */
    uint64_t va, bytes, owned_bytes;
    bool ended;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static bool remembers;
static struct allocation *newest; /* list; those that have ended stay in it */
static uint32_t ended_count;

static struct {
    const char *function;
    uint32_t calls;
} made[FUNCTIONS];

void allocation_begin(void)
{
    pthread_mutex_lock(&lock);
    remembers = true;
    pthread_mutex_unlock(&lock);
}

static uint32_t count_call(const char *function)
{
    uint32_t i = 0;

    while (i + 1 < FUNCTIONS && made[i].function && strcmp(made[i].function, function) != 0) {
        i++;
    }
    made[i].function = function;
    return ++made[i].calls;
}

struct allocation *allocation_new(cl_context context, const char *function, uint64_t va, uint64_t bytes,
                                  uint64_t owned_bytes)
{
    struct allocation *allocation = NULL;

    pthread_mutex_lock(&lock);
    if (remembers && (allocation = calloc(1, sizeof(*allocation)))) {
        *allocation = (struct allocation){ .next = newest,
                                           .context = context,
                                           .function = function,
                                           .call = count_call(function),
                                           .va = va,
                                           .bytes = bytes,
                                           .owned_bytes = owned_bytes };
        if (newest) {
            newest->before = allocation;
        }
        newest = allocation;
    }
    pthread_mutex_unlock(&lock);
    return allocation;
}

static void forget(struct allocation *allocation)
{
    if (allocation->before) {
        allocation->before->next = allocation->next;
    } else {
        newest = allocation->next;
    }
    if (allocation->next) {
        allocation->next->before = allocation->before;
    }
    free(allocation);
}

/* The oldest of those that have ended. */
static void forget_oldest(void)
{
    struct allocation *oldest = NULL;

    for (struct allocation *a = newest; a; a = a->next) {
        oldest = a->ended ? a : oldest;
    }
    if (oldest) {
        forget(oldest);
        ended_count--;
    }
}

void allocation_end(struct allocation *allocation)
{
    if (!allocation) {
        return;
    }
    pthread_mutex_lock(&lock);
    allocation->ended = true;
    ended_count++;
    if (ended_count > ALLOCATION_ENDED_MOST) {
        forget_oldest();
    }
    pthread_mutex_unlock(&lock);
}

/* ---- what nothing may reach ---- */

static int compare_ranges(const void *a, const void *b)
{
    const struct ppu_sanitizer_range *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void add_range(struct ppu_sanitizer_range *ranges, uint32_t *count, uint64_t begin, uint64_t end)
{
    if (begin < end && *count < PPU_SANITIZER_RANGES) {
        ranges[(*count)++] = (struct ppu_sanitizer_range){ begin, end };
    }
}

/* What was released is nobody's until something is mapped there again. */
static void add_allocation(const struct allocation *a, struct ppu_sanitizer_range *ranges, uint32_t *count)
{
    if (!a->ended) {
        add_range(ranges, count, a->va + a->bytes, a->va + a->owned_bytes);
    } else if (a->owned_bytes != 0 && !ppu_context_maps(a->context->ppu, (ppu_va_t){ a->va }, a->owned_bytes)) {
        add_range(ranges, count, a->va, a->va + a->owned_bytes);
    }
}

/* Overlaps come of addresses that were used several times. */
static uint32_t join_ranges(struct ppu_sanitizer_range *ranges, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && ranges[i].begin <= ranges[kept - 1].end) {
            ranges[kept - 1].end = PPU_MAX(ranges[kept - 1].end, ranges[i].end);
        } else {
            ranges[kept++] = ranges[i];
        }
    }
    return kept;
}

void allocation_ranges(cl_context context, struct ppu_sanitizer_table *to)
{
    struct ppu_sanitizer_range *ranges = calloc(PPU_SANITIZER_RANGES, sizeof(ranges[0]));
    uint32_t count = 0;

    to->count = 0;
    if (!ranges) {
        return;
    }
    add_range(ranges, &count, 0, PPU_PAGE_64K); /* no memory ever lies there */
    pthread_mutex_lock(&lock);
    for (const struct allocation *a = newest; a; a = a->next) {
        if (a->context == context) {
            add_allocation(a, ranges, &count);
        }
    }
    pthread_mutex_unlock(&lock);
    qsort(ranges, count, sizeof(ranges[0]), compare_ranges);
    count = join_ranges(ranges, count);
    memcpy(to->ranges, ranges, count * sizeof(ranges[0]));
    to->count = count;
    free(ranges);
}

/* 0: it does not lie there; else the more, the better it fits. */
static uint32_t fit(const struct allocation *a, cl_context context, uint64_t va, uint64_t bytes)
{
    if (a->context != context || va < a->va || va >= a->va + PPU_MAX(a->bytes, a->owned_bytes)) {
        return 0;
    }
    return 1 + (a->ended ? 0 : 2) + (a->va == va && a->bytes == bytes ? 1 : 0);
}

bool allocation_tell(cl_context context, uint64_t va, uint64_t bytes, char text[ALLOCATION_TEXT_BYTES])
{
    const struct allocation *found = NULL;
    uint32_t best = 0;

    pthread_mutex_lock(&lock);
    for (const struct allocation *a = newest; a; a = a->next) {
        const uint32_t fits = fit(a, context, va, bytes);
        found = fits > best ? a : found;
        best = PPU_MAX(best, fits);
    }
    if (found) {
        snprintf(text, ALLOCATION_TEXT_BYTES, "%s, call %u, %llu bytes%s", found->function, found->call,
                 (unsigned long long)found->bytes, found->ended ? ", released" : "");
    }
    pthread_mutex_unlock(&lock);
    return found;
}
