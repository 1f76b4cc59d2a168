/* SPDX-License-Identifier: MIT */
/*
 * Predicts what the counters (counter.def) must say of the only warp of a task. It looks at the warp before and after
 * each of its instructions. It is a model of the definitions, not of the engine.
 */
#ifndef TESTS_ENGINE_OBSERVE_H
#define TESTS_ENGINE_OBSERVE_H

#include "qemu-device/core/core.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"
#include "tests/engine/model_cache.h"

struct observed {
    uint64_t count[PPU_COUNTERS];
    struct lanes before; /* that the instruction found active */
    bool caches;         /* are modelled: */
    struct model_cache l1, l2;
};

/* Nothing is counted, and caches are empty. */
struct observed observe_new(const struct core_config *config);
/* The warp is about to execute the instruction at its pc. */
void observe_before(struct observed *o, const struct sm *sm, const struct warp *w, const uint64_t *code);
/* It has executed it. */
void observe_after(struct observed *o, const struct warp *w);

#endif
