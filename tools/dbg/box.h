/* SPDX-License-Identifier: MIT */
/* Asks a device as its debugger (ppu/debug.h). */
#ifndef TOOLS_DBG_BOX_H
#define TOOLS_DBG_BOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/debug.h"
#include "ppu/recorder.h"
#include "runtime/state/view.h"

struct box {
    struct ppu_debug_box *shared; /* in VRAM; NULL: there is none */
    void *map;
    uint64_t map_bytes;
    struct ppu_state *state; /* that `shared` is in */
    uint32_t state_at;       /* VRAM offset of it */
    const uint8_t *vram;     /* all of it, to be read */
    uint64_t vram_bytes;
    struct ppu_debug_answer answer; /* to the last request */
    char refusal[64];               /* why box_open() has failed, where that is no constant */
    uint32_t session;
    uint32_t ends; /* atomic: the thread that shows that the debugger is alive is to end */
    pthread_t pulse;
};

/* Becomes the debugger of a device of a process; NULL: done, else why not. */
const char *box_open(struct box *box, uint32_t pid, const struct ppu_recorder_device *info);
/* Everything goes on. */
void box_close(struct box *box);
/* False: the device is gone, or serves another. Else `answer` holds what it says. */
bool box_ask(struct box *box, const struct ppu_debug_request *request);
/* The same, and the device has done it. */
bool box_done(struct box *box, const struct ppu_debug_request *request);
/* Stops so far; of a device that serves nobody or another 0. */
uint32_t box_events(const struct box *box);
/* Copies what device and firmware show of themselves now. NULL: done, and view_free() gives it back; else why not. */
const char *box_view(struct box *box, struct view *view);
/* Why the device refused the last request. */
const char *box_why(const struct box *box);

#endif
