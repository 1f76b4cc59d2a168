/* SPDX-License-Identifier: MIT */
/*
 * Builds a command block: methods, then what they point to (task descriptors, parameters). Addresses within the block
 * are known only when it is submitted, so they are kept as offsets and patched then.
 */
#ifndef RUNTIME_BLOCK_H
#define RUNTIME_BLOCK_H

#include "ppu/tmd.h"
#include "runtime/channel.h"

#define BLOCK_DATA_BYTES (32u * PPU_KIB)
#define BLOCK_MAX_LAUNCHES 64u

struct ppu_block {
    struct ppu_channel *channel;
    enum ppu_err error; /* the first one */
    uint32_t correlation;
    uint32_t length; /* words */
    uint32_t data_bytes;
    uint32_t launches;
    struct ppu_workq *workq; /* whose round the block begins; NULL: none */
    uint32_t commands_word;  /* where the method of commands that are being added begins; 0: none are */
    bool commands_launch;    /* there is a launch among them */
    uint32_t round_word;     /* where the methods for it begin */
    struct {
        uint32_t word;  /* where the address of the descriptor goes */
        uint32_t tmd;   /* offset in data */
        uint32_t param; /* offset in data */
    } launch[BLOCK_MAX_LAUNCHES];
    uint32_t words[PPU_BLOCK_MAX_WORDS];
    uint8_t data[BLOCK_DATA_BYTES];
};

/* The first error sticks. */
void block_fail(struct ppu_block *block, enum ppu_err error);
/* Adds a launch of a descriptor that lies in the block itself; its parameters are copied, param_va is set. */
void block_launch_inline(struct ppu_block *block, const struct ppu_tmd *tmd, const void *params, uint32_t stream);

#endif
