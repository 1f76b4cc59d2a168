/* SPDX-License-Identifier: MIT */
/*
 * Makes programs of a small language from an input: variables, three-address statements, branches, loops with few
 * turns, memory of a thread and of its group. Each can be written as LLVM IR of an OpenCL kernel, and interpreted.
 */
#ifndef TESTS_FUZZ_PROGRAM_H
#define TESTS_FUZZ_PROGRAM_H

#include "tests/fuzz/input.h"

#define PROGRAM_THREADS 64u /* of the group, all there are */
#define PROGRAM_INTS 6u     /* variables of 32 bits: first these, */
#define PROGRAM_LONGS 2u    /* of 64, */
#define PROGRAM_FLOATS 2u   /* and floats */
#define PROGRAM_VARIABLES (PROGRAM_INTS + PROGRAM_LONGS + PROGRAM_FLOATS)
#define PROGRAM_PRIVATE 8u /* words of a thread's array */
#define PROGRAM_STATEMENTS 96u
#define PROGRAM_DEPTH 4u /* of branches and loops */
#define PROGRAM_TURNS 4u /* of a loop, at most */

enum program_kind {
    PROGRAM_ASSIGN,
    PROGRAM_PUT, /* a word of the thread's array */
    PROGRAM_GET,
    PROGRAM_LOAD,     /* a word of the kernel's input */
    PROGRAM_EXCHANGE, /* through memory of the group, between barriers; outside of all branches */
    PROGRAM_IF,       /* statements up to ELSE or END */
    PROGRAM_LOOP,     /* statements up to END, a number of times that differs among threads */
    PROGRAM_BREAK,    /* out of the innermost loop, if */
    PROGRAM_ELSE,
    PROGRAM_END,
};

struct program_statement {
    uint8_t kind; /* enum program_kind */
    uint8_t op;
    uint8_t to, a, b;  /* variables */
    uint32_t constant; /* in place of b when to_constant */
    bool to_constant;
    uint8_t other; /* IF: its ELSE or END; ELSE, LOOP: its END; END: its beginning; BREAK: its loop */
};

struct program {
    struct program_statement statement[PROGRAM_STATEMENTS];
    uint32_t count;
};

/* Every input is a program. */
void program_take(struct program *program, struct fuzz_input *input);
/* What the threads' variables are at the end, in the order of the variables, 8 bytes each. `in` has PROGRAM_THREADS
 * words. */
void program_interpret(const struct program *program, const uint32_t *in,
                       uint64_t out[PROGRAM_THREADS][PROGRAM_VARIABLES]);

/* Text of the module: kernel "k" of two arguments, where the variables go and `in`. malloc()ed. */
char *program_ir(const struct program *program);

/* What op does to 32-bit, 64-bit and float variables; kept beside the IR that says the same. */
#define PROGRAM_INT_OPS 18u
#define PROGRAM_FLOAT_OPS 4u

#endif
