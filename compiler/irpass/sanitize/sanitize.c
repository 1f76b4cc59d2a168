/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/sanitize.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/lower_enqueue.h"
#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/address.h"
#include "compiler/irpass/sanitize/argument.h"
#include "compiler/irpass/sanitize/loss.h"
#include "compiler/irpass/sanitize/race.h"
#include "compiler/irpass/sanitize/uninit.h"
#include "ppu/sanitizer.h"

#include <string.h>

#define SEEN "__ppu_sanitizer_seen"
#define NOTED (PPU_SANITIZE_RACE | PPU_SANITIZE_BARRIER) /* what all kernels do */

bool sanitize_is_bounded(const struct compilation *compilation, LLVMValueRef kernel)
{
    return (compilation->options->sanitize & (PPU_SANITIZE_ADDRESS | PPU_SANITIZE_UNINIT)) != 0 &&
           ir_is_kernel(kernel) && !lower_enqueue_child(compilation, kernel);
}

bool sanitize_marks(const struct compilation *compilation, LLVMValueRef kernel)
{
    return (compilation->options->sanitize & PPU_SANITIZE_UNINIT) != 0 && sanitize_is_bounded(compilation, kernel);
}

bool sanitize_notes(const struct compilation *compilation)
{
    return (compilation->options->sanitize & NOTED) != 0;
}

bool sanitize_has_cells(const struct compilation *compilation, LLVMValueRef kernel)
{
    const uint32_t checks = compilation->options->sanitize;

    return ir_is_kernel(kernel) && !lower_enqueue_child(compilation, kernel) &&
           ((checks & NOTED) != 0 || ((checks & PPU_SANITIZE_ARGUMENT) != 0 && argument_compares(kernel)));
}

/* A word for each place that may be reported. */
bool sanitize_is_check(LLVMValueRef function)
{
    static const char prefix[] = "__ppu_sanitizer_";
    size_t len;

    return strncmp(LLVMGetValueName2(function, &len), prefix, sizeof(prefix) - 1) == 0;
}

void sanitize_linked(struct compilation *compilation)
{
    LLVMValueRef declared = LLVMGetNamedGlobal(compilation->module, SEEN);
    LLVMTypeRef type =
        LLVMArrayType2(LLVMInt32TypeInContext(compilation->llvm), compilation->format_count + (uint64_t)1);

    if (!declared) {
        return;
    }
    LLVMValueRef seen = LLVMAddGlobalInAddressSpace(compilation->module, type, "", SPACE_GLOBAL);
    LLVMSetInitializer(seen, LLVMConstNull(type));
    LLVMSetLinkage(seen, LLVMInternalLinkage);
    LLVMSetAlignment(seen, sizeof(uint32_t));
    LLVMReplaceAllUsesWith(declared, seen);
    LLVMDeleteGlobal(declared);
}

static void check_function(struct compilation *compilation, LLVMValueRef function, bool blind)
{
    const uint32_t checks = compilation->options->sanitize;

    if ((checks & PPU_SANITIZE_ADDRESS) != 0) {
        address_check(compilation, function);
    }
    if (sanitize_notes(compilation) && ir_is_kernel(function) && !blind) {
        race_check(compilation, function);
    }
    if ((checks & PPU_SANITIZE_ARGUMENT) != 0) {
        argument_check(compilation, function);
    }
    if ((checks & PPU_SANITIZE_LOST) != 0) {
        loss_check(compilation, function);
    }
}

void sanitize(struct compilation *compilation)
{
    const bool blind = race_is_blind(compilation);

    if ((compilation->options->sanitize & PPU_SANITIZE_UNINIT) != 0) {
        uninit_check(compilation);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && !access_is_library_kernel(f)) {
            check_function(compilation, f, blind);
        }
    }
    race_forget_clocks(compilation);
}
