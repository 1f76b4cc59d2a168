/* SPDX-License-Identifier: MIT */
/* Starts the program that a tool watches or debugs. */
#ifndef TOOLS_TRACE_START_H
#define TOOLS_TRACE_START_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct start_variable {
    const char *name;
    const char *value; /* NULL: the program does not get it */
};

struct start {
    char *const *program;
    const char *folder; /* where it begins; NULL: where the tool is */
    const struct start_variable *variable;
    uint32_t variables;
    const int *files;        /* its standard input, output and error; NULL: the tool's */
    bool ignores_interrupts; /* it is a process group of its own: a ^C is the tool's alone */
};

/* The process; -1 and errno. One that cannot be executed says so and ends with status 126, or 127: it was not found. */
pid_t start_program(const struct start *start);

#endif
