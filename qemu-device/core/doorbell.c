/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doorbells: a page of BAR2 for each channel, a bit for each in DB_PENDING, a bit for each word of these in
 * DB_SUMMARY. Ringing twice before the MCU looks is ringing once.
 */
#include "qemu-device/core/doorbell.h"
#include "ppu/channel.h"
#include "ppu/mailbox.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/mcu.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/regs.h"

static void ring_doorbell(struct core *core, uint32_t channel)
{
    uint32_t word = channel / 32;
    uint32_t pending = PPU_REG_DB_PENDING + 4 * word;

    reg_set(core, pending, reg_get(core, pending) | 1u << channel % 32);
    reg_set(core, PPU_REG_DB_SUMMARY, reg_get(core, PPU_REG_DB_SUMMARY) | 1u << word);
    trace_mark(core, PPU_MARK_DOORBELL_WRITTEN, PPU_TRACE_UNIT_MCU);
    trace_emit(core, PPU_TRACE_DOORBELL, 0, channel, reg_get(core, PPU_REG_GP_PUT + 4 * channel), 0);
    mcu_irq_raise(core, PPU_IRQ_DOORBELL);
}

void doorbell_clear(struct core *core, uint32_t word, uint32_t channels)
{
    uint32_t left = reg_get(core, PPU_REG_DB_PENDING + 4 * word) & ~channels;

    reg_set(core, PPU_REG_DB_PENDING + 4 * word, left);
    if (left == 0) {
        reg_set(core, PPU_REG_DB_SUMMARY, reg_get(core, PPU_REG_DB_SUMMARY) & ~(1u << word));
    }
}

/* False: no register there. */
static bool locate(struct core *core, uint64_t offset, uint32_t *channel, uint32_t *reg)
{
    *reg = (uint32_t)(offset % PPU_DOORBELL_STRIDE);
    if (offset / PPU_DOORBELL_STRIDE >= core->config.channels) {
        core_guest_error(core, "doorbell page at 0x%llx belongs to no channel", (unsigned long long)offset);
        return false;
    }
    *channel = (uint32_t)(offset / PPU_DOORBELL_STRIDE);
    return true;
}

uint32_t core_doorbell_read(struct core *core, uint64_t offset)
{
    uint32_t channel = 0;
    uint32_t reg = 0;

    if (!locate(core, offset, &channel, &reg)) {
        return 0;
    }
    switch (reg) {
    case PPU_DB_PUT:
        return reg_get(core, PPU_REG_GP_PUT + 4 * channel);
    case PPU_DB_GET:
        return reg_get(core, PPU_REG_GP_GET + 4 * channel);
    default:
        core_guest_error(core, "read at 0x%x of a doorbell page: no such register", reg);
        return 0;
    }
}

void core_doorbell_write(struct core *core, uint64_t offset, uint32_t value)
{
    uint32_t channel = 0;
    uint32_t reg = 0;

    if (core->dma_depth != 0) {
        core_guest_error(core, "the PPU's own DMA wrote to its doorbells");
        return;
    }
    if (!locate(core, offset, &channel, &reg)) {
        return;
    }
    switch (reg) {
    case PPU_DB_PUT:
        reg_set(core, PPU_REG_GP_PUT + 4 * channel, value);
        ring_doorbell(core, channel);
        break;
    case PPU_DB_RING:
        ring_doorbell(core, channel);
        break;
    default:
        core_guest_error(core, "write at 0x%x of a doorbell page: no such register", reg);
        break;
    }
}

void core_mailbox_serve(struct core *core, struct ppu_mailbox *mailbox)
{
    /* What the function's own DMA led to would be refused: doorbells stay, whoever was to serve them will. */
    if (core->dma_depth != 0) {
        return;
    }
    for (uint32_t words = ppu_mailbox_take(&mailbox->words); words != 0; words &= words - 1) {
        const uint32_t word = (uint32_t)__builtin_ctz(words);

        for (uint32_t rung = ppu_mailbox_take(&mailbox->rung[word]); rung != 0; rung &= rung - 1) {
            const uint32_t channel = 32 * word + (uint32_t)__builtin_ctz(rung);

            core_doorbell_write(core, (uint64_t)channel * PPU_DOORBELL_STRIDE + PPU_DB_PUT,
                                ppu_mailbox_put(mailbox, channel));
        }
    }
}
