/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the server's guard (ppu/guard.h) which client has which PPU. A guard that has gone is no hindrance. */
#ifndef QEMU_DEVICE_REMOTE_GUARD_H
#define QEMU_DEVICE_REMOTE_GUARD_H

#include <stdint.h>

/* `guard` is -1 where there is none. The client's socket stays the caller's. */
void guard_client_comes(int guard, uint32_t ppu, int client);
void guard_client_goes(int guard, uint32_t ppu);

#endif
