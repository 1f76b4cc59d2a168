/* SPDX-License-Identifier: MIT */
/*
 * Task management unit (A4): for each priority a list of tasks that are ready to
 * run, and a bitmap of the lists that are not empty.
 */
#ifndef FW_TMU_H
#define FW_TMU_H

#include "task.h"

void tmu_init(void);

/* Makes a HELD task READY: at the head of its priority's list when its TMD asks for that, else at the tail. */
void tmu_insert(struct task *task);

/* Takes the first task of the highest priority; NULL: none is ready. It stays READY. */
struct task *tmu_take(void);

/* Takes this READY task off its list. */
void tmu_remove(struct task *task);

#endif
