/* SPDX-License-Identifier: MIT */
/* Writes what a test wants of its machine as properties of QEMU's device. */
#include "tests/api/properties.h"

#include <stdio.h>

void machine_properties(char *text, size_t bytes, const struct machine_config *config)
{
    size_t at = (size_t)snprintf(text, bytes, "%s", config->ppu ? config->ppu : "test-hooks=on");

    if (config->sms != 0) {
        at += (size_t)snprintf(text + at, bytes - at, ",sms=%u,gpcs=1", config->sms);
    }
    if (config->sm_threads != 0) {
        at += (size_t)snprintf(text + at, bytes - at, ",sm-threads=%u", config->sm_threads - 1);
    }
    if (config->slots != 0) {
        at += (size_t)snprintf(text + at, bytes - at, ",slots=%u", config->slots);
    }
    snprintf(text + at, bytes - at, "%s%s", config->no_subvector ? ",subvector=off" : "",
             config->cache_model ? ",cache-model=on" : "");
}
