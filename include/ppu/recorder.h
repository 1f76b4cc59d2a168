/* SPDX-License-Identifier: MIT */
/*
 * Defines the recorder of a program: an anonymous file that libppu makes in each process and that tools map. It says
 * which devices the process has open, where their flight recorders are, how their clocks relate to the host's, and it
 * holds a third flight recorder (trace.h) with what the program itself did, by the host's CLOCK_MONOTONIC.
 *
 * Any number of threads write its records: a writer takes a number from `tail` and then writes the record, so the
 * latest records may not be complete yet. A reader waits for them a while.
 */
#ifndef PPU_RECORDER_H
#define PPU_RECORDER_H

#include "ppu/trace.h"

#define PPU_RECORDER_FILE "ppu-recorder" /* name of the file, as in /proc/PID/fd */
/*
 * Files that a process keeps of the programs that it has loaded, while PPU_DEBUG_KERNELS is 1, for a debugger that
 * comes later: what the messages PROGRAM and SOURCE have. Names go on with the device's entry and the program's number:
 * "ppu-program:0:1".
 */
#define PPU_RECORDER_PROGRAM_FILE "ppu-program"
#define PPU_RECORDER_SOURCE_FILE "ppu-source"
#define PPU_RECORDER_MAGIC 0x52505550u /* "PUPR" */
#define PPU_RECORDER_VERSION 3u
#define PPU_RECORDER_HEAD_BYTES 64u /* in front of the devices */
#define PPU_RECORDER_DEVICES 64u    /* open at once */
#define PPU_RECORDER_RECORDS 65536u /* a power of two */
#define PPU_RECORDER_KERNELS 16384u /* a power of two */
#define PPU_RECORDER_NAME_BYTES (1u << 20)
#define PPU_RECORDER_BUCKETS 1024u
#define PPU_RECORDER_LONGEST_NAME 1023u

enum ppu_recorder_state {
    PPU_RECORDER_NEVER = 0,
    PPU_RECORDER_OPEN = 1,
    PPU_RECORDER_CLOSED = 2,
};

/* A device of the process. Everything is written before `state`, by a release. */
struct ppu_recorder_device {
    uint32_t state;      /* enum ppu_recorder_state */
    uint32_t generation; /* counts the devices that had this entry */
    int32_t vram_fd;     /* a file of the process that holds VRAM from its start; -1: there is none */
    uint32_t instance;
    uint64_t vram_bytes;
    uint32_t fw_trace; /* VRAM offsets, as in struct ppu_fw_info; 0: there is none */
    uint32_t dev_trace;
    uint32_t tmds; /* VRAM offset of the descriptors of tasks */
    uint32_t tmd_stride;
    /* CLOCK_MONOTONIC less the device's clock is between these. */
    int64_t clock_low_ns;
    int64_t clock_high_ns;
    uint32_t sms;
    uint32_t slots;
    uint32_t sm_ctas;
    uint32_t sm_warps;
    uint32_t sm_vregs;
    uint32_t sm_shared;
    uint32_t channels;
    uint32_t contexts;
    uint32_t profile_page;    /* place of the profile's table (profile.h) in VRAM, in pages of 4 KiB */
    uint32_t profile_entries; /* 0: there is none */
    uint32_t state_area;      /* VRAM offset of struct ppu_state; 0: there is none */
    uint32_t fw_trace_from;   /* tails of the flight recorders when the process opened the device */
    uint32_t dev_trace_from;
    uint32_t fw_trace_to; /* and when it closed it */
    uint32_t dev_trace_to;
    uint32_t reserved[3];
};
PPU_ASSERT_SIZE(struct ppu_recorder_device, 128);

/* A name follows its head; names are found by their offset in the area, and are never removed. */
struct ppu_recorder_name {
    uint32_t next;  /* of the same bucket; 0: it is the last */
    uint32_t bytes; /* without the 0 at its end */
    char text[];
};

