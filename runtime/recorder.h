/* SPDX-License-Identifier: MIT */
/*
 * Keeps the recorder of this process (ppu/recorder.h): one for each copy of the library, made when it is first asked
 * for, and there until the process ends. Without one (no memory, no file) nothing is recorded and nothing fails.
 */
#ifndef RUNTIME_RECORDER_H
#define RUNTIME_RECORDER_H

#include "ppu/image.h"
#include "ppu/recorder.h"
#include "runtime/transport.h"

#define RECORDER_NONE UINT32_MAX

/* Enters an open device; RECORDER_NONE: there is no recorder, or it has no entry left. */
uint32_t recorder_add_device(struct ppu_device *device);
void recorder_remove_device(struct ppu_device *device);
/* Enters a kernel of a program whose code has its place. Returns the number of its name. */
uint32_t recorder_add_kernel(const struct ppu_program *program, const struct ppu_kernel_entry *entry);

/* A tool has started this process and listens. */
bool recorder_watched(void);
/* What a tool wants to be profiled: the period, or 0, and how many entries the table has. */
uint32_t recorder_profile_wanted(uint32_t *entries);
/* Sends a file to the tool that started this process, and closes it. */
void recorder_send(enum ppu_recorder_message_kind kind, uint32_t entry, int fd);

#endif
