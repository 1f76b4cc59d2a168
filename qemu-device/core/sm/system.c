/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses to system memory: an SM thread must not touch it, the main loop does, under the host lock.
 *
 * A request belongs to the SM while it is NONE or DONE, to the main loop while it is BUSY; QUEUED means that either may
 * take it by compare-and-swap. Atomics on system memory are atomic among the threads of this PPU and its copy engine's
 * steps, all of which hold the host lock; not with respect to the CPU.
 */
#include "qemu-device/core/sm/system.h"
#include "ppu/macros.h"
#include "ppu/sem.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/semtab.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"

#include <string.h>

#define SYSTEM_TRANSFERS 128u /* in one bottom half; the last request may exceed it */
#define ROW_BYTES 512u /* of neighbouring words that are one transfer: a load or store of 16 bytes by all lanes */

void sm_system_post(struct exec *x)
{
    struct sm *sm = x->sm;

    if (!history_effect(sm->core)) {
        return;
    }
    __atomic_store_n(&sm->sys[x->index].state, SYS_QUEUED, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&sm->system, 1u, __ATOMIC_SEQ_CST);
    core_kick(sm->core);
}

bool sm_system_take_back(struct sm *sm, uint32_t warp)
{
    uint32_t expected = SYS_QUEUED;

    if (__atomic_compare_exchange_n(&sm->sys[warp].state, &expected, SYS_NONE, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
        return true;
    }
    if (expected == SYS_BUSY) {
        return false;
    }
    return true;
}

static bool access_word(struct core *core, struct sys_word *word, uint64_t *data, bool write)
{
    if (!word->host) {
        return core_dma(core, word->bus, data, word->bytes, write);
    }
    if (write) {
        vram_copy(word->host, (const uint8_t *)data, word->bytes);
    } else {
        vram_copy((uint8_t *)data, word->host, word->bytes);
    }
    return true;
}

static bool atomic_word(struct core *core, const struct sys_request *request, struct sys_word *word)
{
    uint64_t cell = 0;

    if (!core_dma(core, word->bus, &cell, word->bytes, false)) {
        return false;
    }
    uint64_t former = engine_rmw((uint8_t *)&cell, request->aop, word->bytes, word->data, word->operand);
    word->data = former;
    return core_dma(core, word->bus, &cell, word->bytes, true);
}

static bool release_word(struct core *core, const struct sys_request *request, struct sys_word *word)
{
    uint64_t now = core_now(core);

    if (request->with_time && !core_dma(core, word->bus + offsetof(struct ppu_sem, time_ns), &now, sizeof(now), true)) {
        return false;
    }
    if (!core_dma(core, word->bus, &word->data, sizeof(uint32_t), true)) {
        return false;
    }
    semtab_touch(core, true, word->bus);
    return true;
}

static bool service_word(struct core *core, const struct sys_request *request, struct sys_word *word)
{
    uint64_t data = 0;

    switch (request->kind) {
    case SYS_LOAD:
        if (!access_word(core, word, &data, false)) {
            return false;
        }
        word->data = data;
        return true;
    case SYS_STORE:
        return access_word(core, word, &word->data, true);
    case SYS_ATOMIC:
        return atomic_word(core, request, word);
    default:
        return release_word(core, request, word);
    }
}

/* Words of a load or a store that lie side by side, or in one another, from word `first` on. */
struct row {
    uint32_t first;
    uint32_t words;
    uint32_t bytes;
};

static bool row_takes(const struct sys_request *request, const struct row *row, const struct sys_word *word)
{
    const uint64_t start = request->word[row->first].bus;

    return !word->host && word->bus >= start && word->bus - start <= row->bytes &&
           word->bus - start + word->bytes <= ROW_BYTES;
}

static struct row row_at(const struct sys_request *request, uint32_t first)
{
    struct row row = { .first = first, .words = 1, .bytes = request->word[first].bytes };

    if (request->kind > SYS_STORE || request->word[first].host) {
        return row;
    }
    for (uint32_t i = first + 1; i < request->count && row_takes(request, &row, &request->word[i]); i++) {
        const struct sys_word *const word = &request->word[i];
        const uint32_t end = (uint32_t)(word->bus - request->word[first].bus) + word->bytes;

        row.words++;
        row.bytes = PPU_MAX(end, row.bytes);
    }
    return row;
}

/* One transfer for all words of the row. False: the bus refused it. */
static bool service_row(struct core *core, struct sys_request *request, const struct row *row)
{
    struct sys_word *const word = &request->word[row->first];
    uint8_t bytes[ROW_BYTES];

    for (uint32_t i = 0; request->kind == SYS_STORE && i < row->words; i++) {
        memcpy(bytes + (word[i].bus - word->bus), &word[i].data, word[i].bytes);
    }
    if (!core_dma(core, word->bus, bytes, row->bytes, request->kind == SYS_STORE)) {
        return false;
    }
    for (uint32_t i = 0; request->kind == SYS_LOAD && i < row->words; i++) {
        word[i].data = 0;
        memcpy(&word[i].data, bytes + (word[i].bus - word->bus), word[i].bytes);
    }
    return true;
}

/* Performs the request; how many transfers it took. Where the bus refuses a row, its words say which. */
static uint32_t service_words(struct core *core, struct sys_request *request)
{
    uint32_t transfers = 0;
    bool accepted = true;

    while (accepted && request->done < request->count) {
        const struct row row = row_at(request, request->done);
        const uint32_t end = request->done + row.words;

        if (row.words > 1) {
            transfers++;
            request->done = service_row(core, request, &row) ? end : request->done;
        }
        while (accepted && request->done < end) {
            transfers++;
            accepted = service_word(core, request, &request->word[request->done]);
            request->done += accepted;
        }
    }
    return transfers;
}

/* Performs the request, if there is one; how many transfers it took. */
static uint32_t service(struct core *core, struct sys_request *request)
{
    uint32_t expected = SYS_QUEUED;

    if (!__atomic_compare_exchange_n(&request->state, &expected, SYS_BUSY, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        return 0;
    }
    const uint32_t transfers = service_words(core, request);
    __atomic_store_n(&request->state, SYS_DONE, __ATOMIC_SEQ_CST); /* it is the SM's again */
    return transfers;
}

/* False: more is left than `transfers` allows; the warp that comes next is first then. */
static bool service_sm(struct core *core, struct sm *sm, uint32_t *transfers)
{
    const uint32_t warps = sm->config->sm_warps;

    for (uint32_t n = 0; n < warps; n++) {
        const uint32_t index = (sm->system_warp + n) % warps;

        if (*transfers == 0) {
            sm->system_warp = index;
            return false;
        }
        const uint32_t served = service(core, &sm->sys[index]);
        *transfers -= PPU_MIN(served, *transfers);
    }
    return true;
}

bool sm_waits_for_system(struct core *core)
{
    const struct sm_pool *pool = *core_sm_pool(core);
    bool any = false;

    for (uint32_t i = 0; i < pool->sms; i++) {
        any = any || __atomic_load_n(&pool->sm[i].system, __ATOMIC_SEQ_CST) != 0;
    }
    return any;
}

/* Others wait for the host lock: what is more than SYSTEM_TRANSFERS has its turn in the next bottom half. */
void sm_service_system(struct core *core)
{
    struct sm_pool *pool = *core_sm_pool(core);
    uint32_t transfers = SYSTEM_TRANSFERS;
    bool any = false;

    for (uint32_t n = 0; n < pool->sms; n++) {
        const uint32_t index = (pool->system_sm + n) % pool->sms;
        struct sm *sm = &pool->sm[index];

        if (__atomic_exchange_n(&sm->system, 0, __ATOMIC_SEQ_CST) == 0) {
            continue;
        }
        any = true;
        if (!service_sm(core, sm, &transfers)) {
            __atomic_fetch_add(&sm->system, 1u, __ATOMIC_SEQ_CST);
            pool->system_sm = index;
            core_kick(core);
            break;
        }
    }
    if (any) {
        sm_wake(core);
    }
}