/* A kernel that the process has loaded, the latest of PPU_RECORDER_KERNELS. */
struct ppu_recorder_kernel {
    uint32_t number; /* of this kernel, from 1 on; 0 while the entry is written; release */
    uint32_t device;
    uint32_t context;
    uint32_t name;
    uint64_t code;       /* address of its first instruction */
    uint32_t entry;      /* the same from the beginning of the code of its program */
    uint32_t code_bytes; /* of the program */
};
PPU_ASSERT_SIZE(struct ppu_recorder_kernel, 32);

struct ppu_recorder {
    uint32_t magic;
    struct ppu_struct_header head; /* PPU_RECORDER_VERSION, PPU_RECORDER_HEAD_BYTES */
    uint32_t pid;
    uint32_t names_used;   /* bytes of the area; release */
    uint32_t kernels_used; /* atomic: kernels loaded so far; release */
    uint32_t reserved0;
    /* Tools write CLOCK_MONOTONIC here, some way ahead, again and again; after it the program records nothing. */
    uint64_t wanted_until_ns;
    /* What a tool that starts the program wants of each device, written before it answers HELLO: PROFILE_PERIOD, and
     * entries of the table. 0: no profile. */
    uint32_t profile_period;
    uint32_t profile_entries;
    uint32_t reserved[6];
    struct ppu_recorder_device device[PPU_RECORDER_DEVICES];
    struct ppu_trace_ring ring;
    struct ppu_trace_record record[PPU_RECORDER_RECORDS];
    struct ppu_recorder_kernel kernel[PPU_RECORDER_KERNELS];
    uint32_t bucket[PPU_RECORDER_BUCKETS];
    char names[PPU_RECORDER_NAME_BYTES]; /* the first 8 bytes are unused, so that no name is 0 */
};
PPU_ASSERT_OFFSET(struct ppu_recorder, device, PPU_RECORDER_HEAD_BYTES);

/*
 * How a program reaches the tool that records it from its start: PPU_TRACE names a socket (SOCK_SEQPACKET). Each
 * message has one file and is answered by PPU_RECORDER_DONE when the tool has mapped it, or has read what is told.
 * Until then a tool says now and then that it is at work: a program waits for one that does, and for no other.
 */
enum ppu_recorder_answer {
    PPU_RECORDER_DONE = 0,
    PPU_RECORDER_WORKS = 1,
};
enum ppu_recorder_message_kind {
    PPU_RECORDER_HELLO = 1,  /* the file of the recorder */
    PPU_RECORDER_DEVICE = 2, /* the file of a device's VRAM */
    /* Each file is made for its message. Profiles come while there is one. */
    PPU_RECORDER_PROGRAM = 3, /* struct ppu_recorder_program, image: a program was loaded */
    PPU_RECORDER_SOURCE = 4,  /* struct ppu_recorder_source, text: a program's source */
    PPU_RECORDER_PROFILE = 5, /* struct ppu_recorder_profile, struct ppu_profile_entry[]: taken out of the table */
    /* The file of the recorder again: the device is about to be closed, and its flight recorders may be gone then. */
    PPU_RECORDER_CLOSES = 6,
};
struct ppu_recorder_message {
    uint32_t kind;
    uint32_t device;
};
PPU_ASSERT_SIZE(struct ppu_recorder_message, 8);

struct ppu_recorder_program {
    uint32_t program; /* its number in the process, from 1 on */
    uint32_t context;
    uint64_t code; /* address */
    uint64_t image_bytes;
};
PPU_ASSERT_SIZE(struct ppu_recorder_program, 24);

struct ppu_recorder_source {
    uint32_t program;
    uint32_t reserved;
    uint64_t text_bytes;
};
PPU_ASSERT_SIZE(struct ppu_recorder_source, 16);

struct ppu_recorder_profile {
    uint32_t program; /* that is unloaded; 0: all that is left when the device is closed */
    uint32_t entries;
    uint64_t missing; /* of the table so far */
};
PPU_ASSERT_SIZE(struct ppu_recorder_profile, 16);

#endif
