/* SPDX-License-Identifier: MIT */
/* Starts the machine of the API tests as a server of vfio-user, which the tests reach as its client. */
#include <stdio.h>

#include "runtime/transport.h"
#include "tests/api/api.h"
#include "tests/remote/served.h"

static struct served server;
static struct ppu_transport *transport;
static const struct ppu_transport_ops *vfio_user_ops;
static struct ppu_transport_ops kept_ops;

/* The transport outlives the devices that the tests open on it. */
static void keep_open(struct ppu_transport *kept)
{
    (void)kept;
}

static void compose_properties(char *text, size_t bytes, const struct machine_config *config)
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
    snprintf(text + at, bytes - at, "%s", config->cache_model ? ",cache-model=on" : "");
}

struct ppu_transport *machine_start(const struct machine_config *config)
{
    char properties[160];
    const char *const more[] = { "--test-hooks", "--ppu", properties, config->counted ? "--deterministic" : NULL,
                                 NULL };
    struct ppu_error error;

    compose_properties(properties, sizeof(properties), config);
    if (!served_start(&server, 1, more)) {
        fail_msg("the server does not start");
    }
    if (served_transport(&server, 0, &transport, &error) != PPU_OK) {
        fail_msg("the machine does not start: %s: %s", ppu_error_name(error.code), error.text);
    }
    vfio_user_ops = transport->ops;
    kept_ops = *vfio_user_ops;
    kept_ops.close = keep_open;
    transport->ops = &kept_ops;
    return transport;
}

void machine_stop(void)
{
    vfio_user_ops->close(transport);
    served_stop(&server);
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
