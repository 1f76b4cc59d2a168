/* SPDX-License-Identifier: MIT */
/* Prints a kernel's directives, and finds a kernel's flag by its name. */
#include "ppu/macros.h"
#include "tools/asm/ppuasm.h"

#include <string.h>

static const struct {
    const char *name;
    uint16_t flag;
} flags[] = {
    { ".launch", PPU_TMD_LAUNCH },         { ".wait", PPU_TMD_MAY_WAIT },       { ".save", PPU_TMD_SAVE },
    { ".coresident", PPU_TMD_CORESIDENT }, { ".subvector", PPU_TMD_SUBVECTOR }, { ".ctagroups", PPU_TMD_CTA_GROUPS },
    { ".mayshare", PPU_TMD_MAY_SHARE },
};
#define FLAGS PPU_ARRAY_SIZE(flags)

uint16_t ppuasm_flag(const char *name, size_t len)
{
    for (size_t i = 0; i < FLAGS; i++) {
        if (strlen(flags[i].name) == len && memcmp(flags[i].name, name, len) == 0) {
            return flags[i].flag;
        }
    }
    return 0;
}

void ppuasm_print_kernel(const struct ppu_program_view *view, const struct ppu_kernel_entry *kernel, FILE *file)
{
    fprintf(file, ".kernel %s\n.vregs %u\n.wave %u\n.shared %u\n.local %u\n.param %u\n.tokens %u\n",
            view->text + kernel->name, kernel->vregs, kernel->wave, kernel->shared_bytes, kernel->local_bytes,
            kernel->param_bytes, kernel->token_count);
    if (kernel->shared_vregs) {
        fprintf(file, ".shared_vregs %u\n", kernel->shared_vregs);
    }
    if (kernel->cta[0] && kernel->cta[1] && kernel->cta[2]) {
        fprintf(file, ".cta %u %u %u\n", kernel->cta[0], kernel->cta[1], kernel->cta[2]);
    }
    for (size_t i = 0; i < FLAGS; i++) {
        if (kernel->flags & flags[i].flag) {
            fprintf(file, "%s\n", flags[i].name);
        }
    }
}
