/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells how long a host thread has worked: what the host gives to other threads meanwhile does not count. The clock
 * that says this is a system call, the wall's is none, so the wall's tells short times and the thread's corrects them.
 */
#ifndef QEMU_DEVICE_CORE_SM_WORK_CLOCK_H
#define QEMU_DEVICE_CORE_SM_WORK_CLOCK_H

#include <stdint.h>

#define WORK_CLOCK_NS 100000u /* of the wall's clock, after which the thread's is read */

/* The two clocks when the thread's was last read, by the one thread that this belongs to; 0: never. */
struct work_clock {
    uint64_t wall_ns;
    uint64_t thread_ns;
};

/*
 * What the thread has worked since `*since_ns`, an earlier answer or 0, which becomes now. What others had of it is
 * counted for WORK_CLOCK_NS at most. For `*since_ns` of 0 the answer has no meaning.
 */
uint64_t work_clock_spent(struct work_clock *clock, uint64_t *since_ns);

#endif
