/* SPDX-License-Identifier: MIT */
#include "tests/opencl/store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/opencl/fixture.h"

void store_open(struct store *store)
{
    strcpy(store->folder, "/tmp/ppu-cache-XXXXXX");
    assert_non_null(mkdtemp(store->folder));
    snprintf(store->clang, sizeof(store->clang), "%s/clang", store->folder);
    snprintf(store->calls, sizeof(store->calls), "%s/calls", store->folder);
    snprintf(store->hold, sizeof(store->hold), "%s/hold", store->folder);
    snprintf(store->entries, sizeof(store->entries), "%s/opencl", store->folder);
    FILE *script = fopen(store->clang, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\nprintf x >>%s\nwhile [ -e %s ]; do sleep 0.1; done\nexec clang-19 \"$@\"\n",
            store->calls, store->hold);
    fclose(script);
    chmod(store->clang, 0700);
    setenv("PPU_CLANG", store->clang, 1);
    setenv("PPU_CACHE", store->folder, 1);
}

void store_replace_clang(const struct store *store, const char *line)
{
    FILE *script = fopen(store->clang, "w");

    assert_non_null(script);
    fprintf(script, "#!/bin/sh\n%s\n", line);
    fclose(script);
}

void store_hold(const struct store *store, bool hold)
{
    if (hold) {
        FILE *file = fopen(store->hold, "w");
        assert_non_null(file);
        fclose(file);
    } else {
        assert_int_equal(remove(store->hold), 0);
    }
}

uint32_t store_each(const struct store *store, void (*function)(const char *path))
{
    DIR *folder = opendir(store->entries);
    uint32_t entries = 0;

    for (struct dirent *item; folder && (item = readdir(folder));) {
        char path[400];
        if (item->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", store->entries, item->d_name);
            function(path);
            entries++;
        }
    }
    if (folder) {
        closedir(folder);
    }
    return entries;
}

static void remove_entry(const char *path)
{
    remove(path);
}

void store_close(struct store *store)
{
    char key[80];

    store_each(store, remove_entry);
    snprintf(key, sizeof(key), "%s/.key", store->entries);
    remove(key);
    remove(store->entries);
    remove(store->clang);
    remove(store->calls);
    remove(store->folder);
    unsetenv("PPU_CLANG");
    setenv("PPU_CACHE", "off", 1);
}

long store_compilations(const struct store *store)
{
    struct stat info;

    return stat(store->calls, &info) == 0 ? (long)info.st_size : 0;
}
