/* SPDX-License-Identifier: MIT */
/*
 * Tells readers where the firmware's tables lie and what a row of each looks like (ppu/state.h). Who keeps a table
 * describes it by a `struct state_rows`; the device copies it.
 */
#ifndef FIRMWARE_STATE_H
#define FIRMWARE_STATE_H

#include <stdint.h>

#include "firmware/layout.h"
#include "ppu/state.h"

struct state_rows {
    const void *rows; /* an object marked FW_DMA; NULL: it lies in VRAM, at *vram */
    const ppu_vram_t *vram;
    const uint32_t *count; /* of rows; NULL: `most` */
    uint32_t most;
    uint32_t stride;
    enum ppu_state_member first; /* the member of span[0] */
    uint32_t spans;
    const struct ppu_state_span *span;
};

/* Where a member of a structure lies, as an element of state_rows.span. */
#define STATE_SPAN(type, member)                                                       \
    {                                                                                  \
        (uint16_t) offsetof(type, member), (uint16_t)sizeof(((const type *)0)->member) \
    }

extern const struct state_rows channel_state_rows;
extern const struct state_rows channel_fault_state_rows;
extern const struct state_rows context_state_rows;
extern const struct state_rows nest_state_rows;
extern const struct state_rows policy_state_rows;
extern const struct state_rows quota_state_rows;
extern const struct state_rows slot_state_rows;
extern const struct state_rows stats_state_rows;
extern const struct state_rows task_state_rows;
extern const struct state_rows taskq_state_rows;
extern const struct state_rows workq_state_rows;

/* Bytes of the state area. Needs caps and the counts of the layout. */
uint32_t state_bytes(void);
/* Writes the area's first part and tells the device of it. */
void state_publish(void);

#endif
