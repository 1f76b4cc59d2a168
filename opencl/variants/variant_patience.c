/* SPDX-License-Identifier: MIT */
#include "opencl/variants/variant_patience.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"

#define NS_PER_MS 1000000u
#define NS_PER_S 1000000000u
#define MOST_S 86400u /* that can be said */

/* ---- what the user says ---- */

static bool read_time(const char *text, struct variant_patience *patience)
{
    char *end = NULL;

    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    uint64_t unit = strcmp(end, "ms") == 0 ? NS_PER_MS : strcmp(end, "s") == 0 ? NS_PER_S : 0;
    if (errno != 0 || unit == 0 || number > (uint64_t)MOST_S * NS_PER_S / unit) {
        return false;
    }
    *patience = (struct variant_patience){ true, number * unit };
    return true;
}

bool variant_patience_read(const char *text, struct variant_patience *patience)
{
    static const struct {
        const char *word;
        struct variant_patience patience;
    } words[] = {
        { "auto", { false, 0 } },
        { "never", { true, 0 } },
        { "0", { true, 0 } },
        { "always", { true, VARIANT_FOR_EVER } },
        { "1", { true, VARIANT_FOR_EVER } },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(words); i++) {
        if (strcmp(words[i].word, text) == 0) {
            *patience = words[i].patience;
            return true;
        }
    }
    return read_time(text, patience);
}

/* ---- what may be gained ---- */

static double ns_an_item(const struct variant_time *time)
{
    return time->items != 0 ? (double)time->ns / (double)time->items : 0;
}

uint64_t variant_gain_ns(const struct variant_forecast *forecast)
{
    double base = ns_an_item(&forecast->base), variant = ns_an_item(&forecast->variant);

    variant = variant > 0 ? variant : base * forecast->percent / 100;
    double gain = (base - variant) * (double)forecast->items;
    return gain <= 0 ? 0 : gain >= (double)MOST_S * NS_PER_S ? (uint64_t)MOST_S * NS_PER_S : (uint64_t)gain;
}

static uint64_t compile_ns_of(const struct variant_forecast *forecast)
{
    return forecast->compile_ns != 0 ? forecast->compile_ns : VARIANT_COMPILE_NS;
}

bool variant_is_earned(const struct variant_patience *patience, const struct variant_forecast *forecast)
{
    const double base = ns_an_item(&forecast->base), variant = ns_an_item(&forecast->variant);
    const double launch = (base > 0 ? base : variant) * (double)forecast->items;
    const double spent = (double)forecast->base.ns + (double)forecast->variant.ns;

    return patience->fixed || spent + launch >= (double)compile_ns_of(forecast) / VARIANT_EARNED_PART;
}

/*
 * The launch waits while what is left of the compilation is expected to take less than is gained; and no longer than is
 * gained, however wrong that was: so it loses at most what it could have gained.
 */
uint64_t variant_wait_ns(const struct variant_patience *patience, const struct variant_forecast *forecast)
{
    if (patience->fixed) {
        return patience->ns;
    }
    uint64_t compile_ns = compile_ns_of(forecast);
    uint64_t left_ns = compile_ns > forecast->since_ns ? compile_ns - forecast->since_ns : 0;
    uint64_t gain_ns = variant_gain_ns(forecast);
    return left_ns < gain_ns ? gain_ns : 0;
}
