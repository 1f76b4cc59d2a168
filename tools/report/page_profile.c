/* SPDX-License-Identifier: MIT */
#include "tools/report/page_profile.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/asm/ppuasm.h"
#include "tools/trace/source.h"

#define CELL_BYTES 64u

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void add_number(json_t *cells, bool known, const char *format, double value)
{
    char text[CELL_BYTES] = "";

    if (known) {
        snprintf(text, sizeof(text), format, value);
    }
    json_array_append_new(cells, json_string(text));
}

/* Numbers of a line or an instruction; cells of those without counts are empty. */
static json_t *cells_of(const struct profile_counts *counts, uint64_t whole, uint32_t number, const char *text,
                        size_t text_bytes)
{
    const uint64_t *count = counts->count, insns = count[PPU_PROFILE_INSNS], stalls = profile_stalls(counts);
    json_t *cells = json_array(), *last = json_stringn(text ? text : "", text ? text_bytes : 0);

    add_number(cells, insns != 0, "%.2f %%", 100 * ratio(insns, whole));
    add_number(cells, insns != 0, "%.0f", (double)insns);
    add_number(cells, insns != 0, "%.1f", ratio(count[PPU_PROFILE_LANES], insns));
    add_number(cells, count[PPU_PROFILE_TRANSACTIONS] != 0, "%.2f", ratio(count[PPU_PROFILE_TRANSACTIONS], insns));
    add_number(cells, count[PPU_PROFILE_DIVERGENT] != 0, "%.1f %%", 100 * ratio(count[PPU_PROFILE_DIVERGENT], insns));
    add_number(cells, stalls != 0, "%.0f", (double)stalls);
    add_number(cells, true, "%.0f", number);
    json_array_append_new(cells, last ? last : json_string("?")); /* no UTF-8 */
    return cells;
}

/* The end of a kernel's code is the beginning of the next, or of the program's. */
static uint32_t end_of_kernel(const struct ppu_program_view *view, uint32_t entry)
{
    uint32_t end = view->header->code_bytes;

    for (uint32_t i = 0; i < view->header->kernels; i++) {
        if (view->kernels[i].entry > entry && view->kernels[i].entry < end) {
            end = view->kernels[i].entry;
        }
    }
    return end / PPU_INSN_BYTES;
}

static void add_accesses(struct page_accesses *accesses, const struct profile_program *program, uint32_t entry)
{
    for (uint32_t i = entry / PPU_INSN_BYTES; i < end_of_kernel(&program->view, entry) && i < program->insns; i++) {
        for (uint32_t by = 0; by < PROFILE_LAUNCHERS; by++) {
            const uint64_t *count = program->insn[by] ? program->insn[by][i].count : NULL;
            if (count && count[PPU_PROFILE_TRANSACTIONS] != 0) {
                accesses->accesses += count[PPU_PROFILE_INSNS];
                accesses->transactions += count[PPU_PROFILE_TRANSACTIONS];
            }
        }
    }
}

struct page_accesses page_accesses(const struct profile *profile, const char *kernel)
{
    struct page_accesses accesses = { 0, 0 };

    for (uint32_t p = 0; p < profile->programs; p++) {
        const struct ppu_program_view *view = &profile->program[p].view;
        for (uint32_t i = 0; i < view->header->kernels; i++) {
            if (strcmp(view->text + view->kernels[i].name, kernel) == 0) {
                add_accesses(&accesses, &profile->program[p], view->kernels[i].entry);
            }
        }
    }
    return accesses;
}

struct sheet {
    const struct profile_program *program;
    const struct profile_counts *insn;
    const uint32_t *line_of;
    const char *source; /* NULL: there is none */
    uint64_t whole;
};

static json_t *insns_of_line(const struct sheet *sheet, uint32_t line)
{
    json_t *insns = json_array();

    for (uint32_t i = 0; i < sheet->program->insns; i++) {
        if (sheet->line_of[i] == line && profile_has_counts(&sheet->insn[i])) {
            char text[PPUASM_TEXT_BYTES];
            uint64_t word;
            memcpy(&word, sheet->program->view.code + (size_t)i * PPU_INSN_BYTES, sizeof(word));
            ppuasm_disassemble(word, text);
            json_array_append_new(insns, cells_of(&sheet->insn[i], sheet->whole, i, text, strlen(text)));
        }
    }
    return insns;
}

static json_t *lines_of(const struct sheet *sheet, const struct profile_counts *line, uint32_t last)
{
    json_t *lines = json_array();

    for (uint32_t i = 0; i <= last; i++) {
        size_t bytes = 0;
        const char *text = i != 0 && sheet->source ? profile_source_line(sheet->source, i, &bytes) : NULL;
        if (!text && !profile_has_counts(&line[i])) {
            continue;
        }
        json_array_append_new(lines,
                              json_pack("{s:o, s:f, s:o}", "cells", cells_of(&line[i], sheet->whole, i, text, bytes),
                                        "share", ratio(line[i].count[PPU_PROFILE_INSNS], sheet->whole), "insns",
                                        profile_has_counts(&line[i]) ? insns_of_line(sheet, i) : json_array()));
    }
    return lines;
}

static json_t *program_of(const struct profile *profile, uint32_t number, enum profile_launcher by, uint64_t whole)
{
    const struct profile_program *program = &profile->program[number];
    char title[PROFILE_TITLE_BYTES];
    uint32_t *line_of = profile_lines(program);
    char *read = program->source ? NULL : source_of(program);
    const struct sheet sheet = { program, program->insn[by], line_of, program->source ? program->source : read, whole };
    uint32_t last = line_of ? profile_last_line(program, line_of, sheet.source) : 0;
    struct profile_counts *line = calloc((size_t)last + 1, sizeof(*line));
    json_t *lines = NULL;

    for (uint32_t i = 0; line && line_of && i < program->insns; i++) {
        profile_add(&line[line_of[i]], &sheet.insn[i]);
    }
    if (line && line_of) {
        lines = lines_of(&sheet, line, last);
    }
    profile_title(profile, number, by, title);
    json_t *text = json_string(title);
    json_t *made =
        json_pack("{s:o, s:o}", "title", text ? text : json_string("?"), "lines", lines ? lines : json_array());
    free(line);
    free(line_of);
    free(read);
    return made;
}

json_t *page_profile(const struct profile *profile)
{
    uint32_t count = 0, *order = profile_order(profile, &count);
    uint64_t whole = profile_insns(profile);
    char about[PROFILE_TITLE_BYTES];
    json_t *programs = json_array();

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t by = 0; by < PROFILE_LAUNCHERS; by++) {
            if (profile_has_counts(&profile->program[order[i]].total[by])) {
                json_array_append_new(programs, program_of(profile, order[i], by, whole));
            }
        }
    }
    free(order);
    if (!profile->known) {
        json_decref(programs);
        return json_null();
    }
    profile_about(profile, about);
    return json_pack("{s:s, s:[s, s, s, s, s, s, s, s], s:o}", "about", about, "columns", "share", "instructions",
                     "lanes", "transactions", "diverge", "stalls", "number", "source", "programs", programs);
}
