/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes and reads the byte string of a snapshot: little-endian values in sections. Writing grows the buffer; reading
 * past the end or a wrong section tag makes the reader `bad`, from then on it returns zeros: check once at the end. Why
 * it is bad, and where, is kept from the first time.
 */
#ifndef QEMU_DEVICE_CORE_SNAPSHOT_H
#define QEMU_DEVICE_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names what is being read, for the message that it cannot be. */
enum snap_unit {
    SNAP_SLOT = 0,
    SNAP_SM = 1,
    SNAP_CTA = 2, /* its place on the SM */
    SNAP_WARP = 3,
    SNAP_UNITS = 4,
};
#define SNAP_NO_UNIT UINT32_MAX
#define SNAP_WHY_BYTES 240u

struct snap {
    uint8_t *buf;
    size_t len;
    size_t cap; /* writing */
    size_t pos; /* reading */
    bool bad;
    const char *part;          /* reading: what the section describes; NULL: nobody asks why it is bad */
    uint32_t unit[SNAP_UNITS]; /* with `part`: SNAP_NO_UNIT, or the number of what is being read */
    char why[SNAP_WHY_BYTES];  /* with `part`: a sentence, once it is bad */
};

void snap_put_u32(struct snap *snap, uint32_t value);
void snap_put_u64(struct snap *snap, uint64_t value);
void snap_put_bytes(struct snap *snap, const void *bytes, size_t len);
void snap_put_section(struct snap *snap, uint32_t tag);

uint32_t snap_get_u32(struct snap *snap);
uint64_t snap_get_u64(struct snap *snap);
void snap_get_bytes(struct snap *snap, void *bytes, size_t len);
void snap_get_section(struct snap *snap, uint32_t tag); /* bad unless it is this one */
bool snap_get_flag(struct snap *snap);                  /* bad unless 0 or 1 */
/* Refuses what was read. Always false. */
__attribute__((format(printf, 2, 3))) bool snap_refuse(struct snap *snap, const char *format, ...);

#endif
