/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a variant is compiled, and how long a launch waits for it: by what it may gain, or as the user says.
 * Knows no device and no clock.
 */
#ifndef OPENCL_VARIANTS_VARIANT_PATIENCE_H
#define OPENCL_VARIANTS_VARIANT_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Percent of the base variant's time that a variant is expected to need, before one was measured: the means of
 * docs/design/alias.md, "Measured", rounded towards no gain. */
#define VARIANT_PERCENT_APART 60u /* for pairs of references */
#define VARIANT_PERCENT_IDS 95u   /* for comparisons of ids alone */
/* A compilation is expected to take this before one was measured. */
#define VARIANT_COMPILE_NS 500000000u
/* It is worth it when the kernel's launches have taken this part of it. */
#define VARIANT_EARNED_PART 25u

#define VARIANT_FOR_EVER UINT64_MAX

/* Says what the environment asks for. */
struct variant_patience {
    bool fixed;
    uint64_t ns; /* fixed: that a launch waits at most; VARIANT_FOR_EVER: until the compilation has ended */
};

/* `auto`, `never` or `0`, `always` or `1`, or a number and `ms` or `s`. False: it is none of them. */
bool variant_patience_read(const char *text, struct variant_patience *patience);

/* Time on the device, as far as it was measured. */
struct variant_time {
    uint64_t ns, items;
};

/* Holds what is known of a launch and of its variant's compilation. */
struct variant_forecast {
    uint64_t items;              /* of the launch */
    struct variant_time base;    /* of the kernel's launches so far */
    struct variant_time variant; /* of those of its other variants */
    uint32_t percent;            /* of the base's time, where the latter has none */
    uint64_t compile_ns;         /* that the compilation is expected to take; 0: none was measured */
    uint64_t since_ns;           /* that it has taken so far, once it has begun */
};

/* True when the kernel's launches have taken long enough, or this one is expected to; or when the user has said how
 * long launches wait. */
bool variant_is_earned(const struct variant_patience *patience, const struct variant_forecast *forecast);
/* Returns how much less the launch is expected to take with its variant; 0: nothing is known, or nothing gained. */
uint64_t variant_gain_ns(const struct variant_forecast *forecast);
/* How long the launch waits at most; 0: not at all. */
uint64_t variant_wait_ns(const struct variant_patience *patience, const struct variant_forecast *forecast);

#endif
