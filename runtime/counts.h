/* SPDX-License-Identifier: MIT */
/*
 * Writes what a program's devices have counted into the file that PPU_COUNTS names: a line of JSON for each device,
 * when it is closed, or when the program ends with it open. So a program that knows nothing of counters is measured.
 */
#ifndef RUNTIME_COUNTS_H
#define RUNTIME_COUNTS_H

#include "ppu.h"

/* Remembers an open device, when the file is wanted. */
void counts_begin(struct ppu_device *device);
/* Writes its line, once; the device still answers. */
void counts_end(struct ppu_device *device);

#endif
