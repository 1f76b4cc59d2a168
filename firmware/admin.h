/* SPDX-License-Identifier: MIT */
/*
 * Serves the admin queue (ppu/admin.h). Every request taken holds a ticket until it is answered, at once or when what
 * it asked for has happened; there are as many tickets as replies fit the queue.
 */
#ifndef FIRMWARE_ADMIN_H
#define FIRMWARE_ADMIN_H

#include <stdbool.h>

#include "ppu/admin.h"
#include "ppu/fault.h"

struct admin_ticket {
    bool used;
    uint16_t op; /* enum ppu_admin_op */
    uint32_t seq;
    uint32_t object;                 /* for whoever holds the ticket */
    uint32_t result[PPU_ADMIN_ARGS]; /* admin.def; zero unless set */
};

/* Needs layout. */
void admin_init(void);

/* Takes at most `most` requests; true: there may be more. */
bool admin_requests(uint32_t most);

/* Answers with status 0 and the ticket's results, or with a fault code and its payload; gives the ticket back. */
void admin_answer(struct admin_ticket *ticket, enum ppu_fault status, uint32_t payload);

#endif
