/* SPDX-License-Identifier: MIT */
/*
 * Keeps a device and what belongs to it alone. Locks, in the order in which one may be taken while another is held: a
 * channel's, memory_lock, those of admin and interrupts, error_lock.
 */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include <pthread.h>

#include "ppu/boot.h"
#include "ppu/regs.h"
#include "runtime/admin.h"
#include "runtime/error.h"
#include "runtime/interrupt.h"
#include "runtime/machine_clock.h"
#include "runtime/range.h"
#include "runtime/recorder.h"
#include "runtime/transport.h"

struct ppu_device {
    struct ppu_transport *transport;
    uint64_t timeout_ns; /* the limit of what libppu waits for by itself */
    struct machine_clock clock;
    struct ppu_device_info info;
    struct ppu_fw_info firmware;
    struct interrupts interrupts;
    struct admin admin;
    uint32_t next_correlation; /* atomic */
    uint32_t next_vector;      /* atomic: channels opened so far */
    uint32_t recorded;         /* its entry of the recorder, or RECORDER_NONE */
    struct {
        uint32_t page;    /* of VRAM: where its table lies (ppu/profile.h) */
        uint32_t entries; /* 0: there is no profile */
    } profile;

    /* This lock guards allocators, mappings and page tables of all contexts. */
    pthread_mutex_t memory_lock;
    struct range_pool heap;   /* VRAM offsets */
    struct range_pool tables; /* VRAM offsets of page-table pages */
    struct ppu_memory *kept;  /* freed, but the device may still reach it: until it is closed */

    /* Says what went wrong. */
    pthread_mutex_t error_lock;
    bool lost;
    struct ppu_error error; /* the latest */
    uint64_t error_count;
    uint32_t error_head; /* of the firmware's error ring */
    uint32_t errors_lost;
    struct ppu_channel *channel[PPU_MAX_CHANNELS]; /* open ones, to be told of their faults */
};

uint32_t device_reg_read(struct ppu_device *device, uint32_t offset);
void device_reg_write(struct ppu_device *device, uint32_t offset, uint32_t value);

/*
 * Waits until one of `vectors` comes after `mark`: PPU_OK. TIMEOUT when the deadline
 * has passed, DEVICE_LOST when the firmware has stopped.
 */
enum ppu_err device_wait(struct ppu_device *device, uint32_t vectors, uint64_t mark, uint64_t deadline_ns);

/* The clock for a wait with libppu's own limit, which begins now. */
struct machine_clock device_clock(struct ppu_device *device);
/* The limit of such a wait is over. True: the machine stood still meanwhile, and there is a new deadline. */
bool device_puts_off(struct ppu_device *device, struct machine_clock *clock, uint64_t *deadline_ns);

/* Makes *error the device's latest. */
void device_record_error(struct ppu_device *device, const struct ppu_error *error);
/*
 * Takes what the firmware has recorded so far to the channels it is about. After the answer
 * to a request this includes all that happened before it.
 */
void device_read_errors(struct ppu_device *device);
/* Never 0. */
uint32_t device_new_correlation(struct ppu_device *device);

#endif
