/* SPDX-License-Identifier: MIT */
/* Keeps the cache's entries within their room. */
#ifndef CACHE_ROOM_H
#define CACHE_ROOM_H

#include <stdint.h>

#define CACHE_ENTRY_SUFFIX ".ppuc"

/*
 * After an entry of so many bytes was written to the folder: entries that were not used for the longest time go when
 * all are more than the cache may have. To look at all of them takes time for each, so a process does it for its first
 * entry, and after so many bytes of its own: until then the cache may have that much more for each process.
 */
void cache_room_take(int folder, uint64_t bytes);

#endif
