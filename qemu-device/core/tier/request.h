/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says what a device asks the program that translates loops, and what that answers, over a stream socket. Both are of
 * the same build: the layout of what translated code accesses is compared with each request. What is made is answered
 * when it is there, and other requests at once: so a reply has the tag of its request.
 */
#ifndef QEMU_DEVICE_CORE_TIER_REQUEST_H
#define QEMU_DEVICE_CORE_TIER_REQUEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "qemu-device/core/tier/unit.h"

#define TIER_MAX_CODE (4u << 20) /* bytes of a translation */
#define TIER_MOST_MADE 8u        /* at once: each takes a processor, and some 100 MB */

/* Followed by the unit. */
struct tier_request {
    uint64_t layout; /* tier_layout() */
    uint32_t bytes;  /* tier_unit_bytes() */
    uint32_t how;    /* enum tier_how */
    uint64_t tag;    /* the device's, for its reply */
};

enum tier_how {
    TIER_WORTH,     /* when it pays */
    TIER_KEPT_ONLY, /* when it need not be translated */
    TIER_ALWAYS,    /* for tests: whether it pays or not; nothing is kept */
    TIER_HOWS
};

enum tier_result {
    TIER_MADE,      /* the code follows */
    TIER_NOT_KEPT,  /* it would have to be translated */
    TIER_NOT_WORTH, /* it does not pay, or cannot be translated */
    TIER_FAILED,    /* translating it crashed, took too long or needed too much memory */
    TIER_NO_MODULE, /* what translates cannot be loaded, or is for no processor like this */
    TIER_OTHER,     /* the program is of another version than the device */
    TIER_RESULTS
};

struct tier_answer {
    uint32_t result; /* enum tier_result */
    uint32_t bytes;  /* of code; 0 without */
    uint32_t entry;  /* offset of its first instruction, wherever the code lies */
    uint32_t vregs;  /* as in struct tier_translation */
    uint32_t wave;
    uint32_t insns;
    uint32_t ends; /* 0 or 1 */
};

/* Followed by the code. */
struct tier_reply {
    uint64_t tag;
    uint32_t most_made; /* 1 to TIER_MOST_MADE: so many requests with which code may be made the device may have open */
    struct tier_answer answer;
};

/* Both sides look: code is made by a process that has read what a kernel's author chose. */
static inline bool tier_is_answer(const struct tier_answer *answer, const struct tier_unit *unit, enum tier_how how)
{
    if (answer->result != TIER_MADE) {
        return answer->result < TIER_RESULTS && answer->bytes == 0 &&
               (how == TIER_KEPT_ONLY || answer->result != TIER_NOT_KEPT);
    }
    return answer->bytes != 0 && answer->bytes <= TIER_MAX_CODE && answer->entry < answer->bytes &&
           answer->wave == unit->wave && answer->insns == unit->insns &&
           answer->ends <= (unit->straight == TIER_ROWS || unit->straight == TIER_ANYWHERE);
}

/* Both wait until all of it has gone through; false: the other end has closed. */
static inline bool tier_send(int socket, const void *from, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)from;

    while (bytes != 0) {
        const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static inline bool tier_receive(int socket, void *to, size_t bytes)
{
    uint8_t *at = (uint8_t *)to;

    while (bytes != 0) {
        const ssize_t got = recv(socket, at, bytes, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

#endif
