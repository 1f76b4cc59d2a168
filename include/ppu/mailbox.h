/* SPDX-License-Identifier: MIT */
/*
 * Defines a mailbox for doorbells and vectors between the device and a client beside QEMU. Both map it, so neither
 * needs a system call while the other looks. Who has something to say writes it down and then looks whether the other
 * side looks; if it does not, a byte on the socket `notify` wakes it up. Who stops looking says so and then looks once
 * more. These four accesses have one order for all, so one of the two sees what the other has written.
 *
 * The device takes what it finds here as if it had been written to the doorbell pages.
 */
#ifndef PPU_MAILBOX_H
#define PPU_MAILBOX_H

#include <stdbool.h>

#include "ppu/base.h"
#include "ppu/limits.h"

#define PPU_BAR_MAILBOX 1 /* of a function that a client of vfio-user has: the mailbox, as memory */
#define PPU_MAILBOX_WORDS (PPU_MAX_CHANNELS / 32u)
#define PPU_MAILBOX_SUMMARY (PPU_MAILBOX_WORDS / 32u)

/* Zeros at first. What one side writes often lies apart from what the other does. */
struct ppu_mailbox {
    uint32_t device_looks; /* device: 1 while it sees by itself what is rung */
    uint32_t counted;      /* device: 1 when it counts instructions, so that a client waits for `quiet` (below) */
    uint32_t quiet;        /* 1 while the MCU sleeps or is held; the client makes it 0 before it rings */
    uint32_t reserved0[13];
    uint32_t client_looks; /* client: 1 while it sees by itself what is raised */
    uint32_t reserved1[15];
    uint32_t vectors; /* the device sets the bits of vectors that it raises, the client takes them */
    uint32_t reserved2[15];
    /* A bit for each word of `rung`, n % 32 of word n / 32: it is not zero. The client sets bits, the device takes
     * them. */
    uint32_t words[PPU_MAILBOX_SUMMARY];
    uint32_t reserved3[16u - PPU_MAILBOX_SUMMARY];
    uint32_t rung[PPU_MAILBOX_WORDS]; /* a bit for each channel; the client sets bits, the device takes them */
    uint32_t put[PPU_MAX_CHANNELS];   /* client: GP_PUT of each channel that it has rung */
};
PPU_ASSERT_SIZE(struct ppu_mailbox, 256 + 4 * PPU_MAILBOX_WORDS + 4 * PPU_MAX_CHANNELS);
PPU_ASSERT_OFFSET(struct ppu_mailbox, client_looks, 64);
PPU_ASSERT_OFFSET(struct ppu_mailbox, vectors, 128);
PPU_ASSERT_OFFSET(struct ppu_mailbox, words, 192);
PPU_ASSERT_OFFSET(struct ppu_mailbox, rung, 256);

/* `device_looks` or `client_looks`, by the other side: after it has written something down. */
static inline bool ppu_mailbox_is_looked_at(const uint32_t *looks)
{
    return __atomic_load_n(looks, __ATOMIC_SEQ_CST) != 0;
}

/* Its own side writes that word: before it looks, and when it stops, before it looks for the last time. */
static inline void ppu_mailbox_look(uint32_t *looks, bool on)
{
    __atomic_store_n(looks, on, __ATOMIC_SEQ_CST);
}

/*
 * Where instructions are counted, a client that reached the device while the MCU runs would move the instants at which
 * that sees it: by how much, the host's processors decide. So it waits until this is true.
 */
static inline bool ppu_mailbox_may_reach(const struct ppu_mailbox *mailbox)
{
    return __atomic_load_n(&mailbox->counted, __ATOMIC_RELAXED) == 0 ||
           __atomic_load_n(&mailbox->quiet, __ATOMIC_ACQUIRE) != 0;
}

/* The device when the MCU falls asleep or wakes up, and the client before it rings. */
static inline void ppu_mailbox_quiet(struct ppu_mailbox *mailbox, bool quiet)
{
    __atomic_store_n(&mailbox->quiet, quiet, __ATOMIC_RELEASE);
}

/* Returns what was in a word of bits, and empties it. */
static inline uint32_t ppu_mailbox_take(uint32_t *bits)
{
    return __atomic_load_n(bits, __ATOMIC_SEQ_CST) != 0 ? __atomic_exchange_n(bits, 0, __ATOMIC_SEQ_CST) : 0;
}

/* Client: rings a channel, below PPU_MAX_CHANNELS. False: the device has to be woken up. */
static inline bool ppu_mailbox_ring(struct ppu_mailbox *mailbox, uint32_t channel, uint32_t put)
{
    __atomic_store_n(&mailbox->put[channel], put, __ATOMIC_RELAXED);
    __atomic_fetch_or(&mailbox->rung[channel / 32u], 1u << channel % 32u, __ATOMIC_RELEASE);
    __atomic_fetch_or(&mailbox->words[channel / 1024u], 1u << channel / 32u % 32u, __ATOMIC_SEQ_CST);
    return ppu_mailbox_is_looked_at(&mailbox->device_looks);
}

/* Device: something was rung that it has not taken. */
static inline bool ppu_mailbox_is_rung(const struct ppu_mailbox *mailbox)
{
    uint32_t words = 0;

    for (uint32_t i = 0; i < PPU_MAILBOX_SUMMARY; i++) {
        words |= __atomic_load_n(&mailbox->words[i], __ATOMIC_SEQ_CST);
    }
    return words != 0;
}

/* Device: GP_PUT of a channel whose bit it took. */
static inline uint32_t ppu_mailbox_put(const struct ppu_mailbox *mailbox, uint32_t channel)
{
    return __atomic_load_n(&mailbox->put[channel], __ATOMIC_RELAXED);
}

/* Device: raises vectors. False: the client has to be woken up. */
static inline bool ppu_mailbox_raise(struct ppu_mailbox *mailbox, uint32_t vectors)
{
    __atomic_fetch_or(&mailbox->vectors, vectors, __ATOMIC_SEQ_CST);
    return ppu_mailbox_is_looked_at(&mailbox->client_looks);
}

#endif
