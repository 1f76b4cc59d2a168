/* SPDX-License-Identifier: MIT */
#include "firmware/share.h"

#include <stdbool.h>
#include <string.h>

#include "firmware/caps.h"
#include "firmware/hal.h"
#include "firmware/policy.h"
#include "firmware/quota.h"
#include "firmware/rank.h"
#include "firmware/timer.h"
#include "firmware/wdu.h"
#include "ppu/admin.h"
#include "ppu/limits.h"
#include "ppu/regs.h"

struct share {
    uint32_t seen_us; /* CTX_TIME_US when it was looked at last */
    uint32_t had_us;  /* of the SMs' time while others had slots; compared by difference */
    uint8_t look;
    bool favoured;
};

static struct share shares[PPU_MAX_CONTEXTS];
static uint32_t active;   /* address spaces that have slots */
static uint32_t least_us; /* what the one had that had least, at the last look */
static uint8_t look;
static struct timer timer;

static void look_at_all(struct timer *unused);

void share_init(void)
{
    memset(shares, 0, sizeof(shares));
    active = 0;
    least_us = 0;
    look = 0;
    timer = (struct timer){ .fire = look_at_all };
}

static void look_later(void)
{
    if (!timer.heap_index) {
        timer_start(&timer, policy(PPU_POLICY_SHARE_US) * TIMER_NS_PER_US);
    }
}

/* It begins where the one is that has had least: what it did not ask for it is not owed. */
static void come(struct share *share, uint32_t context)
{
    share->seen_us = hal_read(PPU_REG_CTX_TIME_US + 4 * context);
    if ((int32_t)(share->had_us - least_us) < 0) {
        share->had_us = least_us;
    }
    share->favoured = (int32_t)(share->had_us - least_us) <= (int32_t)policy(PPU_POLICY_SHARE_US);
}

void share_started(uint32_t context, uint32_t slot)
{
    struct share *share = &shares[context];
    bool first = quota_held(PPU_RESOURCE_SLOTS, context) == 1;
    active += first;
    if (active < 2) {
        return;
    }
    if (first) {
        come(share, context);
    }
    look_later();
    if (share->favoured) {
        rank_write(slot);
    }
}

void share_left(uint32_t context)
{
    if (quota_held(PPU_RESOURCE_SLOTS, context) == 0) {
        shares[context].favoured = false;
        active--;
    }
}

bool share_favours(uint32_t context)
{
    return shares[context].favoured;
}

/* Counts what the address space has had since it was looked at. */
static void count(struct share *share, uint32_t context)
{
    uint32_t now_us = hal_read(PPU_REG_CTX_TIME_US + 4 * context);
    share->had_us += now_us - share->seen_us;
    share->seen_us = now_us;
    share->look = look;
}

/* Counts for each that has a slot; the one that has had least, and by how much less than the one with most. */
static uint32_t count_all(uint32_t *gap_us)
{
    uint32_t least = PPU_MAX_CONTEXTS, most = 0;
    look++;
    for (uint32_t slot = 0; slot < caps.slots; slot++) {
        const struct task *task = wdu_task(slot);
        if (!task || shares[task->context].look == look) {
            continue;
        }
        count(&shares[task->context], task->context);
        bool none = least == PPU_MAX_CONTEXTS;
        least = none || (int32_t)(shares[task->context].had_us - shares[least].had_us) < 0 ? task->context : least;
        most = none || (int32_t)(shares[task->context].had_us - shares[most].had_us) > 0 ? task->context : most;
    }
    *gap_us = least == PPU_MAX_CONTEXTS ? 0 : shares[most].had_us - shares[least].had_us;
    return least;
}

static void favour(uint32_t context)
{
    uint64_t changed = 0;
    for (uint32_t slot = 0; slot < caps.slots; slot++) {
        const struct task *task = wdu_task(slot);
        if (task && (task->context == context || shares[task->context].favoured)) {
            changed |= 1ull << slot;
        }
    }
    for (uint32_t slot = 0; slot < caps.slots; slot++) {
        const struct task *task = wdu_task(slot);
        if (task) {
            shares[task->context].favoured = task->context == context;
        }
    }
    for (uint32_t slot = 0; slot < caps.slots; slot++) {
        if (changed & (1ull << slot)) {
            rank_write(slot);
        }
    }
}

static void look_at_all(struct timer *unused)
{
    (void)unused;
    uint32_t gap_us = 0;
    uint32_t least = count_all(&gap_us);
    if (least == PPU_MAX_CONTEXTS) {
        return;
    }
    least_us = shares[least].had_us;
    favour(gap_us >= policy(PPU_POLICY_SHARE_US) ? least : PPU_MAX_CONTEXTS);
    if (active > 1) {
        look_later();
    }
}
