/* SPDX-License-Identifier: MIT */
/* Says once more, beside compiler/frontend/options.c, which build options are allowed. */
#ifndef TESTS_COMPILER_ALLOWED_H
#define TESTS_COMPILER_ALLOWED_H

#include <stdbool.h>

/* A word that clang may be given: one of a list, or one that begins like one of a list. */
bool options_allows(const char *word);

#endif
