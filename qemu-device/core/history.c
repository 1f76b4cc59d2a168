/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/history.h"
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/memory/guest_mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_TURNS 4096u
#define FIRST_PAGES 64u

/* ---- life ---- */

bool history_new(struct core *core, uint32_t most_units, uint32_t most_pages)
{
    struct history *history = calloc(1, sizeof(*history));

    if (history) {
        history->page_of = calloc(core->config.vram_bytes / HISTORY_PAGE, sizeof(*history->page_of));
    }
    if (!history || !history->page_of) {
        free(history);
        return false;
    }
    history->most_units = most_units;
    history->most_pages = most_pages;
    core->debug.history = history;
    return true;
}

void history_free(struct core *core)
{
    struct history *history = core->debug.history;

    if (!history) {
        return;
    }
    if (history->past) {
        history_go(core);
        history_put_after(core);
    }
    core->debug.history = NULL;
    free(history->turn);
    free(history->base.bytes);
    free(history->present.bytes);
    free(history->page_of);
    free(history->page);
    free(history->before);
    free(history->after);
    free(history->here);
    free(history);
}

void history_empty(struct core *core)
{
    struct history *history = core->debug.history;

    for (uint32_t i = 0; i < history->pages; i++) {
        history->page_of[history->page[i] / HISTORY_PAGE] = 0;
    }
    history->pages = 0;
    history->turns = 0;
    history->units = history->at = 0;
    history->begun = false;
}

/* ---- what others tell ---- */

bool history_runs(const struct core *core)
{
    return core->debug.history && core->debug.history->runs;
}

bool history_is_away(const struct core *core)
{
    return core->debug.history && core->debug.history->past;
}

bool history_effect(struct core *core)
{
    struct history *history = core->debug.history;

    if (history && history->runs) {
        history->broken = true;
        return false;
    }
    if (history && !history->past) {
        history_empty(core);
    }
    return true;
}

void history_return(struct core *core)
{
    if (history_is_away(core)) {
        core->debug.history->come_back(core, PPU_DEBUG_INTERFERED);
    }
}

void history_outside(struct core *core)
{
    if (core->debug.history) {
        history_return(core);
        history_empty(core);
    }
}

/* ---- turns ---- */

/* An element more of an array; false: there is no room for it. */
static bool grow_array(void **array, uint32_t count, uint32_t *room, uint32_t first, uint32_t most, size_t bytes)
{
    if (count < *room) {
        return true;
    }
    const uint32_t wanted = PPU_MIN(PPU_MAX(2 * *room, first), most);
    void *grown = count < wanted ? realloc(*array, wanted * bytes) : NULL;
    if (!grown) {
        return false;
    }
    *array = grown;
    *room = wanted;
    return true;
}

void history_add(struct core *core, uint32_t sm, uint32_t warp)
{
    struct history *history = core->debug.history;

    if (!history || !history->begun || history->past) {
        return;
    }
    struct history_turn *last = history->turns != 0 ? &history->turn[history->turns - 1] : NULL;
    if (!last || last->sm != sm || last->warp != warp || warp == HISTORY_TAKES) {
        if (!grow_array((void **)&history->turn, history->turns, &history->turns_room, FIRST_TURNS, HISTORY_TURNS,
                        sizeof(*history->turn))) {
            history_empty(core);
            return;
        }
        last = &history->turn[history->turns++];
        *last = (struct history_turn){ (uint16_t)sm, (uint16_t)warp, 0 };
    }
    last->units++;
    history->at = ++history->units;
    if (history->units == history->most_units) {
        history_empty(core);
    }
}

/* ---- pages ---- */

static bool grow_pages(struct history *history)
{
    uint32_t room = history->pages_room;

    if (history->pages == history->most_pages ||
        !grow_array((void **)&history->before, history->pages, &room, FIRST_PAGES, HISTORY_PAGES, HISTORY_PAGE)) {
        return false;
    }
    room = history->pages_room;
    return grow_array((void **)&history->page, history->pages, &history->pages_room, FIRST_PAGES, HISTORY_PAGES,
                      sizeof(*history->page));
}

void history_keep(struct core *core, uint64_t off, uint64_t bytes)
{
    struct history *history = core->debug.history;

    for (uint64_t at = off / HISTORY_PAGE; history->begun && at * HISTORY_PAGE < off + bytes; at++) {
        if (history->page_of[at] != 0) {
            continue;
        }
        if (!grow_pages(history)) {
            (void)history_effect(core);
            return;
        }
        history->page[history->pages] = at * HISTORY_PAGE;
        vram_copy(history->before + (size_t)history->pages * HISTORY_PAGE, core->vram + at * HISTORY_PAGE,
                  HISTORY_PAGE);
        history->page_of[at] = ++history->pages;
    }
}

/* A copy of the pages as they are now; NULL: the host has no memory. */
static uint8_t *copy_pages(const struct core *core)
{
    const struct history *history = core->debug.history;
    uint8_t *bytes = malloc(PPU_MAX(history->pages, 1u) * (size_t)HISTORY_PAGE);

    for (uint32_t i = 0; bytes && i < history->pages; i++) {
        vram_copy(bytes + (size_t)i * HISTORY_PAGE, core->vram + history->page[i], HISTORY_PAGE);
    }
    return bytes;
}

bool history_leave(struct core *core)
{
    struct history *history = core->debug.history;
    uint8_t *bytes = copy_pages(core);

    if (bytes) {
        free(history->after);
        history->after = bytes;
        history->present_pages = history->pages;
        history->past = true;
    }
    return bytes;
}

bool history_stand(struct core *core)
{
    struct history *history = core->debug.history;

    free(history->here);
    history->here = copy_pages(core);
    history->here_pages = history->here ? history->pages : 0;
    return history->here;
}

/* Words that somebody else has written are so in the present, too. */
void history_go(struct core *core)
{
    struct history *history = core->debug.history;

    for (uint32_t i = 0; i < history->here_pages; i++) {
        for (size_t at = 0; at < HISTORY_PAGE; at += sizeof(uint32_t)) {
            const size_t byte = (size_t)i * HISTORY_PAGE + at;
            const uint8_t *word = core->vram + history->page[i] + at;
            if (vram_read32(word) != vram_read32(history->here + byte)) {
                vram_copy(history->before + byte, word, sizeof(uint32_t));
                if (i < history->present_pages) {
                    vram_copy(history->after + byte, word, sizeof(uint32_t));
                }
            }
        }
    }
    history->here_pages = 0;
}

static void put_pages(struct core *core, const uint8_t *bytes, uint32_t first, uint32_t end)
{
    const struct history *history = core->debug.history;

    for (uint32_t i = first; i < end; i++) {
        vram_copy(core->vram + history->page[i], bytes + (size_t)i * HISTORY_PAGE, HISTORY_PAGE);
    }
}

void history_put_before(struct core *core)
{
    put_pages(core, core->debug.history->before, 0, core->debug.history->pages);
}

/* A page that was written only when it was executed again is in the present as it was before. */
void history_put_after(struct core *core)
{
    const struct history *history = core->debug.history;

    put_pages(core, history->after, 0, history->present_pages);
    put_pages(core, history->before, history->present_pages, history->pages);
}
