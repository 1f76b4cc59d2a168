/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/tier/object.h"
#include "ppu/macros.h"
#include "qemu-device/core/tier/request.h"
#include "qemu-device/core/tier/unit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SECTIONS 64u
#define LARGEST_ALIGN 4096u /* as pages are */
#define NO_PLACE SIZE_MAX

struct object {
    const uint8_t *at;
    size_t bytes;
    uint32_t sections;
    Elf64_Shdr section[MOST_SECTIONS];
    size_t place[MOST_SECTIONS]; /* in what is linked; NO_PLACE: it is left out */
    size_t all;                  /* bytes of what is linked */
    uint8_t *to;
};

/* ---- what is in it ---- */

static bool is_in(const struct object *o, uint64_t at, uint64_t bytes)
{
    return at <= o->bytes && bytes <= o->bytes - at;
}

static bool read_sections(struct object *o)
{
    Elf64_Ehdr head;

    if (!is_in(o, 0, sizeof(head))) {
        return false;
    }
    memcpy(&head, o->at, sizeof(head));
    o->sections = head.e_shnum;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine != EM_X86_64 || head.e_type != ET_REL ||
        head.e_shentsize != sizeof(o->section[0]) || o->sections > MOST_SECTIONS ||
        !is_in(o, head.e_shoff, o->sections * sizeof(o->section[0]))) {
        return false;
    }
    memcpy(o->section, o->at + head.e_shoff, o->sections * sizeof(o->section[0]));
    for (uint32_t i = 0; i < o->sections; i++) {
        const Elf64_Shdr *const s = &o->section[i];
        if (s->sh_type != SHT_NOBITS && !is_in(o, s->sh_offset, s->sh_size)) {
            return false;
        }
    }
    return true;
}

/* What tells debuggers and exceptions how to go back is nobody's here. */
static bool is_wanted(const Elf64_Shdr *section)
{
    return (section->sh_flags & SHF_ALLOC) != 0 && section->sh_size != 0 && section->sh_type != SHT_X86_64_UNWIND;
}

/* Code that has variables of its own is none of ours: two SMs run it at once. */
static bool place_sections(struct object *o)
{
    for (uint32_t i = 0; i < o->sections; i++) {
        const Elf64_Shdr *const s = &o->section[i];
        const size_t align = s->sh_addralign != 0 ? (size_t)s->sh_addralign : 1;

        o->place[i] = NO_PLACE;
        if (!is_wanted(s)) {
            continue;
        }
        if ((s->sh_flags & SHF_WRITE) != 0 || s->sh_type != SHT_PROGBITS || align > LARGEST_ALIGN ||
            (align & (align - 1)) != 0) {
            return false;
        }
        o->place[i] = ppu_align_up64(o->all, align);
        o->all = o->place[i] + s->sh_size;
        if (o->all > TIER_MAX_CODE) {
            return false;
        }
    }
    return o->all != 0;
}

/* ---- symbols ---- */

static bool read_symbol(const struct object *o, const Elf64_Shdr *table, uint64_t n, Elf64_Sym *symbol)
{
    if (table->sh_type != SHT_SYMTAB || n >= table->sh_size / sizeof(*symbol)) {
        return false;
    }
    memcpy(symbol, o->at + table->sh_offset + n * sizeof(*symbol), sizeof(*symbol));
    return true;
}

/* Where it lies in what is linked; NO_PLACE: it is not there. */
static size_t symbol_place(const struct object *o, const Elf64_Sym *symbol)
{
    const uint32_t section = symbol->st_shndx;

    if (section == SHN_UNDEF || section >= o->sections || o->place[section] == NO_PLACE ||
        symbol->st_value > o->section[section].sh_size) {
        return NO_PLACE;
    }
    return o->place[section] + symbol->st_value;
}

static bool is_called(const struct object *o, const Elf64_Shdr *table, const Elf64_Sym *symbol, const char *name)
{
    const size_t length = strlen(name) + 1;

    if (table->sh_link >= o->sections) {
        return false;
    }
    const Elf64_Shdr *const names = &o->section[table->sh_link];
    return symbol->st_name < names->sh_size && length <= names->sh_size - symbol->st_name &&
           memcmp(o->at + names->sh_offset + symbol->st_name, name, length) == 0;
}

static size_t find_function(const struct object *o, const char *name)
{
    for (uint32_t i = 0; i < o->sections; i++) {
        const Elf64_Shdr *const table = &o->section[i];
        Elf64_Sym symbol;
        for (uint64_t n = 0; read_symbol(o, table, n, &symbol); n++) {
            if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && is_called(o, table, &symbol, name)) {
                return symbol_place(o, &symbol);
            }
        }
    }
    return NO_PLACE;
}

/* ---- relocations ---- */

/* Distances alone: whatever has an address in it could not lie anywhere. */
static bool relocate(const struct object *o, const Elf64_Shdr *relocations, const Elf64_Rela *r)
{
    const Elf64_Shdr *const section = &o->section[relocations->sh_info];
    const uint32_t type = ELF64_R_TYPE(r->r_info);
    const size_t bytes = type == R_X86_64_PC64 ? 8 : 4;
    Elf64_Sym symbol;

    if ((type != R_X86_64_PC32 && type != R_X86_64_PLT32 && type != R_X86_64_PC64) || r->r_offset > section->sh_size ||
        bytes > section->sh_size - r->r_offset || relocations->sh_link >= o->sections ||
        !read_symbol(o, &o->section[relocations->sh_link], ELF64_R_SYM(r->r_info), &symbol)) {
        return false;
    }
    const size_t place = symbol_place(o, &symbol), at = o->place[relocations->sh_info] + r->r_offset;
    if (place == NO_PLACE || r->r_addend < -(int64_t)TIER_MAX_CODE || r->r_addend > (int64_t)TIER_MAX_CODE) {
        return false;
    }
    const int64_t distance = (int64_t)place + r->r_addend - (int64_t)at;
    memcpy(o->to + at, &distance, bytes); /* little-endian: the low bytes */
    return true;
}

static bool relocate_all(const struct object *o)
{
    for (uint32_t i = 0; i < o->sections; i++) {
        const Elf64_Shdr *const s = &o->section[i];
        if (s->sh_type != SHT_RELA || s->sh_info >= o->sections || o->place[s->sh_info] == NO_PLACE) {
            continue;
        }
        for (uint64_t n = 0; n < s->sh_size / sizeof(Elf64_Rela); n++) {
            Elf64_Rela r;
            memcpy(&r, o->at + s->sh_offset + n * sizeof(r), sizeof(r));
            if (!relocate(o, s, &r)) {
                return false;
            }
        }
    }
    return true;
}

static void copy_sections(const struct object *o)
{
    for (uint32_t i = 0; i < o->sections; i++) {
        if (o->place[i] != NO_PLACE) {
            memcpy(o->to + o->place[i], o->at + o->section[i].sh_offset, o->section[i].sh_size);
        }
    }
}

bool object_link(const uint8_t *object, size_t bytes, const char *name, struct tier_code_bytes *out)
{
    struct object o = { .at = object, .bytes = bytes };

    if (!read_sections(&o) || !place_sections(&o)) {
        return false;
    }
    const size_t entry = find_function(&o, name);
    o.to = entry != NO_PLACE ? calloc(1, o.all) : NULL;
    if (!o.to) {
        return false;
    }
    copy_sections(&o);
    if (!relocate_all(&o)) {
        free(o.to);
        return false;
    }
    out->at = o.to;
    out->bytes = o.all;
    out->entry = entry;
    return true;
}
