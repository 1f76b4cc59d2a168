/* SPDX-License-Identifier: MIT */
#include "compiler/frontend/library.h"

#define BYTES_OF_FILE(name, file)                         \
    __asm__(".section .rodata\n"                          \
            ".balign 16\n"                                \
            ".global " #name "_bytes\n" #name "_bytes:\n" \
            ".incbin \"" file "\"\n"                      \
            "1:\n"                                        \
            ".balign 8\n"                                 \
            ".global " #name "_len\n" #name "_len:\n"     \
            ".quad 1b - " #name "_bytes\n"                \
            ".previous\n");                               \
    extern const uint8_t name##_bytes[];                  \
    extern const uint64_t name##_len

BYTES_OF_FILE(library_core, CORE_FILE);
BYTES_OF_FILE(library_all, LIBRARY_FILE);
BYTES_OF_FILE(library_half, HALF_FILE);
BYTES_OF_FILE(library_address, ADDRESS_FILE);
BYTES_OF_FILE(library_race, RACE_FILE);

struct library library_core(void)
{
    return (struct library){ library_core_bytes, library_core_len };
}

struct library library_all(void)
{
    return (struct library){ library_all_bytes, library_all_len };
}

struct library library_half(void)
{
    return (struct library){ library_half_bytes, library_half_len };
}

struct library library_address(void)
{
    return (struct library){ library_address_bytes, library_address_len };
}

struct library library_race(void)
{
    return (struct library){ library_race_bytes, library_race_len };
}
