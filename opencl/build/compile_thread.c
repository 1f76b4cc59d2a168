/* SPDX-License-Identifier: MIT */
#include "opencl/build/compile_thread.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SETTLE_S 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint32_t workers;

struct errand {
    void (*function)(void *opaque);
    void *opaque;
};

/* exit() takes LLVM's memory away: who still compiles then is waited for. */
static void await_workers(void)
{
    pthread_mutex_lock(&lock);
    while (workers > 0) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

void compile_thread_settle(void)
{
    struct timespec until;
    int waited = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SETTLE_S;
    pthread_mutex_lock(&lock);
    while (workers > 0 && waited == 0) {
        waited = pthread_cond_timedwait(&changed, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
}

static void await_at_exit(void)
{
    atexit(await_workers);
}

/* The C library has this. It calls the function when this thread ends, and in exit() before everything else. */
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library);

static void await_at_end(void *unused)
{
    (void)unused;
    await_workers();
}

/* The thread that the program began with is the one that most programs end with: then nothing comes before the wait. */
static void note_thread(void)
{
    static _Thread_local bool noted;

    if (!noted && gettid() == getpid()) {
        noted = __cxa_thread_atexit_impl(await_at_end, NULL, &lock) == 0;
    }
}

static void prepare(void)
{
    const struct compiler *compiler = compiler_get();

    if (compiler) {
        compiler->prepare();
        await_at_exit();
    }
}

/*
 * Where another thread ends the program, exit() does what was asked for last first. LLVM asks for its end when it is
 * loaded and used; so the wait must be asked for after that.
 */
const struct compiler *compile_thread_compiler(void)
{
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;

    pthread_once(&prepared, prepare);
    return compiler_get();
}

static void count(int by)
{
    pthread_mutex_lock(&lock);
    workers += (uint32_t)by;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *run_compile_thread(void *opaque)
{
    struct errand errand = *(struct errand *)opaque;

    free(opaque);
    errand.function(errand.opaque);
    count(-1);
    return NULL;
}

bool compile_thread_start(void (*function)(void *opaque), void *opaque)
{
    struct errand *errand = malloc(sizeof(*errand));
    pthread_t thread;

    if (!errand) {
        return false;
    }
    note_thread();
    *errand = (struct errand){ function, opaque };
    count(1);
    if (pthread_create(&thread, NULL, run_compile_thread, errand) != 0) {
        count(-1);
        free(errand);
        return false;
    }
    pthread_detach(thread);
    return true;
}
