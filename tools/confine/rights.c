/* SPDX-License-Identifier: MIT */
/* Gives up namespaces and capabilities. */
#define _GNU_SOURCE
#include "tools/confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text, int length)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);

    if (file < 0) {
        return false;
    }
    bool written = write(file, text, (size_t)length) == length;
    close(file);
    return written;
}

/* The user stays who he is. */
static void map_self(unsigned user, unsigned group)
{
    char text[64];

    (void)write_file("/proc/self/setgroups", "deny", 4);
    (void)write_file("/proc/self/uid_map", text, snprintf(text, sizeof(text), "%u %u 1", user, user));
    (void)write_file("/proc/self/gid_map", text, snprintf(text, sizeof(text), "%u %u 1", group, group));
}

/*
 * Without the right to make one, a namespace of users gives it; where the administrator does not allow that, there is
 * still the filter, which lets no sockets be made but those of files.
 */
static void leave_network(void)
{
    const unsigned user = geteuid(), group = getegid();

    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
        map_self(user, group);
    }
}

static const char *drop_capabilities(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[2] = { { 0 } };

    for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
        (void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* who may not has none that could come back either */
    }
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &head, none) == 0 ? NULL : "capabilities cannot be dropped";
}

const char *confine_rights(bool tcp)
{
    int signal = 0;

    (void)prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0);
    if (!tcp) {
        leave_network();
    }
    const char *failed = drop_capabilities();
    if (failed) {
        return failed;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return "new privileges cannot be given up";
    }
    (void)prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0); /* other credentials have cleared it */
    return NULL;
}
