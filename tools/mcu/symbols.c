/* SPDX-License-Identifier: MIT */
#include "tools/mcu/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"

#define THUMB 1u
#define MOST_BYTES (64l << 20)

/* ---- the file ---- */

static void *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rbe");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size > 0 && size < MOST_BYTES ? malloc((size_t)size) : NULL;

    if (text && (fseek(file, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)size, file) != (size_t)size)) {
        free(text);
        text = NULL;
    }
    if (file) {
        fclose(file);
    }
    *bytes = text ? (size_t)size : 0;
    return text;
}

static bool lies_in(size_t bytes, uint64_t offset, uint64_t size)
{
    return offset <= bytes && size <= bytes - offset;
}

static const Elf32_Shdr *section_of(const struct symbols *symbols, size_t bytes, uint32_t number)
{
    const Elf32_Ehdr *head = symbols->file;
    uint64_t at = head->e_shoff + (uint64_t)number * sizeof(Elf32_Shdr);

    if (number >= head->e_shnum || at % sizeof(uint32_t) != 0 || !lies_in(bytes, at, sizeof(Elf32_Shdr))) {
        return NULL;
    }
    const Elf32_Shdr *section = (const void *)((const char *)symbols->file + at);
    return lies_in(bytes, section->sh_offset, section->sh_size) && section->sh_offset % sizeof(uint32_t) == 0 ? section
                                                                                                              : NULL;
}

static bool is_elf(const void *file, size_t bytes)
{
    const Elf32_Ehdr *head = file;

    return bytes >= sizeof(*head) && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == ELFCLASS32 && head->e_shentsize == sizeof(Elf32_Shdr);
}

/* ---- functions ---- */

static int compare_addresses(const void *a, const void *b)
{
    const struct symbols_function *first = a, *second = b;

    return first->address < second->address ? -1 : first->address > second->address;
}

static void add_functions(struct symbols *symbols, const Elf32_Sym *symbol, uint32_t count, const char *names,
                          uint32_t name_bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_function = ELF32_ST_TYPE(symbol[i].st_info) == STT_FUNC && symbol[i].st_shndx != SHN_UNDEF;
        if (!is_function || symbol[i].st_name >= name_bytes) {
            continue;
        }
        symbols->function[symbols->count++] =
            (struct symbols_function){ symbol[i].st_value & ~THUMB, symbol[i].st_size, names + symbol[i].st_name };
    }
}

/* Keeps the first of the functions at one address; what has no size reaches to the next. */
static void put_in_order(struct symbols *symbols)
{
    uint32_t kept = 0;

    qsort(symbols->function, symbols->count, sizeof(*symbols->function), compare_addresses);
    for (uint32_t i = 0; i < symbols->count; i++) {
        if (kept == 0 || symbols->function[kept - 1].address != symbols->function[i].address) {
            symbols->function[kept++] = symbols->function[i];
        }
    }
    symbols->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        struct symbols_function *function = &symbols->function[i];
        if (function->bytes == 0 && i + 1 < kept) {
            function->bytes = function[1].address - function->address;
        }
        symbols->end = PPU_MAX(symbols->end, function->address + function->bytes);
    }
}

const char *symbols_read(struct symbols *symbols, const char *path)
{
    size_t bytes = 0;

    *symbols = (struct symbols){ .file = read_file(path, &bytes) };
    if (!symbols->file) {
        return errno != 0 ? strerror(errno) : "it is empty";
    }
    if (!is_elf(symbols->file, bytes)) {
        return "it is no ELF file of 32 bits";
    }
    for (uint32_t i = 0; symbols->count == 0; i++) {
        const Elf32_Shdr *table = section_of(symbols, bytes, i);
        const Elf32_Shdr *names = table ? section_of(symbols, bytes, table->sh_link) : NULL;
        if (i >= ((const Elf32_Ehdr *)symbols->file)->e_shnum) {
            return "it has no functions";
        }
        if (!names || table->sh_type != SHT_SYMTAB || names->sh_size == 0 ||
            ((const char *)symbols->file)[names->sh_offset + names->sh_size - 1] != 0) {
            continue;
        }
        uint32_t count = table->sh_size / (uint32_t)sizeof(Elf32_Sym);
        symbols->function = calloc((size_t)count + 1, sizeof(*symbols->function));
        if (!symbols->function) {
            return "not enough memory";
        }
        add_functions(symbols, (const void *)((const char *)symbols->file + table->sh_offset), count,
                      (const char *)symbols->file + names->sh_offset, names->sh_size);
    }
    put_in_order(symbols);
    return NULL;
}

uint32_t symbols_find(const struct symbols *symbols, uint64_t address)
{
    uint32_t low = 0, high = symbols->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (symbols->function[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return symbols->count;
    }
    const struct symbols_function *function = &symbols->function[low - 1];
    return address - function->address < function->bytes ? low - 1 : symbols->count;
}

uint32_t symbols_named(const struct symbols *symbols, const char *name)
{
    for (uint32_t i = 0; i < symbols->count; i++) {
        if (strcmp(symbols->function[i].name, name) == 0) {
            return i;
        }
    }
    return symbols->count;
}
