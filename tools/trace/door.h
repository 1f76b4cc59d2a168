/* SPDX-License-Identifier: MIT */
/* Receives the programs that a tool has started and that look for it (PPU_TRACE): their recorders, their devices. */
#ifndef TOOLS_TRACE_DOOR_H
#define TOOLS_TRACE_DOOR_H

#include "tools/trace/watch.h"

#define DOOR_PATH_BYTES 100u
#define DOOR_PROGRAMS 256u /* connected at a time */

struct door {
    int listener;
    char folder[DOOR_PATH_BYTES];
    char path[DOOR_PATH_BYTES + 8];
    struct door_program {
        int fd;
        uint32_t process; /* of the watch; MAP_NONE until it said hello */
    } program[DOOR_PROGRAMS];
    uint32_t programs;
};

/* Makes the socket in a folder that only this user may enter. NULL: done; else why not. */
const char *door_open(struct door *door);
/* Waits up to timeout_ms, and serves who is there. */
void door_serve(struct door *door, struct watch *watch, int timeout_ms, uint64_t until_ns);
void door_close(struct door *door);

#endif
