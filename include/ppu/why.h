/* SPDX-License-Identifier: MIT */
/* Defines the answer to "why does it not run?" for tasks and channels (why.def). */
#ifndef PPU_WHY_H
#define PPU_WHY_H

#include <stdint.h>

#define PPU_WHY_TEXT_BYTES 320u

enum ppu_why_reason {
#define PPU_WHY(name, doc) PPU_WHY_##name,
#include "ppu/why.def"
#undef PPU_WHY
    PPU_WHY_REASONS,
};

struct ppu_why {
    enum ppu_why_reason reason;
    uint32_t task;    /* asked about, or of a channel the one that it waits for; 0: none */
    uint32_t channel; /* asked about, or of the task; UINT32_MAX: none */
    uint32_t other;   /* BEHIND: the task before it. PRIORITY, NO_SLOT, CHILDREN, SUBTREE, IDLE: how many there are */
    uint64_t address; /* SEMAPHORE: its address */
    char text[PPU_WHY_TEXT_BYTES]; /* a sentence that says all of it, and why what is waited for is not done */
};

#endif
