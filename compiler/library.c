/* SPDX-License-Identifier: MIT */
#include "library.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global library_bytes\n"
        "library_bytes:\n"
        ".incbin \"" LIBRARY_FILE "\"\n"
        "1:\n"
        ".balign 8\n"
        ".global library_bytes_len\n"
        "library_bytes_len:\n"
        ".quad 1b - library_bytes\n"
        ".previous\n");

extern const uint64_t library_bytes_len;

size_t library_len(void)
{
    return library_bytes_len;
}
