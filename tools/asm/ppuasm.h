/* SPDX-License-Identifier: MIT */
/* Assembles and disassembles, as a library. Syntax: docs/spec/isa.md. */
#ifndef TOOLS_ASM_PPUASM_H
#define TOOLS_ASM_PPUASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ppu/image.h"

#define PPUASM_MESSAGE_BYTES 256
#define PPUASM_TEXT_BYTES 128 /* holds any disassembled instruction */

/* A program image (ppu/image.h), malloc()ed; the caller free()s `bytes`. */
struct ppuasm_image {
    uint8_t *bytes;
    size_t len_bytes;
};

struct ppuasm_input {
    const char *name; /* only named, never opened */
    const char *text;
};

struct ppuasm_symbol {
    const char *name;
    int64_t value;
};

/* Describes what an image is made from. */
struct ppuasm_source {
    const struct ppuasm_input *inputs; /* one after the other; the image's lines are the first one's */
    uint32_t input_count;
    const struct ppuasm_symbol *symbols; /* as by .set at the beginning */
    uint32_t symbol_count;
    /* The file that .include names: true and two malloc()ed texts, its path and what is in it. NULL: there is none. */
    bool (*include)(void *closure, const char *name, char **path, char **text);
    /* Each error, "file:line:column: error: sentence". */
    void (*report)(void *closure, const char *message);
    void *closure;
    bool check; /* loops over parts that cannot be are errors (ppu/loop_check.h) */
};

/* False when an error was reported. */
bool ppuasm_assemble_source(const struct ppuasm_source *source, struct ppuasm_image *image);

/* Assembles one text without includes, as it is: its loops are not checked. The first error goes into `message`
 * (PPUASM_MESSAGE_BYTES). */
bool ppuasm_assemble(const char *text, const char *file, struct ppuasm_image *image, char *message);

/* True: a symbol may have this name. */
bool ppuasm_symbol_name(const char *name, size_t len);

/* Text of one instruction, without a newline; a word that is no instruction becomes ".word 0x...". */
void ppuasm_disassemble(uint64_t word, char *text);

/* Directives of a kernel, as the assembler takes them. */
void ppuasm_print_kernel(const struct ppu_program_view *view, const struct ppu_kernel_entry *kernel, FILE *file);

/* The PPU_TMD_* that a directive (".wait") sets, 0: there is no such. */
uint16_t ppuasm_flag(const char *name, size_t len);

#endif
