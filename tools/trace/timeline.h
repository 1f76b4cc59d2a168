/* SPDX-License-Identifier: MIT */
/*
 * Keeps what happened in a run as a picture needs it: tracks with slices and instants, counters over time, arrows
 * between slices, and a table of kernels. Times are CLOCK_MONOTONIC in ns.
 */
#ifndef TOOLS_TRACE_TIMELINE_H
#define TOOLS_TRACE_TIMELINE_H

#include "ppu/counter.h"
#include "ppu/trace.h"
#include "tools/trace/map.h"
#include "tools/trace/record_file.h"

/* The tracks of a section are sorted by these. */
enum track_kind {
    TRACK_MISSING,
    TRACK_THREAD,
    TRACK_QUEUE,
    TRACK_RING,
    TRACK_CHANNEL,
    TRACK_FIRMWARE,
    TRACK_WAITING,
    TRACK_SLOT,
    TRACK_SM,
    TRACK_WARP, /* `number` is the SM, `lane` the warp */
    TRACK_COPY,
    TRACK_FAULT,
    TRACK_INTERRUPT,
    TRACK_COUNTER,
};

struct timeline_section {
    uint32_t name; /* text */
};

struct timeline_track {
    uint32_t section;
    uint32_t name; /* text */
    enum track_kind kind;
    uint32_t number; /* of the thread, channel, SM ... */
    uint32_t lane;   /* slices that overlap lie in lanes */
};

#define TIMELINE_INSTANT UINT64_MAX /* as a duration */

struct timeline_slice {
    uint64_t start_ns;
    uint64_t length_ns; /* TIMELINE_INSTANT: it has none */
    uint32_t track;
    uint32_t name; /* text */
    uint32_t correlation;
    uint32_t type; /* of the record that began it */
    uint32_t id[3];
    uint32_t wait_us; /* before it began; 0 where nothing waits */
    uint32_t weight;  /* of a CTA: its warps; of what the firmware served: instructions since the record
                       * before; of a task: the line of its kernel in the source. 0: not known */
    uint32_t reserved;
};

/* The times at which a command of OpenCL reached its states; 0: it has not, in this record. It runs when the program
 * says so, or when the firmware begins its block. */
struct timeline_command {
    uint32_t slice;
    uint32_t reserved;
    uint64_t submitted_ns, running_ns, ended_ns; /* it was queued when its slice begins */
};

struct timeline_arrow {
    uint32_t from, to; /* slices */
    uint32_t name;     /* text */
};

struct timeline_point {
    uint64_t time_ns;
    uint32_t track;
    uint32_t reserved;
    double value;
};

struct timeline_kernel {
    uint32_t name; /* text */
    uint32_t section;
    uint64_t tasks, faults;
    uint64_t run_ns, longest_ns, wait_ns;
    uint64_t ctas, cta_ns;
    uint64_t warps_ns; /* warps that were resident, times how long */
    uint64_t room_ns;  /* warps that the SMs could hold, times how long tasks ran */
    uint64_t count[PPU_COUNTERS];
    double lanes_rate, transactions_rate;            /* a second, of the task that had most of them */
    uint32_t cta_threads, vregs, wave, shared_bytes; /* of the latest launch; 0: not known */
    uint32_t line;                                   /* of the source; 0: not known */
    uint32_t resident;                               /* CTAs that an SM can hold; 0: not known */
    const char *limit;                               /* what limits them */
};

/* A task with its place in a tree of launches. */
struct timeline_task {
    uint32_t device, handle;
    uint32_t kernel;
    uint32_t parent; /* task; MAP_NONE: a channel launched it */
    uint32_t slice;  /* MAP_NONE: it has not run */
    uint32_t correlation, channel;
    uint64_t launched_ns, started_ns, ended_ns; /* 0: not in this record */
    uint64_t saved_ns;                          /* its latest CTA was taken off an SM; 0: none was */
    uint32_t fault;
};

struct timeline_clock {
    int64_t low_ns, high_ns;
    bool contradicts; /* the bounds do: the clocks did not run together */
};

struct timeline_device {
    struct record_device is;
    struct timeline_clock clock;
    uint32_t section;
};

struct timeline {
    struct texts texts;
    struct timeline_section *section;
    struct timeline_track *track;
    struct timeline_slice *slice;
    struct timeline_arrow *arrow;
    struct timeline_point *point;
    struct timeline_command *command; /* by slice */
    struct timeline_kernel *kernel;
    struct timeline_task *task;
    struct timeline_device *device;
    uint32_t sections, tracks, slices, arrows, points, commands, kernels, tasks, devices;
    struct map track_of; /* section, kind, number, lane */
    uint64_t began_ns, ended_ns;
    uint64_t records, lost;
    bool truncated; /* the record was cut off */
};

/* Stands for a track in maps: thread numbers have at most 22 bits. */
uint64_t timeline_track_key(uint32_t section, enum track_kind kind, uint32_t number, uint32_t lane);
uint32_t timeline_section(struct timeline *timeline, uint32_t name);
/* Finds or makes a track. `name` is what to call it when it is made; of lanes after the first it is not shown. */
uint32_t timeline_track(struct timeline *timeline, uint32_t section, enum track_kind kind, uint32_t number,
                        uint32_t lane, uint32_t name);
uint32_t timeline_slice(struct timeline *timeline, uint32_t track, uint64_t start_ns, uint32_t name,
                        const struct ppu_trace_record *record);
void timeline_close(struct timeline *timeline, uint32_t slice, uint64_t end_ns);
void timeline_arrow(struct timeline *timeline, uint32_t from, uint32_t to, const char *name);
/* The command of a slice; NULL: it is none. */
const struct timeline_command *timeline_command_of(const struct timeline *timeline, uint32_t slice);
void timeline_point(struct timeline *timeline, uint32_t track, uint64_t time_ns, double value);
void timeline_free(struct timeline *timeline);

/* NULL: done; else why the record cannot be read. What is wrong in it is left out. */
const char *timeline_read(struct timeline *timeline, const void *bytes, size_t size);

/* What a record type is called, and what its ids are; NULL: there is no such type, the id is not used. */
const char *timeline_type_name(uint32_t type);
const char *timeline_id_name(uint32_t type, uint32_t id);

#endif
