/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "sum.h"

#define ENTRY_MAGIC 0x43555050u /* "PPUC" */
#define ENTRY_VERSION 1u
#define ENTRY_SUFFIX ".ppuc"
/* Entries beyond it are removed, those that were not used for the longest time first. */
#define CACHE_BYTES (128ull << 20)

/* Followed by key, image, log with its final zero. */
struct entry_header {
    uint32_t magic;
    uint32_t version;
    uint64_t key_bytes, image_bytes, log_bytes;
    uint64_t sum; /* of what follows */
};

void compiler_free(struct ppu_compiled *compiled)
{
    free(compiled->bytes);
    free(compiled->log);
    *compiled = (struct ppu_compiled){ NULL, 0, NULL };
}

/* ---- folder ---- */

static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) {
            return false;
        }
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static const char *set_variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && *value != '\0' ? value : NULL;
}

/* False: there is no cache. */
static bool find_folder(char path[PATH_MAX])
{
    const char *ours = set_variable("PPU_CACHE"), *users = set_variable("XDG_CACHE_HOME"), *home = set_variable("HOME");
    int length = 0;

    if (ours != NULL && strcmp(ours, "off") == 0) {
        return false;
    }
    if (ours != NULL) {
        length = snprintf(path, PATH_MAX, "%s/opencl", ours);
    } else if (users != NULL) {
        length = snprintf(path, PATH_MAX, "%s/ppu/opencl", users);
    } else if (home != NULL) {
        length = snprintf(path, PATH_MAX, "%s/.cache/ppu/opencl", home);
    }
    return length > 0 && length < PATH_MAX && make_folders(path);
}

static bool entry_path(char path[PATH_MAX], const struct cache_key *key)
{
    char folder[PATH_MAX];

    return find_folder(folder) && snprintf(path, PATH_MAX, "%s/%016llx" ENTRY_SUFFIX, folder,
                                           (unsigned long long)sum_of(key->text, key->bytes)) < PATH_MAX;
}

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
    const char *folders = getenv("PATH");
    char path[PATH_MAX];

    if (strchr(name, '/') != NULL || folders == NULL) {
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
    const char *clang = set_variable(PPU_COMPILE_CLANG_VARIABLE);
    char path[PATH_MAX];

    return compiler_path(path) && write_file(to, path) && write_program(to, clang != NULL ? clang : PPU_COMPILE_CLANG);
}

