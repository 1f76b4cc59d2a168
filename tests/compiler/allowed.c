/* SPDX-License-Identifier: MIT */
#include "tests/compiler/allowed.h"

#include "ppu/macros.h"

#include <stddef.h>
#include <string.h>

static const char *const allowed[] = {
    "-cl-single-precision-constant",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-strict-aliasing",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-uniform-work-group-size",
    "-g",
    "-w",
    "-Werror",
    "-ffp-contract=off",
    "-ffp-contract=on",
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool options_allows(const char *word)
{
    if (strncmp(word, "-D", 2) == 0) {
        return is_letter(word[2]);
    }
    if (strncmp(word, "-I", 2) == 0) {
        return word[2] != 0 && word[2] != '-' && word[2] != '@';
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(allowed); i++) {
        if (strcmp(word, allowed[i]) == 0) {
            return true;
        }
    }
    return strncmp(word, "-cl-std=", 8) == 0;
}
