/* SPDX-License-Identifier: MIT */
#include "tools/ppucc/listing.h"

#include <string.h>

#include "tools/asm/ppuasm.h"

/* Line `number` of a text, without its end. */
static void print_source_line(const char *source, uint32_t number, FILE *file)
{
    for (uint32_t line = 1; line < number && source; line++) {
        source = strchr(source, '\n');
        source = source ? source + 1 : NULL;
    }
    if (source) {
        fprintf(file, "# %4u %.*s\n", number, (int)strcspn(source, "\n"), source);
    }
}

static uint32_t code_end(const struct ppu_program_view *view, uint32_t kernel)
{
    return kernel + 1 < view->header->kernels ? view->kernels[kernel + 1].entry : view->header->code_bytes;
}

static void print_kernel(const struct ppu_program_view *view, uint32_t kernel, const char *source, FILE *file)
{
    const struct ppu_kernel_entry *entry = &view->kernels[kernel];
    uint32_t last = 0;

    ppuasm_print_kernel(view, entry, file);
    for (uint32_t at = entry->entry; at < code_end(view, kernel); at += PPU_INSN_BYTES) {
        uint32_t line = ppu_program_line(view, at / PPU_INSN_BYTES);
        char text[PPUASM_TEXT_BYTES];
        uint64_t word;

        if (line != last && source) {
            print_source_line(source, line, file);
        }
        last = line;
        memcpy(&word, view->code + at, sizeof(word));
        ppuasm_disassemble(word, text);
        fprintf(file, "    %-48s # %u\n", text, at / PPU_INSN_BYTES);
    }
}

void listing_print(const struct ppu_program_view *view, const char *source, FILE *file)
{
    for (uint32_t k = 0; k < view->header->kernels; k++) {
        print_kernel(view, k, source, file);
    }
}
