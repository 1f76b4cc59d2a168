/* SPDX-License-Identifier: MIT */
/* Chooses shapes of work-groups. */
#ifndef OPENCL_SUBMIT_WORK_GROUP_H
#define OPENCL_SUBMIT_WORK_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * PPU_WORK_GROUPS: true when launches have the work-groups that the program asks for, also where no work-item sees
 * them. A value that is unknown is told on standard error, and is as none.
 */
bool work_group_as_asked(void);
/* The largest divisors of the range that make at most `most` threads, x before y before z. */
void work_group_choose(const size_t range[3], size_t most, uint32_t cta[3]);
/*
 * Gives `cta` a shape that takes less to begin and to load: as large as it can be where each SM has some all the same,
 * with rows of a warp. The last of a dimension may be smaller then, unless divisors of the range make such rows, or a
 * fifth of the lanes would have no work-item. `most`: threads that a work-group of this kernel can have. False: it
 * stays as it is.
 */
bool work_group_reshape(const size_t range[3], size_t most, uint32_t wave, uint32_t sms, uint32_t cta[3]);

#endif
