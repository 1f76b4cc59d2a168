/* SPDX-License-Identifier: MIT */
#include "cache/room.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_BYTES (128ull << 20)
#define LOOK_BYTES (8ull << 20) /* that a process writes between two looks at all entries */

struct entry {
    struct timespec used;
    uint64_t bytes;
    char *name;
};

struct entries {
    struct entry *list;
    size_t count, room;
    uint64_t bytes;
};

/* What the process knows of the folder that it looked at last. */
static struct {
    pthread_mutex_t lock;
    dev_t device;
    ino_t number;
    uint64_t bytes;   /* of its entries, with those that this process has written since */
    uint64_t written; /* since */
} last = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- a look ---- */

static bool is_entry_name(const char *name)
{
    const size_t length = strlen(name), suffix = strlen(CACHE_ENTRY_SUFFIX);

    return length > suffix && strcmp(name + length - suffix, CACHE_ENTRY_SUFFIX) == 0;
}

static bool add_entry(struct entries *entries, const char *name, const struct stat *info)
{
    if (entries->count == entries->room) {
        const size_t room = entries->room != 0 ? 2 * entries->room : 64;
        struct entry *list = realloc(entries->list, room * sizeof(list[0]));
        if (!list) {
            return false;
        }
        entries->list = list;
        entries->room = room;
    }
    struct entry *entry = &entries->list[entries->count];
    *entry = (struct entry){ info->st_mtim, (uint64_t)info->st_size, strdup(name) };
    if (!entry->name) {
        return false;
    }
    entries->count++;
    entries->bytes += entry->bytes;
    return true;
}

static void free_entries(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        free(entries->list[i].name);
    }
    free(entries->list);
}

/* Entries that memory has no room for are none. */
static struct entries list_entries(int descriptor)
{
    int again = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again >= 0 ? fdopendir(again) : NULL;
    struct entries entries = { .count = 0 };

    if (!folder) {
        if (again >= 0) {
            close(again);
        }
        return entries;
    }
    for (struct dirent *item = readdir(folder); item; item = readdir(folder)) {
        struct stat info;
        if (is_entry_name(item->d_name) && fstatat(again, item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            !add_entry(&entries, item->d_name, &info)) {
            break;
        }
    }
    closedir(folder);
    return entries;
}

/* ---- room ---- */

static int by_use(const void *a, const void *b)
{
    const struct entry *const one = a, *const other = b;

    return one->used.tv_sec != other->used.tv_sec
               ? (one->used.tv_sec > other->used.tv_sec) * 2 - 1
               : (one->used.tv_nsec > other->used.tv_nsec) - (one->used.tv_nsec < other->used.tv_nsec);
}

/* Leaves room for what is written until the next look. */
static void remove_oldest(int folder, struct entries *entries)
{
    qsort(entries->list, entries->count, sizeof(entries->list[0]), by_use);
    for (size_t i = 0; i < entries->count && entries->bytes > CACHE_BYTES - LOOK_BYTES; i++) {
        if (unlinkat(folder, entries->list[i].name, 0) == 0) {
            entries->bytes -= entries->list[i].bytes;
        }
    }
}

/* Under the lock. */
static bool needs_look(const struct stat *folder, uint64_t bytes)
{
    last.bytes += bytes;
    last.written += bytes;
    return folder->st_dev != last.device || folder->st_ino != last.number || last.bytes > CACHE_BYTES ||
           last.written >= LOOK_BYTES;
}

void cache_room_take(int folder, uint64_t bytes)
{
    struct stat info;

    if (fstat(folder, &info) != 0) {
        return;
    }
    pthread_mutex_lock(&last.lock);
    if (needs_look(&info, bytes)) {
        struct entries entries = list_entries(folder);
        if (entries.bytes > CACHE_BYTES) {
            remove_oldest(folder, &entries);
        }
        last.device = info.st_dev;
        last.number = info.st_ino;
        last.bytes = entries.bytes;
        last.written = 0;
        free_entries(&entries);
    }
    pthread_mutex_unlock(&last.lock);
}
