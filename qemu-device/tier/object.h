/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links one object file of LLVM's to bytes that run wherever they lie. */
#ifndef QEMU_DEVICE_TIER_OBJECT_H
#define QEMU_DEVICE_TIER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tier_code_bytes;

/*
 * ELF for x86-64, as LLVM writes it. Its sections follow one another in out->at, with what they say of each other
 * filled in; out->entry is that of the function `name`. False: it needs something that is not in it, or an address;
 * nothing is changed.
 */
bool object_link(const uint8_t *object, size_t bytes, const char *name, struct tier_code_bytes *out);

#endif
