/* SPDX-License-Identifier: MIT */
/* Collects what a record says of programs: their instructions, lines and sources, and how often each was executed. */
#ifndef TOOLS_TRACE_PROFILE_H
#define TOOLS_TRACE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "ppu/image.h"
#include "ppu/profile.h"

enum profile_launcher {
    PROFILE_BY_HOST = 0,
    PROFILE_BY_THREAD = 1,
    PROFILE_LAUNCHERS = 2,
};

/* Counts of an instruction, a line or a program; samples are multiplied by the period. */
struct profile_counts {
    uint64_t count[PPU_PROFILE_COUNTS];
};

/* An image. Loaded several times, or on several devices, it is one. */
struct profile_program {
    void *image;
    size_t image_bytes;
    struct ppu_program_view view;
    char *source; /* a text; NULL: the record has none */
    uint32_t insns;
    struct profile_counts *insn[PROFILE_LAUNCHERS]; /* `insns` of them */
    struct profile_counts total[PROFILE_LAUNCHERS];
};

/* Where a program was loaded. */
struct profile_load {
    uint32_t process, device, number, context;
    uint64_t code;
    uint32_t program;
    bool unloaded;
};

struct profile {
    struct profile_program *program;
    uint32_t programs;
    struct profile_load *load;
    uint32_t loads;
    bool known;       /* the record has a profile */
    uint32_t period;  /* of its samples; PPU_PROFILE_EXACT: it has each instruction */
    uint64_t missing; /* counts that a device's table had no room for */
    uint64_t strange; /* counts at addresses of no program */
};

/* NULL: done; else why the bytes are no record. Chunks that are malformed are skipped. */
const char *profile_read(struct profile *profile, const void *bytes, size_t size);
void profile_free(struct profile *profile);

/* Programs that have counts, those with most instructions first; free() it. */
uint32_t *profile_order(const struct profile *profile, uint32_t *count);
/* Adds counts to others. */
void profile_add(struct profile_counts *to, const struct profile_counts *more);
bool profile_has_counts(const struct profile_counts *counts);
/* All stalls. */
uint64_t profile_stalls(const struct profile_counts *counts);
/* Which of the images with these kernels it is, from 1 on, and how many there are: of OpenCL C, variants of one
 * program. */
uint32_t profile_variant(const struct profile *profile, uint32_t program, uint32_t *of);
#define PROFILE_TITLE_BYTES 512u
/* What a program is called: its file, kernels, variant, and who launched it. */
void profile_title(const struct profile *profile, uint32_t number, enum profile_launcher by,
                   char title[PROFILE_TITLE_BYTES]);
/* Instructions of all programs. */
uint64_t profile_insns(const struct profile *profile);
/* Lines that say how much there is, how it was counted, and what is missing. */
void profile_about(const struct profile *profile, char about[PROFILE_TITLE_BYTES]);
/* The line of each instruction; 0 where it is not known. */
uint32_t *profile_lines(const struct profile_program *program);
/* The highest line of a program's instructions and of its source, which may be NULL. */
uint32_t profile_last_line(const struct profile_program *program, const uint32_t *line_of, const char *source);
/* The text of a line of the source, without its end; its length. NULL: there is none. */
const char *profile_source_line(const char *source, uint32_t line, size_t *bytes);

#endif
