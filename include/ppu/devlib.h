/* SPDX-License-Identifier: MIT */
/*
 * Defines what functions of the device library return (device-lib/asm/), and the last error of a grid (nest.h); 0 is
 * success.
 */
#ifndef PPU_DEVLIB_H
#define PPU_DEVLIB_H

enum ppu_devlib_status {
    PPU_DEVLIB_OK = 0,
    PPU_DEVLIB_NO_RECORD = 1,  /* every task record of the nest is in use */
    PPU_DEVLIB_TOO_DEEP = 2,   /* the grid would be deeper than the nest allows */
    PPU_DEVLIB_NO_NEST = 3,    /* this task cannot launch */
    PPU_DEVLIB_TASKQ_FULL = 4, /* no cell of the queue is free */
    PPU_DEVLIB_CLOSED = 5,     /* the queue is closed */
    PPU_DEVLIB_TOO_LONG = 6,   /* parameters or data are longer than there is room for, or no multiple of 16 */
    PPU_DEVLIB_PRIVATE = 7,    /* a parameter is an address of shared or local memory (B14) */
    PPU_DEVLIB_HEAP_FULL = 8,  /* the heap has no such piece left */
    PPU_DEVLIB_NOT_A_TASK = 9, /* the queue's entry is no task */
    PPU_DEVLIB_NO_STREAM = 10, /* no stream has this number */
};

#endif
