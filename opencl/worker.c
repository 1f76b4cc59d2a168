/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint32_t workers;

struct errand {
    void (*function)(void *opaque);
    void *opaque;
};

/* A process that ends takes LLVM's memory away: who still compiles then is waited for. */
__attribute__((destructor)) static void await_workers(void)
{
    pthread_mutex_lock(&lock);
    while (workers > 0) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void await_at_exit(void)
{
    atexit(await_workers);
}

/* LLVM ends itself at exit, the libraries that were loaded last first: the wait must be noted later than that. */
const struct compiler *worker_compiler(void)
{
    static pthread_once_t noted = PTHREAD_ONCE_INIT;
    const struct compiler *compiler = compiler_get();

    pthread_once(&noted, await_at_exit);
    return compiler;
}

static void count(int by)
{
    pthread_mutex_lock(&lock);
    workers += (uint32_t)by;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *run(void *opaque)
{
    struct errand errand = *(struct errand *)opaque;

    free(opaque);
    errand.function(errand.opaque);
    count(-1);
    return NULL;
}

bool worker_start(void (*function)(void *opaque), void *opaque)
{
    struct errand *errand = malloc(sizeof(*errand));
    pthread_t thread;

    if (errand == NULL) {
        return false;
    }
    *errand = (struct errand){ function, opaque };
    count(1);
    if (pthread_create(&thread, NULL, run, errand) != 0) {
        count(-1);
        free(errand);
        return false;
    }
    pthread_detach(thread);
    return true;
}
