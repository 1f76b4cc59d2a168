/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what other threads request from SMs. */
#ifndef QEMU_DEVICE_CORE_ATTENTION_H
#define QEMU_DEVICE_CORE_ATTENTION_H

#include <stdint.h>

struct core;

void sm_wake(struct core *core); /* there may be CTAs to take [any] */
/* Attention: give back the slot's CTAs, or save them, as dist_killing() and dist_saving() say. [any] */
void sm_kill(struct core *core, uint32_t slot);
void sm_flush(struct core *core,
              uint32_t context); /* attention: drop translations, answer dist_flushed() once an SM [any] */

#endif
