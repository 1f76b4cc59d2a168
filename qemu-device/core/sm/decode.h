/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetches and decodes code by pages (the instruction decoder). */
#ifndef QEMU_DEVICE_CORE_SM_DECODE_H
#define QEMU_DEVICE_CORE_SM_DECODE_H

#include <stdbool.h>
#include <stdint.h>

struct code_insn;
struct dist_task;
struct sm;

/* Instruction at pc of the task; NULL: *fault and *va say why it cannot be fetched. */
const struct code_insn *decode_fetch(struct sm *sm, const struct dist_task *task, uint32_t pc, uint16_t *fault,
                                     uint64_t *va);
/* Makes sm->window that of the task with the instruction at pc; none: as decode_fetch(). Stays until the next call of
 * either. */
void decode_window(struct sm *sm, const struct dist_task *task, uint32_t pc);
/* Returns the instruction if it has been decoded and has no fault, else NULL. */
const struct code_insn *decode_known(const struct sm *sm, const struct dist_task *task, uint32_t pc);
/* True when no warp of the task can read a vector register that it has not written. */
bool decode_writes_first(const struct sm *sm, const struct dist_task *task);
/* An instruction that a warp has begun (warp.word), whatever stands in memory now. Stays until the next call. */
const struct code_insn *decode_begun(struct sm *sm, uint64_t word);
/* Code of the context may have changed. Translations stay known where it has not, for warps of this wave; 0: none. */
void decode_drop(struct sm *sm, uint32_t context, uint32_t wave);
void decode_drop_all(struct sm *sm);

#endif
