/* SPDX-License-Identifier: MIT */
#include "tests/firmware/orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/base.h"
#include "tests/firmware/coroutine.h"
#include "tests/firmware/random.h"

#define STACK_BYTES (64u * PPU_KIB)
#define STEPS_MAX 4096u

struct actor {
    void (*run)(void);
    bool (*ready)(void); /* NULL: it can go on */
    bool done;
    struct coroutine coroutine;
};

static struct actor actors[ORDERS_ACTORS];
static uint32_t actor_count;
static struct actor *current;
static struct coroutine scheduler;
static _Alignas(16) char stacks[ORDERS_ACTORS][STACK_BYTES];

/* Which of those that could go on had each turn, and how many they were. */
static uint8_t choice[STEPS_MAX];
static uint8_t choices[STEPS_MAX];

void orders_step(void)
{
    orders_wait(NULL);
}

void orders_wait(bool (*ready)(void))
{
    if (current) {
        current->ready = ready;
        coroutine_switch(&current->coroutine, &scheduler);
    }
}

bool orders_running(void)
{
    return current;
}

bool orders_others_done(void)
{
    for (uint32_t i = 0; i < actor_count; i++) {
        if (&actors[i] != current && !actors[i].done) {
            return false;
        }
    }
    return true;
}

static void enter(void)
{
    current->run();
    current->done = true;
    coroutine_switch(&current->coroutine, &scheduler);
}

static void actor_begin(struct actor *actor, void (*run)(void))
{
    actor->run = run;
    actor->ready = NULL;
    actor->done = false;
    coroutine_begin(&actor->coroutine, stacks[actor - actors], STACK_BYTES, enter);
}

static uint32_t find_ready(struct actor *ready[ORDERS_ACTORS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < actor_count; i++) {
        if (!actors[i].done && (!actors[i].ready || actors[i].ready())) {
            ready[count++] = &actors[i];
        }
    }
    return count;
}

/* One order: choice[] says it, or with a seed chance, which is kept there. Returns its steps. */
static uint32_t run(const struct orders *orders, uint64_t *seed)
{
    struct actor *ready[ORDERS_ACTORS];
    current = NULL;
    orders->begin();
    for (actor_count = 0; actor_count < ORDERS_ACTORS && orders->actors[actor_count]; actor_count++) {
        actor_begin(&actors[actor_count], orders->actors[actor_count]);
    }
    for (uint32_t step = 0;; step++) {
        uint32_t count = find_ready(ready);
        if (count == 0) {
            orders->end();
            return step;
        }
        assert_true(step < STEPS_MAX);
        choices[step] = (uint8_t)count;
        if (seed) {
            choice[step] = (uint8_t)random_below(seed, count);
        }
        current = ready[choice[step]];
        coroutine_switch(&scheduler, &current->coroutine);
        current = NULL;
    }
}

/* The next order, depth first; false: all have been. */
static bool next_order(uint32_t steps)
{
    while (steps-- > 0) {
        if (++choice[steps] < choices[steps]) {
            return true;
        }
        choice[steps] = 0;
    }
    return false;
}

uint32_t orders_all(const struct orders *orders)
{
    uint32_t count = 1;
    memset(choice, 0, sizeof(choice));
    while (next_order(run(orders, NULL))) {
        count++;
    }
    print_message("# %u orders\n", count);
    return count;
}

void orders_random(const struct orders *orders, uint32_t count)
{
    uint64_t seed = random_seed();
    for (uint32_t i = 0; i < count; i++) {
        run(orders, &seed);
    }
}
