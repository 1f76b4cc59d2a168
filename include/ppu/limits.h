/* SPDX-License-Identifier: MIT */
/*
 * Defines the architectural limits: the largest machine that this ABI can describe. A device has its own, smaller
 * counts, told by its identity registers (A1).
 */
#ifndef PPU_LIMITS_H
#define PPU_LIMITS_H

#include "ppu/base.h"

#define PPU_MAX_CHANNELS 4096u
#define PPU_MAX_CONTEXTS 256u /* address spaces */
#define PPU_MAX_SLOTS 64u     /* task-table slots (A5) */
#define PPU_MAX_SMS 256u
#define PPU_MAX_GPCS 64u
#define PPU_MAX_THREADS 64u /* host threads that run SMs */
#define PPU_MAX_VECTORS 32u /* MSI-X */
#define PPU_MAX_ARMED 4096u /* semaphore-table entries, one a parked channel */
#define PPU_MAX_COPIES 256u /* queued copies */

/*
 * The least VRAM of a machine. Token queues of its SMs and records of its channels lie there, in what the firmware
 * keeps for itself: those of many in more.
 */
#define PPU_MIN_VRAM(sms, channels) ((sms) > 64u || (channels) > 1024u ? 32ull * PPU_MIB : 16ull * PPU_MIB)
#define PPU_DEFAULT_VRAM (1024ull * PPU_MIB) /* of a machine that is made without saying how much */

#define PPU_LANES 32u /* lanes of one pass (D1) */
#define PPU_MAX_WAVE 128u
#define PPU_MAX_VREGS 256u
#define PPU_SREGS 64u
#define PPU_PREDS 8u

#define PPU_MAX_CTA_THREADS 1024u
#define PPU_MAX_CTA_DIM 1024u
#define PPU_MAX_GRID_X 0x80000000u /* 2^31 */
#define PPU_MAX_GRID_YZ 65535u
#define PPU_MAX_SMALL_ID 0x80000000ull /* global ids of kernels with PPU_KERNEL_SMALL_IDS are below */
#define PPU_MAX_ID (1ull << 48)        /* and of all kernels below this */
#define PPU_MAX_OBJECT 0xffff0000u     /* bytes of one allocation: offsets within it have 32 bits in compiled code */
#define PPU_MAX_SHARED (96u * PPU_KIB) /* bytes of shared memory a CTA */
#define PPU_MAX_LOCAL (512u * PPU_KIB) /* bytes of local memory a thread */
#define PPU_MAX_PARAM (4u * PPU_KIB)   /* bytes of parameters a task */
#define PPU_MAX_CODE (16u * PPU_MIB)   /* bytes of code a task may reach */
#define PPU_MAX_TOKENS 4096u           /* token-queue entries a warp (E7) */
#define PPU_PRIORITIES 8u              /* 0 lowest, 7 highest (A4) */
#define PPU_SAVE_PLACES 64u            /* CTAs of a task that can be saved (save.h) */

#define PPU_DOORBELL_STRIDE (64u * PPU_KIB) /* one page a channel, on 64 KiB-page kernels too */
#define PPU_COPY_SYNC_MAX (4u * PPU_KIB)    /* largest immediate copy */
#define PPU_COPY_STEP (64u * PPU_KIB)       /* a queued copy advances by at most this */

#endif
