/* SPDX-License-Identifier: MIT */
/*
 * Makes machines in the middle of everything that lie about it when they are saved: about what lies.def says, or any
 * field.
 */
#ifndef TESTS_ENGINE_LIAR_H
#define TESTS_ENGINE_LIAR_H

#include "tests/engine/rig.h"

#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

#define UNUSED_AT (HEAP_AT + 0x700000u) /* VRAM that nothing names */
#define UNUSED_BYTES 0x80000u

/* A machine in the middle of everything, paused, and where its parts are. */
struct liar {
    struct rig *rig;
    struct core *core;
    struct dist_slot *saved, *plain, *gang;
    uint32_t place[2];              /* of CTAs that are saved */
    struct sm *sm;                  /* that has `other` */
    struct sm_cta *waiter, *second; /* of `saved`, on SMs */
    struct sm_cta *other;           /* of `plain` */
    struct warp *warp, *part;       /* of `other`: at the barrier, in the segment */
};

void liar_new(struct liar *l);
void liar_free(struct liar *l);
/* VRAM and what else a snapshot does not have. */
void liar_memories(struct rig *to, const struct rig *from);

struct lie {
    uint32_t line; /* of lies.def */
    const char *words;
    void (*tell)(struct liar *l);
};
extern const struct lie lies[];
extern const uint32_t lies_count;

/* One byte to eight of a field become something telling. `field` and `place`, any numbers, say where, `how` what;
 * `value` is for one of them. */
#define LIAR_WAYS 7u
void liar_change(struct liar *l, uint32_t field, uint32_t place, uint32_t how, uint64_t value);

#endif
