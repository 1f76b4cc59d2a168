/* SPDX-License-Identifier: MIT */
#include "tools/progress/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define FIRST_S 2
#define COLUMNS_LEAST 20
#define COLUMNS_USUAL 80

static struct {
    pthread_mutex_t lock; /* of `ended` */
    pthread_cond_t end;
    pthread_t thread;
    bool begun, ended;
    char text[256];
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_wanted(void)
{
    const char *terminal = getenv("TERM");

    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

/* A longer line would go on in the next one, and stay there. */
static int columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > COLUMNS_LEAST ? size.ws_col : COLUMNS_USUAL;
}

/* False: the time has come before the end. */
static bool await_end(const struct timespec *at)
{
    int error = 0;

    while (!progress.ended && error == 0) {
        error = pthread_cond_timedwait(&progress.end, &progress.lock, at);
    }
    return progress.ended;
}

static void *show_seconds(void *unused)
{
    struct timespec at;
    bool shown = false;
    char line[320];

    clock_gettime(CLOCK_MONOTONIC, &at);
    pthread_mutex_lock(&progress.lock);
    at.tv_sec += FIRST_S;
    for (long seconds = FIRST_S; !await_end(&at); seconds++, at.tv_sec++) {
        snprintf(line, sizeof(line), "%s, %ld s", progress.text, seconds);
        fprintf(stderr, "\r\033[K%.*s", columns() - 1, line);
        fflush(stderr);
        shown = true;
    }
    pthread_mutex_unlock(&progress.lock);
    if (shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    return unused;
}

static void make_condition(void)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.end, &attributes);
    pthread_condattr_destroy(&attributes);
    atexit(progress_end);
}

void progress_begin(const char *format, ...)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all, before;
    va_list arguments;

    if (progress.begun || !is_wanted()) {
        return;
    }
    pthread_once(&once, make_condition);
    va_start(arguments, format);
    vsnprintf(progress.text, sizeof(progress.text), format, arguments);
    va_end(arguments);
    progress.ended = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the command's own thread */
    progress.begun = pthread_create(&progress.thread, NULL, show_seconds, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_end(void)
{
    if (!progress.begun) {
        return;
    }
    pthread_mutex_lock(&progress.lock);
    progress.ended = true;
    pthread_cond_signal(&progress.end);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    progress.begun = false;
}
