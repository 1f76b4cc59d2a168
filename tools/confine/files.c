/* SPDX-License-Identifier: MIT */
/* Restricts files by Landlock. */
#define _GNU_SOURCE
#include "tools/confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Later kernels than that of the headers have these rights. */
#define ACCESS_TRUNCATE (1ull << 14)
#define ACCESS_IOCTL_DEV (1ull << 15)

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define MAKE_RIGHTS                                                                                 \
    (LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_MAKE_FIFO |     \
     LANDLOCK_ACCESS_FS_REFER)
#define WRITE_RIGHTS (READ_RIGHTS | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE | MAKE_RIGHTS)
#define SOCKET_RIGHTS LANDLOCK_ACCESS_FS_MAKE_SOCK
#define ALL_RIGHTS                                                                                                \
    (WRITE_RIGHTS | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
     ACCESS_IOCTL_DEV)
#define FILE_RIGHTS \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)

/* Rights that this kernel knows; 0: it has no Landlock. */
static uint64_t known_rights(void)
{
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    uint64_t rights = ALL_RIGHTS;

    if (abi < 1) {
        return 0;
    }
    rights &= abi < 2 ? ~(uint64_t)LANDLOCK_ACCESS_FS_REFER : UINT64_MAX;
    rights &= abi < 3 ? ~ACCESS_TRUNCATE : UINT64_MAX;
    return abi < 5 ? rights & ~ACCESS_IOCTL_DEV : rights;
}

static uint64_t rights_of(enum confine_access access)
{
    switch (access) {
    case CONFINE_READ:
        return READ_RIGHTS;
    case CONFINE_WRITE:
        return WRITE_RIGHTS;
    default:
        return SOCKET_RIGHTS;
    }
}

/* False: with errno. What is not there needs no rule. */
static bool allow(int rules, uint64_t known, const struct confine_path *path)
{
    struct landlock_path_beneath_attr beneath = { .allowed_access = rights_of(path->access) & known };
    struct stat status;

    beneath.parent_fd = open(path->path, O_PATH | O_CLOEXEC);
    if (beneath.parent_fd < 0) {
        return errno == ENOENT || errno == EACCES || errno == ENOTDIR;
    }
    if (fstat(beneath.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode)) {
        beneath.allowed_access &= FILE_RIGHTS;
    }
    bool added = beneath.allowed_access == 0 ||
                 syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
    /* A file without a place in any folder is not what the rules are about: memory of whoever started us. */
    added = added || errno == EBADFD;
    close(beneath.parent_fd);
    return added;
}

const char *confine_files(const struct confine_path *paths, size_t count)
{
    struct landlock_ruleset_attr attr = { .handled_access_fs = known_rights() };

    if (attr.handled_access_fs == 0) {
        return NULL;
    }
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (rules < 0) {
        return "Landlock: a set of rules";
    }
    for (size_t i = 0; i < count; i++) {
        if (!allow(rules, attr.handled_access_fs, &paths[i])) {
            return paths[i].path;
        }
    }
    if (syscall(SYS_landlock_restrict_self, rules, 0) != 0) {
        return "Landlock: its rules cannot be enforced";
    }
    close(rules);
    return NULL;
}
