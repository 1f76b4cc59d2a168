/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an access lies in memory of the host, by translations that are cached. Part of engine_build.h. */
#ifndef PPU_CORE_ENGINE_BUILD_REACH_H
#define PPU_CORE_ENGINE_BUILD_REACH_H

enum mem_space {
    MEM_GLOBAL,
    MEM_SHARED,
};

/* ---- one access ---- */

/* The bytes from `va` on, when they are in one page that the TLB has, in VRAM, and may be accessed so; else NULL. */
BUILD_INLINE uint8_t *probe(const struct exec *x, uint64_t va, uint32_t bytes, enum ppu_access access)
{
    const struct tlb_entry *entry = &x->sm->tlb[sm_tlb_index(va)];
    const uint64_t page = ~(uint64_t)(PPU_PAGE_4K - 1), last = va + bytes - 1;
    const bool here = entry->tag == (((va & page) | x->tlb_key) & entry->mask) && entry->tag != 0 &&
                      ((va ^ last) & entry->mask & page) == 0 && !entry->system;
    const bool may = (access == PPU_ACCESS_READ || entry->write) && (access != PPU_ACCESS_ATOMIC || entry->atomic);

    return here && may ? x->vram + entry->frame + (va - (entry->tag & page)) : NULL;
}

static __attribute__((noinline)) uint8_t *probe_again(const struct exec *x, uint64_t va, uint32_t bytes,
                                                      enum ppu_access access)
{
    struct place place;

    return sm_translate(x->sm, x->task->tmd.context, va, access, &place) == 0 ? probe(x, va, bytes, access) : NULL;
}

BUILD_INLINE uint8_t *reach_global(const struct exec *x, uint64_t va, uint32_t bytes, enum ppu_access access)
{
    uint8_t *host = probe(x, va, bytes, access);

    return __builtin_expect(host != NULL, 1) ? host : probe_again(x, va, bytes, access);
}

BUILD_INLINE uint8_t *reach_shared(const struct exec *x, uint64_t at, uint32_t bytes)
{
    const uint32_t limit = x->task->tmd.shared_bytes;

    return at <= limit && bytes <= limit - at ? x->shared + at : NULL;
}

BUILD_INLINE uint8_t *reach(const struct exec *x, enum mem_space space, uint64_t at, uint32_t bytes,
                            enum ppu_access access)
{
    return space == MEM_SHARED ? reach_shared(x, at, bytes) : reach_global(x, at, bytes, access);
}

/* What was found, and what was found before, when the two are neighbours here and there: buffers are longer than pages.
 */
BUILD_INLINE void page_join(struct page *page, const struct page *found)
{
    const bool behind = page->first + page->bytes == found->first && page->host + page->bytes == found->host;
    const bool before = found->first + found->bytes == page->first && found->host + found->bytes == page->host;

    if (page->bytes == 0 || !(behind || before)) {
        *page = *found;
        return;
    }
    page->bytes += found->bytes;
    page->first = before ? found->first : page->first;
    page->host = before ? found->host : page->host;
}

BUILD_INLINE uint8_t *reach_near(const struct exec *x, enum mem_space space, uint64_t at, uint32_t bytes,
                                 enum ppu_access access, struct page *page)
{
    const uint64_t offset = at - page->first;
    uint8_t *host;

    if (space == MEM_SHARED) {
        return reach_shared(x, at, bytes);
    }
    if (offset < page->bytes && page->bytes - offset >= bytes) {
        return page->host + offset;
    }
    host = reach_global(x, at, bytes, access);
    if (host != NULL) {
        const struct page found = exec_page(x, at);
        page_join(page, &found);
    }
    return host;
}

static __attribute__((noinline)) uint8_t *reach_other(const struct exec *x, uint64_t va, uint32_t bytes,
                                                      enum ppu_access access, struct page *page)
{
    return reach_near(x, MEM_GLOBAL, va, bytes, access, page);
}

/* The page that accesses of this kind found last. */
BUILD_INLINE struct page *page_kept(const struct exec *x, enum ppu_access access)
{
    switch (access) {
    case PPU_ACCESS_READ:
        return &x->found->reads[(uintptr_t)x->code / sizeof(*x->code) % FOUND_READS];
    case PPU_ACCESS_WRITE:
        return &x->found->writes;
    default:
        return &x->found->atomics;
    }
}

/* As reach_global(), in that page. */
BUILD_INLINE uint8_t *reach_kept(struct exec *x, uint64_t va, uint32_t bytes, enum ppu_access access)
{
    struct page *const page = page_kept(x, access);
    const uint64_t offset = va - page->first;

    return offset < page->bytes && page->bytes - offset >= bytes ? page->host + offset
                                                                 : reach_other(x, va, bytes, access, page);
}

