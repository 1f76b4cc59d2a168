/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says whether a device is at rest, so that whoever counts instructions may let its clock stand still. */
#ifndef QEMU_DEVICE_CORE_REST_H
#define QEMU_DEVICE_CORE_REST_H

#include <stdbool.h>

struct core;

/* Nothing runs and nothing is copied: without the host, only the MCU's timers change anything. Never true with threads
 * of SMs. [lock] */
bool core_at_rest(struct core *core);
/* A semaphore is waited for. The host may release it in memory and leave it to the MCU to look there. [lock] */
bool core_has_armed(struct core *core);

#endif
