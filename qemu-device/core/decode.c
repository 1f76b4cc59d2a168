/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoded code, cached by pages of 4 KiB. An instruction is read by one 64-bit load and decoded when it is executed
 * first: what was uploaded before the invalidate is seen after it, and never half of it.
 */
#include "sm_state.h"

#include <string.h>

#define CODE_PAGE_BYTES (SM_PAGE_INSNS * PPU_INSN_BYTES)
#define CODE_VALID (1ull << 11)

static struct code_page *page_of(struct sm *sm, uint64_t va)
{
    return &sm->code[(va / CODE_PAGE_BYTES) % SM_CODE_PAGES];
}

/* Code lies in VRAM: nothing is fetched over the bus. */
static uint16_t page_fill(struct sm *sm, struct code_page *page, uint32_t context, uint64_t va)
{
    struct place place;
    uint16_t fault = sm_translate(sm, context, va & ~(uint64_t)(CODE_PAGE_BYTES - 1), PPU_ACCESS_FETCH, &place);

    if (fault != 0) {
        return fault;
    }
    if (place.host == NULL) {
        return PPU_FAULT_FETCH_RANGE;
    }
    for (uint32_t i = 0; i < SM_PAGE_INSNS; i++) {
        page->insn[i].known = false;
    }
    page->bytes = place.host;
    page->tag = (va & ~(uint64_t)(CODE_PAGE_BYTES - 1)) | context | CODE_VALID;
    return 0;
}

static void decode_one(struct code_page *page, uint32_t index)
{
    struct code_insn *code = &page->insn[index];

    code->word = vram_read64(page->bytes + (size_t)index * PPU_INSN_BYTES);
    code->fault = ppu_isa_decode(code->word, &code->insn);
    code->vregs = (uint16_t)(code->fault == 0 ? ppu_isa_vregs(&code->insn) : 0);
    code->known = true;
}

const struct code_insn *decode_fetch(struct sm *sm, const struct dist_task *task, uint32_t pc, uint16_t *fault,
                                     uint64_t *va)
{
    struct code_page *page;
    uint32_t index;

    *va = task->tmd.code_va + (uint64_t)pc * PPU_INSN_BYTES;
    if (pc >= task->tmd.code_bytes / PPU_INSN_BYTES) {
        *fault = PPU_FAULT_FETCH_RANGE;
        return NULL;
    }
    page = page_of(sm, *va);
    if (page->tag != ((*va & ~(uint64_t)(CODE_PAGE_BYTES - 1)) | task->tmd.context | CODE_VALID)) {
        *fault = page_fill(sm, page, task->tmd.context, *va);
        if (*fault != 0) {
            return NULL;
        }
    }
    index = (uint32_t)(*va % CODE_PAGE_BYTES / PPU_INSN_BYTES);
    if (!page->insn[index].known) {
        decode_one(page, index);
    }
    return &page->insn[index];
}

void decode_drop(struct sm *sm, uint32_t context)
{
    for (uint32_t i = 0; i < SM_CODE_PAGES; i++) {
        if ((sm->code[i].tag & (CODE_PAGE_BYTES - 1)) == (context | CODE_VALID)) {
            sm->code[i].tag = 0;
        }
    }
}

void decode_drop_all(struct sm *sm)
{
    for (uint32_t i = 0; i < SM_CODE_PAGES; i++) {
        sm->code[i].tag = 0;
    }
}
