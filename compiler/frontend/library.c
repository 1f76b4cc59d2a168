/* SPDX-License-Identifier: MIT */
#include "compiler/frontend/library.h"

#include <string.h>

#include "compiler/frontend/library_file.h"

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
BYTES_OF_FILE(library_address, ADDRESS_FILE);
BYTES_OF_FILE(library_argument, ARGUMENT_FILE);
BYTES_OF_FILE(library_race, RACE_FILE);
BYTES_OF_FILE(library_race_nested, RACE_NESTED_FILE);
BYTES_OF_FILE(library_uninit, UNINIT_FILE);

struct library library_core(void)
{
    return (struct library){ library_core_bytes, library_core_len };
}

static struct library_head read_head(void)
{
    struct library_head head;

    memcpy(&head, library_all_bytes, sizeof(head));
    return head;
}

static struct library_name read_name(uint32_t index)
{
    struct library_name name;

    memcpy(&name, library_all_bytes + sizeof(struct library_head) + index * sizeof(name), sizeof(name));
    return name;
}

uint32_t library_shards(void)
{
    return read_head().shards;
}

uint32_t library_find(const char *name)
{
    uint32_t from = 0, to = read_head().names;

    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        const struct library_name found = read_name(middle);
        const int order = strcmp(name, (const char *)library_all_bytes + found.text);
        if (order == 0) {
            return found.shard;
        }
        from = order > 0 ? middle + 1 : from;
        to = order < 0 ? middle : to;
    }
    return library_shards();
}

struct library library_shard(uint32_t number)
{
    const struct library_head head = read_head();
    struct library_shard shard;

    memcpy(&shard, library_all_bytes + sizeof(head) + head.names * sizeof(struct library_name) + number * sizeof(shard),
           sizeof(shard));
    return (struct library){ library_all_bytes + shard.at, shard.bytes };
}

struct library library_address(void)
{
    return (struct library){ library_address_bytes, library_address_len };
}

struct library library_argument(void)
{
    return (struct library){ library_argument_bytes, library_argument_len };
}

struct library library_race(void)
{
    return (struct library){ library_race_bytes, library_race_len };
}

struct library library_race_nested(void)
{
    return (struct library){ library_race_nested_bytes, library_race_nested_len };
}

struct library library_uninit(void)
{
    return (struct library){ library_uninit_bytes, library_uninit_len };
}
