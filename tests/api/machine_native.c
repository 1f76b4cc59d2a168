/* SPDX-License-Identifier: MIT */
/* Starts the machine of the API tests in a QEMU of its own, by libppu's native transport. */
#include "tests/api/properties.h"

static struct ppu_machine *machine;

struct ppu_transport *machine_start(const struct machine_config *config)
{
    struct ppu_transport *transport = NULL;
    struct ppu_error error;
    char properties[MACHINE_PROPERTIES_MAX];

    machine_properties(properties, sizeof(properties), config);
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

bool machine_is_slow(void)
{
    return false;
}
