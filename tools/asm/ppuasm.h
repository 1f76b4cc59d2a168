/* SPDX-License-Identifier: MIT */
/*
 * Assembler and disassembler of the PPU as a library. Syntax: docs/spec/isa.md.
 */
#ifndef PPUASM_H
#define PPUASM_H

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

/*
 * Assembles a whole source text. On failure returns false and puts "file:line:col: sentence" into `message`
 * (PPUASM_MESSAGE_BYTES). `file` is only named, never opened.
 */
bool ppuasm_assemble(const char *text, const char *file, struct ppuasm_image *image, char *message);

/* Text of one instruction, without a newline; a word that is no instruction becomes ".word 0x...". */
void ppuasm_disassemble(uint64_t word, char *text);

/* Directives of a kernel, as the assembler takes them. */
void ppuasm_print_kernel(const struct ppu_program_view *view, const struct ppu_kernel_entry *kernel, FILE *file);

/* The PPU_TMD_* that a directive (".wait") sets, 0: there is no such. */
uint16_t ppuasm_flag(const char *name, size_t len);

#endif
