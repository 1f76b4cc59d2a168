/* SPDX-License-Identifier: MIT */
#include "cache/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_FILE ".key"
#define KEY_BYTES 32u

/* ---- the key ---- */

static uint8_t own_key[KEY_BYTES];
static bool has_own_key;

static bool make_key(uint8_t key[KEY_BYTES])
{
    return getrandom(key, KEY_BYTES, 0) == (ssize_t)KEY_BYTES;
}

static void make_own_key(void)
{
    has_own_key = make_key(own_key);
}

static bool take_own_key(uint8_t key[KEY_BYTES])
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;

    pthread_once(&made, make_own_key);
    memcpy(key, own_key, KEY_BYTES);
    return has_own_key;
}

static bool read_key(int folder, uint8_t key[KEY_BYTES])
{
    size_t bytes = 0;
    uint8_t *found = cache_folder_read(folder, KEY_FILE, KEY_BYTES, true, &bytes);
    bool good = found && bytes == KEY_BYTES;

    if (good) {
        memcpy(key, found, KEY_BYTES);
        explicit_bzero(found, KEY_BYTES);
    }
    free(found);
    return good;
}

/* It is not there, or damaged, or others could have read it; not: it could not be read this time. */
static bool needs_key(int folder)
{
    struct stat info;

    if (fstatat(folder, KEY_FILE, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT;
    }
    return !S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & (S_IRWXG | S_IRWXO)) != 0 ||
           info.st_size != KEY_BYTES;
}

/* When two processes make a key at the same time one wins, and both read it. */
static bool take_key(int folder, uint8_t key[KEY_BYTES])
{
    if (folder < 0) {
        return take_own_key(key);
    }
    if (read_key(folder, key)) {
        return true;
    }
    const struct cache_folder_part part = { key, KEY_BYTES };
    return needs_key(folder) && make_key(key) && cache_folder_write(folder, KEY_FILE, &part, 1) &&
           read_key(folder, key);
}

/* ---- tags ---- */

/* Sizes are part of it: what is cut into other parts is something else. */
static void add_part(struct hmac_sha256_ctx *context, const struct cache_folder_part *part)
{
    const uint64_t bytes = part->bytes;

    hmac_sha256_update(context, sizeof(bytes), (const uint8_t *)&bytes);
    hmac_sha256_update(context, part->bytes, part->at);
}

bool origin_tag(int folder, enum origin_kind kind, const struct cache_folder_part *parts, uint32_t count,
                uint8_t tag[ORIGIN_TAG_BYTES])
{
    const uint32_t domain = kind;
    const struct cache_folder_part first = { &domain, sizeof(domain) };
    struct hmac_sha256_ctx context;
    uint8_t key[KEY_BYTES];

    if (!take_key(folder, key)) {
        return false;
    }
    hmac_sha256_set_key(&context, sizeof(key), key);
    explicit_bzero(key, sizeof(key));
    add_part(&context, &first);
    for (uint32_t i = 0; i < count; i++) {
        add_part(&context, &parts[i]);
    }
    hmac_sha256_digest(&context, ORIGIN_TAG_BYTES, tag);
    explicit_bzero(&context, sizeof(context));
    return true;
}

bool origin_is(int folder, enum origin_kind kind, const struct cache_folder_part *parts, uint32_t count,
               const uint8_t tag[ORIGIN_TAG_BYTES])
{
    uint8_t right[ORIGIN_TAG_BYTES];

    return origin_tag(folder, kind, parts, count, right) && memeql_sec(right, tag, ORIGIN_TAG_BYTES) != 0;
}
