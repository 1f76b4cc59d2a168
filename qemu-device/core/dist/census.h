/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks a loaded snapshot: the CTAs that slots say there are must be those that SMs have. All [lock]. */
#ifndef QEMU_DEVICE_CORE_DIST_CENSUS_H
#define QEMU_DEVICE_CORE_DIST_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_cta;
struct snap;

/* The SM has a loaded CTA of that task; false: it cannot, as the snapshot is told. [lock] */
bool dist_loaded_cta(struct core *core, uint32_t sm, const struct dist_cta *cta, struct snap *snap);
bool census_begin(struct core *core, struct snap *snap); /* no CTA has been seen yet */
bool census_agrees(struct core *core, struct snap *snap);
void census_end(struct core *core);

#endif
