/* SPDX-License-Identifier: MIT */
#include "opencl/submit/work_group.h"
#include "ppu/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each SM gets so many at least, when work-groups are given another shape: SMs end together. */
#define GROUPS_AN_SM 4u

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

/* Threads of the warps that so many need. */
static uint32_t padded(uint32_t threads, uint32_t wave)
{
    return (threads + wave - 1) / wave * wave;
}

bool work_group_reshape(const size_t range[3], size_t most, uint32_t wave, uint32_t sms, uint32_t cta[3])
{
    const bool flat = range[1] == 1 && range[2] == 1;
    const uint32_t asked = cta[0] * cta[1] * cta[2];
    const size_t wanted = PPU_MIN(most, PPU_MAX(share(range, sms), asked));
    const size_t row = divisor(range[0], flat ? wanted : PPU_MIN(PPU_MAX(wave, cta[0]), wanted));
    const size_t shape[3] = { row, range[1], range[2] };
    uint32_t chosen[3];

    work_group_choose(shape, wanted, chosen);
    const uint32_t threads = chosen[0] * chosen[1] * chosen[2];
    const bool wasteful = (uint64_t)padded(threads, wave) * asked > (uint64_t)padded(asked, wave) * threads;
    if (wasteful || chosen[0] < cta[0] || memcmp(chosen, cta, sizeof(chosen)) == 0) {
        return false;
    }
    memcpy(cta, chosen, sizeof(chosen));
    return true;
}
