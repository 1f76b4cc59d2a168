/* SPDX-License-Identifier: MIT */
#include "opencl/build/cache.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opencl/build/cache_room.h"
#include "opencl/build/compiler_dl.h"
#include "opencl/build/origin.h"
#include "ppu/macros.h"

#define ENTRY_MAGIC 0x43555050u /* "PPUC" */
#define ENTRY_VERSION 2u
#define ENTRY_MOST_BYTES (1ull << 30)

/* Followed by key, image, log with its final zero. */
struct entry_header {
    uint32_t magic;
    uint32_t version;
    uint64_t key_bytes, image_bytes, log_bytes;
    uint8_t tag[ORIGIN_TAG_BYTES]; /* of the three */
};

enum { ENTRY_KEY, ENTRY_IMAGE, ENTRY_LOG, ENTRY_PARTS };

/* ---- key ---- */

/* A file of the compiler as it is now. */
static bool write_file(FILE *to, const char *path)
{
    struct stat file;

    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) {
        return false;
    }
    fprintf(to, "%s %lld %lld.%09ld\n", path, (long long)file.st_size, (long long)file.st_mtim.tv_sec,
            file.st_mtim.tv_nsec);
    return true;
}

static bool write_program(FILE *to, const char *name)
{
    const char *folders = secure_getenv("PATH");
    char path[PATH_MAX];

    if (strchr(name, '/') || !folders) {
        return write_file(to, name);
    }
    while (*folders != '\0') {
        int length = (int)strcspn(folders, ":");
        if (snprintf(path, sizeof(path), "%.*s/%s", length, folders, name) < PATH_MAX && write_file(to, path)) {
            return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* clang comes with LLVM's library, and stands for it: looking for that would mean to load it. */
static bool write_compiler(FILE *to)
{
    const char *clang = secure_getenv(PPU_COMPILE_CLANG_VARIABLE);
    bool named = clang && *clang != '\0';
    char path[PATH_MAX];

    return compiler_path(path) && write_file(to, path) && write_program(to, named ? clang : PPU_COMPILE_CLANG);
}

/*
 * The text as the language sees it, where lines that a backslash joins are one; also with blanks behind the backslash,
 * which clang allows. NULL: no memory.
 */
static char *joined_lines(const char *text)
{
    char *joined = malloc(strlen(text) + 1), *to = joined;

    while (joined && *text != '\0') {
        const char *end = *text == '\\' ? text + 1 + strspn(text + 1, " \t\v\f") : text;
        if (end == text || (*end != '\n' && *end != '\r')) {
            *to++ = *text++;
        } else {
            text = end + 1 + ((end[1] == '\n' || end[1] == '\r') && end[1] != end[0]);
        }
    }
    if (joined) {
        *to = '\0';
    }
    return joined;
}

/*
 * Whether what the compiler makes may depend on other files or on the time. Said conservatively: a comment that says
 * "include" is enough. These words stand for all directives, pragmas and macros of clang that look at files or clocks:
 * #include, #include_next, #import, #embed, __has_include, __has_embed, #pragma GCC dependency, #pragma clang module,
 * __DATE__, __TIME__, __TIMESTAMP__; a trigraph could hide one.
 */
static bool depends_on_more(const char *text)
{
    static const char *const words[] = {
        "include", "import", "embed", "__has_", "dependency", "module", "__DATE__", "__TIME", "?\?/",
    };
    char *joined = joined_lines(text);
    bool depends = !joined;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(words) && !depends; i++) {
        depends = strstr(joined, words[i]);
    }
    free(joined);
    return depends;
}

void cache_key_init(struct cache_key *key, const char *source, size_t bytes, const char *options, const char *facts)
{
    *key = (struct cache_key){ NULL, 0 };
    if (strlen(source) != bytes || depends_on_more(source) || depends_on_more(options)) {
        return;
    }
    FILE *to = open_memstream(&key->text, &key->bytes);
    if (!to) {
        return;
    }
    bool known = write_compiler(to);
    fprintf(to, "%zu %s\n%zu %s\n%s", strlen(options), options, strlen(facts), facts, source);
    if ((fclose(to) != 0) | !known) {
        cache_key_free(key);
    }
}

void cache_key_of_module(struct cache_key *key, const struct ppu_compile_module *module, const char *facts)
{
    *key = (struct cache_key){ NULL, 0 };
    FILE *to = open_memstream(&key->text, &key->bytes);
    if (!to) {
        return;
    }
    bool known = write_compiler(to);
    fprintf(to, "module %zu\n%zu %s\n", module->len_bytes, strlen(facts), facts);
    fwrite(module->bitcode, 1, module->len_bytes, to);
    if ((fclose(to) != 0) | !known) {
        cache_key_free(key);
    }
}

void cache_key_free(struct cache_key *key)
{
    free(key->text);
    *key = (struct cache_key){ NULL, 0 };
}

/* ---- entries ---- */

#define NAME_SUM_BYTES 16u
#define ENTRY_NAME_BYTES (2 * NAME_SUM_BYTES + sizeof(CACHE_ENTRY_SUFFIX))

/* Tells nothing of the key to who has not the user's own. */
static bool entry_name(int folder, const struct cache_key *key, char name[ENTRY_NAME_BYTES])
{
    const struct cache_folder_part part = { key->text, key->bytes };
    uint8_t tag[ORIGIN_TAG_BYTES];

    if (!origin_tag(folder, ORIGIN_NAME, &part, 1, tag)) {
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
                      struct cache_folder_part parts[ENTRY_PARTS])
{
    if (bytes < sizeof(*header)) {
        return false;
    }
    memcpy(header, data, sizeof(*header));
    size_t left = bytes - sizeof(*header);
    if (header->magic != ENTRY_MAGIC || header->version != ENTRY_VERSION || header->key_bytes > left ||
        header->image_bytes > left - header->key_bytes || header->image_bytes == 0 ||
        header->log_bytes != left - header->key_bytes - header->image_bytes || header->log_bytes == 0) {
        return false;
    }
    data += sizeof(*header);
    parts[ENTRY_KEY] = (struct cache_folder_part){ data, header->key_bytes };
    parts[ENTRY_IMAGE] = (struct cache_folder_part){ data + header->key_bytes, header->image_bytes };
    parts[ENTRY_LOG] = (struct cache_folder_part){ data + header->key_bytes + header->image_bytes, header->log_bytes };
    return true;
}

/* The entry of this key, as this user's programs have written it. */
static bool is_entry(int folder, const struct cache_key *key, const struct entry_header *header,
                     const struct cache_folder_part parts[ENTRY_PARTS])
{
    const char *log = parts[ENTRY_LOG].at;

    return parts[ENTRY_KEY].bytes == key->bytes && memcmp(parts[ENTRY_KEY].at, key->text, key->bytes) == 0 &&
           origin_is(folder, ORIGIN_ENTRY, parts, ENTRY_PARTS, header->tag) && log[parts[ENTRY_LOG].bytes - 1] == '\0';
}

static void *copy_of(const struct cache_folder_part *part)
{
    void *copy = malloc(part->bytes);

    return copy ? memcpy(copy, part->at, part->bytes) : NULL;
}

static void take_entry(const struct cache_folder_part parts[ENTRY_PARTS], struct ppu_compiled *found)
{
    found->len_bytes = parts[ENTRY_IMAGE].bytes;
    found->bytes = copy_of(&parts[ENTRY_IMAGE]);
    found->log = copy_of(&parts[ENTRY_LOG]);
    if (!found->bytes || !found->log) {
        compiler_free(found);
    }
}

bool cache_find(const struct cache_key *key, struct ppu_compiled *found)
{
    int folder = key->text ? cache_folder_open() : -1;
    struct cache_folder_part parts[ENTRY_PARTS];
    struct entry_header header;
    char name[ENTRY_NAME_BYTES];
    size_t bytes = 0;

    *found = (struct ppu_compiled){ NULL, 0, NULL };
    uint8_t *data = folder >= 0 && entry_name(folder, key, name)
                        ? cache_folder_read(folder, name, ENTRY_MOST_BYTES, false, &bytes)
                        : NULL;
    if (data && cut_entry(data, bytes, &header, parts) && is_entry(folder, key, &header, parts)) {
        take_entry(parts, found);
    }
    free(data);
    cache_folder_close(folder);
    return found->bytes;
}

void cache_store(const struct cache_key *key, const struct ppu_compiled *made)
{
    int folder = key->text ? cache_folder_open() : -1;
    struct entry_header header = { ENTRY_MAGIC, ENTRY_VERSION, key->bytes, made->len_bytes, strlen(made->log) + 1, "" };
    const struct cache_folder_part parts[] = {
        { &header, sizeof(header) },
        { key->text, key->bytes },
        { made->bytes, made->len_bytes },
        { made->log, header.log_bytes },
    };
    char name[ENTRY_NAME_BYTES];

    if (folder >= 0 && entry_name(folder, key, name) &&
        origin_tag(folder, ORIGIN_ENTRY, parts + 1, ENTRY_PARTS, header.tag) &&
        cache_folder_write(folder, name, parts, 1 + ENTRY_PARTS)) {
        cache_room_take(folder, sizeof(header) + header.key_bytes + header.image_bytes + header.log_bytes);
    }
    cache_folder_close(folder);
}
