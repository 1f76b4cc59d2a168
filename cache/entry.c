/* SPDX-License-Identifier: MIT */
#include "cache/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/origin.h"
#include "cache/room.h"

#define ENTRY_MAGIC 0x43555050u /* "PPUC" */
#define ENTRY_VERSION 2u
#define ENTRY_MOST_BYTES (1ull << 30)

/* Followed by the parts. */
struct entry_header {
    uint32_t magic;
    uint32_t version;
    uint64_t bytes[CACHE_ENTRY_PARTS];
    uint8_t tag[ORIGIN_TAG_BYTES]; /* of the parts */
};

#define NAME_SUM_BYTES 16u
#define NAME_BYTES (2 * NAME_SUM_BYTES + sizeof(CACHE_ENTRY_SUFFIX))

static bool entry_name(int folder, const struct cache_folder_part *key, char name[NAME_BYTES])
{
    uint8_t tag[ORIGIN_TAG_BYTES];

    if (!origin_tag(folder, ORIGIN_NAME, key, 1, tag)) {
        return false;
    }
    for (uint32_t i = 0; i < NAME_SUM_BYTES; i++) {
        snprintf(name + 2 * i, 3, "%02x", tag[i]);
    }
    memcpy(name + 2 * NAME_SUM_BYTES, CACHE_ENTRY_SUFFIX, sizeof(CACHE_ENTRY_SUFFIX));
    return true;
}

/* False: its sizes do not add up. Nothing in it is believed yet. */
static bool cut_entry(const uint8_t *data, size_t bytes, struct entry_header *header,
                      struct cache_folder_part parts[CACHE_ENTRY_PARTS])
{
    if (bytes < sizeof(*header)) {
        return false;
    }
    memcpy(header, data, sizeof(*header));
    data += sizeof(*header);
    size_t left = bytes - sizeof(*header);
    for (uint32_t i = 0; i < CACHE_ENTRY_PARTS; i++) {
        if (header->bytes[i] == 0 || header->bytes[i] > left) {
            return false;
        }
        parts[i] = (struct cache_folder_part){ data, header->bytes[i] };
        data += header->bytes[i];
        left -= header->bytes[i];
    }
    return left == 0 && header->magic == ENTRY_MAGIC && header->version == ENTRY_VERSION;
}

bool cache_entry_read(int folder, const struct cache_folder_part *key, struct cache_entry *entry)
{
    struct entry_header header;
    char name[NAME_BYTES];
    size_t bytes = 0;

    entry->data =
        entry_name(folder, key, name) ? cache_folder_read(folder, name, ENTRY_MOST_BYTES, false, &bytes) : NULL;
    if (entry->data && cut_entry(entry->data, bytes, &header, entry->part) &&
        entry->part[CACHE_ENTRY_KEY].bytes == key->bytes &&
        memcmp(entry->part[CACHE_ENTRY_KEY].at, key->at, key->bytes) == 0 &&
        origin_is(folder, ORIGIN_ENTRY, entry->part, CACHE_ENTRY_PARTS, header.tag)) {
        return true;
    }
    free(entry->data);
    entry->data = NULL;
    return false;
}

bool cache_entry_write(int folder, const struct cache_folder_part parts[CACHE_ENTRY_PARTS])
{
    struct entry_header header = { .magic = ENTRY_MAGIC, .version = ENTRY_VERSION };
    struct cache_folder_part all[1 + CACHE_ENTRY_PARTS] = { { &header, sizeof(header) } };
    uint64_t bytes = sizeof(header);
    char name[NAME_BYTES];

    for (uint32_t i = 0; i < CACHE_ENTRY_PARTS; i++) {
        header.bytes[i] = parts[i].bytes;
        bytes += parts[i].bytes;
        all[1 + i] = parts[i];
    }
    if (!entry_name(folder, &parts[CACHE_ENTRY_KEY], name) ||
        !origin_tag(folder, ORIGIN_ENTRY, parts, CACHE_ENTRY_PARTS, header.tag) ||
        !cache_folder_write(folder, name, all, 1 + CACHE_ENTRY_PARTS)) {
        return false;
    }
    cache_room_take(folder, bytes);
    return true;
}
