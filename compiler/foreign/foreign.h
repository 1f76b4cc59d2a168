/* SPDX-License-Identifier: MIT */
/*
 * Starts ppu-foreign: a process of its own in which LLVM reads modules that this installation has not compiled, and
 * makes variants while programs run, so that a crash harms nobody else. What it is given and what it gives back are
 * files without names:
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
#include "ppu/limits.h"

#define FOREIGN_MAGIC 0x46555050u /* "PPUF" */
#define FOREIGN_VERSION 7u
#define FOREIGN_MOST_MODULES 1024u
#define FOREIGN_MOST_BYTES ((size_t)64 << 20) /* of a request, and of an answer */

/* Limits of the process. */
#define FOREIGN_MEMORY_BYTES ((uint64_t)2 << 30)
#define FOREIGN_CPU_S 60u

#define FOREIGN_UNCONFINED 3 /* exit status: it could not give up its rights, and has read nothing */

/*
 * With a path behind its name, ppu-foreign becomes the translator of SPIR-V that is there. The module is its standard
 * input, bitcode its output.
 */
#define FOREIGN_TRANSLATOR_WORDS 2
#define FOREIGN_NO_TRANSLATOR 4 /* exit status: the translator cannot be executed */

enum foreign_make {
    FOREIGN_IMAGE = 1,   /* all modules as a program image */
    FOREIGN_LIBRARY = 2, /* all modules as one */
    FOREIGN_VARIANT = 3, /* the second module as an image with one kernel; the first is struct foreign_facts */
};

struct foreign_request {
    uint32_t magic, version;
    uint32_t make; /* enum foreign_make */
    uint32_t wave;
    uint32_t modules; /* 1 to FOREIGN_MOST_MODULES */
    uint32_t max_vregs;
    uint32_t form, threshold_kind; /* the members of struct ppu_compile_subvector, without the picture */
    uint32_t threshold, run, inverted, no_mode;
    uint32_t sm_vregs, sm_warps;
    uint32_t sanitize; /* PPU_SANITIZE_* */
    uint32_t tokens;
};

/* Writes what compilations are told into a request. */
static inline void foreign_put_options(struct foreign_request *request, const struct ppu_compile_options *options)
{
    const struct ppu_compile_subvector *subvector = &options->subvector;

    request->wave = options->wave;
    request->max_vregs = options->max_vregs;
    request->form = (uint32_t)subvector->form;
    request->threshold_kind = (uint32_t)subvector->threshold_kind;
    request->threshold = subvector->threshold;
    request->run = subvector->run;
    request->inverted = subvector->inverted;
    request->no_mode = subvector->no_mode;
    request->sm_vregs = subvector->sm_vregs;
    request->sm_warps = subvector->sm_warps;
    request->sanitize = options->sanitize;
    request->tokens = options->tokens;
}

/* Reads it back. False: something of it is not possible. */
static inline bool foreign_take_options(const struct foreign_request *request, struct ppu_compile_options *options)
{
    *options =
        (struct ppu_compile_options){ .wave = request->wave,
                                      .max_vregs = request->max_vregs,
                                      .subvector = { (enum ppu_subvector_form)request->form,
                                                     (enum ppu_subvector_threshold)request->threshold_kind,
                                                     request->threshold, request->run, request->inverted,
                                                     request->no_mode, request->sm_vregs, request->sm_warps, NULL },
                                      .sanitize = request->sanitize,
                                      .tokens = request->tokens };
    return request->tokens <= PPU_MAX_TOKENS && request->form <= PPU_SEGMENTS_MAY &&
           request->threshold_kind <= PPU_THRESHOLD_DEVICE;
}

#define FOREIGN_MOST_ARGUMENTS 64u
#define FOREIGN_MOST_PAIRS 256u

/* Followed by arguments, pairs, and the kernel's name with its final zero, without gaps. */
struct foreign_facts {
    uint32_t arguments, pairs; /* at most FOREIGN_MOST_ARGUMENTS, FOREIGN_MOST_PAIRS */
    uint32_t work_group[3];
    uint32_t small_ids;
};

/* Where facts are taken apart. */
struct foreign_facts_room {
    struct ppu_compile_argument arguments[FOREIGN_MOST_ARGUMENTS];
    struct ppu_compile_pair pairs[FOREIGN_MOST_PAIRS];
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
        request->modules > FOREIGN_MOST_MODULES || request->make < FOREIGN_IMAGE || request->make > FOREIGN_VARIANT ||
        (request->make == FOREIGN_VARIANT && request->modules != 2) ||
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

/* Takes the facts apart; the name stays where it is. False: they are malformed. */
static inline bool foreign_read_facts(const struct ppu_compile_module *module, struct foreign_facts_room *room,
                                      struct ppu_compile_facts *facts)
{
    const uint8_t *at = module->bitcode;
    struct foreign_facts head;

    if (module->len_bytes < sizeof(head)) {
        return false;
    }
    memcpy(&head, at, sizeof(head));
    if (head.arguments > FOREIGN_MOST_ARGUMENTS || head.pairs > FOREIGN_MOST_PAIRS) {
        return false;
    }
    const size_t argument_bytes = head.arguments * sizeof(room->arguments[0]);
    const size_t pair_bytes = head.pairs * sizeof(room->pairs[0]), before = sizeof(head) + argument_bytes + pair_bytes;
    if (module->len_bytes <= before || at[module->len_bytes - 1] != '\0') {
        return false;
    }
    memcpy(room->arguments, at + sizeof(head), argument_bytes);
    memcpy(room->pairs, at + sizeof(head) + argument_bytes, pair_bytes);
    *facts = (struct ppu_compile_facts){ (const char *)at + before,
                                         room->arguments,
                                         head.arguments,
                                         room->pairs,
                                         head.pairs,
                                         { head.work_group[0], head.work_group[1], head.work_group[2] },
                                         head.small_ids };
    return true;
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
