/* SPDX-License-Identifier: MIT */
#include "opencl/submit/work_group.h"
#include "ppu/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each SM gets so many at least, when work-groups are given another shape: SMs end together. */
#define GROUPS_AN_SM 4u
/* Lanes, of the work-items' number, that are worth rows of warps: those of other rows are found lane by lane. */
#define MOST_PADDED 1.25

bool work_group_as_asked(void)
{
    const char *text = secure_getenv("PPU_WORK_GROUPS");

    if (!text || *text == '\0' || strcmp(text, "auto") == 0) {
        return false;
    }
    if (strcmp(text, "asked") == 0) {
        return true;
    }
    fprintf(stderr, "OpenCL on the PPU: read PPU_WORK_GROUPS: '%.40s' is none of auto, asked; auto is used\n", text);
    return false;
}

/* The largest divisor of `n` that is at most `most`. */
static size_t divisor(size_t n, size_t most)
{
    size_t found = PPU_MIN(n, most);

    while (found > 1 && n % found != 0) {
        found--;
    }
    return PPU_MAX(found, 1u);
}

void work_group_choose(const size_t range[3], size_t most, uint32_t cta[3])
{
    for (uint32_t i = 0; i < 3; i++) {
        size_t size = divisor(range[i], most);
        cta[i] = (uint32_t)size;
        most /= size;
    }
}

/* Work-items for each work-group, when each SM has some. */
static size_t share(const size_t range[3], uint32_t sms)
{
    size_t items = range[0];

    for (uint32_t i = 1; i < 3; i++) {
        items = items > SIZE_MAX / range[i] ? SIZE_MAX : items * range[i];
    }
    return items / ((size_t)sms * GROUPS_AN_SM);
}

/* Counts the warps of all work-groups, which may be more than fit a number of 64 bits. */
static double warps_of(const size_t range[3], const uint32_t cta[3], uint32_t wave)
{
    double warps = 0;

    for (uint32_t smaller = 0; smaller < 8; smaller++) {
        uint32_t threads = 1;
        double alike = 1; /* work-groups that are smaller in the same dimensions */
        for (uint32_t i = 0; i < 3; i++) {
            const size_t full = range[i] / cta[i];
            const bool edge = (smaller >> i & 1) != 0;
            threads *= edge ? (uint32_t)(range[i] % cta[i]) : cta[i];
            alike *= edge ? 1 : (double)full;
        }
        const uint32_t warps_each = (threads + wave - 1) / wave;
        warps += alike * warps_each;
    }
    return warps;
}

static uint32_t threads_of(const uint32_t cta[3])
{
    return cta[0] * cta[1] * cta[2];
}

/* Its rows are warps, and it is large enough. */
static bool is_good(const uint32_t cta[3], size_t wanted, uint32_t wave)
{
    return cta[0] % wave == 0 && threads_of(cta) > wanted / 2;
}

/* The largest divisors with rows of at least a warp, or as large as there are. False: they are none, or waste lanes. */
static bool divide(const size_t range[3], size_t wanted, uint32_t wave, const uint32_t asked[3], uint32_t cta[3])
{
    const bool flat = range[1] == 1 && range[2] == 1;
    const size_t row = divisor(range[0], flat ? wanted : PPU_MIN(PPU_MAX(wave, asked[0]), wanted));
    const size_t shape[3] = { row, range[1], range[2] };

    work_group_choose(shape, wanted, cta);
    return cta[0] >= asked[0] && warps_of(range, cta, wave) <= warps_of(range, asked, wave);
}

/* Rows of warps, whatever is left at the end of the range's. False: there would be too much. */
static bool fill_rows(const size_t range[3], size_t wanted, uint32_t wave, const uint32_t asked[3], uint32_t cta[3])
{
    const bool flat = range[1] == 1 && range[2] == 1;
    const double items = (double)range[0] * (double)range[1] * (double)range[2];
    size_t room = wanted / wave;

    if (range[0] < wave || room == 0) {
        return false;
    }
    cta[0] = (uint32_t)(flat ? PPU_MIN(room, range[0] / wave) * wave : wave);
    for (uint32_t i = 1; i < 3; i++) {
        cta[i] = (uint32_t)PPU_MIN(range[i], flat ? 1 : room);
        room /= cta[i];
    }
    const double warps = warps_of(range, cta, wave);
    return warps * wave <= items * MOST_PADDED && warps <= warps_of(range, asked, wave) * MOST_PADDED;
}

bool work_group_reshape(const size_t range[3], size_t most, uint32_t wave, uint32_t sms, uint32_t cta[3])
{
    const size_t wanted = PPU_MIN(most, PPU_MAX(share(range, sms), threads_of(cta)));
    uint32_t divided[3], filled[3];

    const bool divides = divide(range, wanted, wave, cta, divided);
    const uint32_t *const candidate = divides ? divided : cta;
    const bool fills = !is_good(candidate, wanted, wave) && fill_rows(range, wanted, wave, cta, filled) &&
                       (candidate[0] % wave != 0 || threads_of(filled) > threads_of(candidate));
    const uint32_t *const chosen = fills ? filled : candidate;
    const bool changed = memcmp(chosen, cta, sizeof(divided)) != 0;

    if (changed) {
        memcpy(cta, chosen, sizeof(divided));
    }
    return changed;
}
