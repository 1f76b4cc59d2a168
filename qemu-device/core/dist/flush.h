/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flushes translations, one flush after the other, each answered by every SM. */
#ifndef QEMU_DEVICE_CORE_DIST_FLUSH_H
#define QEMU_DEVICE_CORE_DIST_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct snap;

/* This SM holds no translation of the context any more (answers sm_flush()). [sm] */
void dist_flushed(struct core *core, uint32_t sm, uint32_t context);

struct dist_flush {
    uint32_t context;
    uint32_t tag;
};

void dist_flush_request(struct core *core, uint32_t context);

/* False: as the snapshot is told. */
bool flush_load(struct core *core, struct snap *snap);

#endif
