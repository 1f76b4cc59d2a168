/* SPDX-License-Identifier: MIT */
/*
 * Surface: files in the folder of the cache: entries and the key, whoever wrote them.
 *
 * An input makes an entry of what it likes, with the right tag where it says so, and puts it under the name of a
 * source; it may write the key too. What is found must be what was made with the right tag for that source, and nothing
 * else; after that the cache must keep and find as ever.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/origin.h"
#include "opencl/build/cache.h"
#include "opencl/build/compiler_dl.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scratch.h"

#define ENTRY_MOST 512u
#define HEADER_BYTES 64u
#define TAG_AT 32u

static int folder = -1;
static const uint8_t fixed_key[32] = "the same for each input, always";

bool compiler_path(char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "/proc/self/exe") < PATH_MAX;
}

static void put_file(const char *name, const void *bytes, size_t count)
{
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (file < 0 || write(file, bytes, count) != (ssize_t)count) {
        fuzz_found("the target cannot write '%s'", name);
    }
    close(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    scratch_choose();
    setenv("PPU_CLANG", "/proc/self/exe", 1);
    return 0;
}

/* What the input says, as an entry; whether it has the tag that belongs to its parts. */
struct entry {
    uint8_t bytes[ENTRY_MOST];
    size_t count;
    bool right;
};

static void make_entry(struct fuzz_input *input, const struct cache_key *key, struct entry *entry)
{
    uint64_t sizes[3] = { key->bytes, fuzz_below(input, 32), fuzz_below(input, 16) };
    uint32_t head[2] = { 0x43555050u, 2 };
    bool own_key = fuzz_below(input, 4) != 0, tagged = fuzz_below(input, 4) != 0;
    uint8_t *at = entry->bytes + HEADER_BYTES;

    fuzz_bytes(input, at, ENTRY_MOST - HEADER_BYTES);
    if (own_key && key->bytes < ENTRY_MOST - HEADER_BYTES - 64) {
        memcpy(at, key->text, key->bytes);
    }
    entry->count = HEADER_BYTES + sizes[0] + sizes[1] + sizes[2];
    memcpy(entry->bytes, head, sizeof(head));
    memcpy(entry->bytes + 8, sizes, sizeof(sizes));
    const struct cache_folder_part parts[] = { { at, sizes[0] },
                                               { at + sizes[0], sizes[1] },
                                               { at + sizes[0] + sizes[1], sizes[2] } };
    entry->right = tagged && own_key && sizes[1] > 0 && sizes[2] > 0 && entry->bytes[entry->count - 1] == 0;
    if (tagged) {
        (void)origin_tag(folder, ORIGIN_ENTRY, parts, 3, entry->bytes + TAG_AT);
    }
}

/* Changes that leave an entry right only when they cancel each other out. */
static void damage(struct fuzz_input *input, struct entry *entry)
{
    const struct entry before = *entry;
    uint32_t changes = fuzz_below(input, 4);

    for (uint32_t i = 0; i < changes; i++) {
        uint32_t at = fuzz_below(input, (uint32_t)entry->count);
        entry->bytes[at] ^= fuzz_u8(input);
    }
    if (fuzz_below(input, 8) == 1) {
        entry->count = fuzz_below(input, (uint32_t)entry->count + 1);
    }
    entry->right &= entry->count == before.count && memcmp(entry->bytes, before.bytes, before.count) == 0;
}

/* The file's name is the first half of the tag, in hexadecimal digits. */
static void name_of(const struct cache_key *key, char name[64])
{
    const struct cache_folder_part part = { key->text, key->bytes };
    uint8_t tag[ORIGIN_TAG_BYTES];

    (void)origin_tag(folder, ORIGIN_NAME, &part, 1, tag);
    for (uint32_t i = 0; i < 16; i++) {
        snprintf(name + 2 * i, 3, "%02x", tag[i]);
    }
    memcpy(name + 32, ".ppuc", sizeof(".ppuc"));
}

static void must_find(const struct cache_key *key, const struct entry *entry)
{
    struct ppu_compiled found;
    bool is_there = cache_find(key, &found);

    if (is_there != entry->right) {
        fuzz_found(is_there ? "an entry is found that is not right" : "an entry of this user is not found");
    }
    if (is_there && memcmp(entry->bytes + HEADER_BYTES + key->bytes, found.bytes, found.len_bytes) != 0) {
        fuzz_found("something else is found");
    }
    if (is_there) {
        compiler_free(&found);
    }
}

static void must_keep(const struct cache_key *key)
{
    const struct ppu_compiled made = { (uint8_t *)(uintptr_t) "image", 5, (char *)(uintptr_t) "log" };
    struct ppu_compiled found;

    cache_store(key, &made);
    if (!cache_find(key, &found) || found.len_bytes != 5 || strcmp(found.log, "log") != 0) {
        fuzz_found("what was kept is not found");
    }
    compiler_free(&found);
}

static void try_input(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count);
    char source[33] = "", name[64];
    struct cache_key key;
    struct entry entry = { .count = 0 };

    put_file(".key", fixed_key, sizeof(fixed_key));
    fuzz_bytes(&input, source, fuzz_below(&input, 32));
    cache_key_init(&key, source, strlen(source), "-DX", "");
    if (!key.text || key.bytes > ENTRY_MOST - HEADER_BYTES - 64) {
        cache_key_free(&key);
        return;
    }
    make_entry(&input, &key, &entry);
    damage(&input, &entry);
    name_of(&key, name);
    put_file(name, entry.bytes, entry.count);
    if (fuzz_below(&input, 16) == 1) {
        uint8_t other[40];
        uint32_t other_bytes = fuzz_below(&input, sizeof(other) + 1);
        fuzz_bytes(&input, other, sizeof(other));
        put_file(".key", other, other_bytes);
        entry.right &= other_bytes == sizeof(fixed_key) && memcmp(other, fixed_key, sizeof(fixed_key)) == 0;
    }
    must_find(&key, &entry);
    must_keep(&key);
    (void)unlinkat(folder, name, 0);
    name_of(&key, name);
    (void)unlinkat(folder, name, 0);
    cache_key_free(&key);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    folder = scratch_open("opencl");
    try_input(bytes, count);
    scratch_close(folder, "opencl");
    return 0;
}
