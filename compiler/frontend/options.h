/* SPDX-License-Identifier: MIT */
/* Turns options of clBuildProgram into words for clang; each is allowed by itself, whatever stands beside it. */
#ifndef COMPILER_FRONTEND_OPTIONS_H
#define COMPILER_FRONTEND_OPTIONS_H

#include "compiler/base/bytes.h"
#include "compiler/ppu_compiler.h"

#define OPTIONS_MOST 200u /* words of a build */

/* What build options say of the machine code; 0, NULL: nothing. */
struct target_words {
    const char *wave, *tokens, *form, *threshold, *mode;
    uint32_t sanitize; /* PPU_SANITIZE_*, of all such options */
};

struct options {
    const char *word[OPTIONS_MOST];
    uint32_t count;
    char *text; /* of the words */
    struct target_words target;
    bool debug;       /* -g */
    bool unoptimised; /* -cl-opt-disable */
};

/* `text`: NULL is none. What is wrong goes into `log`. To be freed also after an error. */
enum ppu_compile_status options_read(struct options *options, const char *text, struct bytes *log);
/* Writes what the words say of the machine code over wave, tokens, subvector, debug, unoptimised and sanitize. */
void options_apply(const struct options *options, struct ppu_compile_options *to);
void options_free(struct options *options);

#endif
