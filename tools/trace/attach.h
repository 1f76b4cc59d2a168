/* SPDX-License-Identifier: MIT */
/*
 * Maps what a process with PPUs shows to tools: its recorder (ppu/recorder.h) and the VRAM of its devices. Nothing of
 * it is believed before its bounds were checked.
 */
#ifndef TOOLS_TRACE_ATTACH_H
#define TOOLS_TRACE_ATTACH_H

#include <stdbool.h>

#include "ppu/recorder.h"
#include "ppu/state.h"

/* Says whether a process has a recorder, and opens it; -1: it has none, or may not be looked at. */
int attach_open_recorder(uint32_t pid);

/* Maps a recorder; NULL: `why` says why not. The file is closed in any case. */
struct ppu_recorder *attach_map_recorder(int fd, const char **why);
void attach_unmap_recorder(struct ppu_recorder *recorder);

/* A file of a process that tells of a program that it has loaded. */
struct attach_told {
    enum ppu_recorder_message_kind kind; /* PROGRAM or SOURCE */
    uint32_t device;                     /* entry of the recorder */
    uint32_t program;
    int fd; /* of the process */
};

/* Lists them; programs are before their sources. Returns how many there are, at most `most`. */
uint32_t attach_list_told(uint32_t pid, struct attach_told *told, uint32_t most);

/* Opens a file of a process, as the VRAM of a device is one; `flags` are open()'s. -1 with errno. */
int attach_open_file(uint32_t pid, int fd, int flags);
/* Maps VRAM; NULL with errno. The file is closed in any case. */
const uint8_t *attach_map_vram(int fd, uint64_t bytes);
void attach_unmap_vram(const uint8_t *vram, uint64_t bytes);

/*
 * Maps the pages of a device's VRAM that begin with its state area (ppu/state.h), to ask for it: nothing else of VRAM
 * can be written. NULL with errno.
 */
struct ppu_state *attach_map_asked(uint32_t pid, int fd, uint32_t state_area);
void attach_unmap_asked(struct ppu_state *asked, uint32_t state_area);

/* Maps the pages of VRAM that begin with the device's flight recorder, to ask for records of warps: nothing else can be
 * written. The file stays open. NULL with errno. */
struct ppu_trace_ring *attach_map_warps(int fd, uint32_t dev_trace);
void attach_unmap_warps(struct ppu_trace_ring *ring, uint32_t dev_trace);

/* Asks the program to record for some time more. */
void attach_want(struct ppu_recorder *recorder, uint64_t until_ns);

/* A name of the recorder; NULL: there is none of this number. At most PPU_RECORDER_LONGEST_NAME bytes. */
const char *attach_name(const struct ppu_recorder *recorder, uint32_t name, uint32_t *bytes);

/* A flight recorder in VRAM: where it is and how many records it holds; false: there is none, or it cannot be one. */
bool attach_ring(const uint8_t *vram, uint64_t bytes, uint32_t offset, const struct ppu_trace_ring **ring,
                 uint32_t *size);

#endif
