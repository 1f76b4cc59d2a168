/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoded code, cached by pages of 4 KiB. An instruction is read by one 64-bit load and decoded when it is executed
 * first: what was uploaded before the invalidate is seen after it, and never half of it. Most launches run code that
 * has not changed since, and comparing is quicker than decoding. So an invalidated page is compared with memory when it
 * is fetched from again, and is kept when each word is as it was. Where caches are modelled it is decoded anew, as
 * their counts follow what is fetched.
 */
#include "qemu-device/core/sm/decode.h"
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/engine/levels.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/access.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/gpc.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/tlb.h"
#include "qemu-device/core/tier/heads.h"

#include <string.h>

#define CODE_PAGE_BYTES (SM_PAGE_INSNS * PPU_INSN_BYTES)
#define CODE_VALID (1ull << 11)
#define CODE_UNSURE (1ull << 10) /* invalidated, and to be compared */

static struct code_page *page_of(const struct sm *sm, uint64_t va)
{
    return &sm->code[(va / CODE_PAGE_BYTES) % SM_CODE_PAGES];
}

static uint64_t tag_of(const struct dist_task *task, uint64_t va)
{
    return (va & ~(uint64_t)(CODE_PAGE_BYTES - 1)) | task->tmd.context | CODE_VALID;
}

static bool page_is_unchanged(const struct code_page *page, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(page->decoded); i++) {
        for (uint64_t left = page->decoded[i]; left != 0; left &= left - 1) {
            const uint32_t index = i * 64 + (uint32_t)__builtin_ctzll(left);

            if (vram_read64(bytes + (size_t)index * PPU_INSN_BYTES) != page->word[index]) {
                return false;
            }
        }
    }
    return true;
}

static void page_clear(struct sm *sm, struct code_page *page)
{
    for (uint32_t i = 0; i < SM_PAGE_INSNS; i++) {
        page->insn[i].known = false;
        page->insn[i].plain = CODE_NOT_PLAIN;
    }
    memset(page->decoded, 0, sizeof(page->decoded));
    sm->window.count = 0;
    tier_heads_forget(sm->heads);
}

/* Code lies in VRAM: nothing is fetched over the bus. */
static uint16_t page_fill(struct sm *sm, struct code_page *page, const struct dist_task *task, uint64_t va)
{
    struct translation translation;
    uint16_t fault =
        sm_translate(sm, task->tmd.context, va & ~(uint64_t)(CODE_PAGE_BYTES - 1), PPU_ACCESS_FETCH, &translation);

    if (fault != 0) {
        return fault;
    }
    if (!translation.host) {
        return PPU_FAULT_FETCH_RANGE;
    }
    page->insn = sm->insns + (size_t)(page - sm->code) * SM_PAGE_INSNS;
    if (page->tag != (tag_of(task, va) | CODE_UNSURE) || !page_is_unchanged(page, translation.host)) {
        page_clear(sm, page);
    }
    page->bytes = translation.host;
    page->tag = tag_of(task, va);
    return 0;
}

static uint8_t kinds_of(const struct ppu_insn *insn)
{
    return (uint8_t)((insn->wa && insn->a_scalar ? CODE_SAME_A : 0) |
                     (insn->wb && (insn->b_scalar || insn->immed) ? CODE_SAME_B : 0) |
                     (insn->wc && insn->c_scalar ? CODE_SAME_C : 0) | (insn->fmod ? CODE_MODIFIED : 0));
}

/* Operand b as two words: a double's upper half, or a number whose sign goes on. */
static void immediate(const struct ppu_insn *insn, uint32_t words[2])
{
    bool high_half = (ppu_isa_row(insn->op)->flags & PPU_IF_X) && insn->wb == 2;

    words[0] = high_half ? 0 : (uint32_t)insn->imm;
    words[1] = high_half ? (uint32_t)insn->imm : insn->imm < 0 ? UINT32_MAX : 0;
}

