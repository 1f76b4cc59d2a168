/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps pages in which accesses were found, for those that follow. */
#ifndef QEMU_DEVICE_CORE_SM_FOUND_PAGES_H
#define QEMU_DEVICE_CORE_SM_FOUND_PAGES_H

#include <stdint.h>

/* A page that an access was found in, for those that follow. */
struct page {
    uint64_t first;
    uint64_t bytes; /* 0: none yet */
    uint8_t *host;
};

/* A load outside of loops asks for what lies so many rows of the warp behind its own, line by line of the host. */
#define FETCH_ROWS 2u
#define FETCH_LINE 64u

#define FOUND_READS 4u /* loads that are neighbours in a program are mostly of different buffers */

/* Where accesses of each kind were last, which they mostly stay. */
struct tlb_found {
    uint64_t key;                                    /* of the tags of their pages; 0: there are none */
    struct page reads[FOUND_READS], writes, atomics; /* of loads by where they stand in the program */
    struct page lines;                               /* of lines that the model of the caches looked at */
};

#endif
