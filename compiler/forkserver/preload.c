/* SPDX-License-Identifier: MIT */
/* Turns a program that it is preloaded into to a server that forks for each run (forkserver.h). */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/forkserver/forkserver.h"

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_function program_main;

struct run {
    pid_t pid; /* of a process that has not been waited for */
    int socket;
};

static struct run runs[FORKSERVER_MOST_RUNS];
static uint32_t run_count;

/* ---- a run ---- */

/* Arguments, NULL, variables, NULL, all in `text`; NULL: that is not what forkserver.h says. */
static char **list_words(char *text, size_t bytes, const struct forkserver_words *counts)
{
    const size_t words = (size_t)counts->arguments + counts->variables;
    char *at = text + sizeof(*counts);
    char **list = counts->arguments > 0 && words <= bytes ? calloc(words + 2, sizeof(char *)) : NULL;

    for (size_t i = 0; list && i < words; i++) {
        if (at >= text + bytes) {
            free(list);
            return NULL;
        }
        list[i < counts->arguments ? i : i + 1] = at;
        at += strlen(at) + 1;
    }
    return list;
}

/* The words of a run, which stay until the process ends. NULL: the file is not what forkserver.h says. */
static char **read_words(int file, struct forkserver_words *counts)
{
    static char *text;
    struct stat info;

    if (fstat(file, &info) != 0 || info.st_size < (off_t)sizeof(*counts) ||
        (size_t)info.st_size > FORKSERVER_MOST_BYTES) {
        return NULL;
    }
    const size_t bytes = (size_t)info.st_size;
    text = malloc(bytes + 1);
    if (!text || pread(file, text, bytes, 0) != (ssize_t)bytes) {
        return NULL;
    }
    text[bytes] = 0;
    memcpy(counts, text, sizeof(*counts));
    return list_words(text, bytes, counts);
}

/* In the copy, which has only what its request has brought. */
static int run_program(const int files[FORKSERVER_FILES], pid_t server)
{
    struct forkserver_words counts;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != server) {
        _exit(FORKSERVER_NOT_RUN);
    }
    for (uint32_t i = 0; i < run_count; i++) {
        close(runs[i].socket);
    }
    close(FORKSERVER_FD);
    close(files[FORKSERVER_RUN]);
    char **words = read_words(files[FORKSERVER_WORDS], &counts);
    if (!words || fchdir(files[FORKSERVER_FOLDER]) != 0) {
        _exit(FORKSERVER_NOT_RUN);
    }
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (dup2(files[i], i) < 0) {
            _exit(FORKSERVER_NOT_RUN);
        }
    }
    for (int i = 0; i < FORKSERVER_FILES; i++) {
        close(files[i]);
    }
    environ = words + counts.arguments + 1;
    return program_main((int)counts.arguments, words, environ);
}

/* ---- the server ---- */

/* Who asked may have gone: nobody is told then. */
static void answer_run(int socket, int status)
{
    send(socket, &status, sizeof(status), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(socket);
}

/* Waits for what has ended, and tells. */
static void end_runs(void)
{
    for (uint32_t i = run_count; i-- > 0;) {
        int status = 0;
        if (waitpid(runs[i].pid, &status, WNOHANG) == runs[i].pid) {
            answer_run(runs[i].socket, status);
            runs[i] = runs[--run_count];
        }
    }
}

/* The files of the next request; false: none has come whole. `*gone`: nobody asks any more. */
static bool take_request(int files[FORKSERVER_FILES], bool *gone)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * FORKSERVER_FILES)];
    } control;
    char byte;
    struct iovec part = { &byte, sizeof(byte) };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
    };
    ssize_t got = recvmsg(FORKSERVER_FD, &message, MSG_DONTWAIT);
    struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

    *gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (!head || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(int) * FORKSERVER_FILES)) {
        return false;
    }
    memcpy(files, CMSG_DATA(head), sizeof(int) * FORKSERVER_FILES);
    return true;
}

/* True in the copy, which is to run the program with these. */
static bool start_run(const int files[FORKSERVER_FILES])
{
    const pid_t pid = fork();

    if (pid == 0) {
        return true;
    }
    if (pid > 0) {
        runs[run_count++] = (struct run){ pid, files[FORKSERVER_RUN] };
    }
    for (int i = 0; i < FORKSERVER_FILES; i++) {
        if (pid < 0 || i != FORKSERVER_RUN) { /* closed without an answer: it could not be started */
            close(files[i]);
        }
    }
    return false;
}

/* Waits for requests, ends of runs, and ends of those who wait for them. False: there was nothing for too long. */
static bool await(bool *asked)
{
    struct pollfd files[FORKSERVER_MOST_RUNS + 1];
    const struct timespec idle = { FORKSERVER_IDLE_MS / 1000, FORKSERVER_IDLE_MS % 1000 * 1000000L };
    sigset_t none;

    sigemptyset(&none);
    for (uint32_t i = 0; i < run_count; i++) {
        files[i] = (struct pollfd){ runs[i].socket, 0, 0 };
    }
    files[run_count] = (struct pollfd){ run_count < FORKSERVER_MOST_RUNS ? FORKSERVER_FD : -1, POLLIN, 0 };
    int ready = ppoll(files, run_count + 1, run_count == 0 ? &idle : NULL, &none);
    *asked = ready > 0 && files[run_count].revents != 0;
    for (uint32_t i = 0; i < run_count && ready > 0; i++) {
        if (files[i].revents & (POLLHUP | POLLERR)) {
            kill(runs[i].pid, SIGKILL);
        }
    }
    return ready != 0;
}

static void note_end(int number)
{
    (void)number; /* it ends ppoll() */
}

/* SIGCHLD comes in ppoll() alone. */
static void hear_ends(bool hear)
{
    const struct sigaction action = { .sa_handler = hear ? note_end : SIG_DFL };
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigaction(SIGCHLD, &action, NULL);
    sigprocmask(hear ? SIG_BLOCK : SIG_UNBLOCK, &ends, NULL);
}

/* Ends all runs: who is gone has closed their sockets too, and waits for none of them. */
static void end_server(void)
{
    for (uint32_t i = 0; i < run_count; i++) {
        kill(runs[i].pid, SIGKILL);
    }
    _exit(EXIT_SUCCESS);
}

static int serve(int count, char **words, char **variables)
{
    const pid_t parent = fork();
    int files[FORKSERVER_FILES];
    bool gone = false, asked = false;

    (void)count;
    (void)words;
    (void)variables;
    if (parent != 0) {
        _exit(parent > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    const pid_t server = getpid();
    hear_ends(true);
    while (!gone && await(&asked)) {
        end_runs();
        if (asked && take_request(files, &gone) && start_run(files)) {
            hear_ends(false);
            return run_program(files, server);
        }
    }
    end_server();
    return EXIT_FAILURE;
}

/* ---- the beginning ---- */

static bool is_server(void)
{
    struct stat info;

    return getenv(FORKSERVER_VARIABLE) && fstat(FORKSERVER_FD, &info) == 0 && S_ISSOCK(info.st_mode);
}

/* The C library's, which calls main(). ISO C has no cast from an object's address to a function's. */
int __libc_start_main(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
int __libc_start_main(main_function main, int count, char **words, void (*init)(void), void (*end)(void),
                      void (*linker_end)(void), void *stack)
{
    void *found = dlsym(RTLD_NEXT, "__libc_start_main");
    start_function start;

    memcpy(&start, &found, sizeof(start));
    program_main = main;
    return start(is_server() ? serve : main, count, words, init, end, linker_end, stack);
}
