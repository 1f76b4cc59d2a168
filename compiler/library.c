/* SPDX-License-Identifier: MIT */
#include "library.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global library_bytes\n"
        "library_bytes:\n"
        ".incbin \"" LIBRARY_FILE "\"\n"
        ".global library_end\n"
        "library_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const uint8_t library_end[];

size_t library_len(void)
{
    return (size_t)(library_end - library_bytes);
}
