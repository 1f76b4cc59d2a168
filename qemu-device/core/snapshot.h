/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Byte string of a snapshot: little-endian values in sections. Writing grows the
 * buffer; reading past the end or a wrong section tag makes the reader `bad`, from
 * then on it returns zeros: check once at the end.
 */
#ifndef PPU_CORE_SNAPSHOT_H
#define PPU_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snap {
    uint8_t *buf;
    size_t len;
    size_t cap; /* writing */
    size_t pos; /* reading */
    bool bad;
};

void snap_put_u32(struct snap *snap, uint32_t value);
void snap_put_u64(struct snap *snap, uint64_t value);
void snap_put_bytes(struct snap *snap, const void *bytes, size_t len);
void snap_put_section(struct snap *snap, uint32_t tag);

uint32_t snap_get_u32(struct snap *snap);
uint64_t snap_get_u64(struct snap *snap);
void snap_get_bytes(struct snap *snap, void *bytes, size_t len);
void snap_get_section(struct snap *snap, uint32_t tag); /* bad unless it is this one */

#endif
