/* SPDX-License-Identifier: MIT */
/* Starts the machine of the API tests as a server of vfio-user, which the tests reach as its client. */
#include "tests/api/kept.h"
#include "tests/api/properties.h"
#include "tests/remote/served.h"

static struct served server;
static struct ppu_transport *transport;

struct ppu_transport *machine_start(const struct machine_config *config)
{
    char properties[MACHINE_PROPERTIES_MAX];
    const char *const more[] = { "--test-hooks", "--ppu", properties, config->counted ? "--deterministic" : NULL,
                                 NULL };
    struct ppu_error error;

    machine_properties(properties, sizeof(properties), config);
    if (!served_start(&server, 1, more)) {
        fail_msg("the server does not start");
    }
    if (served_transport(&server, 0, &transport, &error) != PPU_OK) {
        fail_msg("the machine does not start: %s: %s", ppu_error_name(error.code), error.text);
    }
    transport_keep(transport);
    return transport;
}

void machine_stop(void)
{
    transport_close_kept(transport);
    served_stop(&server);
}

bool machine_is_slow(void)
{
    return false;
}
