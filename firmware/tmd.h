/* SPDX-License-Identifier: MIT */
/* Checks task descriptors (A11) by one table of checks. */
#ifndef FIRMWARE_TMD_H
#define FIRMWARE_TMD_H

#include "ppu/fault.h"
#include "ppu/tmd.h"

struct tmd_verdict {
    uint16_t code;   /* fault.def TMD_*, 0: good */
    uint16_t offset; /* of the field within the TMD */
};

/* Needs layout. */
void tmd_init(void);

/* Checks the launcher's part (PPU_TMD_LAUNCHER_BYTES) of a private copy against the ABI and this machine. */
struct tmd_verdict tmd_check(const struct ppu_tmd *tmd);

#endif
