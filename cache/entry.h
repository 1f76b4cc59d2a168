/* SPDX-License-Identifier: MIT */
/*
 * Keeps what was made under what it was made of. An entry has a tag that only this user's programs can make, and a name
 * that tells nothing of the key.
 */
#ifndef CACHE_ENTRY_H
#define CACHE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/folder.h"

/* Parts of an entry: its key, and two of what was made. None is empty. */
enum { CACHE_ENTRY_KEY, CACHE_ENTRY_FIRST, CACHE_ENTRY_SECOND, CACHE_ENTRY_PARTS };

struct cache_entry {
    uint8_t *data;                                    /* the caller frees it */
    struct cache_folder_part part[CACHE_ENTRY_PARTS]; /* in data */
};

/* Finds the entry of this key, as this user's programs have written it; false: there is none, and no data. */
bool cache_entry_read(int folder, const struct cache_folder_part *key, struct cache_entry *entry);
/* Keeps an entry. Older ones may go. False: it is not kept. */
bool cache_entry_write(int folder, const struct cache_folder_part parts[CACHE_ENTRY_PARTS]);

#endif
