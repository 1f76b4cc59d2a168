/* SPDX-License-Identifier: MIT */
#include "runtime/state/view.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/task.h"

#define TRIES 1000u /* of a copy, while the device writes */
#define AREA_MOST (16u * PPU_MIB)

/* ---- which table a member is of ---- */

static const uint8_t table_of[PPU_STATE_MEMBERS] = {
#define PPU_STATE_TASK(name, member, doc) [PPU_STATE_TASK_##name] = PPU_STATE_TABLE_TASK,
#define PPU_STATE_CHANNEL(name, member, doc) [PPU_STATE_CHANNEL_##name] = PPU_STATE_TABLE_CHANNEL,
#define PPU_STATE_FAULT(name, member, doc) [PPU_STATE_FAULT_##name] = PPU_STATE_TABLE_FAULT,
#define PPU_STATE_SLOT(name, member, doc) [PPU_STATE_SLOT_##name] = PPU_STATE_TABLE_SLOT,
#define PPU_STATE_CONTEXT(name, member, doc) [PPU_STATE_CONTEXT_##name] = PPU_STATE_TABLE_CONTEXT,
#define PPU_STATE_QUOTA(name, member, doc) [PPU_STATE_QUOTA_##name] = PPU_STATE_TABLE_QUOTA,
#define PPU_STATE_NEST(name, member, doc) [PPU_STATE_NEST_##name] = PPU_STATE_TABLE_NEST,
#define PPU_STATE_TASKQ(name, member, doc) [PPU_STATE_TASKQ_##name] = PPU_STATE_TABLE_TASKQ,
#define PPU_STATE_WORKQ(name, member, doc) [PPU_STATE_WORKQ_##name] = PPU_STATE_TABLE_WORKQ,
#define PPU_STATE_POLICY(name, member, doc) [PPU_STATE_POLICY_##name] = PPU_STATE_TABLE_POLICY,
#define PPU_STATE_STAT(name, member, doc) [PPU_STATE_STAT_##name] = PPU_STATE_TABLE_STAT,
#include "ppu/state.def"
};

/* ---- the copy ---- */

static uint32_t load_word(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Word by word: another process, or thread, writes meanwhile. */
static void copy_words(uint32_t *to, const uint32_t *from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes / sizeof(*to); i++) {
        to[i] = load_word(&from[i]);
    }
}

/* Partner: the device, which makes the sequence odd before it writes, and even afterwards. */
static bool copy_area(struct ppu_state *to, const struct ppu_state *from, uint32_t bytes)
{
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t before = load_word(&from->sequence);
        if (before % 2 == 0) {
            copy_words((uint32_t *)(void *)to, (const uint32_t *)(const void *)from, bytes);
            if (load_word(&from->sequence) == before) {
                return true;
            }
        }
    }
    return false;
}

static bool table_is_good(const struct view *view, uint32_t number)
{
    const struct ppu_state_table *table = &view->area->table[number];
    uint64_t bytes = (uint64_t)table->count * table->stride;

    if (table->mcu == 0) {
        return table->vram <= view->vram_bytes && bytes <= view->vram_bytes - table->vram;
    }
    return table->vram >= view->at && table->vram - view->at <= view->area->bytes &&
           bytes <= view->area->bytes - (table->vram - view->at);
}

