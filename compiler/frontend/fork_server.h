/* SPDX-License-Identifier: MIT */
/*
 * Runs a program by a process that has loaded it already (forkserver.h). One server is kept for the process; several
 * threads may use it at a time. What cannot be run so is for the caller to start as ever.
 */
#ifndef COMPILER_FRONTEND_FORK_SERVER_H
#define COMPILER_FRONTEND_FORK_SERVER_H

#include <stdbool.h>
#include <stdint.h>

/* How a run went. */
struct fork_server_end {
    bool late;  /* it was ended after most_ms */
    int status; /* of waitpid() */
};

/*
 * Runs words[0], a path or a name in PATH, with these words, this process's environment and working directory, and
 * `files` as its standard streams. `library`: ppu-forkserver.so; `most_ms`: 0 is for ever. Returns when it has ended.
 * False: it has not run, or not to its end, and has left nothing but what it may have written.
 */
bool fork_server_run(const char *library, const char *const *words, const int files[3], uint32_t most_ms,
                     struct fork_server_end *end);

#endif
