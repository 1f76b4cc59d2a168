/* SPDX-License-Identifier: MIT */
/* Turns options of clBuildProgram into words for clang; each is allowed by itself, whatever stands beside it. */
#ifndef COMPILER_FRONTEND_OPTIONS_H
#define COMPILER_FRONTEND_OPTIONS_H

#include "compiler/base/bytes.h"
#include "compiler/ppu_compiler.h"

#define OPTIONS_MOST 200u /* words of a build */

struct options {
    const char *word[OPTIONS_MOST];
    uint32_t count;
    char *text; /* of the words */
};

/* `text`: NULL is none. What is wrong goes into `log`. To be freed also after an error. */
enum ppu_compile_status options_read(struct options *options, const char *text, struct bytes *log);
void options_free(struct options *options);

#endif
