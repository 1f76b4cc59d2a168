/* SPDX-License-Identifier: MIT */
/*
 * Finds the PPUs that programs of this user have open, and takes samples of what they do. It finds them as ppu-trace
 * does, by the recorders of programs (ppu/recorder.h), and reads their state area (ppu/state.h).
 */
#ifndef TOOLS_TOP_DEVICE_H
#define TOOLS_TOP_DEVICE_H

#include "ppu/recorder.h"
#include "runtime/state/view.h"
#include "tools/trace/process.h"

struct device {
    uint32_t pid;
    uint32_t entry;
    struct ppu_recorder_device info;
    char command[PROCESS_COMMAND_BYTES];
    struct ppu_recorder *recorder;
    const uint8_t *vram;     /* NULL: it cannot be read */
    struct ppu_state *asked; /* NULL: it cannot be asked */
    const char *why_not;     /* it cannot be shown; NULL: it can */
    struct view now, before; /* samples; .area NULL: there is none */
    bool gone;               /* the program has closed it, or has ended */
};

struct devices {
    struct device **device;
    uint32_t count;
    uint32_t pid; /* of this process alone; 0: of all */
};

/* Looks for PPUs that were opened since, and drops those that are gone and were shown so once. */
void devices_look(struct devices *devices);
void devices_free(struct devices *devices);
/* Asks all of them for their state, and takes what has come after at most timeout_ms. */
void devices_sample(struct devices *devices, uint32_t timeout_ms);
/* There are two samples, so that what happened between them is known. */
bool device_has_rates(const struct device *device);
bool device_is_shown(const struct device *device);

#endif
