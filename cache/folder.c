/* SPDX-License-Identifier: MIT */
#include "cache/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
#define OTHERS_READ (S_IRGRP | S_IROTH)
#define NEW_NAME_BYTES 32u

/* ---- where it is ---- */

/* A folder that the environment names, and those below it. */
struct cache_path {
    char base[PATH_MAX];
    const char *below[2];
    uint32_t depth;
};

/* NULL also in a program with raised privileges. */
static const char *set_variable(const char *name)
{
    const char *value = secure_getenv(name);

    return value && *value != '\0' ? value : NULL;
}

static bool find_cache_path(const char *below, struct cache_path *path)
{
    const char *ours = set_variable("PPU_CACHE"), *users = set_variable("XDG_CACHE_HOME"), *home = set_variable("HOME");
    int length = 0;

    if (ours) {
        *path = (struct cache_path){ .below = { below }, .depth = 1 };
        length = strcmp(ours, "off") != 0 ? snprintf(path->base, PATH_MAX, "%s", ours) : 0;
    } else {
        *path = (struct cache_path){ .below = { "ppu", below }, .depth = 2 };
        length = users  ? snprintf(path->base, PATH_MAX, "%s", users)
                 : home ? snprintf(path->base, PATH_MAX, "%s/.cache", home)
                        : 0;
    }
    return length > 0 && length < PATH_MAX;
}

/* Errors show when the folder is opened; 0, or why the last one was not made. */
static int make_folders(const char *base)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s", base);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 ? 0 : errno;
}

/* A folder that is not there has a reason: why it could not be made. */
static int open_made(int above, const char *path, int why)
{
    int folder = openat(above, path, FOLDER_FLAGS);

    if (folder < 0 && errno == ENOENT && why != 0) {
        errno = why;
    }
    return folder;
}

/* ---- whose it is ---- */

static void say_once(const char *path, const char *why)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&said)) {
        fprintf(
            stderr,
            "OpenCL on the PPU: keep compiled programs in '%s': %s; PPU_CACHE names another folder, or is off to keep "
            "none\n",
            path, why);
    }
}

/* The user's, and nobody else may do what `others` says. */
static bool is_own(const struct stat *info, mode_t others)
{
    return info->st_uid == geteuid() && (info->st_mode & others) == 0;
}

/* Takes the descriptor, which may be -1: gives it back, or -1. */
static int keep_own(int folder, const struct cache_path *path)
{
    struct stat info;

    if (folder < 0) {
        bool other = errno == ELOOP || errno == ENOTDIR;
        say_once(path->base, other ? "it is, or has in it, a link or a file where a folder must be" : strerror(errno));
        return -1;
    }
    if (fstat(folder, &info) != 0 || !is_own(&info, OTHERS_WRITE)) {
        say_once(path->base, "it is, or has in it, a folder that is not the user's or that others may write to");
        close(folder);
        return -1;
    }
    return folder;
}

int cache_folder_open(const char *below)
{
    struct cache_path path;

    if (!find_cache_path(below, &path)) {
        return -1;
    }
    int why = make_folders(path.base);
    int folder = keep_own(open_made(AT_FDCWD, path.base, why), &path);
    for (uint32_t i = 0; i < path.depth && folder >= 0; i++) {
        int above = folder;
        why = mkdirat(above, path.below[i], 0700) == 0 ? 0 : errno;
        folder = keep_own(open_made(above, path.below[i], why), &path);
        close(above);
    }
    return folder;
}

void cache_folder_close(int folder)
{
    if (folder >= 0) {
        close(folder);
    }
}

/* ---- files ---- */

/* Its content, as long as it was when it was opened; NULL: it is shorter. */
static uint8_t *read_all(int file, size_t bytes)
{
    uint8_t *data = malloc(bytes + 1);
    size_t done = 0;

    while (data && done < bytes) {
        ssize_t got = read(file, data + done, bytes - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            free(data);
            return NULL;
        }
        done += (size_t)got;
    }
    return data;
}

uint8_t *cache_folder_read(int folder, const char *name, size_t most, bool secret, size_t *bytes)
{
    /* Opening something else than a file must not wait. */
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    uint8_t *data = NULL;

    if (file < 0) {
        return NULL;
    }
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && is_own(&info, OTHERS_WRITE | (secret ? OTHERS_READ : 0)) &&
        info.st_size > 0 && (uint64_t)info.st_size <= most) {
        *bytes = (size_t)info.st_size;
        data = read_all(file, *bytes);
        (void)futimens(file, NULL); /* its age is that of its last use */
    }
    close(file);
    return data;
}

static bool write_part(int file, const struct cache_folder_part *part)
{
    for (size_t done = 0; done < part->bytes;) {
        ssize_t put = write(file, (const uint8_t *)part->at + done, part->bytes - done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

/* A file that nobody else has. */
static int make_new(int folder, char name[NEW_NAME_BYTES])
{
    uint64_t random = 0;

    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        return -1;
    }
    snprintf(name, NEW_NAME_BYTES, ".new-%016llx", (unsigned long long)random);
    return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool cache_folder_write(int folder, const char *name, const struct cache_folder_part *parts, uint32_t count)
{
    char new[NEW_NAME_BYTES];
    int file = make_new(folder, new);
    bool written = file >= 0;

    if (file < 0) {
        struct cache_path path;
        int why = errno;
        if (find_cache_path("", &path)) {
            say_once(path.base, strerror(why));
        }
        return false;
    }
    for (uint32_t i = 0; i < count && written; i++) {
        written = write_part(file, &parts[i]);
    }
    written &= close(file) == 0;
    if (!written || renameat(folder, new, folder, name) != 0) {
        (void)unlinkat(folder, new, 0);
        return false;
    }
    return true;
}
