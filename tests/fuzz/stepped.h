/* SPDX-License-Identifier: MIT */
/*
 * Steps the real device core, the real firmware and libppu in this process, without a thread. The firmware runs on a
 * stack of its own until it sleeps; the SMs run in slices of virtual time. What happens depends on nothing but what
 * the target does, so that the same input covers the same.
 *
 * A machine is started and set up once, by libppu, and remembered; each input begins with stepped_restore(). From then
 * on no function of libppu may be called: its objects stay as they were when the machine was remembered.
 */
#ifndef TESTS_FUZZ_STEPPED_H
#define TESTS_FUZZ_STEPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/admin.h"
#include "ppu/boot.h"
#include "qemu-device/core/core.h"
#include "runtime/transport.h"
#include "tests/joined/host.h"

struct stepped_options {
    struct core_config config; /* sm_threads is 0 */
    uint64_t system_bytes;     /* a multiple of 64 KiB */
};

/* A small machine with one SM. */
void stepped_default(struct stepped_options *options);
/* There is one machine in a process. The program ends when it cannot be made. */
void stepped_start(const struct stepped_options *options);
struct ppu_transport *stepped_transport(void);
struct core *stepped_core(void);
uint8_t *stepped_vram(void);
/* First byte of system memory, which is at bus address JOINED_BUS_BASE. */
uint8_t *stepped_system(void);
const char *stepped_firmware(void);
uint64_t stepped_now(void);

/* What the machine is now is what stepped_restore() makes of it. It must be at rest. */
void stepped_remember(void);
void stepped_restore(void);

/* Until stepped_restore() the firmware does nothing: the target does what the MCU may. The MCU is held and released. */
void stepped_silence(void);
/* It locks up, if it runs. */
void stepped_lock_up(void);
/* Whether the function may reach system memory; it may after stepped_restore(). */
void stepped_bus_master(bool on);

/*
 * Called whenever the firmware is about to look at a word that others write too, at a register, and when the device
 * reads system memory: where another party may come in between. Inside it the machine's memories may be changed,
 * nothing else.
 */
void stepped_between(void (*between)(void *opaque), void *opaque);

/*
 * Lets everything run until it rests, at most so many steps (a slice of the SMs, an event, a timer). True: it rests. A
 * channel that is parked has a timer, so that the machine never rests while there is one.
 */
bool stepped_run(uint32_t steps);
/* Vectors raised since the last call. */
uint32_t stepped_vectors(void);

void stepped_reg_write(uint32_t reg, uint32_t value);
void stepped_doorbell(uint32_t channel, uint32_t offset, uint32_t value);

/* Its bytes, a struct ppu_admin_queue. */
uint8_t *stepped_admin_queue(void);
/* An admin request sent without libppu. False: the ring is full. */
bool stepped_request(const struct ppu_admin_msg *request);
/* The next reply; false: there is none. */
bool stepped_reply(struct ppu_admin_msg *reply);
/* Sends a request and runs until it is answered; what is wrong with that is a finding. */
struct ppu_admin_msg stepped_admin(uint16_t op, const uint32_t *args, uint32_t count, uint32_t steps);

#endif
