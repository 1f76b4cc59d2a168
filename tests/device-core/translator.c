/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* descriptors that are closed at an execution */
#endif
#include "tests/device-core/translator.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROGRAM "build/plain/tools/ppu-translator"
#define THERE 3 /* its descriptor of the socket */

int translator_start(const char *module, pid_t *pid)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    pid_t own;
    char program[] = PROGRAM, option[] = "--module", socket[] = "--socket", number[12], path[4096];
    char *const arguments[] = { program, option, path, socket, number, NULL };

    snprintf(number, sizeof(number), "%d", THERE);
    snprintf(path, sizeof(path), "%s", module);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        abort();
    }
    /* A descriptor that already has the number would keep its flag, and be closed. */
    const int far = fcntl(ends[1], F_DUPFD_CLOEXEC, THERE + 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, far, THERE);
    if (far < 0 || posix_spawn(pid ? pid : &own, PROGRAM, &actions, NULL, arguments, environ) != 0) {
        abort();
    }
    posix_spawn_file_actions_destroy(&actions);
    close(far);
    close(ends[1]);
    return ends[0];
}
