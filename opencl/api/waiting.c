/* SPDX-License-Identifier: MIT */
#include "opencl/api/waiting.h"

#include <stdio.h>
#include <stdlib.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/nest.h"

struct setting {
    cl_context_properties property;
    const char *variable;
    uint32_t most;
};

enum { WORK_GROUPS, BYTES };

static const struct setting settings[] = {
    [WORK_GROUPS] = { CL_CONTEXT_WAITING_GROUPS_PPU, "PPU_WAITING_GROUPS", PPU_SAVE_PLACES },
    [BYTES] = { CL_CONTEXT_WAITING_BYTES_PPU, "PPU_WAITING_BYTES", PPU_NEST_MAX_STATE },
};

/* Index of the setting; the number of them: it is none of these. */
static uint32_t find_setting(cl_context_properties name)
{
    uint32_t i = 0;

    while (i < PPU_ARRAY_SIZE(settings) && settings[i].property != name) {
        i++;
    }
    return i;
}

bool waiting_is_property(cl_context_properties name)
{
    return find_setting(name) < PPU_ARRAY_SIZE(settings);
}

/* 0 is no setting. */
static bool read_variable(const struct setting *setting, uint32_t *value, char text[WAITING_TEXT_BYTES])
{
    const char *given = secure_getenv(setting->variable);
    char *end = NULL;

    if (!given) {
        return true;
    }
    unsigned long number = strtoul(given, &end, 10);
    if (*given < '0' || *given > '9' || *end != '\0' || number > setting->most) {
        snprintf(text, WAITING_TEXT_BYTES, "%s=%.40s: a number from 1 to %u, or 0 for the default", setting->variable,
                 given, setting->most);
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

bool waiting_read(struct waiting *waiting, const cl_context_properties *properties, char text[WAITING_TEXT_BYTES])
{
    uint32_t value[PPU_ARRAY_SIZE(settings)] = { 0 };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(settings); i++) {
        if (!read_variable(&settings[i], &value[i], text)) {
            return false;
        }
    }
    for (; properties && *properties != 0; properties += 2) {
        uint32_t i = find_setting(properties[0]);
        if (i == PPU_ARRAY_SIZE(settings)) {
            continue;
        }
        if (properties[1] < 1 || properties[1] > (cl_context_properties)settings[i].most) {
            snprintf(text, WAITING_TEXT_BYTES, "property 0x%lx is %lld: a number from 1 to %u",
                     (unsigned long)properties[0], (long long)properties[1], settings[i].most);
            return false;
        }
        value[i] = (uint32_t)properties[1];
    }
    *waiting = (struct waiting){ .work_groups = value[WORK_GROUPS], .state_bytes = value[BYTES] };
    return true;
}
