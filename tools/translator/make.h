/* SPDX-License-Identifier: MIT */
/*
 * Makes code of a loop by LLVM. Each loop has a process of its own, which is forked when LLVM is loaded: what goes
 * wrong in it is the end of that process alone, and it can keep nothing.
 */
#ifndef TOOLS_TRANSLATOR_MAKE_H
#define TOOLS_TRANSLATOR_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "qemu-device/core/tier/request.h"
#include "qemu-device/core/tier/unit.h"

/* Code that is being made. */
struct making {
    pid_t pid;
    int from;          /* a pipe, readable when make_go_on() has something to do */
    uint64_t until_ms; /* of make_clock_ms(): it has failed then */
    const struct tier_unit *unit;
    struct tier_answer answer;
    uint8_t *code; /* answer.bytes; whose who has called make_go_on() to the end */
    size_t got;    /* of both */
};

/*
 * Starts a process that makes code of the unit, which the caller keeps until the end. The module is loaded the first
 * time. `always`: as TIER_ALWAYS. False: making->answer says why there is none.
 */
bool make_begin(struct making *making, const char *module, const struct tier_unit *unit, bool always);
/* True: the end, and what is in making->answer. It does not wait. */
bool make_go_on(struct making *making);
/* Nobody wants it any more. */
void make_abandon(struct making *making);
uint64_t make_clock_ms(void);

#endif
