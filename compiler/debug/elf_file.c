/* SPDX-License-Identifier: MIT */
#include "compiler/debug/elf_file.h"

#include "ppu/debug_info.h"

#include <elf.h>
#include <string.h>

#define NAMES ".shstrtab"

static void put_header(struct bytes *file, uint32_t sections, uint64_t table_at)
{
    Elf64_Ehdr header = {
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
        .e_type = ET_EXEC,
        .e_machine = PPU_DEBUG_MACHINE,
        .e_version = EV_CURRENT,
        .e_shoff = table_at,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)(sections + 2),
        .e_shstrndx = (Elf64_Half)(sections + 1),
    };

    bytes_add(file, &header, sizeof(header));
}

static void put_section(struct bytes *table, uint32_t name, uint32_t type, uint64_t at, uint64_t bytes)
{
    const Elf64_Shdr section = {
        .sh_name = name, .sh_type = type, .sh_offset = at, .sh_size = bytes, .sh_addralign = 1
    };

    bytes_add(table, &section, sizeof(section));
}

void elf_file_write(struct bytes *file, const struct elf_section *sections, uint32_t count)
{
    struct bytes table = { .at = NULL }, names = { .at = NULL };
    uint64_t at = sizeof(Elf64_Ehdr);

    put_section(&table, 0, SHT_NULL, 0, 0);
    (void)bytes_text(&names, "");
    for (uint32_t i = 0; i < count; i++) {
        put_section(&table, bytes_text(&names, sections[i].name), SHT_PROGBITS, at, sections[i].bytes->len);
        at += sections[i].bytes->len;
    }
    uint32_t own = bytes_text(&names, NAMES);
    put_section(&table, own, SHT_STRTAB, at, names.len);
    at += names.len;
    put_header(file, count, (at + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++) {
        bytes_add(file, sections[i].bytes->at, sections[i].bytes->len);
        file->lost |= sections[i].bytes->lost;
    }
    bytes_add(file, names.at, names.len);
    bytes_align(file, sizeof(uint64_t));
    bytes_add(file, table.at, table.len);
    file->lost |= table.lost || names.lost;
    bytes_free(&table);
    bytes_free(&names);
}
