/* SPDX-License-Identifier: MIT */
/* Starts QEMU as a server of vfio-user, whose PPUs a test reaches as a client. */
#ifndef TESTS_REMOTE_SERVED_H
#define TESTS_REMOTE_SERVED_H

#include "ppu.h"
#include "runtime/native/process.h"

#define SERVED_PPUS 2u

struct served {
    struct process process;
    char folder[32];
    char path[SERVED_PPUS][48]; /* a socket for each PPU */
    char qmp[48];               /* of QEMU's machine protocol */
};

/* With `more` arguments of ppu-run, which end with NULL. Does not wait for the sockets. False: it cannot be started. */
bool served_start(struct served *served, uint32_t ppus, const char *const more[]);
/* Waits for the socket and connects. The error may be what the server said before it ended. */
enum ppu_err served_transport(struct served *served, uint32_t index, struct ppu_transport **transport,
                              struct ppu_error *error);
void served_stop(struct served *served);

#endif
