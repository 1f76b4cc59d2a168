/* SPDX-License-Identifier: MIT */
/* Reads lists of what kernels shall check of themselves: words of sanitizer.def with commas between, or `all`. */
#ifndef PPU_SANITIZER_WORDS_H
#define PPU_SANITIZER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/macros.h"

/* What is wrong with a list that none of the following can be read from. */
#define PPU_SANITIZER(name, bit, text, what) text ", "
static const char ppu_sanitizer_words_wrong[] = "is not a list, with commas, of "
#include "ppu/sanitizer.def"
                                                "or all";

/* Says whether the word that a list begins with, up to a comma or its end, is this one. */
static inline bool ppu_sanitizer_word_is(const char *list, const char *word)
{
    while (*word != '\0' && *list == *word) {
        list++;
        word++;
    }
    return *word == '\0' && (*list == '\0' || *list == ',');
}

/* The bit of the word that a list begins with, all bits for `all`; 0: it is none. */
static inline uint32_t ppu_sanitizer_word(const char *list)
{
    static const char *const names[] = {
#define PPU_SANITIZER(name, bit, text, what) [bit] = (text),
#include "ppu/sanitizer.def"
    };

    if (ppu_sanitizer_word_is(list, "all")) {
        return (1u << PPU_ARRAY_SIZE(names)) - 1;
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        if (ppu_sanitizer_word_is(list, names[i])) {
            return 1u << i;
        }
    }
    return 0;
}

/* PPU_SANITIZE_*; 0: some word is none. */
static inline uint32_t ppu_sanitizer_words(const char *list)
{
    uint32_t bits = 0;

    for (;;) {
        const uint32_t one = ppu_sanitizer_word(list);
        bits |= one;
        while (*list != '\0' && *list != ',') {
            list++;
        }
        if (one == 0 || *list == '\0') {
            return one == 0 ? 0 : bits;
        }
        list++;
    }
}

#endif
