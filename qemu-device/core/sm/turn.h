/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bounds turns of warps and slices of SMs. */
#ifndef QEMU_DEVICE_CORE_SM_TURN_H
#define QEMU_DEVICE_CORE_SM_TURN_H

#include "qemu-device/core/sm/file.h"

#define SM_QUANTUM 4096u    /* warp instructions of a turn, at most */
#define SM_LOOK 32u         /* of them between two looks at the attention word, at most */
#define SHARE_QUANTUM 1024u /* the same where CTAs of several address spaces are side by side */
#define SM_SLICE_NS 10000u  /* virtual time of a slice; one warp instruction is 1 ns */
#define SM_SLICE_PART 512u  /* work of one call of sm_slice_run(): warp instructions and their memory transactions */
#define SM_ANY_WORK UINT64_MAX
/*
 * Warp instructions between two looks at how much of a part has been done. With the address sanitizer a turn shades the
 * files of its SM (file.h), which takes longer than the instructions.
 */
#define SM_SLICE_TURN (SM_FILE_SHADED ? 128u : 8u)

#endif
