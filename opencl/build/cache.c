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

#include "cache/entry.h"
#include "opencl/build/compiler_dl.h"
#include "ppu/macros.h"

/* Folder of the cache that compiled programs are in. */
#define FOLDER "opencl"

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

/* ---- entries: image, and log with its final zero ---- */

static void *copy_of(const struct cache_folder_part *part)
{
    void *copy = malloc(part->bytes);

    return copy ? memcpy(copy, part->at, part->bytes) : NULL;
}

static void take_entry(const struct cache_entry *entry, struct ppu_compiled *found)
{
    const struct cache_folder_part *const image = &entry->part[CACHE_ENTRY_FIRST], *const log =
                                                                                       &entry->part[CACHE_ENTRY_SECOND];

    if (((const char *)log->at)[log->bytes - 1] != '\0') {
        return;
    }
    found->len_bytes = image->bytes;
    found->bytes = copy_of(image);
    found->log = copy_of(log);
    if (!found->bytes || !found->log) {
        compiler_free(found);
    }
}

bool cache_find(const struct cache_key *key, struct ppu_compiled *found)
{
    int folder = key->text ? cache_folder_open(FOLDER) : -1;
    const struct cache_folder_part part = { key->text, key->bytes };
    struct cache_entry entry;

    *found = (struct ppu_compiled){ NULL, 0, NULL };
    if (folder >= 0 && cache_entry_read(folder, &part, &entry)) {
        take_entry(&entry, found);
        free(entry.data);
    }
    cache_folder_close(folder);
    return found->bytes;
}

void cache_store(const struct cache_key *key, const struct ppu_compiled *made)
{
    int folder = key->text ? cache_folder_open(FOLDER) : -1;
    const struct cache_folder_part parts[] = {
        { key->text, key->bytes },
        { made->bytes, made->len_bytes },
        { made->log, strlen(made->log) + 1 },
    };

    if (folder >= 0) {
        (void)cache_entry_write(folder, parts);
    }
    cache_folder_close(folder);
}
