/* SPDX-License-Identifier: MIT */
/*
 * Keeps contexts, which are address spaces (A9), each with the depth-0 thread-group context of its host streams (B10).
 */
#ifndef FIRMWARE_CONTEXT_H
#define FIRMWARE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/base.h"
#include "ppu/fault.h"

struct admin_ticket;

/* Needs caps. */
void context_init(void);

bool context_is_open(uint32_t context);

/* Opens an address space whose level-3 table is at `root`, and its area for CTAs that are taken off SMs at `area`;
 * checked already. False: none is left. */
bool context_open(ppu_vram_t root, ppu_vram_t area, uint32_t *context);

/*
 * Closes an open address space; the ticket is answered when its last task has ended and no SM holds a translation.
 * PPU_FAULT_IN_USE while a channel belongs to it, else 0.
 */
enum ppu_fault context_close(uint32_t context, struct admin_ticket *ticket);

/* Makes every SM drop its translations of an open context; then the ticket is answered. */
void context_flush(uint32_t context, struct admin_ticket *ticket);

/* The device acknowledges a flush. */
void context_flushed(uint32_t tag);

void context_add_channel(uint32_t context);
void context_remove_channel(uint32_t context);
void context_add_task(uint32_t context);
void context_remove_task(uint32_t context);

/* Tasks that have not ended. */
uint32_t context_task_count(uint32_t context);

#endif
