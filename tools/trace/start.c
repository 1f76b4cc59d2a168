/* SPDX-License-Identifier: MIT */
#include "tools/trace/start.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trace/message.h"

#define STATUS_NOT_RUN 126
#define STATUS_NOT_FOUND 127
#define STANDARD_FILES 3

static _Noreturn void execute_program(const struct start *start)
{
    if (start->ignores_interrupts) {
        setpgid(0, 0);
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; start->files && i < STANDARD_FILES; i++) {
        dup2(start->files[i], i);
    }
    for (uint32_t i = 0; i < start->variables; i++) {
        const struct start_variable *variable = &start->variable[i];
        if (variable->value) {
            setenv(variable->name, variable->value, 1);
        } else {
            unsetenv(variable->name);
        }
    }
    if (start->folder && chdir(start->folder) != 0) {
        message_print("execute %s: enter %s: %s", start->program[0], start->folder, strerror(errno));
        _exit(STATUS_NOT_RUN);
    }
    execvp(start->program[0], start->program);
    int reason = errno;
    message_print("execute %s: %s", start->program[0], strerror(reason));
    _exit(reason == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
}

pid_t start_program(const struct start *start)
{
    pid_t pid = fork();

    if (pid == 0) {
        execute_program(start);
    }
    return pid;
}
