/* SPDX-License-Identifier: MIT */
/*
 * Joins the real device core and the real firmware in this process, and leads libppu to them by a transport. No QEMU,
 * so that sanitizers see every side.
 *
 * Threads: the firmware's, which enters the device only with the host lock held; one for
 * bottom halves and the timer; the SMs' own.
 * The firmware has static state: one joined machine at a time.
 */
#ifndef TESTS_JOINED_JOINED_H
#define TESTS_JOINED_JOINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qemu-device/core/core.h"
#include "runtime/transport.h"

struct joined_options {
    struct core_config config;
    uint64_t system_bytes; /* multiple of 2 MiB */
};

struct joined;

/* A small machine with test hooks. */
void joined_default(struct joined_options *options);
/* NULL with a sentence in *why. */
struct joined *joined_start(const struct joined_options *options, const char **why);
/* The transport's devices must have been closed. */
void joined_stop(struct joined *joined);
struct ppu_transport *joined_transport(struct joined *joined);
/* A file that libppu accepts as a firmware image; what is loaded is not executed here. */
const char *joined_firmware(const struct joined *joined);

/* Everything stands still: virtual clock, SMs, copies, firmware. joined_resume() goes on. */
void joined_pause(struct joined *joined);
void joined_resume(struct joined *joined);
/*
 * While paused: saves the core's state, resets the core to nothing and loads it again. False with a sentence
 * in *why when the loading failed.
 */
bool joined_reload(struct joined *joined, const char **why);
/* The firmware stops as after a failed assertion, at its next access to the device. */
void joined_crash(struct joined *joined);
/* The MCU locks up at the firmware's next access to the device. */
void joined_lock_up(struct joined *joined);
/* Guest errors that the device has reported so far. */
uint32_t joined_guest_errors(struct joined *joined);

#endif
