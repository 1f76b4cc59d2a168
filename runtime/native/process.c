/* SPDX-License-Identifier: MIT */
#include "runtime/native/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "runtime/privilege.h"

#define STOP_PATIENCE_NS NS_PER_S
#define LOOK_INTERVAL_NS NS_PER_MS

/* Only what may be done between fork and exec of a process with threads. */
static void become(char *const argv[], const int *inherited, uint32_t count, int output, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127); /* the parent has gone before it could take us along */
    }
    for (uint32_t i = 0; i < count; i++) {
        fcntl(inherited[i], F_SETFD, 0);
    }
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    if (is_privileged()) {
        static char *bare[] = { "PATH=/usr/bin:/bin", NULL };
        execve(argv[0], argv, bare);
    } else {
        execvp(argv[0], argv);
    }
    dprintf(STDERR_FILENO, "run %s: %s; PPU_RUN names another\n", argv[0], strerrordesc_np(errno));
    _exit(127);
}

void process_init(struct process *process)
{
    *process = (struct process){ .pid = 0, .output = -1 };
}

bool process_start(struct process *process, char *const argv[], const int *inherited, uint32_t count)
{
    pid_t parent = getpid();

    process->output = memfd_create("output", MFD_CLOEXEC);
    if (process->output < 0) {
        return false;
    }
    process->pid = fork();
    if (process->pid == 0) {
        become(argv, inherited, count, process->output, parent);
    }
    return process->pid > 0;
}

bool process_ended(struct process *process, uint64_t timeout_ns)
{
    uint64_t deadline_ns = deadline_after(timeout_ns);

    while (process->pid > 0) {
        pid_t ended = waitpid(process->pid, NULL, WNOHANG);
        if (ended == process->pid || (ended < 0 && errno == ECHILD)) {
            process->pid = 0;
        } else if (deadline_left(deadline_ns) == 0) {
            return false;
        } else {
            sleep_ns(LOOK_INTERVAL_NS);
        }
    }
    return true;
}

void process_stop(struct process *process)
{
    if (process->pid > 0 && !process_ended(process, 0)) {
        kill(process->pid, SIGTERM);
        if (!process_ended(process, STOP_PATIENCE_NS)) {
            kill(process->pid, SIGKILL);
            waitpid(process->pid, NULL, 0);
        }
    }
    if (process->output >= 0) {
        close(process->output);
    }
}

void process_last_words(const struct process *process, char *text, size_t size)
{
    off_t end = lseek(process->output, 0, SEEK_END);
    off_t start = end > (off_t)size - 1 ? end - ((off_t)size - 1) : 0;
    ssize_t got = pread(process->output, text, size - 1, start);

    text[PPU_MAX(got, 0)] = '\0';
    char *line = start > 0 ? strchr(text, '\n') : NULL;
    if (line && line[1] != '\0') {
        memmove(text, line + 1, strlen(line)); /* what begins in the middle of a line says little */
    }
    for (char *c = text; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    }
    for (size_t len = strlen(text); len > 0 && text[len - 1] == ' '; len--) {
        text[len - 1] = '\0';
    }
}
