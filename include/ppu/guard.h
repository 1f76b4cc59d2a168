/* SPDX-License-Identifier: MIT */
/*
 * Defines what a server of vfio-user tells its guard: which client has which PPU. The guard is a process beside the
 * server (tools/confine/guard.c). When the server dies, it ends the connections in order, so that clients read an end
 * and not the error of a connection that was reset: a QEMU that is the client would abort there.
 *
 * A message is this structure, with the client's socket beside it when the client comes.
 */
#ifndef PPU_GUARD_H
#define PPU_GUARD_H

#include <stdint.h>

#define PPU_GUARD_CLIENTS 64u

struct ppu_guard_message {
    uint32_t ppu;   /* below PPU_GUARD_CLIENTS */
    uint32_t comes; /* 1: with a socket; 0: the client has gone */
};

#endif