/* A sum of a vector register and of what is the same for all lanes: it is steady when the register is. */
static bool adds_same(const struct ppu_insn *insn, uint8_t kinds)
{
    return insn->op == PPU_OP_ADD && !insn->scalar && (kinds == CODE_SAME_A || kinds == CODE_SAME_B);
}

/* How many registers a set of lanes is depends on the wave, and not only on the instruction. */
static bool delivers_lanes(const struct ppu_insn *insn)
{
    return insn->op == PPU_OP_BALLOT || insn->op == PPU_OP_ACTIVE;
}

/* Vector registers among the first that it does not write; a store names the one it reads as if it wrote it. */
static uint32_t keeps_of(const struct ppu_insn *insn)
{
    const uint32_t words = delivers_lanes(insn) ? PPU_MAX_WAVE_WORDS : insn->wd;
    const uint64_t written = insn->scalar ? 0 : ((1ull << words) - 1) << (insn->rd % 32u);

    return insn->rd < EXEC_STEADY ? ~(uint32_t)written : UINT32_MAX;
}

static void decode_word(const struct sm *sm, struct code_insn *code, uint64_t word)
{
    code->fault = ppu_isa_decode(word, &code->insn);
    code->known = true;
    code->vregs = 0;
    code->op = NULL;
    if (code->fault != 0) {
        code->word = word;
        return;
    }
    code->vregs = (uint16_t)ppu_isa_vregs(&code->insn);
    code->kinds = kinds_of(&code->insn);
    code->steady = adds_same(&code->insn, code->kinds);
    code->keeps = code->steady ? UINT32_MAX : keeps_of(&code->insn);
    if (engine_mem_cached(&code->insn)) {
        /* cppcheck-suppress AssignmentIntegerToAddress ; it takes the function's type for a number */
        code->unmodelled = sm->engine->op_of(code);
    } else {
        immediate(&code->insn, code->imm);
    }
    /* cppcheck-suppress AssignmentIntegerToAddress ; it takes the function's type for a number */
    code->op = sm->l2 ? sm->engine->modelled_op_of(code) : sm->engine->op_of(code);
    code->plain = delivers_lanes(&code->insn) ? CODE_NOT_PLAIN : code->vregs;
}

/* The page that has the instruction; NULL: *fault says why it cannot be fetched. */
static struct code_page *page_fetch(struct sm *sm, const struct dist_task *task, uint64_t va, uint16_t *fault)
{
    struct code_page *page = page_of(sm, va);

    if (page->tag != tag_of(task, va)) {
        *fault = page_fill(sm, page, task, va);
        if (*fault != 0) {
            return NULL;
        }
    }
    return page;
}

/* True: no instruction of its line of the cache has been fetched since the page was. */
static bool is_first_of_line(const struct sm *sm, const struct code_page *page, uint32_t index)
{
    const uint32_t insns = sm->config->cache_line / PPU_INSN_BYTES, first = index - index % insns;
    bool known = false;

    for (uint32_t i = first; i < first + insns; i++) {
        known = known || page->insn[i].known;
    }
    return !known;
}

const struct code_insn *decode_fetch(struct sm *sm, const struct dist_task *task, uint32_t pc, uint16_t *fault,
                                     uint64_t *va)
{
    *va = task->tmd.code_va + (uint64_t)pc * PPU_INSN_BYTES;
    if (pc >= task->tmd.code_bytes / PPU_INSN_BYTES) {
        *fault = PPU_FAULT_FETCH_RANGE;
        return NULL;
    }
    struct code_page *page = page_fetch(sm, task, *va, fault);
    if (!page) {
        return NULL;
    }
    uint32_t index = (uint32_t)(*va % CODE_PAGE_BYTES / PPU_INSN_BYTES);
    if (!page->insn[index].known) {
        if (sm->gpc && is_first_of_line(sm, page, index)) {
            gpc_fetch(sm, page->bytes + (size_t)index * PPU_INSN_BYTES);
        }
        page->word[index] = vram_read64(page->bytes + (size_t)index * PPU_INSN_BYTES);
        page->decoded[index / 64] |= 1ull << index % 64;
        decode_word(sm, &page->insn[index], page->word[index]);
    }
    return &page->insn[index];
}

