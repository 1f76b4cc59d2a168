/* SPDX-License-Identifier: MIT */
/*
 * Gives a device the table of a profile (ppu/profile.h) when the tool wants one that started the process, and tells it
 * of programs and of what was counted for them. While PPU_DEBUG_KERNELS is 1 the files that tell of a program stay
 * until it is unloaded, for debuggers that come later.
 */
#ifndef RUNTIME_PROFILE_H
#define RUNTIME_PROFILE_H

struct ppu_device;
struct ppu_program;

/* The device was opened; nobody uses it yet. Without room there is no profile. */
void profile_begin(struct ppu_device *device);
/* The device is closed: ends the profile, and tells all that is left in the table. */
void profile_end(struct ppu_device *device);
void profile_program_loaded(struct ppu_program *program);
/* Takes its counts out of the table, for others get its addresses. Nothing of it runs any more. */
void profile_program_unloaded(struct ppu_program *program);

#endif
