/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the files that a client's memory lies in. Each is mapped once, however many descriptors of it come.
 *
 * The client may do to its files what it likes, so a file is mapped only when it is sealed against shrinking. Others
 * are reached by system calls, which fail where the mapping would end the process.
 */
#ifndef QEMU_DEVICE_REMOTE_CLIENT_FILE_H
#define QEMU_DEVICE_REMOTE_CLIENT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CLIENT_FILES_MAX 256u /* a virtual machine has one for each kind of its memory */

struct client_file {
    struct client_file *next;
    dev_t device;
    ino_t inode;
    bool writable;
    int fd;          /* -1: mapped */
    uint8_t *mapped; /* NULL: not */
    uint64_t bytes;  /* mapped */
    uint32_t users;
};

/* Zeros at first. */
struct client_files {
    struct client_file *first; /* the one that was asked for last */
    uint32_t count;
};

/*
 * The file of a descriptor, which is the caller's to close, for one more user; NULL: `*error` is a number of errno.
 * [offset, offset + bytes) is in the file, or will not be reached.
 */
struct client_file *client_file_get(struct client_files *files, int fd, int *error);
void client_file_put(struct client_files *files, struct client_file *file);
/* Whether a mapped file has these bytes; others are looked at by each access. */
bool client_file_has(const struct client_file *file, uint64_t offset, uint64_t bytes);
bool client_file_read(const struct client_file *file, uint64_t offset, void *buf, uint32_t bytes);
bool client_file_write(const struct client_file *file, uint64_t offset, const void *buf, uint32_t bytes);

#endif
