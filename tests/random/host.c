/* SPDX-License-Identifier: MIT */
/*
 * random-host SOURCE LIBRARY RESULTS: runs random programs as the host's own code. Clang has compiled SOURCE, with
 * host.cl before it, into LIBRARY. Work-items of a group are coroutines that take turns at barriers.
 */
#define _GNU_SOURCE
#include "tests/random/launch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK_BYTES (256u << 10)

typedef void (*kernel)(const uint32_t *in, uint32_t *out, uint32_t *sums, uint32_t uniform);

struct item {
    ucontext_t context;
    void *stack;
    int ended;
};

/* What the program that runs sees of its launch. */
static struct {
    const struct launch *launch;
    kernel function;
    const uint32_t *in;
    uint32_t *out, *sums;
    uint32_t group, item;
    struct item *items;
    ucontext_t scheduler;
} now;

/* host.cl calls these. */
uint32_t host_group(void);
uint32_t host_item(uint32_t dimension);
uint32_t host_size(uint32_t dimension);
uint32_t host_groups(void);
void host_barrier(void);

uint32_t host_group(void)
{
    return now.group;
}

uint32_t host_item(uint32_t dimension)
{
    return dimension == 0 ? now.item % now.launch->x : now.item / now.launch->x;
}

uint32_t host_size(uint32_t dimension)
{
    return dimension == 0 ? now.launch->x : now.launch->y;
}

uint32_t host_groups(void)
{
    return now.launch->groups;
}

void host_barrier(void)
{
    swapcontext(&now.items[now.item].context, &now.scheduler);
}

static void run_item(void)
{
    now.function(now.in, now.out, now.sums, now.launch->uniform);
    now.items[now.item].ended = 1;
}

static void start_item(struct item *item)
{
    getcontext(&item->context);
    item->context.uc_stack = (stack_t){ .ss_sp = item->stack, .ss_size = STACK_BYTES };
    item->context.uc_link = &now.scheduler;
    item->ended = 0;
    makecontext(&item->context, run_item, 0);
}

static void run_group(uint32_t size)
{
    uint32_t left = size;

    for (uint32_t i = 0; i < size; i++) {
        start_item(&now.items[i]);
    }
    while (left != 0) {
        left = 0;
        for (now.item = 0; now.item < size; now.item++) {
            if (!now.items[now.item].ended) {
                swapcontext(&now.scheduler, &now.items[now.item].context);
                left += !now.items[now.item].ended;
            }
        }
    }
}

static void run(const struct launch *launch, kernel function, uint32_t *results)
{
    uint32_t size = launch->x * launch->y, *in = calloc(launch->items, sizeof(*in));

    now.items = calloc(size, sizeof(*now.items));
    if (!in || !now.items) {
        exit(EXIT_FAILURE);
    }
    for (uint32_t i = 0; i < size; i++) {
        if (!(now.items[i].stack = malloc(STACK_BYTES))) {
            exit(EXIT_FAILURE);
        }
    }
    launch_input(launch, in);
    now.launch = launch;
    now.function = function;
    now.in = in;
    now.out = results;
    now.sums = results + (size_t)launch->items * LAUNCH_RESULTS;
    for (now.group = 0; now.group < launch->groups; now.group++) {
        run_group(size);
    }
    for (uint32_t i = 0; i < size; i++) {
        free(now.items[i].stack);
    }
    free(now.items);
    free(in);
}

int main(int argc, char **argv)
{
    size_t words = 0;

    if (argc != 4) {
        fputs("usage: random-host SOURCE LIBRARY RESULTS\n", stderr);
        return EXIT_FAILURE;
    }
    char *source = launch_read(argv[1]);
    struct launches launches = launch_find(source);
    void *library = dlopen(argv[2], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "random-host: %s\n", dlerror());
        return EXIT_FAILURE;
    }
    for (uint32_t i = 0; i < launches.count; i++) {
        words += launch_words(&launches.at[i]);
    }
    uint32_t *results = calloc(words + 1, sizeof(*results)), *at = results;
    for (uint32_t i = 0; results && i < launches.count; i++) {
        kernel function;
        *(void **)&function = dlsym(library, launches.at[i].name);
        if (!function) {
            fprintf(stderr, "random-host: %s\n", dlerror());
            free(results);
            return EXIT_FAILURE;
        }
        run(&launches.at[i], function, at);
        at += launch_words(&launches.at[i]);
    }
    if (!results) {
        return EXIT_FAILURE;
    }
    launch_write(argv[3], results, words);
    free(results);
    free(launches.at);
    free(source);
    return EXIT_SUCCESS;
}
