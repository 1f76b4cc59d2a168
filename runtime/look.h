/* SPDX-License-Identifier: MIT */
/* Looks for vectors in a mailbox (ppu/mailbox.h) before a thread sleeps, for as long as that is worth. */
#ifndef RUNTIME_LOOK_H
#define RUNTIME_LOOK_H

#include <stdint.h>

#include "ppu/mailbox.h"
#include "ppu/poll.h"

/*
 * A wait has begun at now_ns, by the clock of clock_ns(), and may take timeout_ns. Returns the vectors that came while
 * it was worth to look for them; 0: the caller looks once more and sleeps. One thread at a time; the caller tells
 * `poll` when the wait ends.
 */
uint32_t look_for_vectors(struct ppu_mailbox *shared, struct ppu_poll *poll, uint64_t now_ns, uint64_t timeout_ns);

#endif
