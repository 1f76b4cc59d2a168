/* SPDX-License-Identifier: MIT */
/*
 * Runs orders of accesses: actors are coroutines that stop before every access to a word they share, and a test runs
 * every order of these accesses, or random ones.
 */
#ifndef TESTS_FIRMWARE_ORDERS_H
#define TESTS_FIRMWARE_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#define ORDERS_ACTORS 4u

/* `begin` makes the world anew, each actor runs once, and when none can go on `end` looks at what they have made. */
struct orders {
    void (*begin)(void);
    void (*actors[ORDERS_ACTORS])(void); /* NULL: fewer */
    void (*end)(void);
};

/* How many orders there were. */
uint32_t orders_all(const struct orders *orders);

void orders_random(const struct orders *orders, uint32_t count);

/* What SHARED_STEP (shared.h) calls: an actor stops here until it has its turn. Nobody else does. */
void orders_step(void);

/* The same, but it has no turn while `ready` says false. */
void orders_wait(bool (*ready)(void));

/* True in an actor. */
bool orders_running(void);

/* True when all actors but the one that asks have ended. */
bool orders_others_done(void);

#endif
