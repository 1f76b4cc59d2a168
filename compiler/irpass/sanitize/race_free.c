/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/race_free.h"

#include "compiler/analysis/access_pattern.h"
#include "compiler/analysis/ir.h"
#include "ppu/sanitizer.h"

#include <string.h>

#define OWN "ppu-own" /* attribute of a parameter */

/* ---- places of a work-item's own ---- */

static void find_of(struct compilation *compilation, LLVMValueRef kernel, LLVMValueRef copied)
{
    access_pattern_find(compilation, copied);
    for (uint32_t i = 0; i < LLVMCountParams(kernel); i++) {
        if ((access_pattern_of(copied, i).by & PPU_REFERENCE_DISJOINT) != 0) {
            LLVMAddAttributeAtIndex(kernel, i + 1,
                                    LLVMCreateStringAttribute(compilation->llvm, OWN, (unsigned)strlen(OWN), "", 0));
        }
    }
}

void race_free_find(struct compilation *compilation, LLVMModuleRef copy)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        LLVMValueRef copied = LLVMGetNamedFunction(copy, LLVMGetValueName2(f, &len));
        if (ir_is_kernel(f) && copied && LLVMCountParams(copied) == LLVMCountParams(f)) {
            find_of(compilation, f, copied);
        }
    }
}

static bool is_own(LLVMValueRef kernel, uint32_t argument)
{
    return LLVMGetStringAttributeAtIndex(kernel, argument + 1, OWN, (unsigned)strlen(OWN));
}

/* ---- what is reached ---- */

struct race_free race_free_begin(struct compilation *compilation, LLVMValueRef kernel)
{
    return (struct race_free){ .kernel = kernel,
                               .written = arena_new(&compilation->arena, bool, LLVMCountParams(kernel) + 1) };
}

void race_free_add(struct race_free *all, const struct access *access)
{
    const bool writes = access->value_at != NO_OPERAND;

    if (!access->root) {
        all->unknown = true;
        all->unknown_written |= writes;
    } else if (LLVMIsAArgument(access->root)) {
        all->written[access_argument(access->root)] |= writes;
    }
}

void race_free_share(struct race_free *all)
{
    all->unknown = true;
    all->unknown_written = true;
}

uint32_t race_free_when(const struct race_free *all, const struct access *access)
{
    if (!access->root || !LLVMIsAArgument(access->root)) {
        return 0;
    }
    const uint32_t argument = access_argument(access->root);
    if (!all->written[argument] && !all->unknown_written) {
        return PPU_SANITIZER_DISJOINT;
    }
    return is_own(all->kernel, argument) && !all->unknown ? PPU_SANITIZER_DISJOINT | PPU_SANITIZER_FLAT : 0;
}
