/* SPDX-License-Identifier: MIT */
#include "tools/trace/run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/trace/door.h"
#include "tools/trace/follow.h"
#include "tools/trace/message.h"
#include "tools/trace/start.h"

static volatile sig_atomic_t interrupted;

static void interrupt_seen(int number)
{
    interrupted = number;
}

void run_catch_signals(void)
{
    const struct sigaction stop = { .sa_handler = interrupt_seen };

    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
}

int run_interrupted(void)
{
    return interrupted;
}

static pid_t start_watched(const struct watch *watch, char **program, const struct door *door)
{
    const struct start_variable variable[] = { { "PPU_TRACE", door->path }, { "PPU_MCU_COUNTS", door->folder } };
    const struct start start = { .program = program, .variable = variable, .variables = watch->count_firmware ? 2 : 1 };

    return start_program(&start);
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int follow_program(struct watch *watch, struct door *door, pid_t pid)
{
    int status = 0;
    uint32_t count = 0, pause_ms = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        uint64_t until_ns = clock_now_ns() + RUN_WANTED_NS;
        if (interrupted == SIGTERM) {
            kill(pid, SIGTERM);
            interrupted = 0;
        }
        pause_ms = follow_pause_ms(pause_ms, count);
        door_serve(door, watch, (int)pause_ms, until_ns);
        count = watch_poll(watch, until_ns);
    }
    while (watch_poll(watch, 0) > 0) {
    }
    watch_profiles_left(watch);
    return status_of(status);
}

int run_program(struct watch *watch, char **program)
{
    struct door door;
    const char *what = door_open(&door);

    if (what) {
        int reason = errno;
        door_close(&door);
        message_fail("record %s: %s: %s", program[0], what, strerror(reason));
    }
    pid_t pid = start_watched(watch, program, &door);
    if (pid < 0) {
        int reason = errno;
        door_close(&door);
        message_fail("execute %s: %s", program[0], strerror(reason));
    }
    int status = follow_program(watch, &door, pid);
    if (watch->count_firmware) {
        watch_firmware_counts(watch, door.folder);
    }
    door_close(&door);
    return status;
}
