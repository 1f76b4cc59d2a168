/* SPDX-License-Identifier: MIT */
/*
 * Defines the record of a run, as ppu-trace writes it and all tools read it: a head and then chunks, in the order in
 * which things became known. docs/spec/trace.md describes it. Whole chunks are written at a time, so a record that was
 * cut off is good up to its last whole chunk.
 */
#ifndef TOOLS_TRACE_RECORD_FILE_H
#define TOOLS_TRACE_RECORD_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "ppu/trace.h"

#define RECORD_MAGIC "PPUTRACE"
#define RECORD_VERSION 1u

struct record_head {
    char magic[8];
    struct ppu_struct_header head; /* RECORD_VERSION, sizeof(struct record_head) */
    uint32_t reserved;
};
PPU_ASSERT_SIZE(struct record_head, 16);

enum record_chunk_kind {
    RECORD_PROCESS = 1, /* struct record_process, command line */
    RECORD_DEVICE = 2,  /* struct record_device */
    RECORD_NAME = 3,    /* struct record_name, text */
    RECORD_KERNEL = 4,  /* struct record_kernel */
    RECORD_TASK = 5,    /* struct record_task */
    RECORD_EVENTS = 6,  /* struct record_events, struct ppu_trace_record[] */
    RECORD_LOST = 7,    /* struct record_lost */
    RECORD_CLOCK = 8,   /* struct record_clock */
    RECORD_END = 9,     /* struct record_end: the recording ended as it should */
    /* These are there when kernels were profiled. */
    RECORD_PROGRAM = 10, /* struct record_program, image (ppu/image.h) */
    RECORD_SOURCE = 11,  /* struct record_text, text */
    RECORD_PROFILE = 12, /* struct record_profile, struct ppu_profile_entry[] (ppu/profile.h) */
    /* These are there when the microcontrollers' instructions were counted. */
    RECORD_STACKS = 13, /* struct record_stacks, folded stacks: lines of functions with ; between them, and a number */
    RECORD_SERVED = 14, /* struct record_served, uint32_t[]: instructions of each record of the firmware */
};

/* In front of each chunk, whose content is filled up to a multiple of 8 bytes. */
struct record_chunk {
    uint32_t kind;  /* enum record_chunk_kind; others are skipped */
    uint32_t bytes; /* of the content, without what fills it up */
};
PPU_ASSERT_SIZE(struct record_chunk, 8);
#define RECORD_CHUNK_MOST (64u * PPU_MIB)

struct record_process {
    uint32_t process; /* number in this record; counts from 0 */
    uint32_t pid;
};

struct record_device {
    uint32_t device; /* number in this record; counts from 0 */
    uint32_t process;
    uint32_t instance;
    uint32_t recorded; /* its number in records of the program */
    uint32_t sms;
    uint32_t slots;
    uint32_t sm_ctas;
    uint32_t sm_warps;
    uint32_t sm_vregs;
    uint32_t sm_shared;
};
PPU_ASSERT_SIZE(struct record_device, 40);

struct record_name {
    uint32_t process;
    uint32_t name;
};

struct record_kernel {
    uint32_t device;
    uint32_t context;
    uint64_t code;
    uint32_t entry; /* of `code`, from the beginning of the program's code */
    uint32_t code_bytes;
    uint32_t name;
    uint32_t reserved;
};
PPU_ASSERT_SIZE(struct record_kernel, 32);

/* What the descriptor of a task said when its LAUNCH was read. */
struct record_task {
    uint32_t device;
    uint32_t task; /* handle */
    uint64_t code;
    uint32_t context;
    uint32_t priority;
    uint32_t ctas; /* low word */
    uint32_t cta_threads;
    uint32_t vregs;
    uint32_t wave;
    uint32_t shared_bytes;
    uint32_t depth;
};
PPU_ASSERT_SIZE(struct record_task, 48);

enum record_source {
    RECORD_OF_FIRMWARE = 0,
    RECORD_OF_DEVICE = 1,
    RECORD_OF_PROGRAM = 2,
    RECORD_SOURCES = 3,
};

struct record_events {
    uint32_t source; /* enum record_source */
    uint32_t owner;  /* a device, or of the program's a process */
};
PPU_ASSERT_SIZE(struct record_events, 8);

/* Records that were overwritten before they were read; they stood between the chunks of events around this one. */
struct record_lost {
    uint32_t source;
    uint32_t owner;
    uint64_t count;
};
PPU_ASSERT_SIZE(struct record_lost, 16);

/* CLOCK_MONOTONIC less the device's clock is between these; a later one is better. */
struct record_clock {
    uint32_t device;
    uint32_t reserved;
    int64_t low_ns;
    int64_t high_ns;
};
PPU_ASSERT_SIZE(struct record_clock, 24);

/* A program that was loaded. From here on what is counted at its addresses is its. */
struct record_program {
    uint32_t process;
    uint32_t device;
    uint32_t program; /* number in the process */
    uint32_t context;
    uint64_t code; /* address */
};
PPU_ASSERT_SIZE(struct record_program, 24);

struct record_text {
    uint32_t process;
    uint32_t program;
};
PPU_ASSERT_SIZE(struct record_text, 8);

/* What was counted for the programs that are loaded now; for one of them when it was unloaded. */
struct record_profile {
    uint32_t device;
    uint32_t program; /* that was unloaded; 0: all that are left */
    uint32_t period;
    uint32_t reserved;
    uint64_t missing; /* by the device so far: counts that the table had no room for */
};
PPU_ASSERT_SIZE(struct record_profile, 24);

struct record_stacks {
    uint32_t device;
    uint32_t reserved;
    uint64_t insns;
    uint64_t missing; /* that count with the caller of their function */
};
PPU_ASSERT_SIZE(struct record_stacks, 24);

/* What the microcontroller executed since the record before, for each record that the firmware has written. */
struct record_served {
    uint32_t device;
    uint32_t first; /* number of the first record, as in its sequence */
};
PPU_ASSERT_SIZE(struct record_served, 8);

struct record_end {
    uint64_t began_ns; /* CLOCK_MONOTONIC */
    uint64_t ended_ns;
};
PPU_ASSERT_SIZE(struct record_end, 16);

/* Writes the head. False with errno, as all of these. */
bool record_begin(FILE *file);
/* Writes a chunk whose content has two parts; the second may be empty. */
bool record_write(FILE *file, enum record_chunk_kind kind, const void *first, size_t first_bytes, const void *second,
                  size_t second_bytes);

/* A record in memory. */
struct record {
    const uint8_t *bytes;
    size_t size;
    size_t at;
};

/* NULL: it is a record; else why it is none. */
const char *record_open(struct record *record, const void *bytes, size_t size);
/* The next whole chunk; false: there is none. `cut` says whether something is left that is none. */
bool record_next(struct record *record, struct record_chunk *chunk, const uint8_t **content, bool *cut);

#endif
