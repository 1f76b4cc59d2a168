/* SPDX-License-Identifier: MIT */
/* Starts the machine of the API tests in a QEMU of its own, by libppu's native transport. */
#include <stdio.h>

#include "tests/api/api.h"

static struct ppu_machine *machine;

struct ppu_transport *machine_start(const struct machine_config *config)
{
    struct ppu_transport *transport = NULL;
    struct ppu_error error;
    char sms[24] = "";
    char threads[32] = "";
    char slots[24] = "";
    char properties[160];

    if (config->sms != 0) {
        snprintf(sms, sizeof(sms), "sms=%u,gpcs=1,", config->sms);
    }
    if (config->sm_threads != 0) {
        snprintf(threads, sizeof(threads), "sm-threads=%u,", config->sm_threads - 1);
    }
    if (config->slots != 0) {
        snprintf(slots, sizeof(slots), "slots=%u,", config->slots);
    }
    snprintf(properties, sizeof(properties), "%s%s%s%s%s", sms, threads, slots,
             config->cache_model ? "cache-model=on," : "", config->ppu ? config->ppu : "test-hooks=on");
    const char *const ppu[] = { properties };
    const char *const counted[] = { "--deterministic", NULL };
    const struct ppu_machine_options options = {
        .ppus = 1, .ppu = ppu, .test_hooks = true, .launcher_args = config->counted ? counted : NULL
    };
    if (ppu_machine_start(&options, &machine, &error) != PPU_OK ||
        ppu_machine_transport(machine, 0, &transport, &error) != PPU_OK) {
        fail_msg("the machine does not start: %s: %s", ppu_error_name(error.code), error.text);
    }
    return transport;
}

void machine_stop(void)
{
    ppu_machine_stop(machine);
    machine = NULL;
}

/* PPU_FIRMWARE, or the library's default. */
const char *machine_firmware(void)
{
    return NULL;
}

bool machine_is_slow(void)
{
    return false;
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
