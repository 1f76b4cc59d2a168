/* SPDX-License-Identifier: MIT */
#include "firmware/context.h"

#include <string.h>

#include "firmware/admin.h"
#include "firmware/caps.h"
#include "firmware/crash.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/log.h"
#include "firmware/nest.h"
#include "firmware/quota.h"
#include "firmware/state.h"
#include "firmware/taskq.h"
#include "firmware/tmdq.h"
#include "firmware/workq.h"
#include "ppu/limits.h"
#include "ppu/macros.h"

#define ROOT_VALID 1u

struct context {
    bool open;
    struct admin_ticket *closing; /* CONTEXT_DESTROY that waits for the last task */
    uint32_t channels;
    uint32_t tasks;
};

static FW_DMA struct context contexts[PPU_MAX_CONTEXTS];

static const struct ppu_state_span context_spans[] = {
#define PPU_STATE_CONTEXT(name, member, doc) STATE_SPAN(struct context, member),
#include "ppu/state.def"
};

const struct state_rows context_state_rows = {
    .rows = contexts,
    .count = &caps.contexts,
    .stride = sizeof(contexts[0]),
    .first = PPU_STATE_CONTEXT_OPEN,
    .spans = PPU_ARRAY_SIZE(context_spans),
    .span = context_spans,
};

/* Flushes go to the device one at a time, in order: an acknowledgement then belongs to the first. */
static struct admin_ticket *flushes[PPU_ADMIN_ENTRIES];
static uint32_t flush_first;
static uint32_t flush_count;
static uint32_t flush_tag;

void context_init(void)
{
    memset(contexts, 0, sizeof(contexts));
    flush_first = 0;
    flush_count = 0;
    flush_tag = 0;
}

bool context_is_open(uint32_t context)
{
    return context < caps.contexts && contexts[context].open && !contexts[context].closing;
}

bool context_open(ppu_vram_t root, ppu_vram_t area, uint32_t *context)
{
    for (uint32_t i = 0; i < caps.contexts; i++) {
        if (contexts[i].open) {
            continue;
        }
        if (!hooks_allow_allocation()) {
            return false;
        }
        contexts[i] = (struct context){ .open = true };
        quota_open(i);
        tmdq_open_group(i);
        hal_write(PPU_REG_CTX_SAVE + 4 * i, area.off);
        hal_write(PPU_REG_CTX_ROOT + 4 * i, root.off | ROOT_VALID);
        *context = i;
        return true;
    }
    return false;
}

static void flush_begin(void)
{
    hal_write(PPU_REG_MMU_FLUSH_TAG, ++flush_tag);
    hal_write(PPU_REG_MMU_FLUSH, flushes[flush_first]->object);
}

void context_flush(uint32_t context, struct admin_ticket *ticket)
{
    FW_ASSERT(flush_count < PPU_ADMIN_ENTRIES);
    ticket->object = context;
    flushes[(flush_first + flush_count) % PPU_ADMIN_ENTRIES] = ticket;
    if (flush_count++ == 0) {
        flush_begin();
    }
}

void context_flushed(uint32_t tag)
{
    if (flush_count == 0 || tag != flush_tag) {
        log_print("flush %u acknowledged, which was not asked for\n", (unsigned)tag);
        return;
    }
    struct admin_ticket *ticket = flushes[flush_first];
    flush_first = (flush_first + 1) % PPU_ADMIN_ENTRIES;
    if (--flush_count) {
        flush_begin();
    }
    if (ticket->op == PPU_ADMIN_CONTEXT_DESTROY) {
        nest_close(ticket->object);
        taskq_close_all(ticket->object);
        quota_close(ticket->object);
        contexts[ticket->object] = (struct context){ .open = false };
    }
    admin_answer(ticket, 0, 0);
}

/* Nothing of it runs any more. */
static void unmap(uint32_t context)
{
    hal_write(PPU_REG_CTX_ROOT + 4 * context, 0);
    hal_write(PPU_REG_CTX_SAVE + 4 * context, 0);
    context_flush(context, contexts[context].closing);
}

enum ppu_fault context_close(uint32_t context, struct admin_ticket *ticket)
{
    if (contexts[context].channels) {
        return PPU_FAULT_IN_USE;
    }
    contexts[context].closing = ticket;
    if (contexts[context].tasks == 0) {
        unmap(context);
    }
    return PPU_FAULT_NONE;
}

void context_add_channel(uint32_t context)
{
    contexts[context].channels++;
}

void context_remove_channel(uint32_t context)
{
    contexts[context].channels--;
}

void context_add_task(uint32_t context)
{
    contexts[context].tasks++;
}

void context_remove_task(uint32_t context)
{
    if (--contexts[context].tasks) {
        return;
    }
    if (contexts[context].closing) {
        unmap(context);
    } else {
        workq_context_idle(context);
    }
}

uint32_t context_task_count(uint32_t context)
{
    return contexts[context].tasks;
}
