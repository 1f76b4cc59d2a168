/* SPDX-License-Identifier: MIT */
/* Parses the options of ppucc. */
#ifndef TOOLS_PPUCC_OPTIONS_H
#define TOOLS_PPUCC_OPTIONS_H

#include "compiler/ppu_compiler.h"
#include "tools/ppucc/facts.h"

#include <stdbool.h>

enum language {
    LANGUAGE_BY_NAME, /* bitcode when the name ends in .bc */
    LANGUAGE_CL,
    LANGUAGE_BITCODE,
};

/* How far it goes. */
enum stage {
    STAGE_IMAGE,
    STAGE_ASSEMBLY,
    STAGE_BITCODE,
    STAGE_PREPROCESSED,
    STAGE_CHECKED,
};

struct input {
    const char *path; /* "-": standard input */
    enum language language;
};

/* An option of clBuildProgram: one word of two parts. */
struct build_option {
    const char *name, *value;
};

struct command {
    struct input *inputs;
    uint32_t input_count;
    enum language language; /* of the next input */
    enum stage stage;
    const char *output;
    enum ppu_compile_front files; /* PPU_FRONT_BITCODE: no dependencies are asked for */
    const char *files_output, *files_target;
    const char *svg;
    struct build_option *build; /* as they are given; -U takes definitions out again */
    uint32_t build_count;
    bool unoptimised; /* by the last -O */
    const char **own; /* options.own_words */
    char *build_options;
    char dump[2048]; /* options.dump */
    struct ppu_compile_options options;
    struct facts_text facts;
};

/* Ends the process with status 1 when an option is wrong. */
void options_parse(struct command *command, int argc, char **argv);

bool input_is_bitcode(const struct input *input);

#endif
