/* SPDX-License-Identifier: MIT */
/*
 * Defines what a program and its fork server say to each other. The server is clang itself, started once with
 * ppu-forkserver.so preloaded: when the dynamic linker has loaded it and its libraries, a process stays that forks for
 * each run and calls main() in the copy. Loading is most of what a short run costs.
 *
 *   request: one byte over the server's socket (SOCK_SEQPACKET), with the descriptors of enum forkserver_file
 *   answer: one int over the run's own socket, its status as waitpid() says it, then its end
 *
 * A run whose socket's other end is closed is ended. The server ends when nobody has its socket any more, or when it
 * has had nothing to do for FORKSERVER_IDLE_MS. Its parent is not the program, whose wait() finds no child of it.
 */
#ifndef COMPILER_FORKSERVER_FORKSERVER_H
#define COMPILER_FORKSERVER_FORKSERVER_H

#include <stdint.h>

#define FORKSERVER_FD 3                         /* the server's end of the socket */
#define FORKSERVER_VARIABLE "PPU_FORK_SERVER"   /* is set where the process is to be a server */
#define FORKSERVER_NOT_RUN 125                  /* exit status: the copy could not become the run */
#define FORKSERVER_MOST_RUNS 64u                /* at a time; others wait in the socket */
#define FORKSERVER_MOST_BYTES ((size_t)1 << 24) /* of words */

#ifndef FORKSERVER_IDLE_MS
#define FORKSERVER_IDLE_MS 10000
#endif

/* What a request carries. */
enum forkserver_file {
    FORKSERVER_IN, /* the run's standard streams */
    FORKSERVER_OUT,
    FORKSERVER_ERR,
    FORKSERVER_WORDS,  /* struct forkserver_words and what follows it */
    FORKSERVER_FOLDER, /* the run's working directory */
    FORKSERVER_RUN,    /* the server's end of the run's socket */
    FORKSERVER_FILES,
};

/* Followed by the arguments and then the environment, each with its final zero. */
struct forkserver_words {
    uint32_t arguments, variables;
};

#endif
