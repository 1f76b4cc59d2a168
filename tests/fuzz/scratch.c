/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/folder.h"
#include "tests/fuzz/input.h"

static char base[32];

void scratch_choose(void)
{
    strcpy(base, "/dev/shm/ppu-fuzz-XXXXXX"); /* in memory: hundreds of times as fast */
    if (!mkdtemp(base)) {
        strcpy(base, "/tmp/ppu-fuzz-XXXXXX");
        if (!mkdtemp(base)) {
            fuzz_found("the target has no folder");
        }
    }
    setenv("PPU_CACHE", base, 1);
    rmdir(base);
}

int scratch_open(const char *below)
{
    (void)mkdir(base, 0700);
    const int folder = cache_folder_open(below);
    if (folder < 0) {
        fuzz_found("the target has no folder");
    }
    return folder;
}

void scratch_close(int folder, const char *below)
{
    char path[sizeof(base) + 16];
    DIR *const entries = fdopendir(dup(folder));

    if (!entries) {
        fuzz_found("the target cannot look into its folder");
    }
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        (void)unlinkat(folder, entry->d_name, 0);
    }
    closedir(entries);
    cache_folder_close(folder);
    snprintf(path, sizeof(path), "%s/%s", base, below);
    rmdir(path);
    rmdir(base);
}
