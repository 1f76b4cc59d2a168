/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "qemu-device/remote/client_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * Memory files alone: an access to another may wait for whoever serves it, or for room on a disk. Files of huge pages
 * have no writes, and a hole in one that cannot be filled ends the process.
 */
static int check_kind(int fd, struct stat *status)
{
    struct statfs fs;

    if (fstat(fd, status) != 0 || fstatfs(fd, &fs) != 0) {
        return errno;
    }
    return S_ISREG(status->st_mode) && fs.f_type == TMPFS_MAGIC ? 0 : ENODEV;
}

static int check_mode(int fd, bool *writable)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || (flags & O_PATH) != 0) {
        return EACCES;
    }
    int seals = fcntl(fd, F_GET_SEALS);
    *writable = (flags & O_ACCMODE) == O_RDWR && (seals < 0 || (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0);
    return 0;
}

static bool is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

/* The file, moved to the front; NULL: it is new. */
static struct client_file *find_file(struct client_files *files, const struct stat *status, bool writable)
{
    for (struct client_file **link = &files->first; *link; link = &(*link)->next) {
        struct client_file *file = *link;
        bool grown = file->mapped && file->bytes < (uint64_t)status->st_size;
        if (file->device == status->st_dev && file->inode == status->st_ino && file->writable == writable && !grown) {
            *link = file->next;
            file->next = files->first;
            files->first = file;
            return file;
        }
    }
    return NULL;
}

/* False with errno. */
static bool reach_file(struct client_file *file, int fd)
{
    if (!is_sealed(fd) || file->bytes == 0) {
        file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        return file->fd >= 0;
    }
    int protection = file->writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *mapped = mmap(NULL, file->bytes, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (mapped == MAP_FAILED) {
        return false;
    }
    madvise(mapped, file->bytes, MADV_DONTDUMP);
    file->mapped = mapped;
    return true;
}

static struct client_file *add_file(struct client_files *files, int fd, const struct stat *status, bool writable,
                                    int *error)
{
    struct client_file *file = files->count < CLIENT_FILES_MAX ? calloc(1, sizeof(*file)) : NULL;

    if (!file) {
        *error = ENOSPC;
        return NULL;
    }
    file->device = status->st_dev;
    file->inode = status->st_ino;
    file->writable = writable;
    file->bytes = (uint64_t)status->st_size;
    file->fd = -1;
    if (!reach_file(file, fd)) {
        *error = errno;
        free(file);
        return NULL;
    }
    file->next = files->first;
    files->first = file;
    files->count++;
    return file;
}

struct client_file *client_file_get(struct client_files *files, int fd, int *error)
{
    struct stat status;
    bool writable = false;

    *error = check_kind(fd, &status);
    *error = *error != 0 ? *error : check_mode(fd, &writable);
    if (*error != 0) {
        return NULL;
    }
    struct client_file *file = find_file(files, &status, writable);
    file = file ? file : add_file(files, fd, &status, writable, error);
    if (file) {
        file->users++;
    }
    return file;
}

void client_file_put(struct client_files *files, struct client_file *file)
{
    if (--file->users > 0) {
        return;
    }
    struct client_file **link = &files->first;
    while (*link != file) {
        link = &(*link)->next;
    }
    *link = file->next;
    files->count--;
    if (file->mapped) {
        munmap(file->mapped, file->bytes);
    } else {
        close(file->fd);
    }
    free(file);
}

bool client_file_has(const struct client_file *file, uint64_t offset, uint64_t bytes)
{
    return !file->mapped || (offset <= file->bytes && bytes <= file->bytes - offset);
}

bool client_file_read(const struct client_file *file, uint64_t offset, void *buf, uint32_t bytes)
{
    if (file->mapped) {
        memcpy(buf, file->mapped + offset, bytes);
        return true;
    }
    return pread(file->fd, buf, bytes, (off_t)offset) == (ssize_t)bytes;
}

bool client_file_write(const struct client_file *file, uint64_t offset, const void *buf, uint32_t bytes)
{
    if (file->mapped) {
        memcpy(file->mapped + offset, buf, bytes);
        return true;
    }
    return pwrite(file->fd, buf, bytes, (off_t)offset) == (ssize_t)bytes;
}
