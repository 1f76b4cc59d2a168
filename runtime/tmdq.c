/* SPDX-License-Identifier: MIT */
#include "runtime/tmdq.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/task.h"
#include "runtime/context.h"
#include "runtime/device.h"

#define WORDS_ALIGN 64u

struct tmdqs *tmdqs_new(void)
{
    struct tmdqs *tmdqs = calloc(1, sizeof(*tmdqs));
    uint8_t *used = calloc(PPU_GROUP_TMDQS, 1);

    if (!tmdqs || !used) {
        free(tmdqs);
        free(used);
        return NULL;
    }
    *tmdqs = (struct tmdqs){ .users = 1, .used = used, .count = PPU_GROUP_TMDQS };
    pthread_mutex_init(&tmdqs->lock, NULL);
    return tmdqs;
}

static void drop_user(struct tmdqs *tmdqs)
{
    pthread_mutex_lock(&tmdqs->lock);
    bool last = --tmdqs->users == 0;
    pthread_mutex_unlock(&tmdqs->lock);
    if (last) {
        pthread_mutex_destroy(&tmdqs->lock);
        free(tmdqs->used);
        free(tmdqs);
    }
}

static bool take_words(struct ppu_device *device, uint32_t count, uint64_t *words)
{
    pthread_mutex_lock(&device->memory_lock);
    bool taken = range_take(&device->heap, count * sizeof(ppu_task_t), WORDS_ALIGN, words);
    pthread_mutex_unlock(&device->memory_lock);
    if (taken) {
        memset((char *)device->transport->vram + *words, 0, count * sizeof(ppu_task_t));
    }
    return taken;
}

static void give_words(struct ppu_device *device, uint64_t words)
{
    pthread_mutex_lock(&device->memory_lock);
    range_give(&device->heap, words);
    pthread_mutex_unlock(&device->memory_lock);
}

void tmdqs_close(struct ppu_context *context)
{
    if (context->tmdqs->has_words) {
        give_words(context->device, context->tmdqs->words);
    }
    drop_user(context->tmdqs);
}

/* The firmware moves what is in the TMDQs; then nobody reads the words of before. */
static enum ppu_err move_words(struct ppu_context *context, uint32_t count)
{
    struct tmdqs *tmdqs = context->tmdqs;
    uint64_t words = 0;

    if (!take_words(context->device, count, &words)) {
        return PPU_ERR_NO_VRAM;
    }
    const uint32_t args[] = { context->id, (uint32_t)words, count };
    enum ppu_err err = admin_call(context->device, PPU_ADMIN_STREAMS, args, PPU_ARRAY_SIZE(args), NULL, 0);
    if (err != PPU_OK) {
        give_words(context->device, words);
        return err;
    }
    if (tmdqs->has_words) {
        give_words(context->device, tmdqs->words);
    }
    tmdqs->has_words = true;
    tmdqs->words = words;
    return PPU_OK;
}

static enum ppu_err grow(struct ppu_context *context)
{
    struct tmdqs *tmdqs = context->tmdqs;
    uint32_t count = PPU_MIN(2 * tmdqs->count, PPU_MAX_STREAMS);

    if (count == tmdqs->count) {
        return PPU_ERR_NO_RESOURCE;
    }
    uint8_t *used = realloc(tmdqs->used, count);
    if (!used) {
        return PPU_ERR_NO_MEMORY;
    }
    tmdqs->used = used;
    enum ppu_err err = move_words(context, count);
    if (err == PPU_OK) {
        memset(used + tmdqs->count, 0, count - tmdqs->count);
        tmdqs->count = count;
    }
    return err;
}

enum ppu_err tmdq_take(struct ppu_context *context, uint32_t *number)
{
    struct tmdqs *tmdqs = context->tmdqs;
    enum ppu_err err = PPU_OK;

    pthread_mutex_lock(&tmdqs->lock);
    const uint8_t *unused = memchr(tmdqs->used, 0, tmdqs->count);
    *number = unused ? (uint32_t)(unused - tmdqs->used) : tmdqs->count;
    if (!unused) {
        err = grow(context);
    }
    if (err == PPU_OK) {
        tmdqs->used[*number] = 1;
        tmdqs->users++;
    }
    pthread_mutex_unlock(&tmdqs->lock);
    return err;
}

void tmdq_give(struct tmdqs *tmdqs, uint32_t number)
{
    pthread_mutex_lock(&tmdqs->lock);
    tmdqs->used[number] = 0;
    pthread_mutex_unlock(&tmdqs->lock);
    drop_user(tmdqs);
}
