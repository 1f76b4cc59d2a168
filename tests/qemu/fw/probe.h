/* SPDX-License-Identifier: MIT */
/*
 * Serves as test firmware: does what the host asks for in a mailbox in VRAM, one request at a time.
 */
#ifndef TESTS_QEMU_FW_PROBE_H
#define TESTS_QEMU_FW_PROBE_H

#include <stdint.h>

#define PROBE_MAILBOX 0x1000u /* VRAM offset */
#define PROBE_STARTED 2u      /* BOOT_STATUS once it serves requests */

enum probe_op {
    PROBE_IDLE = 0, /* the last request is done */
    PROBE_READ,     /* result[0] = word at MCU address arg[0] */
    PROBE_WRITE,    /* word at MCU address arg[0] = arg[1] */
    PROBE_COUNT,    /* counts in result[0] until the host writes another op */
    PROBE_COMPUTE,  /* takes arg[0] interrupts, starts the task at arg[1] unless 0, works, then as PROBE_COUNT */
    PROBE_ACCESS,   /* takes arg[0] interrupts, then reads a register until the host writes another op */
    PROBE_LOCK_UP,  /* faults in the handler of a fault */
    PROBE_RESET,    /* AIRCR.SYSRESETREQ */
    PROBE_STORM,    /* writes arg[0] random words to registers; arg[1] is the seed */
};

/* The host writes arg, then op, then rings ADMIN; the MCU writes result, then op = PROBE_IDLE. */
struct probe_mailbox {
    uint32_t op;
    uint32_t arg[4];
    uint32_t result[4];
    uint32_t boots;  /* incremented by each start */
    uint32_t beats;  /* doorbell and admin interrupts taken */
    uint32_t faults; /* bus faults survived by PROBE_READ and PROBE_WRITE */
};

#endif
