/* SPDX-License-Identifier: MIT */
#include "tests/firmware/coroutine.h"

#include <stdint.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(stack, bytes) ((void)(stack), (void)(bytes))
#endif

#ifdef __x86_64__
#define SAVED 6u /* registers */

void coroutine_swap(void **from, void *to);

__asm__(".text\n"
        ".type coroutine_swap, @function\n"
        "coroutine_swap:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size coroutine_swap, . - coroutine_swap\n");

/* From the top: no return address, as after a call; where it goes on; registers. */
static void *first_frame(char *stack, size_t bytes, void (*run)(void))
{
    uint64_t *frame = (uint64_t *)(void *)(stack + bytes) - SAVED - 2;

    memset(frame, 0, (SAVED + 2) * sizeof(*frame));
    frame[SAVED] = (uintptr_t)run;
    return frame;
}

void coroutine_begin(struct coroutine *coroutine, void *stack, size_t bytes, void (*run)(void))
{
    ASAN_UNPOISON_MEMORY_REGION(stack, bytes); /* calls that never ended */
    coroutine->sp = first_frame(stack, bytes, run);
}

void coroutine_switch(struct coroutine *from, struct coroutine *to)
{
    coroutine_swap(&from->sp, to->sp);
}

#else

void coroutine_begin(struct coroutine *coroutine, void *stack, size_t bytes, void (*run)(void))
{
    ASAN_UNPOISON_MEMORY_REGION(stack, bytes);
    getcontext(&coroutine->context);
    coroutine->context.uc_stack.ss_sp = stack;
    coroutine->context.uc_stack.ss_size = bytes;
    makecontext(&coroutine->context, run, 0);
}

void coroutine_switch(struct coroutine *from, struct coroutine *to)
{
    swapcontext(&from->context, &to->context);
}
#endif