const struct code_insn *decode_begun(struct sm *sm, uint64_t word)
{
    decode_word(sm, &sm->begun, word);
    return &sm->begun;
}

const struct code_insn *decode_known(const struct sm *sm, const struct dist_task *task, uint32_t pc)
{
    const uint64_t va = task->tmd.code_va + (uint64_t)pc * PPU_INSN_BYTES;
    const struct code_page *page = page_of(sm, va);

    if (page->tag != tag_of(task, va)) {
        return NULL;
    }
    const struct code_insn *const code = &page->insn[va % CODE_PAGE_BYTES / PPU_INSN_BYTES];
    return code->known && code->fault == 0 ? code : NULL;
}

/* The pages before and behind it that have been fetched, too, and lie beside it: a loop may go from one to the next. */
static void window_extend(struct sm *sm, const struct dist_task *task, const struct code_page *page, uint64_t va)
{
    struct code_window *const window = &sm->window;
    const uint32_t end = task->tmd.code_bytes / PPU_INSN_BYTES;
    const struct code_page *at = page;

    for (uint64_t of = va; window->first != 0 && at != sm->code; at--) {
        of -= CODE_PAGE_BYTES;
        if (at[-1].tag != tag_of(task, of)) {
            break;
        }
        const uint32_t more = PPU_MIN(window->first, SM_PAGE_INSNS);
        window->first -= more;
        window->count += more;
        window->insn -= more;
    }
    at = page;
    for (uint64_t of = va; window->first + window->count < end && at != sm->code + SM_CODE_PAGES - 1; at++) {
        of += CODE_PAGE_BYTES;
        if (at[1].tag != tag_of(task, of)) {
            break;
        }
        window->count += PPU_MIN(end - window->first - window->count, SM_PAGE_INSNS);
    }
}

void decode_window(struct sm *sm, const struct dist_task *task, uint32_t pc)
{
    const uint64_t va = task->tmd.code_va + (uint64_t)pc * PPU_INSN_BYTES;
    const uint32_t end = task->tmd.code_bytes / PPU_INSN_BYTES;
    const uint32_t index = (uint32_t)(va % CODE_PAGE_BYTES / PPU_INSN_BYTES), before = PPU_MIN(pc, index);
    uint16_t fault = 0;
    const struct code_page *page = pc < end ? page_fetch(sm, task, va, &fault) : NULL;

    sm->window = (struct code_window){ .start = task->start };
    if (page) {
        const uint32_t here = SM_PAGE_INSNS - (index - before), left = end - (pc - before);

        sm->window.insn = &page->insn[index - before];
        sm->window.first = pc - before;
        sm->window.count = PPU_MIN(left, here);
        window_extend(sm, task, page, va);
    }
}

/* What is known of a program goes with its code. */
static void forget(struct sm *sm)
{
    sm->window.count = 0;
    sm->program.start = 0;
    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        if (sm->cta[i].begun != 0) {
            sm->cta[i].begun = 0;
        }
    }
}

void decode_drop(struct sm *sm, uint32_t context, uint32_t wave)
{
    forget(sm);
    if (sm->gpc) {
        tier_heads_forget(sm->heads);
    } else {
        tier_heads_doubt(sm->heads, sm->insns, wave);
    }
    for (uint32_t i = 0; i < SM_CODE_PAGES; i++) {
        if ((sm->code[i].tag & (CODE_PAGE_BYTES - 1)) == (context | CODE_VALID)) {
            sm->code[i].tag = sm->gpc ? 0 : sm->code[i].tag | CODE_UNSURE;
        }
    }
}

void decode_drop_all(struct sm *sm)
{
    forget(sm);
    tier_heads_forget(sm->heads);
    for (uint32_t i = 0; i < SM_CODE_PAGES; i++) {
        if (sm->code[i].tag != 0) { /* pages that nobody wrote stay so */
            sm->code[i].tag = 0;
        }
    }
}
