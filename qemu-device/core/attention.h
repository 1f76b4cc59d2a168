/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what other threads request from SMs. */
#ifndef QEMU_DEVICE_CORE_ATTENTION_H
#define QEMU_DEVICE_CORE_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_task;

void sm_wake(struct core *core);  /* warps may go on, and there may be CTAs to take [any] */
void sm_offer(struct core *core); /* there may be CTAs to take [any] */
/* Attention: give back the slot's CTAs, or save them, as dist_killing() and dist_saving() say. [any] */
void sm_kill(struct core *core, uint32_t slot);
void sm_flush(struct core *core,
              uint32_t context); /* attention: drop translations, answer dist_flushed() once an SM [any] */
/* A CTA of a task that has either begins on the SM: true, it is to be wide (D8). [sm] */
bool sm_wants_wide(struct core *core, uint32_t sm, const struct dist_task *task);

#endif
