/* SPDX-License-Identifier: MIT */
/* Keeps which TMDQs of a context are a stream's (B2, B3), and asks the firmware for more when all are. It ends with the
 * last of the context and its streams. */
#ifndef RUNTIME_TMDQ_H
#define RUNTIME_TMDQ_H

#include <pthread.h>

#include "runtime/include/ppu.h"

struct ppu_context;

struct tmdqs {
    pthread_mutex_t lock;
    uint32_t users;
    uint8_t *used; /* one each */
    uint32_t count;
    bool has_words;
    uint64_t words; /* offset in VRAM of their last-task words, mapped nowhere; before that they are the firmware's */
};

/* NULL: no memory. */
struct tmdqs *tmdqs_new(void);
/* The context ends. */
void tmdqs_close(struct ppu_context *context);

/* Takes one that no stream has. Errors: NO_MEMORY, NO_VRAM, NO_RESOURCE (there are PPU_MAX_STREAMS). */
enum ppu_err tmdq_take(struct ppu_context *context, uint32_t *number);
void tmdq_give(struct tmdqs *tmdqs, uint32_t number);

#endif
