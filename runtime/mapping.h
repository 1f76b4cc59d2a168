/* SPDX-License-Identifier: MIT */
/* Maps files that libppu shares with the process that has the device. */
#ifndef RUNTIME_MAPPING_H
#define RUNTIME_MAPPING_H

#include <stdint.h>

/*
 * The start of the file mapped at a multiple of 2 MiB, so that what is aligned in VRAM is aligned for the host too;
 * NULL with errno.
 */
uint8_t *mapping_of_file(int fd, uint64_t bytes);
/*
 * Maps what is the device's in the same way: a child of this process does not have it, and does not keep it when this
 * process has ended.
 */
uint8_t *mapping_of_device(int fd, uint64_t bytes);

#endif
