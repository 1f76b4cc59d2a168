/* SPDX-License-Identifier: MIT */
/*
 * Builds the world of the targets that attack the firmware: a stepped machine with two contexts. The victim's channel
 * launches a task whose result is known; the hostile context has two channels, a nest, a queue and a work queue, and
 * memory in which the input writes what it likes, at any time.
 */
#ifndef TESTS_FUZZ_WORLD_H
#define TESTS_FUZZ_WORLD_H

#include "tests/fuzz/input.h"
#include "tests/fuzz/stepped.h"

#include "ppu.h"

#define WORLD_UNUSED 0x20000u
#define WORLD_MEMORY (256u * 1024u) /* bytes of the hostile context's memory in VRAM */
#define WORLD_SYSTEM (64u * 1024u)  /* and in system memory */
#define WORLD_CHANNELS 2u
#define WORLD_ENTRIES 8u /* of the ring of a hostile channel */
#define WORLD_QUEUE_ENTRIES 16u
#define WORLD_QUEUE_BYTES 32u
#define WORLD_WORKQ_ENTRIES 8u
#define WORLD_WORKQ_BLOCK 256u
#define WORLD_NEST_TASKS 64u

/* A piece of memory that the hostile context maps. */
struct world_area {
    uint8_t *host;
    uint64_t va;
    uint32_t bytes;
    uint32_t vram_offset; /* VRAM offset; 0: system memory */
};

enum world_areas {
    WORLD_AREA_MEMORY,
    WORLD_AREA_SYSTEM,
    WORLD_AREA_RING, /* rings and command blocks of its channels */
    WORLD_AREA_RING2,
    WORLD_AREA_NEST,
    WORLD_AREA_QUEUE,
    WORLD_AREA_WORKQ,
    WORLD_AREA_HEAP,
    WORLD_AREAS,
};

struct world_kernel {
    struct ppu_tmd tmd; /* launchable; parameters are the input's */
};

struct world {
    uint32_t context; /* the hostile one */
    uint32_t root;    /* VRAM offsets: its tables, their pool, protected memory that nothing uses, its save area */
    uint32_t unused;
    uint32_t saves;
    uint32_t pool;
    uint32_t pool_bytes;
    uint32_t channel[WORLD_CHANNELS];
    uint32_t workq_channel;
    uint32_t queue; /* its number */
    struct world_area area[WORLD_AREAS];
    struct world_kernel *kernel;
    uint32_t kernels;
    uint32_t victim_context;
    uint32_t victim_channel;
};

/* Made by LLVMFuzzerInitialize(), which is here too; the program ends when it cannot be. */
extern const struct world *const world;
/* As it was made: nothing runs. */
void world_restore(void);
/*
 * What a target does with an input of two parts: what the hostile context does in order, and what it stores into its
 * memory between two accesses of the firmware.
 */
struct world_play {
    void (*act)(struct fuzz_input *input);
    void (*scribble)(struct fuzz_input *input); /* one store */
    uint32_t actions;                           /* at most */
    uint32_t steps;                             /* of the machine, all that world_pass() lets pass and the rest */
};

/* From the world as it was made to world_check(). The first byte says where the second part begins. */
void world_play(const struct world_play *play, const uint8_t *bytes, size_t count);
/* Lets time pass, of what is left of the input's steps. */
void world_pass(uint32_t steps);
/* An address of the hostile context, chosen by the input: mostly of memory that is mapped. */
uint64_t world_address(struct fuzz_input *input);
/* A word to be written in place of `present`: small, near it, an address, a handle, what stands elsewhere. */
uint32_t world_value(struct fuzz_input *input, uint32_t present);
/* One store of the input's choice into the hostile context's memory. */
void world_scribble(struct fuzz_input *input);
/* A task descriptor of the input's choice, mostly of one that can run, put at a place in an area. */
void world_put_tmd(struct fuzz_input *input);
/* A task descriptor, at a place from which world_launch() takes that of the kernel `slot`. */
void world_store_tmd(uint32_t slot, const void *tmd);
/* A command block of the input's choice, and the ring entry that points to it; the doorbell is rung. */
void world_submit(struct fuzz_input *input);

/* A block that launches a kernel of the table as it is meant, and tells the queue. */
void world_launch(uint32_t channel, uint32_t kernel, uint32_t stream);

/* A block that lets the work queue's next round begin, and waits for its end. */
void world_round(uint32_t channel);

/* The victim's task, beside everything else. */
void world_victim_begins(void);
/*
 * The hostile channels are reset, and the victim must come to its end, its result right and its memory otherwise as it
 * was; every record must be free again. Anything else is a finding.
 */
void world_check(void);
/* The part of it that is about the victim. */
void world_check_victim(void);

#endif
