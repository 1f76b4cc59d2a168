/* SPDX-License-Identifier: MIT */
/*
 * Starts ppu-foreign: a process of its own in which LLVM reads modules that this installation has not compiled, so that
 * a crash harms nobody else. What it is given and what it gives back are files without names:
 *
 *   request, its standard input: struct foreign_request, uint64_t bytes[modules], the modules one behind the other
 *   answer, its standard output: struct foreign_answer, what was made, the log without a final zero; the structure is
 *   written last: without it there is no answer
 *
 * The program writes the request and believes nothing of the answer; neither is kept.
 */
#ifndef COMPILER_FOREIGN_FOREIGN_H
#define COMPILER_FOREIGN_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "compiler/ppu_compiler.h"

#define FOREIGN_MAGIC 0x46555050u /* "PPUF" */
#define FOREIGN_VERSION 1u
#define FOREIGN_MOST_MODULES 1024u
#define FOREIGN_MOST_BYTES ((size_t)64 << 20) /* of a request, and of an answer */

/* Limits of the process. */
#define FOREIGN_MEMORY_BYTES ((uint64_t)2 << 30)
#define FOREIGN_CPU_S 60u

#define FOREIGN_UNCONFINED 3 /* exit status: it could not give up its rights, and has read nothing */

enum foreign_make {
    FOREIGN_IMAGE = 1,   /* all modules as a program image */
    FOREIGN_LIBRARY = 2, /* all modules as one */
};

struct foreign_request {
    uint32_t magic, version;
    uint32_t make; /* enum foreign_make */
    uint32_t wave;
    uint32_t modules; /* 1 to FOREIGN_MOST_MODULES */
    uint32_t reserved;
};

struct foreign_answer {
    uint32_t magic, version;
    uint32_t status; /* enum ppu_compile_status */
    uint32_t reserved;
    uint64_t made_bytes, log_bytes;
};

/* The modules, within the request's bytes. False: it is malformed. */
static inline bool foreign_read_request(const uint8_t *at, size_t bytes, struct foreign_request *request,
                                        struct ppu_compile_module modules[FOREIGN_MOST_MODULES])
{
    if (bytes < sizeof(*request)) {
        return false;
    }
    memcpy(request, at, sizeof(*request));
    if (request->magic != FOREIGN_MAGIC || request->version != FOREIGN_VERSION || request->modules == 0 ||
        request->modules > FOREIGN_MOST_MODULES ||
        (request->make != FOREIGN_IMAGE && request->make != FOREIGN_LIBRARY) ||
        bytes - sizeof(*request) < request->modules * sizeof(uint64_t)) {
        return false;
    }
    const uint8_t *sizes = at + sizeof(*request), *next = sizes + request->modules * sizeof(uint64_t);
    size_t left = bytes - (size_t)(next - at);
    for (uint32_t i = 0; i < request->modules; i++) {
        uint64_t size;
        memcpy(&size, sizes + i * sizeof(size), sizeof(size));
        if (size > left) {
            return false;
        }
        modules[i] = (struct ppu_compile_module){ next, (size_t)size };
        next += size;
        left -= (size_t)size;
    }
    return left == 0;
}

/* False: there is none, or it is malformed. What was made is behind it, then the log. */
static inline bool foreign_read_answer(const uint8_t *at, size_t bytes, struct foreign_answer *answer)
{
    if (bytes < sizeof(*answer)) {
        return false;
    }
    memcpy(answer, at, sizeof(*answer));
    size_t left = bytes - sizeof(*answer);
    return answer->magic == FOREIGN_MAGIC && answer->version == FOREIGN_VERSION &&
           answer->status <= PPU_COMPILE_NO_MEMORY && answer->made_bytes <= left &&
           answer->log_bytes == left - answer->made_bytes &&
           (answer->status == PPU_COMPILE_OK) == (answer->made_bytes != 0);
}

#endif
