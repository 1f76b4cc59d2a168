/* SPDX-License-Identifier: MIT */
/*
 * Lets functions of one thread take turns, each on a stack of its own. A turn costs no system call, which swapcontext()
 * makes for the mask of signals: all have the same.
 */
#ifndef TESTS_FIRMWARE_COROUTINE_H
#define TESTS_FIRMWARE_COROUTINE_H

#include <stddef.h>

#ifdef __x86_64__
struct coroutine {
    void *sp; /* what it left on its stack: callee-saved registers, then where it goes on */
};
#else
#include <ucontext.h>

struct coroutine {
    ucontext_t context;
};
#endif

/*
 * The first switch to it calls `run`, which must not return. The stack is the caller's: aligned to 16 bytes, `bytes` a
 * multiple of 16. One that has not ended may begin anew.
 */
void coroutine_begin(struct coroutine *coroutine, void *stack, size_t bytes, void (*run)(void));

/* Keeps in `from` where the caller is, and goes on with `to`. It returns when another switches to `from`. */
void coroutine_switch(struct coroutine *from, struct coroutine *to);

#endif
