/* SPDX-License-Identifier: MIT */
#include "firmware/state.h"

#include <string.h>

#include "firmware/hal.h"
#include "ppu/macros.h"

#define ROW_ALIGN 8u

static const struct state_rows *const tables[PPU_STATE_TABLES] = {
    [PPU_STATE_TABLE_TASK] = &task_state_rows,           [PPU_STATE_TABLE_CHANNEL] = &channel_state_rows,
    [PPU_STATE_TABLE_FAULT] = &channel_fault_state_rows, [PPU_STATE_TABLE_SLOT] = &slot_state_rows,
    [PPU_STATE_TABLE_CONTEXT] = &context_state_rows,     [PPU_STATE_TABLE_QUOTA] = &quota_state_rows,
    [PPU_STATE_TABLE_NEST] = &nest_state_rows,           [PPU_STATE_TABLE_TASKQ] = &taskq_state_rows,
    [PPU_STATE_TABLE_WORKQ] = &workq_state_rows,         [PPU_STATE_TABLE_POLICY] = &policy_state_rows,
    [PPU_STATE_TABLE_STAT] = &stats_state_rows,
};

static uint32_t rows_count(const struct state_rows *rows)
{
    return rows->count ? *rows->count : rows->most;
}

/* Bytes of its copy. */
static uint32_t rows_bytes(const struct state_rows *rows)
{
    return rows->rows ? ppu_align_up(rows_count(rows) * rows->stride, ROW_ALIGN) : 0;
}

uint32_t state_bytes(void)
{
    uint32_t bytes = sizeof(struct ppu_state);

    for (uint32_t i = 0; i < PPU_STATE_TABLES; i++) {
        bytes += rows_bytes(tables[i]);
    }
    return bytes;
}

void state_publish(void)
{
    struct ppu_state *state = hal_vram(layout.state);
    uint32_t end = layout.state.off + (uint32_t)sizeof(*state);

    state->bytes = state_bytes();
    state->tables = PPU_STATE_TABLES;
    state->members = PPU_STATE_MEMBERS;
    state->debug.owner = 0; /* of a firmware that was here before */
    for (uint32_t i = 0; i < PPU_STATE_TABLES; i++) {
        const struct state_rows *rows = tables[i];
        state->table[i] = (struct ppu_state_table){
            .base = (uintptr_t)rows->rows,
            .mcu = rows->rows ? hal_mcu_address(rows->rows) : 0,
            .vram = rows->rows ? end : rows->vram->off,
            .count = rows_count(rows),
            .stride = rows->stride,
        };
        memcpy(&state->span[rows->first], rows->span, rows->spans * sizeof(rows->span[0]));
        end += rows_bytes(rows);
    }
    state->head = (struct ppu_struct_header){ PPU_STATE_VERSION, offsetof(struct ppu_state, table) };
    hal_write(PPU_REG_STATE_BASE, layout.state.off);
}
