/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doorbells: a page of BAR2 for each channel, a bit for each in DB_PENDING, a bit for each word of these in
 * DB_SUMMARY. Ringing twice before the MCU looks is ringing once. DB_TAKE holds the channel at which the next look
 * begins.
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
    const uint32_t word = channel / 32;
    const uint32_t pending = PPU_REG_DB_PENDING + 4 * word;
    const uint32_t summary = PPU_REG_DB_SUMMARY + 4 * (word / 32);

    reg_set(core, pending, reg_get(core, pending) | 1u << channel % 32);
    reg_set(core, summary, reg_get(core, summary) | 1u << word % 32);
    trace_mark(core, PPU_MARK_DOORBELL_WRITTEN, PPU_TRACE_UNIT_MCU);
    trace_emit(core, PPU_TRACE_DOORBELL, 0, channel, reg_get(core, PPU_REG_GP_PUT + 4 * channel), 0);
    mcu_irq_raise(core, PPU_IRQ_DOORBELL);
}

/* The first bit that is set in registers from `reg` on, from bit number `from` to `end`; PPU_DB_NONE: none is. */
static uint32_t find_bit(struct core *core, uint32_t reg, uint32_t from, uint32_t end)
{
    for (uint32_t at = from; at < end; at = at / 32 * 32 + 32) {
        const uint32_t bits = reg_get(core, reg + 4 * (at / 32)) & UINT32_MAX << at % 32;

        if (bits != 0) {
            return at / 32 * 32 + (uint32_t)__builtin_ctz(bits);
        }
    }
    return PPU_DB_NONE;
}

uint32_t doorbell_next(struct core *core)
{
    const uint32_t first = reg_get(core, PPU_REG_DB_TAKE), words = PPU_REGS_DB_PENDING;
    const uint32_t channel = find_bit(core, PPU_REG_DB_PENDING, first, first / 32 * 32 + 32);

    if (channel != PPU_DB_NONE) {
        return channel;
    }
    uint32_t word = find_bit(core, PPU_REG_DB_SUMMARY, first / 32 + 1, words);
    if (word == PPU_DB_NONE) {
        word = find_bit(core, PPU_REG_DB_SUMMARY, 0, words);
    }
    return word == PPU_DB_NONE ? PPU_DB_NONE : find_bit(core, PPU_REG_DB_PENDING, 32 * word, 32 * word + 32);
}

void doorbell_take(struct core *core, uint32_t channel)
{
    const uint32_t word = channel / 32;
    const uint32_t left = reg_get(core, PPU_REG_DB_PENDING + 4 * word) & ~(1u << channel % 32);
    const uint32_t summary = PPU_REG_DB_SUMMARY + 4 * (word / 32);

    reg_set(core, PPU_REG_DB_PENDING + 4 * word, left);
    if (left == 0) {
        reg_set(core, summary, reg_get(core, summary) & ~(1u << word % 32));
    }
    reg_set(core, PPU_REG_DB_TAKE, (channel + 1) % PPU_MAX_CHANNELS);
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

static void mailbox_serve_word(struct core *core, struct ppu_mailbox *mailbox, uint32_t word)
{
    for (uint32_t rung = ppu_mailbox_take(&mailbox->rung[word]); rung != 0; rung &= rung - 1) {
        const uint32_t channel = 32 * word + (uint32_t)__builtin_ctz(rung);

        core_doorbell_write(core, (uint64_t)channel * PPU_DOORBELL_STRIDE + PPU_DB_PUT,
                            ppu_mailbox_put(mailbox, channel));
    }
}

void core_mailbox_serve(struct core *core, struct ppu_mailbox *mailbox)
{
    /* What the function's own DMA led to would be refused: doorbells stay, whoever was to serve them will. */
    if (core->dma_depth != 0) {
        return;
    }
    for (uint32_t i = 0; i < PPU_MAILBOX_SUMMARY; i++) {
        for (uint32_t words = ppu_mailbox_take(&mailbox->words[i]); words != 0; words &= words - 1) {
            mailbox_serve_word(core, mailbox, 32 * i + (uint32_t)__builtin_ctz(words));
        }
    }
}
