/* SPDX-License-Identifier: MIT */
/*
 * Replaces the module that translates loops by one whose first translation takes a second, and does not return then, as
 * when LLVM has met a fatal error.
 */
#include <time.h>
#include <unistd.h>

#include "qemu-device/core/tier/unit.h"

extern const struct tier_module ppu_tier_module;

static bool stuck; /* atomic */

static void stay(void)
{
    for (;;) {
        pause();
    }
}

static bool translate(const struct tier_unit *unit, struct tier_translation *out)
{
    (void)unit, (void)out;
    nanosleep(&(struct timespec){ 1, 0 }, NULL);
    __atomic_store_n(&stuck, true, __ATOMIC_RELEASE);
    stay();
    return false;
}

static void drop(struct tier_translation *translation)
{
    (void)translation;
}

static bool failed(void)
{
    return __atomic_load_n(&stuck, __ATOMIC_ACQUIRE);
}

const struct tier_module ppu_tier_module = {
    .layout = tier_layout,
    .translate = translate,
    .drop = drop,
    .failed = failed,
};
