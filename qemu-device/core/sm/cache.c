/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caches of SMs (A10): what the lines that an instruction touches find there. Lines are known by where they lie, so
 * that address spaces share what they share, and a translation that changes leaves nothing wrong behind.
 *
 * First level, one an SM: loads look there, and bring in what they miss. A store is written through: a line that is
 * there is as good as used, one that is not is not brought in. Atomics are performed at the second level; the first
 * level's copy of the line is lost. Second level, one for all SMs: loads that missed, stores and atomics look there,
 * and all bring in what they miss.
 */
#include "qemu-device/core/sm/cache.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/access.h"
#include "qemu-device/core/sm/cache_lines.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/cache_window.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/core/sm/page_lookup.h"
#include "qemu-device/core/sm/tlb.h"
#include "qemu-device/core/sm/warp.h"

#define SYSTEM_LINES (1ull << 59) /* numbers of lines of system memory begin there, beyond those of VRAM */

bool cache_l2_init(struct cache_l2 *l2, const struct core_config *config)
{
    if (!cache_alloc(&l2->cache, config->l2_bytes, config->l2_ways, config->cache_line)) {
        return false;
    }
    for (uint32_t i = 0; i < CACHE_LOCKS; i++) {
        pthread_mutex_init(&l2->lock[i], NULL);
    }
    return true;
}

void cache_l2_free(struct cache_l2 *l2)
{
    if (!l2->cache.way) {
        return;
    }
    for (uint32_t i = 0; i < CACHE_LOCKS; i++) {
        pthread_mutex_destroy(&l2->lock[i]);
    }
    cache_free(&l2->cache);
}

static bool l2_use(struct cache_l2 *l2, uint64_t line)
{
    pthread_mutex_t *const lock = &l2->lock[(line & (l2->cache.sets - 1)) % CACHE_LOCKS];

    pthread_mutex_lock(lock);
    bool hit = cache_use(&l2->cache, line, true);
    pthread_mutex_unlock(lock);
    return hit;
}

/* ---- which lines an instruction touches ---- */

/* True: it is among those of the pass, but not where its number says. */
static bool line_is_known(const struct cache_lines *lines, uint64_t va)
{
    uint32_t i = lines->begin;

    while (i < lines->count && lines->va[i] != va) {
        i++;
    }
    return i < lines->count;
}

static inline void add_line(struct cache_lines *lines, uint64_t va, uint32_t log2)
{
    const uint32_t number = (uint32_t)(va >> log2) % 64;
    const bool seen = (lines->seen >> number & 1u) != 0;

    if (seen && (lines->va[lines->at[number]] == va || line_is_known(lines, va))) {
        return;
    }
    /* Only lanes that are not aligned can need more room, and they are going to be a fault. */
    if (lines->count < CACHE_MOST_LINES) {
        lines->seen |= 1ull << number;
        lines->at[number] = (uint16_t)lines->count;
        lines->va[lines->count++] = va;
    }
}

void cache_lines_add(struct cache_lines *lines, uint32_t line_bytes, uint64_t va, uint32_t bytes)
{
    const uint64_t first = va & ~(uint64_t)(line_bytes - 1);
    const uint32_t span = (uint32_t)(va - first) + bytes, log2 = (uint32_t)__builtin_ctz(line_bytes);

    for (uint32_t at = 0; at < span; at += line_bytes) {
        add_line(lines, first + at, log2);
    }
}

void cache_lines_each(struct cache_lines *lines, uint32_t line_bytes, const uint64_t va[PPU_LANES], uint32_t set,
                      uint32_t bytes)
{
    const bool whole = bytes <= sizeof(uint32_t); /* aligned, or going to be a fault: none lies in two lines */
    const uint32_t log2 = (uint32_t)__builtin_ctz(line_bytes);

    for (uint32_t left = set; left != 0; left &= left - 1) {
        const uint64_t at = va[__builtin_ctz(left)];

        if (whole) {
            add_line(lines, at & ~(uint64_t)(line_bytes - 1), log2);
        } else {
            cache_lines_add(lines, line_bytes, at, bytes);
        }
    }
}

/* ---- what it finds there ---- */

static void window_count(struct cache_window *window, bool hit)
{
    window->misses += !hit;
    if (++window->loads >= CACHE_WINDOW) {
        window->loads /= 2;
        window->misses /= 2;
    }
}

static void load_seen(struct warp *w, bool hit)
{
    window_count(&w->window, hit);
    w->segment_window.loads++;
    w->segment_window.misses += !hit;
}

/* Counts for a segment that is a sample: there is no model, and nothing else to count. */
static void sample_line(struct exec *x, uint64_t line, enum ppu_access access)
{
    if (access == PPU_ACCESS_READ) {
        load_seen(x->w, cache_use(&x->sm->l1, line, true));
    } else if (access != PPU_ACCESS_WRITE) {
        cache_drop(&x->sm->l1, line);
    }
}

static void use_line(struct exec *x, uint64_t line, enum ppu_access access)
{
    struct cache *const l1 = &x->sm->l1;

    if (!x->sm->l2) {
        sample_line(x, line, access);
        return;
    }
    if (access == PPU_ACCESS_READ) {
        const bool hit = cache_use(l1, line, true);

        load_seen(x->w, hit);
        count_one(x, hit ? PPU_COUNTER_L1_HITS : PPU_COUNTER_L1_MISSES);
        if (hit) {
            return;
        }
    } else if (access == PPU_ACCESS_WRITE) {
        cache_use(l1, line, false);
    } else {
        cache_drop(l1, line);
    }
    count_one(x, l2_use(x->sm->l2, line) ? PPU_COUNTER_L2_HITS : PPU_COUNTER_L2_MISSES);
}

#define NO_LINE UINT64_MAX

/* The number of a line; NO_LINE: its page is gone since the access was done, which is nobody's fault. VRAM's pages are
 * kept. */
static __attribute__((noinline)) uint64_t find_line(const struct exec *x, uint64_t va, uint32_t shift)
{
    struct translation translation;

    if (sm_translate(x->sm, x->task->tmd.context, va, PPU_ACCESS_READ, &translation) != 0) {
        return NO_LINE;
    }
    if (translation.host) {
        x->found->lines = exec_page(x, va);
    }
    return (translation.bus >> shift) + (!translation.host ? SYSTEM_LINES : 0);
}

void cache_account(struct exec *x, const struct cache_lines *lines, enum ppu_access access)
{
    const uint32_t shift = (uint32_t)__builtin_ctz(x->sm->config->cache_line);
    const struct page *const page = &x->found->lines;

    for (uint32_t i = 0; i < lines->count; i++) {
        const uint64_t offset = lines->va[i] - page->first;
        const uint64_t line = offset < page->bytes ? ((uint64_t)(page->host - x->vram) + offset) >> shift
                                                   : find_line(x, lines->va[i], shift);

        if (line != NO_LINE) {
            use_line(x, line, access);
        }
    }
}
