/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the parts of the core need from core.c. [any]: any thread; [lock]: with the host lock held; [sm]: the
 * thread that runs that SM. Lock order: host lock, then the distributor's or the semaphore table's, then a ring's, then
 * the trace's. SM threads take all but the first, and only for a bounded number of steps.
 */
#ifndef QEMU_DEVICE_CORE_CORE_PRIVATE_H
#define QEMU_DEVICE_CORE_CORE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct core_config;

const struct core_config *core_config_of(const struct core *core); /* [any] */
uint8_t *core_vram(const struct core *core);                       /* [any] first byte of VRAM */
uint64_t core_now(const struct core *core);                        /* [any] virtual clock, ns */
void core_kick(struct core *core);                                 /* [any] run core_bottom_half() soon */
void core_timer_request(struct core *core);               /* [lock] deadlines have changed: set the host's timer anew */
void core_device_error(struct core *core, uint32_t bits); /* [any] PPU_DEVERR_* */
bool core_dma(struct core *core, uint64_t bus, void *buf, uint32_t len_bytes, bool write); /* [lock] */
/* True when [off, off + len) lies in VRAM. */
bool core_vram_has(const struct core *core, uint64_t off, uint64_t len_bytes); /* [any] */
/* True when it lies in the protected range altogether. */
bool core_protected_has(const struct core *core, uint64_t off, uint64_t len_bytes); /* [any] */
/* Token queues: true when TOKEN_BASE and TOKEN_BYTES name a place in the protected range, or none. */
bool core_tokens_usable(const struct core *core); /* [any] */
/* An SM's share of it: VRAM offset, and bytes, a multiple of PPU_TOKEN_ALIGN; 0: none. [any] */
uint32_t core_tokens_share(const struct core *core, uint32_t sm, uint32_t *bytes);
void core_post(struct core *core, uint32_t events); /* [any] for the bottom half */
/* One sentence for whoever debugs the guest, at most a few a second. [lock] */
__attribute__((format(printf, 2, 3))) void core_guest_error(struct core *core, const char *format, ...);
/* All that the MCU has set up, put back to its reset state: it is held, or the function is reset. [lock] */
void core_reset_parts(struct core *core);

#endif
