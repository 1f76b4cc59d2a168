/* SPDX-License-Identifier: MIT */
/* Feeds a TMDQ of the context (B2), a stream, through one channel. */
#ifndef RUNTIME_STREAM_H
#define RUNTIME_STREAM_H

#include "runtime/channel.h"

/* Backing of local memory, by size: class n has LOCAL_SMALLEST << n bytes. */
#define LOCAL_SMALLEST ((uint64_t)PPU_KIB * 64u)
#define LOCAL_CLASSES 12u

struct ppu_stream {
    struct ppu_channel *channel;
    struct tmdqs *tmdqs;
    uint32_t index; /* TMDQ */
    pthread_mutex_t lock;
    /* Made when first needed. The tasks of a stream run one after the other, so they share it. */
    struct ppu_memory *local[LOCAL_CLASSES];
    struct fence fence; /* of its events */
};

/* Backing for local memory: at least `bytes`, or as much as the largest class has. NO_VRAM. */
enum ppu_err stream_local_memory(struct ppu_stream *stream, uint64_t bytes, struct ppu_memory **memory);

#endif
