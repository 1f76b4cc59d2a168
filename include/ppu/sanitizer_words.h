/* SPDX-License-Identifier: MIT */
/* Reads lists of what kernels shall check of themselves: words of sanitizer.def with commas between, or `all`. */
#ifndef PPU_SANITIZER_WORDS_H
#define PPU_SANITIZER_WORDS_H

#include <stdint.h>
#include <string.h>

#include "ppu/macros.h"

/* What is wrong with a list that none of the following can be read from. */
#define PPU_SANITIZER(name, bit, text, what) text ", "
static const char ppu_sanitizer_words_wrong[] = "is not a list, with commas, of "
#include "ppu/sanitizer.def"
                                                "or all";

/* The bit of a word, all bits for `all`; 0: it is none. */
static inline uint32_t ppu_sanitizer_word(const char *word, size_t len)
{
    static const char *const names[] = {
#define PPU_SANITIZER(name, bit, text, what) [bit] = (text),
#include "ppu/sanitizer.def"
    };
    const uint32_t all = (1u << PPU_ARRAY_SIZE(names)) - 1;

    if (len == strlen("all") && memcmp(word, "all", len) == 0) {
        return all;
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        if (len == strlen(names[i]) && memcmp(word, names[i], len) == 0) {
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
        const size_t len = strcspn(list, ",");
        const uint32_t one = ppu_sanitizer_word(list, len);
        bits |= one;
        if (one == 0 || list[len] == '\0') {
            return one == 0 ? 0 : bits;
        }
        list += len + 1;
    }
}

#endif
