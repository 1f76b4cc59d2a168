/* SPDX-License-Identifier: MIT */
/* Refuses what the API tests may not do to a machine that is another process. */
#include "tests/api/api.h"

/* PPU_FIRMWARE, or the library's default. */
const char *machine_firmware(void)
{
    return NULL;
}

bool machine_crash(void)
{
    return false;
}

bool machine_lock_up(void)
{
    return false;
}

bool machine_pause(void)
{
    return false;
}

void machine_resume(void)
{
}

bool machine_reload(const char **why)
{
    *why = "not on this machine";
    return false;
}
