/* SPDX-License-Identifier: MIT */
#include "tools/prof/annotate.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/asm/ppuasm.h"
#include "tools/trace/source.h"

#define NEAR 2u /* lines that are shown around those with counts */
#define MARGIN_BYTES 96u

/* What is printed now: a program as one kind of launcher ran it. */
struct sheet {
    FILE *file;
    const struct annotate_options *options;
    const struct profile_program *program;
    const struct profile_counts *insn;
    uint64_t whole;     /* instructions of all programs */
    const char *source; /* NULL: there is none */
    const uint32_t *line_of;
    struct profile_counts *line;
    uint32_t lines; /* the highest number */
};

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void print_heads(const struct sheet *sheet)
{
    fprintf(sheet->file, "%7s %14s %6s %8s %7s %10s | %s\n", "share", "instructions", "lanes", "transact", "diverge",
            "stalls", sheet->source ? "line, source" : "line");
}

/* Lanes and transactions are those of one instruction. */
static void print_margin(const struct sheet *sheet, const struct profile_counts *counts)
{
    uint64_t insns = counts->count[PPU_PROFILE_INSNS], stalls = profile_stalls(counts);
    char text[MARGIN_BYTES], number[MARGIN_BYTES] = "";

    if (!profile_has_counts(counts)) {
        fprintf(sheet->file, "%57s | ", "");
        return;
    }
    if (stalls) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)stalls);
    }
    snprintf(text, sizeof(text), "%6.2f%% %14llu %6.1f %8.2f %6.1f%% %10s", 100.0 * ratio(insns, sheet->whole),
             (unsigned long long)insns, ratio(counts->count[PPU_PROFILE_LANES], insns),
             ratio(counts->count[PPU_PROFILE_TRANSACTIONS], insns),
             100.0 * ratio(counts->count[PPU_PROFILE_DIVERGENT], insns), number);
    fprintf(sheet->file, "%s | ", text);
}

static void print_insns(const struct sheet *sheet, uint32_t line)
{
    for (uint32_t i = 0; i < sheet->program->insns; i++) {
        char text[PPUASM_TEXT_BYTES];
        uint64_t word;
        if (sheet->line_of[i] != line || (!sheet->options->whole && !profile_has_counts(&sheet->insn[i]))) {
            continue;
        }
        memcpy(&word, sheet->program->view.code + (size_t)i * PPU_INSN_BYTES, sizeof(word));
        ppuasm_disassemble(word, text);
        print_margin(sheet, &sheet->insn[i]);
        fprintf(sheet->file, "           %5u  %s\n", i, text);
    }
}

static void print_line(const struct sheet *sheet, uint32_t line)
{
    size_t bytes = 0;
    const char *text = sheet->source ? profile_source_line(sheet->source, line, &bytes) : NULL;

    print_margin(sheet, &sheet->line[line]);
    fprintf(sheet->file, "%5u  %.*s\n", line, (int)bytes, text ? text : "");
    if (sheet->options->insns) {
        print_insns(sheet, line);
    }
}

static bool is_shown(const struct sheet *sheet, uint32_t line)
{
    uint32_t first = line > NEAR ? line - NEAR : 1, last = PPU_MIN(line + NEAR, sheet->lines);

    for (uint32_t i = first; i <= last; i++) {
        if (profile_has_counts(&sheet->line[i])) {
            return true;
        }
    }
    return sheet->options->whole;
}

static void print_lines(struct sheet *sheet)
{
    bool gap = false;

    for (uint32_t i = 0; i < sheet->program->insns; i++) {
        profile_add(&sheet->line[sheet->line_of[i]], &sheet->insn[i]);
    }
    print_heads(sheet);
    if (profile_has_counts(&sheet->line[0])) {
        print_margin(sheet, &sheet->line[0]);
        fprintf(sheet->file, "       (of no line)\n");
        if (sheet->options->insns) {
            print_insns(sheet, 0);
        }
    }
    for (uint32_t line = 1; line <= sheet->lines; line++) {
        if (is_shown(sheet, line)) {
            print_line(sheet, line);
        }
        if (!is_shown(sheet, line) && !gap) {
            fprintf(sheet->file, "%57s |   ...\n", "");
        }
        gap = !is_shown(sheet, line);
    }
}

static void print_sheet(struct sheet *sheet)
{
    uint32_t *line_of = profile_lines(sheet->program);
    char *read = sheet->program->source ? NULL : source_of(sheet->program);

    sheet->source = sheet->program->source ? sheet->program->source : read;
    sheet->line_of = line_of;
    sheet->lines = line_of ? profile_last_line(sheet->program, line_of, sheet->source) : 0;
    sheet->line = calloc((size_t)sheet->lines + 1, sizeof(*sheet->line));
    if (line_of && sheet->line) {
        print_lines(sheet);
    } else {
        fputs("not enough memory\n", sheet->file);
    }
    free(sheet->line);
    free(line_of);
    free(read);
}

void annotate_print(FILE *file, const struct profile *profile, const struct annotate_options *options)
{
    uint32_t count = 0, *order = profile_order(profile, &count);
    uint64_t whole = profile_insns(profile);
    char text[PROFILE_TITLE_BYTES];

    profile_about(profile, text);
    fputs(text, file);
    for (uint32_t i = 0; i < count; i++) {
        const struct profile_program *program = &profile->program[order[i]];
        for (uint32_t by = 0; by < PROFILE_LAUNCHERS; by++) {
            struct sheet sheet = {
                .file = file, .options = options, .program = program, .insn = program->insn[by], .whole = whole
            };
            if (profile_has_counts(&program->total[by])) {
                profile_title(profile, order[i], by, text);
                fprintf(file, "\n%s\n", text);
                print_sheet(&sheet);
            }
        }
    }
    free(order);
}