#define HOST_LINE 64u

/*
 * Asks for what lies two rows behind one that a warp loads outside of its loops, `bytes` of each lane: mostly the
 * second next warp's.
 */
BUILD_INLINE void fetch_behind(const struct exec *x, const uint8_t *host, uint32_t bytes)
{
    const uint32_t row_bytes = x->wave * bytes;

    for (uint32_t at = 2 * row_bytes; at < 3 * row_bytes; at += HOST_LINE) {
        __builtin_prefetch(host + at);
    }
}

/* ---- lanes of a pass ---- */

/* The least and the most of the lanes' low[]. */
struct span {
    uint32_t least, most;
};

/*
 * When all lanes of a set are aligned and reach into one page, or into shared memory: where lane i's bytes are but for
 * its low[i]; else 0.
 */
BUILD_INLINE uintptr_t reach_near_span(const struct exec *x, enum mem_space space, const struct addresses *a,
                                       uint32_t set, uint32_t bytes, uint32_t align, enum ppu_access access,
                                       struct span *span)
{
    const uint32_t first = (uint32_t)__builtin_ctz(set), high = a->high != NULL ? a->high[first] : 0;
    const uint64_t base = a->base + ((uint64_t)high << 32);
    uint32_t least = a->low[first], most = least, all = 0, differ = 0;
    const uint8_t *host;

    EACH_LANE
    {
        const uint32_t low = (set & lane_bit[i]) != 0 ? a->low[i] : a->low[first];
        least = low < least ? low : least;
        most = low > most ? low : most;
        all |= low;
    }
    if (a->high != NULL) {
        EACH_LANE
        {
            differ |= (set & lane_bit[i]) != 0 ? a->high[i] ^ high : 0;
        }
    }
    if (differ != 0 || ((base | all) & (align - 1)) != 0 || most - least > UINT32_MAX - bytes ||
        (a->wrap && (uint32_t)base + (uint64_t)most > UINT32_MAX)) {
        return 0;
    }
    host = reach(x, space, a->wrap ? (uint32_t)base + least : base + least, most - least + bytes, access);
    *span = (struct span){ least, most };
    return host != NULL ? (uintptr_t)host - least : 0;
}

BUILD_INLINE uintptr_t reach_near_all(const struct exec *x, enum mem_space space, const struct addresses *a,
                                      uint32_t set, uint32_t bytes, uint32_t align, enum ppu_access access)
{
    struct span span;

    return reach_near_span(x, space, a, set, bytes, align, access, &span);
}

#define NEAR_LANES 12u /* fewer lanes than that are sooner looked up one by one */

/* As reach_each(), of addresses that have upper halves or not, and from `page` on. */
BUILD_INLINE bool reach_each_from(const struct exec *x, enum mem_space space, const struct addresses *a, bool wide,
                                  uint32_t set, uint32_t bytes, uint32_t align, enum ppu_access access,
                                  struct page *page, uint8_t **host)
{
    struct page near = *page;

    BITS_EACH(set, i)
    {
        const uint64_t sum = a->base + a->low[i] + (wide ? (uint64_t)a->high[i] << 32 : 0);
        const uint64_t at = space == MEM_SHARED || (!wide && a->wrap) ? (uint32_t)sum : sum, offset = at - near.first;

        if (at % align != 0) {
            return false;
        }
        if (__builtin_expect(offset < near.bytes && near.bytes - offset >= bytes, 1)) {
            host[i] = near.host + offset;
            continue;
        }
        host[i] = space == MEM_SHARED ? NULL : reach_other(x, at, bytes, access, page);
        near = *page;
        if (host[i] == NULL) {
            return false;
        }
    }
    return true;
}

/* Host addresses of lanes that go each where they want, or all to one place; false: one cannot be reached here. */
BUILD_INLINE bool reach_each(struct exec *x, enum mem_space space, const struct addresses *a, uint32_t set,
                             uint32_t bytes, uint32_t align, enum ppu_access access, uint8_t **host)
{
    struct page shared = { 0, x->task->tmd.shared_bytes, x->shared };
    struct page *const page = space == MEM_SHARED ? &shared : page_kept(x, access);

    if (a->low == NULL) {
        const uint64_t at = address_at(a, 0);
        uint8_t *const place = at % align == 0 ? reach_near(x, space, at, bytes, access, page) : NULL;
        BITS_EACH(set, i)
        {
            host[i] = place;
        }
        return place != NULL;
    }
    return a->high != NULL ? reach_each_from(x, space, a, true, set, bytes, align, access, page, host)
                           : reach_each_from(x, space, a, false, set, bytes, align, access, page, host);
}

#endif
