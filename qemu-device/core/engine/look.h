/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows debuggers where a warp has its values. */
#ifndef QEMU_DEVICE_CORE_ENGINE_LOOK_H
#define QEMU_DEVICE_CORE_ENGINE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct sm;

/* Makes lanes active that a token names, where none are: those that execute next. False: none can. [sm] */
bool engine_ready(struct sm *sm, uint32_t index);
/* A vector register of a lane, as the warp's mode has it; NULL: it has none of this number now. The SM stands still. */
uint32_t *engine_vector(struct sm *sm, uint32_t index, uint32_t reg, uint32_t lane);
/* True: the instruction that the warp executes next writes one of these bytes of the host's memory. [sm] */
bool engine_writes(struct sm *sm, uint32_t index, const uint8_t *first, uint32_t bytes);
/* True: it writes a vector register of the lane. [sm] */
bool engine_writes_vector(struct sm *sm, uint32_t index, uint32_t reg, uint32_t lane);
/* Where a lane's local memory has a byte, in the task's address space. The SM stands still. */
uint64_t engine_local(struct sm *sm, uint32_t index, uint32_t lane, uint32_t offset);

#endif
