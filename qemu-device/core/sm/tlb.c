/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/sm/tlb.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/mmu.h"
#include "qemu-device/core/sm/access.h"
#include "qemu-device/core/sm/gpc.h"
#include "qemu-device/core/sm/sm.h"

#include <string.h>

static bool allows(const struct tlb_entry *entry, enum ppu_access access)
{
    return (access != PPU_ACCESS_WRITE || entry->write) &&
           (access != PPU_ACCESS_ATOMIC || (entry->write && entry->atomic));
}

/*
 * Walks are what an instruction can cost most: each of 512 addresses may need one. Who waits for the SM waits for this
 * instruction and no other.
 */
static void hurry(struct sm *sm)
{
    if (sm_attention(sm)) {
        sm->exec.plain = 0;
    }
}

/* What a kernel writes first is kept before; each page is looked at. */
static void keep_history(struct core *core, struct mmu_page *page, enum ppu_access access)
{
    const bool writes = access == PPU_ACCESS_WRITE || access == PPU_ACCESS_ATOMIC;

    if (writes && !page->system) {
        history_keep(core, page->frame, page->bytes);
    }
    if (!writes) {
        page->write = page->atomic = false; /* the next write comes here, too */
    }
}

static uint16_t fill_entry(struct sm *sm, struct tlb_entry *entry, uint32_t context, uint64_t va,
                           enum ppu_access access)
{
    struct mmu_page page = mmu_walk(sm->core, context, va, access);

    hurry(sm);
    if (page.fault != 0) {
        return page.fault;
    }
    if (sm->core->debug.history) {
        keep_history(sm->core, &page, access);
    } else {
        mmu_widen(sm->core, &page);
    }
    if (sm->gpc) {
        gpc_translate(sm, context, page.va);
    }
    *entry = (struct tlb_entry){
        .tag = page.va | context | TLB_VALID,
        .mask = ~(page.bytes - 1) | (PPU_PAGE_4K - 1),
        .frame = page.frame,
        .system = page.system,
        .write = page.write,
        .atomic = page.atomic,
    };
    return 0;
}

uint16_t sm_translate(struct sm *sm, uint32_t context, uint64_t va, enum ppu_access access, struct translation *out)
{
    struct tlb_entry *entry = &sm->tlb[sm_tlb_index(va)];
    uint64_t key = (va & ~(uint64_t)(PPU_PAGE_4K - 1)) | context | TLB_VALID;

    /* An entry that was never filled has a mask of zeros, which would match everything. */
    if (entry->tag == 0 || (key & entry->mask) != entry->tag || !allows(entry, access)) {
        uint16_t fault = fill_entry(sm, entry, context, va, access);
        if (fault != 0) {
            return fault;
        }
    }
    uint64_t at = entry->frame + (va - (entry->tag & ~(uint64_t)(PPU_PAGE_4K - 1)));
    out->bus = at;
    out->host = entry->system ? NULL : sm->vram + at;
    return 0;
}

void sm_tlb_drop(struct sm *sm, uint32_t context)
{
    sm->found.key = 0;
    for (uint32_t i = 0; i < SM_TLB_SIZE; i++) {
        if ((sm->tlb[i].tag & (PPU_PAGE_4K - 1)) == (context | TLB_VALID)) {
            sm->tlb[i].tag = 0;
        }
    }
}

void sm_tlb_drop_all(struct sm *sm)
{
    sm->found.key = 0;
    for (uint32_t i = 0; i < SM_TLB_SIZE; i++) {
        if (sm->tlb[i].tag != 0) {
            sm->tlb[i] = (struct tlb_entry){ 0 };
        }
    }
}
