/* SPDX-License-Identifier: MIT */
#include "tools/trace/follow.h"

#include "ppu/macros.h"

/* A writer that has not completed its record after so long never will: its process has ended. */
#define WAIT_NS 100000000u
#define FOUND_MANY 1024u /* more may have come meanwhile, so no time is waited */
#define FOUND_FEW 128u   /* nothing is busy */

/* Partner: the writer's release of the tail. */
static uint32_t tail_of(const struct follow *follow)
{
    return __atomic_load_n(&follow->ring->tail, __ATOMIC_ACQUIRE);
}

void follow_begin(struct follow *follow, const struct ppu_trace_ring *ring, uint32_t size, bool many)
{
    *follow = (struct follow){ .ring = ring, .size = size, .many = many };
    uint32_t tail = tail_of(follow);
    follow->next = tail > follow->size ? tail - follow->size : 0;
}

void follow_from(struct follow *follow, uint32_t number)
{
    bool is_written = tail_of(follow) - number <= UINT32_MAX / 2; /* or the device was reset since */

    if (is_written && follow->next - number <= UINT32_MAX / 2) {
        follow->next = number;
    }
}

static const struct ppu_trace_record *record_at(const struct follow *follow)
{
    return (const struct ppu_trace_record *)(const void *)(follow->ring + 1) + (follow->next & (follow->size - 1));
}

/* The record has its number and is not written yet, by one of many writers. */
static bool is_incomplete(struct follow *follow, uint64_t now_ns)
{
    uint32_t found = __atomic_load_n(&record_at(follow)->sequence, __ATOMIC_ACQUIRE);
    uint32_t ahead = found - follow->next;

    if (!follow->many || (found != PPU_TRACE_TORN(follow->next) && ahead != 0 && ahead < UINT32_MAX / 2)) {
        return false;
    }
    if (follow->waits_since_ns == 0) {
        follow->waits_since_ns = now_ns;
    }
    return now_ns - follow->waits_since_ns < WAIT_NS;
}

/* The memory of a device that was closed or has gone reads as ones, or as zeros. */
static bool is_there(const struct follow *follow)
{
    return follow->ring->head.version == PPU_TRACE_VERSION &&
           __atomic_load_n(&follow->ring->size, __ATOMIC_ACQUIRE) == follow->size;
}

uint32_t follow_read(struct follow *follow, uint64_t now_ns, struct ppu_trace_record *records, uint32_t most,
                     uint64_t *lost)
{
    uint32_t tail = tail_of(follow), taken = 0;
    uint64_t torn = 0; /* behind the last that was taken */

    *lost = 0;
    if (!is_there(follow)) {
        return 0;
    }
    if (tail - follow->next > UINT32_MAX / 2) { /* the device was reset, and its recorder begins anew */
        follow->next = 0;
    }
    if (tail - follow->next > follow->size) {
        *lost = tail - follow->next - follow->size;
        follow->next = tail - follow->size;
    }
    while (taken < most && follow->next != tail) {
        if (ppu_trace_take(record_at(follow), follow->next, &records[taken])) {
            taken++;
            *lost += torn;
            torn = 0;
        } else if (is_incomplete(follow, now_ns)) {
            break;
        } else {
            torn++;
        }
        follow->waits_since_ns = 0;
        follow->next++;
    }
    if (is_there(follow)) {
        *lost += torn;
    } else {
        follow->next -= (uint32_t)torn; /* what was found there meanwhile were no records */
    }
    return taken;
}

uint32_t follow_pause_ms(uint32_t last_ms, uint32_t found)
{
    if (found > FOUND_MANY) {
        return 0;
    }
    return found > FOUND_FEW ? 1 : PPU_MIN(last_ms + 1, FOLLOW_PAUSE_MOST_MS);
}

uint32_t follow_left(const struct follow *follow, uint32_t end)
{
    uint32_t left = end - follow->next;

    return follow->ring && left <= UINT32_MAX / 2 ? left : 0;
}