/* Said conservatively: a comment that says "include" is enough. Lines that are joined could hide a word. */
static bool depends_on_more(const char *text)
{
    static const char *const words[] = { "include", "__has_", "__DATE__", "__TIME", "\\\n", "\\\r", "?\?/" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strstr(text, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

void cache_key_init(struct cache_key *key, const char *source, size_t bytes, const char *options, const char *facts)
{
    char folder[PATH_MAX];

    *key = (struct cache_key){ NULL, 0 };
    if (strlen(source) != bytes || depends_on_more(source) || depends_on_more(options) || !find_folder(folder)) {
        return;
    }
    FILE *to = open_memstream(&key->text, &key->bytes);
    if (to == NULL) {
        return;
    }
    bool known = write_compiler(to);
    fprintf(to, "%zu %s\n%zu %s\n%s", strlen(options), options, strlen(facts), facts, source);
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

static uint8_t *read_all(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    uint8_t *data = NULL;

    if (file == NULL) {
        return NULL;
    }
    if (fstat(fileno(file), &info) == 0 && info.st_size > 0) {
        *bytes = (size_t)info.st_size;
        data = malloc(*bytes);
    }
    if (data != NULL && fread(data, 1, *bytes, file) != *bytes) {
        free(data);
        data = NULL;
    }
    /* Its age is that of its last use. */
    futimens(fileno(file), NULL);
    fclose(file);
    return data;
}

static bool is_entry(const struct cache_key *key, const uint8_t *data, size_t bytes)
{
    struct entry_header header;

    if (bytes < sizeof(header)) {
        return false;
    }
    memcpy(&header, data, sizeof(header));
    size_t left = bytes - sizeof(header);
    if (header.magic != ENTRY_MAGIC || header.version != ENTRY_VERSION || header.key_bytes != key->bytes ||
        header.key_bytes > left || header.image_bytes > left - header.key_bytes || header.image_bytes == 0 ||
        header.log_bytes != left - header.key_bytes - header.image_bytes || header.log_bytes == 0) {
        return false;
    }
    return header.sum == sum_of(data + sizeof(header), left) && data[bytes - 1] == '\0' &&
           memcmp(data + sizeof(header), key->text, key->bytes) == 0;
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = malloc(bytes);

    return copy != NULL ? memcpy(copy, data, bytes) : NULL;
}

bool cache_find(const struct cache_key *key, struct ppu_compiled *found)
{
    char path[PATH_MAX];
    size_t bytes = 0;
    struct entry_header header;

    *found = (struct ppu_compiled){ NULL, 0, NULL };
    uint8_t *data = key->text != NULL && entry_path(path, key) ? read_all(path, &bytes) : NULL;
    if (data != NULL && is_entry(key, data, bytes)) {
        memcpy(&header, data, sizeof(header));
        const uint8_t *image = data + sizeof(header) + header.key_bytes;
        found->len_bytes = header.image_bytes;
        found->bytes = copy_of(image, header.image_bytes);
        found->log = copy_of(image + header.image_bytes, header.log_bytes);
    }
    free(data);
    if (found->bytes == NULL || found->log == NULL) {
        compiler_free(found);
    }
    return found->bytes != NULL;
}

struct old_entry {
    struct timespec used;
    char name[NAME_MAX + 1];
};

/* Looks at all entries: their bytes together, and which was not used for the longest time. */
static uint64_t survey(DIR *folder, struct old_entry *oldest)
{
    uint64_t bytes = 0;
    bool found = false;

    rewinddir(folder);
    for (struct dirent *item = readdir(folder); item != NULL; item = readdir(folder)) {
        size_t length = strlen(item->d_name);
        struct stat info;
        if (length < sizeof(ENTRY_SUFFIX) || strcmp(item->d_name + length - strlen(ENTRY_SUFFIX), ENTRY_SUFFIX) != 0 ||
            fstatat(dirfd(folder), item->d_name, &info, 0) != 0) {
            continue;
        }
        bytes += (uint64_t)info.st_size;
        if (!found || info.st_mtim.tv_sec < oldest->used.tv_sec ||
            (info.st_mtim.tv_sec == oldest->used.tv_sec && info.st_mtim.tv_nsec < oldest->used.tv_nsec)) {
            found = true;
            oldest->used = info.st_mtim;
            snprintf(oldest->name, sizeof(oldest->name), "%s", item->d_name);
        }
    }
    return bytes;
}

static void remove_old(const char *path)
{
    DIR *folder = opendir(path);
    struct old_entry oldest;

    while (folder != NULL && survey(folder, &oldest) > CACHE_BYTES && unlinkat(dirfd(folder), oldest.name, 0) == 0) {
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

static bool write_entry(FILE *file, const struct cache_key *key, const struct ppu_compiled *made)
{
    struct entry_header header = { ENTRY_MAGIC, ENTRY_VERSION, key->bytes, made->len_bytes, strlen(made->log) + 1, 0 };
    size_t bytes = header.key_bytes + header.image_bytes + header.log_bytes;
    uint8_t *data = malloc(bytes);

    if (data == NULL) {
        return false;
    }
    memcpy(data, key->text, header.key_bytes);
    memcpy(data + header.key_bytes, made->bytes, header.image_bytes);
    memcpy(data + header.key_bytes + header.image_bytes, made->log, header.log_bytes);
    header.sum = sum_of(data, bytes);
    bool written = fwrite(&header, sizeof(header), 1, file) == 1 && fwrite(data, bytes, 1, file) == 1;
    free(data);
    return written;
}

/* Under its name when it is whole: others may read at any time. */
void cache_store(const struct cache_key *key, const struct ppu_compiled *made)
{
    char folder[PATH_MAX], path[PATH_MAX], new[PATH_MAX];

    if (key->text == NULL || !find_folder(folder) || !entry_path(path, key) ||
        snprintf(new, sizeof(new), "%s/new-XXXXXX", folder) >= PATH_MAX) {
        return;
    }
    int descriptor = mkstemp(new);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file == NULL) {
        if (descriptor >= 0) {
            close(descriptor);
            unlink(new);
        }
        return;
    }
    bool written = write_entry(file, key, made);
    if ((fclose(file) != 0) | !written || rename(new, path) != 0) {
        unlink(new);
    }
    remove_old(folder);
}
