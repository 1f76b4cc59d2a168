/* SPDX-License-Identifier: MIT */
#include "opencl/submit/service_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool threaded;
static struct errand *first;
static struct errand **last = &first;
static _Thread_local bool excused;

static void *run_service(void *unused)
{
    service_thread_excuse();
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!first) {
            pthread_cond_wait(&changed, &lock);
        }
        struct errand *errand = first;
        first = errand->next;
        last = !first ? &first : last;
        bool waited = errand->waited; /* one that is not may be gone when it has run */
        pthread_mutex_unlock(&lock);
        errand->run(errand);
        pthread_mutex_lock(&lock);
        if (waited) {
            errand->done = true;
            pthread_cond_broadcast(&changed);
        }
    }
    return unused;
}

static void start_service(void)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    threaded = pthread_create(&thread, NULL, run_service, NULL) == 0;
    if (threaded) {
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* False: there is no keeper. */
static bool post(struct errand *errand)
{
    pthread_once(&started, start_service);
    if (threaded) {
        errand->next = NULL;
        *last = errand;
        last = &errand->next;
        pthread_cond_broadcast(&changed);
    }
    return threaded;
}

void service_thread_post(struct errand *errand)
{
    errand->waited = false;
    pthread_mutex_lock(&lock);
    bool posted = post(errand);
    pthread_mutex_unlock(&lock);
    if (!posted) {
        errand->run(errand);
    }
}

void service_thread_call(struct errand *errand)
{
    errand->waited = true;
    errand->done = false;
    pthread_mutex_lock(&lock);
    bool posted = post(errand);
    while (posted && !errand->done) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    if (!posted) {
        errand->run(errand);
    }
}

static void do_nothing(struct errand *errand)
{
    (void)errand;
}

void service_thread_excuse(void)
{
    excused = true;
}

void service_thread_drain(void)
{
    struct errand errand = { .run = do_nothing };

    if (!excused) {
        service_thread_call(&errand);
    }
}
