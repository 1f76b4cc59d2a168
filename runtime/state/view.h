/* SPDX-License-Identifier: MIT */
/*
 * Reads the state area (ppu/state.h): takes a copy of it as it was at one time, and finds rows and members in there.
 * libppu reads its own device so, ppu-top a device of somebody else, and the debugger what it has read of a machine.
 * Nothing of the area is believed before its bounds were checked.
 */
#ifndef RUNTIME_STATE_VIEW_H
#define RUNTIME_STATE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/state.h"

#define VIEW_NONE UINT32_MAX

struct view {
    struct ppu_state *area; /* the copy */
    uint32_t at;            /* VRAM offset of the area */
    const uint8_t *vram;    /* where tables lie that are not copied; what is there changes */
    uint64_t vram_bytes;
};

/* Copies the area at a VRAM offset. NULL: done; else why not, and there is nothing to free. */
const char *view_take(struct view *view, const uint8_t *vram, uint64_t vram_bytes, uint32_t at);
void view_free(struct view *view);

/* Rows of a table. */
uint32_t view_rows(const struct view *view, enum ppu_state_table_number table);
/* A member of a row of its table, as a number; 0: there is no such row. */
uint64_t view_get(const struct view *view, enum ppu_state_member member, uint32_t row);
/* Element `index` of a member that is an array of numbers of `bytes` each. */
uint64_t view_element(const struct view *view, enum ppu_state_member member, uint32_t row, uint32_t index,
                      uint32_t bytes);
/* The row that a member points to; VIEW_NONE: to none. */
uint32_t view_pointed(const struct view *view, enum ppu_state_table_number number, uint64_t pointer);
/* The row of the task that a handle names; VIEW_NONE: none, or it is free. */
uint32_t view_task(const struct view *view, uint32_t handle);
/* Copies bytes of VRAM; false: it has no such place. */
bool view_read(const struct view *view, uint64_t offset, void *to, uint32_t bytes);

/* Holds how much an address space maps, as its page tables say. */
struct view_mapped {
    uint64_t vram_bytes;
    uint64_t system_bytes;
    bool broken; /* tables are malformed, or changed meanwhile */
};
struct view_mapped view_mapped(const struct view *view, uint32_t context);

#endif
