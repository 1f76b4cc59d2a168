/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address translation (A9, mmu.h). Tables are written by the driver at any time: each entry is read once, whole, and
 * checked before it is used.
 */
#include "qemu-device/core/memory/mmu.h"
#include "ppu/fault.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "ppu/tmd.h"
#include "ppu/trace.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/hooks.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"

#define ROOT_VALID 1ull
#define TABLE_BITS (PPU_PTE_VALID | PPU_PTE_SW_MASK | PPU_PTE_FRAME_MASK)
#define LEAF_BITS (TABLE_BITS | PPU_PTE_WRITE | PPU_PTE_ATOMIC | PPU_PTE_SYSTEM | PPU_PTE_SIZE_MASK)

static struct mmu_page fault(uint16_t code)
{
    return (struct mmu_page){ .fault = code };
}

static enum ppu_pte_size size_of(uint64_t pte)
{
    return (enum ppu_pte_size)((pte & PPU_PTE_SIZE_MASK) >> PPU_PTE_SIZE_SHIFT);
}

/* Bytes of a leaf, 0 when the level or the aperture has no such page. */
static uint64_t leaf_bytes(uint64_t pte, uint32_t level)
{
    switch (size_of(pte)) {
    case PPU_PTE_4K:
        return level == 0 && (pte & PPU_PTE_SYSTEM) ? PPU_PAGE_4K : 0;
    case PPU_PTE_64K:
        return level == 0 ? PPU_PAGE_64K : 0;
    case PPU_PTE_2M:
        return level == 1 ? PPU_PAGE_2M : 0;
    default:
        return 0;
    }
}

static uint16_t permission(const struct mmu_page *page, enum ppu_access access)
{
    if (access != PPU_ACCESS_WRITE && access != PPU_ACCESS_ATOMIC) {
        return PPU_FAULT_NONE;
    }
    if (!page->write) {
        return PPU_FAULT_READ_ONLY;
    }
    return access == PPU_ACCESS_ATOMIC && !page->atomic ? PPU_FAULT_NO_ATOMIC : PPU_FAULT_NONE;
}

static uint16_t placement(const struct core *core, const struct mmu_page *page)
{
    uint64_t base = reg_get(core, PPU_REG_PROT_BASE);
    uint64_t limit = reg_get(core, PPU_REG_PROT_LIMIT);

    if (page->system) {
        return PPU_FAULT_NONE;
    }
    if (!core_vram_has(core, page->frame, page->bytes)) {
        return PPU_FAULT_VRAM_RANGE;
    }
    return page->frame < limit && page->frame + page->bytes > base && base < limit ? PPU_FAULT_PROTECTED
                                                                                   : PPU_FAULT_NONE;
}

static struct mmu_page leaf(const struct core *core, uint64_t pte, uint32_t level, uint64_t va, enum ppu_access access)
{
    uint64_t bytes = leaf_bytes(pte, level);
    struct mmu_page page = {
        .system = pte & PPU_PTE_SYSTEM,
        .write = pte & PPU_PTE_WRITE,
        .atomic = pte & PPU_PTE_ATOMIC,
        .bytes = bytes,
        .frame = pte & PPU_PTE_FRAME_MASK,
    };

    if (bytes == 0 || (pte & ~LEAF_BITS) != 0 || page.frame % bytes != 0) {
        return fault(PPU_FAULT_BAD_TABLE);
    }
    page.va = va & ~(bytes - 1);
    page.fault = placement(core, &page);
    if (page.fault == PPU_FAULT_NONE) {
        page.fault = permission(&page, access);
    }
    return page;
}

static bool table_usable(const struct core *core, uint64_t table)
{
    return table % PPU_PT_ALIGN == 0 && core_protected_has(core, table, PPU_PT_BYTES) &&
           core_vram_has(core, table, PPU_PT_BYTES);
}

static struct mmu_page walk(const struct core *core, uint64_t table, uint64_t va, enum ppu_access access)
{
    for (uint32_t level = PPU_PT_LEVELS - 1;; level--) {
        uint64_t pte = 0;

        if (!table_usable(core, table)) {
            return fault(PPU_FAULT_BAD_TABLE);
        }
        pte = vram_read64(core->vram + table + (size_t)ppu_pt_index(va, level) * sizeof(pte));
        if (!(pte & PPU_PTE_VALID)) {
            return fault(PPU_FAULT_UNMAPPED);
        }
        if (level == 0 || size_of(pte) != PPU_PTE_TABLE) {
            struct mmu_page page = leaf(core, pte, level, va, access);
            page.table = table;
            page.pte = pte;
            return page;
        }
        if (pte & ~TABLE_BITS) {
            return fault(PPU_FAULT_BAD_TABLE);
        }
        table = pte & PPU_PTE_FRAME_MASK;
    }
}

/* True when the entries of a table name the frames from `frame` on, as `like` does. */
static bool names_run(const struct core *core, uint64_t table, uint32_t first, uint32_t entries, uint64_t frame,
                      uint64_t like)
{
    const uint64_t flags = like & ~PPU_PTE_FRAME_MASK;
    bool same = true;

    for (uint32_t i = 0; i < entries && same; i++) {
        const uint64_t page = frame + (uint64_t)i * PPU_PAGE_4K / PPU_PAGE_64K * PPU_PAGE_64K;
        same = vram_read64(core->vram + table + (size_t)(first + i) * sizeof(uint64_t)) == (page | flags);
    }
    return same;
}

void mmu_widen(const struct core *core, struct mmu_page *page)
{
    while (page->bytes >= PPU_PAGE_64K && page->bytes < PPU_PAGE_2M && !page->system) {
        struct mmu_page wide = *page;

        wide.bytes *= 2;
        wide.va &= ~(wide.bytes - 1);
        wide.frame -= page->va - wide.va;
        if (page->va - wide.va > page->frame || placement(core, &wide) != PPU_FAULT_NONE ||
            !names_run(core, page->table, ppu_pt_index(wide.va, 0), (uint32_t)(wide.bytes / PPU_PAGE_4K), wide.frame,
                       page->pte)) {
            return;
        }
        *page = wide;
    }
}

struct mmu_page mmu_walk(struct core *core, uint32_t context, uint64_t va, enum ppu_access access)
{
    uint64_t root = 0;

    if (context < core->config.contexts) {
        root = reg_get(core, PPU_REG_CTX_ROOT + 4 * context);
    }
    if (!(root & ROOT_VALID)) {
        return fault(PPU_FAULT_NO_CONTEXT);
    }
    if (va >> PPU_VA_BITS != 0) {
        return fault(PPU_FAULT_BAD_ADDRESS);
    }
    if (hook_walk_fails(core)) {
        return fault(PPU_FAULT_UNMAPPED);
    }
    return walk(core, root & ~ROOT_VALID, va, access);
}
