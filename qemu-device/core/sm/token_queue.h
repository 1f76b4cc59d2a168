/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the token queues of warps. */
#ifndef QEMU_DEVICE_CORE_SM_TOKEN_QUEUE_H
#define QEMU_DEVICE_CORE_SM_TOKEN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "ppu/token.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/sm.h"

/* Finds where the token queues lie now; only while the SM has no CTA. */
void sm_file_find_tokens(struct sm *sm);

/* A warp's token queue. */
static inline uint8_t *sm_file_tokens(const struct sm *sm, const struct sm_cta *cta, uint32_t number)
{
    const struct dist_task *task = cta->cta.task;
    const size_t warp_bytes = (size_t)task->token_cap * PPU_TOKEN_WORDS(task->tmd.wave) * sizeof(uint32_t);

    return sm->file[SM_FILE_TOKENS].bytes + cta->block[SM_FILE_TOKENS].off + number * warp_bytes;
}

#endif
