/* SPDX-License-Identifier: MIT */
/*
 * Drives a device core with its real SMs as the firmware would: programs are assembled and put into VRAM, tasks are
 * started in slots, events are taken from the rings. Memory of context 1:
 *
 *   CODE_VA    CODE_BYTES of VRAM, read-only
 *   DATA_VA    DATA_BYTES of VRAM, written, with atomics
 *   PLAIN_VA   64 KiB of VRAM, written, no atomics
 *   RO_VA      64 KiB of VRAM, read-only
 *   PROT_VA    64 KiB that lie in the protected range
 *   SYS_VA     SYS_PAGES pages of system memory, written, with atomics
 *   LOCAL_VA   LOCAL_SIZE of VRAM: what threads have as local memory, 16 KiB for each of 128
 */
#ifndef TESTS_ENGINE_RIG_H
#define TESTS_ENGINE_RIG_H

#include "ppu/image.h"
#include "tests/device-core/board.h"
#include "tools/asm/ppuasm.h"

#define CODE_VA 0x0000000010000000ull
#define DATA_VA 0x0000000020000000ull
#define PLAIN_VA 0x0000000030000000ull
#define RO_VA 0x0000000040000000ull
#define PROT_VA 0x0000000050000000ull
#define SYS_VA 0x0000000060000000ull
#define LOCAL_VA 0x0000000070000000ull
#define CODE_AT (HEAP_AT + 0x700000u)
#define CODE_BYTES 0x400000u
#define DATA_AT (HEAP_AT + 0x100000u)
#define DATA_BYTES 0x200000u
#define PLAIN_AT (HEAP_AT + 0x400000u)
#define RO_AT (HEAP_AT + 0x410000u)
#define LOCAL_AT (HEAP_AT + 0x500000u)
#define LOCAL_SIZE 0x200000u
#define SYS_PAGES 16u
#define SLOTS 4u
#define CONTEXT 1u

struct rig {
    struct board *board;
    struct ppuasm_image image;
    struct ppu_program_view program;
    uint32_t threads;
    uint32_t wave;      /* of every task, in place of the kernel's; 0: the kernel's */
    uint64_t recentred; /* token queues that rig_step() has moved, as the firmware does (E7) */
    bool silent;        /* rig_step() moves none */
};

/* How a task ended. */
struct outcome {
    struct ppu_slot_event event;
    struct ppu_fault_event fault;
    bool faulted;
};

struct rig *rig_new(uint32_t sm_threads);
struct rig *rig_new_config(const struct core_config *config);
void rig_free(struct rig *rig);
/* A first level of 64 lines in 16 sets and a second of 128 in 32, so that little fills them. */
#define RIG_LINE 128u
void rig_small_caches(struct core_config *config);

/* For cmocka: a test whose state is a new rig; two SM threads, or none: SMs run in slices. */
int rig_setup_slices(void **state);
int rig_setup_threads(void **state);
int rig_teardown(void **state);

/* Puts a program at CODE_VA: a text, a file of tests/kernels, or words. */
void rig_load_text(struct rig *rig, const char *text);
void rig_load_file(struct rig *rig, const char *name);
/* The same from an image, whose bytes the rig will free(). */
void rig_load_image(struct rig *rig, struct ppuasm_image image);
void rig_load_words(struct rig *rig, const uint64_t *words, uint32_t count);

/* TMD of a kernel of the loaded program; CTAs of x * y * z threads, grid of gx * gy * gz. */
struct ppu_tmd rig_tmd(struct rig *rig, const char *kernel);
void rig_shape(struct ppu_tmd *tmd, uint32_t gx, uint32_t gy, uint32_t x, uint32_t y);
void rig_params(struct rig *rig, uint32_t slot, struct ppu_tmd *tmd, const void *params, uint32_t bytes);
/* Starts a task; parameters were given for the same slot. */
void rig_start(struct rig *rig, uint32_t slot, const struct ppu_tmd *tmd);
/* Writes a command to a slot's register. */
void rig_command(struct rig *rig, uint32_t slot, enum ppu_slot_command command);
/* Lets time pass until the slot's next event; false: none came. Faults seen are kept. */
bool rig_wait(struct rig *rig, uint32_t slot, struct outcome *outcome);
/* A little time; warps that ask for room in their token queues get an answer. */
void rig_step(struct rig *rig);
/* start and wait; fails the test when the task does not end. */
struct outcome rig_run(struct rig *rig, const struct ppu_tmd *tmd);
/* Waits for the task of slot 0, which must end DONE. */
void rig_done(struct rig *rig);
/* rig_run() that must end DONE. */
void rig_run_done(struct rig *rig, const struct ppu_tmd *tmd);

/* The same machine after a snapshot was taken and loaded into a new one; the old one is freed. */
struct rig *rig_moved(struct rig *rig);

/* Host pointer to the code. */
uint8_t *rig_code(struct rig *rig);
/* Host pointer into the data area. */
void *rig_data(struct rig *rig, uint32_t offset);

#endif