static bool tables_are_good(const struct view *view)
{
    for (uint32_t i = 0; i < PPU_STATE_TABLES; i++) {
        if (!table_is_good(view, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < PPU_STATE_MEMBERS; i++) {
        const struct ppu_state_span *span = &view->area->span[i];
        if ((uint32_t)span->offset + span->bytes > view->area->table[table_of[i]].stride) {
            return false;
        }
    }
    return true;
}

const char *view_take(struct view *view, const uint8_t *vram, uint64_t vram_bytes, uint32_t at)
{
    if (at == 0 || at % 64 != 0 || vram_bytes < sizeof(struct ppu_state) ||
        at > vram_bytes - sizeof(struct ppu_state)) {
        return "the firmware shows no state";
    }
    const struct ppu_state *from = (const void *)(vram + at);
    uint32_t bytes = load_word(&from->bytes) & ~3u;
    if (load_word(&from->tables) != PPU_STATE_TABLES || load_word(&from->members) != PPU_STATE_MEMBERS ||
        from->head.version != PPU_STATE_VERSION) {
        return "its firmware belongs to another release, or has not started";
    }
    if (bytes < sizeof(*from) || bytes > AREA_MOST || bytes > vram_bytes - at) {
        return "the state that the firmware shows has impossible bounds";
    }
    *view = (struct view){ calloc(1, bytes), at, vram, vram_bytes };
    if (!view->area) {
        return "not enough memory";
    }
    const char *why = !copy_area(view->area, from, bytes) ? "the device does not come to an end with its state"
                      : view->area->bytes - bytes > 3     ? "the state that the firmware shows changes its bounds"
                      : !tables_are_good(view)            ? "the state that the firmware shows has impossible tables"
                                                          : NULL;
    if (why) {
        view_free(view);
    }
    return why;
}

void view_free(struct view *view)
{
    free(view->area);
    view->area = NULL;
}

/* ---- rows ---- */

uint32_t view_rows(const struct view *view, enum ppu_state_table_number table)
{
    return view->area->table[table].count;
}

/* Where bytes of a row lie; NULL: there is no such row. */
static const uint8_t *row_at(const struct view *view, enum ppu_state_member member, uint32_t row)
{
    const struct ppu_state_table *table = &view->area->table[table_of[member]];
    uint64_t in_table = (uint64_t)row * table->stride + view->area->span[member].offset;

    if (row >= table->count) {
        return NULL;
    }
    return table->mcu == 0 ? view->vram + table->vram + in_table
                           : (const uint8_t *)view->area + (table->vram - view->at) + in_table;
}

uint64_t view_element(const struct view *view, enum ppu_state_member member, uint32_t row, uint32_t index,
                      uint32_t bytes)
{
    const uint8_t *at = row_at(view, member, row);
    uint64_t value = 0;

    if (at && bytes <= sizeof(value) && ((uint64_t)index + 1) * bytes <= view->area->span[member].bytes) {
        memcpy(&value, at + (size_t)index * bytes, bytes);
    }
    return value;
}

uint64_t view_get(const struct view *view, enum ppu_state_member member, uint32_t row)
{
    return view_element(view, member, row, 0, view->area->span[member].bytes);
}

uint32_t view_pointed(const struct view *view, enum ppu_state_table_number number, uint64_t pointer)
{
    const struct ppu_state_table *table = &view->area->table[number];

    if (pointer < table->base || table->stride == 0 || (pointer - table->base) % table->stride != 0) {
        return VIEW_NONE;
    }
    uint64_t row = (pointer - table->base) / table->stride;
    return row < table->count ? (uint32_t)row : VIEW_NONE;
}

uint32_t view_task(const struct view *view, uint32_t handle)
{
    uint32_t row = PPU_TASK_INDEX(handle);

    return row < view_rows(view, PPU_STATE_TABLE_TASK) && view_get(view, PPU_STATE_TASK_HANDLE, row) == handle &&
                   view_get(view, PPU_STATE_TASK_STATE, row) != PPU_TASK_STATE_FREE
               ? row
               : VIEW_NONE;
}

bool view_read(const struct view *view, uint64_t offset, void *to, uint32_t bytes)
{
    if (offset > view->vram_bytes || bytes > view->vram_bytes - offset) {
        return false;
    }
    memcpy(to, view->vram + offset, bytes);
    return true;
}

/* ---- page tables ---- */

/* Bytes that a leaf of level 0 stands for: a page of 64 KiB has 16 of them. */
static void add_leaf(struct view_mapped *mapped, uint64_t entry, uint32_t level)
{
    uint64_t bytes = level == 0 ? PPU_PAGE_4K : PPU_PAGE_2M;

    if (entry & PPU_PTE_SYSTEM) {
        mapped->system_bytes += bytes;
    } else {
        mapped->vram_bytes += bytes;
    }
}

/* Adds what the entries of a table say; for those that are tables, `walk` is to look there. */
static void add_table(const struct view *view, struct view_mapped *mapped, uint64_t table, uint32_t level,
                      void (*walk)(const struct view *view, struct view_mapped *mapped, uint64_t table))
{
    uint64_t entries[PPU_PT_ENTRIES];

    if (!view_read(view, table, entries, sizeof(entries))) {
        mapped->broken = true;
        return;
    }
    for (uint32_t i = 0; i < PPU_PT_ENTRIES; i++) {
        if (!(entries[i] & PPU_PTE_VALID)) {
            continue;
        }
        bool is_table = (entries[i] & PPU_PTE_SIZE_MASK) == PPU_PTE_SIZE(PPU_PTE_TABLE);
        if (is_table && walk) {
            walk(view, mapped, entries[i] & PPU_PTE_FRAME_MASK);
        } else if (is_table || level > 1) {
            mapped->broken = true;
        } else {
            add_leaf(mapped, entries[i], level);
        }
    }
}

static void walk_level0(const struct view *view, struct view_mapped *mapped, uint64_t table)
{
    add_table(view, mapped, table, 0, NULL);
}

static void walk_level1(const struct view *view, struct view_mapped *mapped, uint64_t table)
{
    add_table(view, mapped, table, 1, walk_level0);
}

static void walk_level2(const struct view *view, struct view_mapped *mapped, uint64_t table)
{
    add_table(view, mapped, table, 2, walk_level1);
}

struct view_mapped view_mapped(const struct view *view, uint32_t context)
{
    struct view_mapped mapped = { 0 };
    uint64_t root = context < PPU_MAX_CONTEXTS ? view->area->telemetry.context[context][PPU_TELEMETRY_CONTEXT_ROOT] : 0;

    if (root & 1u) {
        add_table(view, &mapped, root & ~1ull, 3, walk_level2);
    }
    return mapped;
}
