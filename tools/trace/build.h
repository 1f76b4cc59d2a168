/* SPDX-License-Identifier: MIT */
/* Builds a timeline from records: what is open while they are read in the order of time. */
#ifndef TOOLS_TRACE_BUILD_H
#define TOOLS_TRACE_BUILD_H

#include "ppu/image.h"
#include "tools/trace/timeline.h"

/* One record at its place in time. */
struct build_event {
    uint64_t time_ns; /* by CLOCK_MONOTONIC */
    struct ppu_trace_record record;
    uint32_t order; /* as it was read */
    uint16_t owner; /* a device, or of the program's a process */
    uint8_t source; /* enum record_source; RECORD_SOURCES: records are missing */
};

/* A launch that a program has put into a block, until its task is accepted. */
struct build_launch {
    uint32_t name; /* text */
    uint32_t next; /* of the same block */
    uint32_t cta_threads, vregs, wave, shared_bytes;
};

/* Counters of a task that has ended, until its TASK_END comes. */
struct build_counts {
    uint32_t next; /* of the same correlation */
    uint32_t last; /* counter */
    uint64_t count[PPU_COUNTERS];
};

/* What the microcontroller executed for records of the firmware. */
struct build_served {
    uint32_t device;
    uint32_t first; /* number of the first record */
    uint32_t count;
    const uint8_t *insns; /* 4 bytes each, in the record */
};

/* A program that was loaded, by its image in the record. */
struct build_program {
    struct record_program is;
    struct ppu_program_view view;
};

struct build_process {
    uint32_t section;
    uint32_t pid;
};

struct build {
    struct timeline *timeline;
    struct build_event *event;
    uint32_t events;
    struct build_process *process;
    uint32_t processes;
    struct record_kernel *loaded;
    uint32_t loads;
    struct record_task *described;
    uint32_t descriptions;
    struct build_launch *launch;
    uint32_t launches;
    struct build_counts *counts;
    uint32_t counted;
    struct build_program *program;
    uint32_t programs;
    struct build_served *served;
    uint32_t serves;

    struct map names;         /* process, name -> text */
    struct map kernels;       /* device, context, code -> loaded */
    struct map description;   /* device, task -> described */
    struct map task;          /* device, task -> task of the timeline */
    struct map running;       /* device, slot -> task of the timeline */
    struct map launch_first;  /* device, correlation -> launch */
    struct map launch_last;   /* the same */
    struct map counts_first;  /* device, correlation -> counts */
    struct map counts_last;   /* the same */
    struct map kernel_of;     /* section, text -> kernel of the timeline */
    struct map command;       /* process, command -> command of the timeline */
    struct map command_block; /* device, correlation -> command of the timeline */
    struct map call;          /* process, thread, depth -> slice */
    struct map depth;         /* process, thread -> calls that are open */
    struct map lanes;         /* section, kind, number, lane -> 1: in use */
    struct map cta;           /* device, SM, slot, CTA -> slice */
    struct map warp;          /* device, SM, warp -> slice */
    struct map tokens;        /* the same -> tokens in its queue */
    struct map early;         /* device, slot -> first CTA or warp of a task whose start is not known yet */
    struct map copy;          /* device, tag -> slice */
    struct map block;         /* device, channel -> slice */
    struct map parked;        /* the same */
    struct map released;      /* device, address -> slice */
    struct map counter;       /* section, number -> value as it is */
    struct map recorded;      /* process, number of the program -> device */
};

/* Finds the first free lane, and takes it. */
uint32_t build_lane(struct build *build, uint32_t section, enum track_kind kind, uint32_t number);
void build_free_lane(struct build *build, const struct timeline_slice *slice);
/* Adds to a counter that is drawn over time. */
void build_count(struct build *build, uint32_t section, const char *name, uint32_t number, uint64_t time_ns,
                 int change);

/* Counters of a device that are drawn over time; those of tasks come behind them. */
enum build_counter {
    BUILD_COUNTER_WAITING = 1,
    BUILD_COUNTER_RUNNING = 2,
    BUILD_COUNTER_CTAS = 3,
    BUILD_COUNTER_OCCUPANCY = 4,
    BUILD_COUNTER_LANES = 5,
    BUILD_COUNTER_TOKENS = 6,
    BUILD_COUNTER_TOTAL = 16,
};

/* The task that has the slot; MAP_NONE: the firmware has not written yet that it started it. */
uint32_t build_task_in(const struct build *build, const struct build_event *event, uint32_t slot);
/* A slice of the slot has no task yet. */
void build_early(struct build *build, const struct build_event *event, uint32_t slot, uint32_t slice);

void build_program_event(struct build *build, const struct build_event *event);
void build_firmware_event(struct build *build, const struct build_event *event);
void build_device_event(struct build *build, const struct build_event *event);
void build_warp_event(struct build *build, const struct build_event *event);
/* What a warp is called that runs the kernel, by its state. */
uint32_t build_warp_name(struct build *build, const char *kernel, uint32_t state);
/* Ends what is open at the end of the record. */
void build_end(struct build *build);

/* Name (text) of the code of a device at an address; MAP_NONE: it belongs to no kernel that was loaded. */
uint32_t build_code_name(struct build *build, uint32_t device, uint32_t context, uint64_t code);
/* The line of the source that the code at an address was made of; 0: it is not known. */
uint32_t build_code_line(const struct build *build, uint32_t device, uint32_t context, uint64_t code);
/* The kernel of a section in the table, made when there is none. */
uint32_t build_kernel(struct build *build, uint32_t section, uint32_t name);
/* What CTAs of the kernel are limited by on an SM of the device. */
void build_occupancy(struct timeline_kernel *kernel, const struct record_device *device);

#endif
