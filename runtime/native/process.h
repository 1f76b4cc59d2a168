/* SPDX-License-Identifier: MIT */
/* Runs a child process that ends with its parent. */
#ifndef RUNTIME_NATIVE_PROCESS_H
#define RUNTIME_NATIVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    int output; /* what it writes to its standard output and error, a file */
};

void process_init(struct process *process);
/*
 * Starts argv[0] with `inherited` descriptors open in it beside the standard ones.
 * False, with errno: it could not be started. It also ends when the calling thread does.
 */
bool process_start(struct process *process, char *const argv[], const int *inherited, uint32_t count);
/* True when it has ended, or does so within timeout_ns. */
bool process_ended(struct process *process, uint64_t timeout_ns);
/* Ends it, in peace within a second, else by force. */
void process_stop(struct process *process);
/* The end of what it has written, without control characters. */
void process_last_words(const struct process *process, char *text, size_t size);

#endif
