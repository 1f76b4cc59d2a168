/* SPDX-License-Identifier: MIT */
/*
 * Recognises what this user's programs have made themselves by a tag that only they can make: HMAC-SHA256 with a key in
 * the user's folder, which is made when there is none. Where there is no folder the process has a key of its own.
 */
#ifndef CACHE_ORIGIN_H
#define CACHE_ORIGIN_H

#include <stdbool.h>

#include "cache/folder.h"

#define ORIGIN_TAG_BYTES 32u

/* Says what a tag is of; a tag of another kind is none. */
enum origin_kind {
    ORIGIN_ENTRY = 1,      /* of the cache */
    ORIGIN_NAME = 2,       /* of its file */
    ORIGIN_MODULE = 3,     /* compiled object or library */
    ORIGIN_EXECUTABLE = 4, /* with what it was made of */
};

/* False: there is no key. `folder`: -1 is none. */
bool origin_tag(int folder, enum origin_kind kind, const struct cache_folder_part *parts, uint32_t count,
                uint8_t tag[ORIGIN_TAG_BYTES]);
/* True when it is the tag of these bytes, in a time that does not depend on where it differs. */
bool origin_is(int folder, enum origin_kind kind, const struct cache_folder_part *parts, uint32_t count,
               const uint8_t tag[ORIGIN_TAG_BYTES]);

#endif
