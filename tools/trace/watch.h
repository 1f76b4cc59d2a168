/* SPDX-License-Identifier: MIT */
/*
 * Watches any number of processes with PPUs: maps what they show, follows all their flight recorders, and hands
 * everything that becomes known to a sink, which is a file (ppu-trace) or a picture (ppu-top).
 */
#ifndef TOOLS_TRACE_WATCH_H
#define TOOLS_TRACE_WATCH_H

#include "tools/trace/attach.h"
#include "tools/trace/follow.h"
#include "tools/trace/record_file.h"

#define WATCH_BATCH 16384u /* records, read at a time */

struct watch_sink {
    void *opaque;
    void (*process)(void *opaque, const struct record_process *process, const char *command);
    void (*device)(void *opaque, const struct record_device *device);
    void (*device_closed)(void *opaque, uint32_t device);
    void (*name)(void *opaque, const struct record_name *name, const char *text, uint32_t bytes);
    void (*kernel)(void *opaque, const struct record_kernel *kernel);
    void (*task)(void *opaque, const struct record_task *task);
    void (*events)(void *opaque, const struct record_events *events, const struct ppu_trace_record *records,
                   uint32_t count);
    void (*lost)(void *opaque, const struct record_lost *lost);
    void (*clock)(void *opaque, const struct record_clock *clock);
    /* A chunk of what was counted: RECORD_PROGRAM and those after it. NULL: none is wanted. */
    void (*profile)(void *opaque, enum record_chunk_kind kind, const void *head, size_t head_bytes, const void *body,
                    size_t body_bytes);
};

struct watch_device {
    uint32_t number;
    uint32_t process;
    uint32_t entry; /* of the recorder */
    uint32_t generation;
    bool closed;
    struct ppu_recorder_device info;
    const uint8_t *vram;          /* NULL: it is read no more */
    struct ppu_trace_ring *warps; /* where records of warps are asked for; NULL: none are wanted */
    struct follow follow[RECORD_OF_PROGRAM];
    int64_t clock_low_ns, clock_high_ns;
    bool clock_told;
    bool profile_told; /* all that was left in its table */
};

struct watch_process {
    uint32_t number;
    uint32_t pid;
    struct ppu_recorder *recorder; /* NULL: it is read no more */
    struct follow follow;
    bool is_new;           /* devices it opens are watched from their opening: what they overwrite before is lost */
    uint32_t names_told;   /* bytes of the area */
    uint32_t kernels_told; /* kernels loaded */
};

struct watch {
    const struct watch_sink *sink;
    struct watch_process *process;
    uint32_t processes;
    struct watch_device *device;
    uint32_t devices;
    bool failed;              /* out of memory: something is not watched */
    uint32_t profile_period;  /* what programs are to count by instruction (ppu/profile.h); 0: nothing */
    uint32_t profile_entries; /* of each device's table */
    bool warps;               /* records of warps are wanted */
    bool count_firmware;      /* machines that programs start are to count the microcontrollers' instructions */
    struct ppu_trace_record batch[WATCH_BATCH];
};

/* Watches a process whose recorder is in the file, which is closed. NULL: done; else why not. is_new: it starts now. */
const char *watch_process(struct watch *watch, int fd, bool is_new, uint32_t *number);
/* A device's VRAM came as a file, which is closed; -1: it is looked for in /proc. NULL: done; else why not. */
const char *watch_device(struct watch *watch, uint32_t process, uint32_t entry, int fd);
/* A program has sent a file of its profile, which is closed. NULL: done; else why not. */
const char *watch_profile(struct watch *watch, uint32_t process, const struct ppu_recorder_message *message, int fd);
/* Reads the tables of devices whose process has ended without closing them. */
void watch_profiles_left(struct watch *watch);
/* Takes what machines have counted of their microcontrollers into files of the folder, and removes the files. */
void watch_firmware_counts(struct watch *watch, const char *folder);
/* Watches devices that processes have opened since. */
void watch_look(struct watch *watch);
/* Reads what is new, and asks the programs to record until `until_ns`. Returns how many records there were. */
uint32_t watch_poll(struct watch *watch, uint64_t until_ns);
/* Programs are to record no more, and nothing is watched. */
void watch_end(struct watch *watch);

#endif
