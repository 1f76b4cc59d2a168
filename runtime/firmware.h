/* SPDX-License-Identifier: MIT */
/* Brings the MCU up: image, release, hand-shake; and finds out how it went down. */
#ifndef RUNTIME_FIRMWARE_H
#define RUNTIME_FIRMWARE_H

#include <stddef.h>

#include "ppu.h"
#include "ppu/boot.h"
#include "runtime/transport.h"

/* Checks a firmware image: header, length, CRC, ABI. BAD_IMAGE, BAD_ABI. */
enum ppu_err firmware_check(const char *name, const void *image, size_t bytes, struct ppu_error *error);

/* Resets the function; returns when the MCU is held. */
enum ppu_err firmware_hold(struct ppu_transport *transport, uint64_t timeout_ns, struct ppu_error *error);
/* Reads, checks and loads the image file `path` while the MCU is held. */
enum ppu_err firmware_load(struct ppu_transport *transport, const char *path, struct ppu_error *error);
/* Releases the MCU and waits until the firmware says that it is ready; copies what it tells. */
enum ppu_err firmware_start(struct ppu_transport *transport, uint64_t timeout_ns, struct ppu_fw_info *info,
                            struct ppu_error *error);
/* False: it runs. True: it has stopped, *error says where. */
bool firmware_stopped(struct ppu_transport *transport, struct ppu_error *error);

#endif
