/* SPDX-License-Identifier: MIT */
/* Gives the API tests their machine in the guest: the PPU that was there when it booted. */
#include "runtime/transport.h"
#include "tests/api/api.h"

static struct ppu_transport *transport;
static const struct ppu_transport_ops *vfio_ops;
static struct ppu_transport_ops kept_ops;

/* The transport outlives the devices that the tests open on it. */
static void keep_open(struct ppu_transport *kept)
{
    (void)kept;
}

/* The properties are those QEMU was started with. */
struct ppu_transport *machine_start(const struct machine_config *config)
{
    struct ppu_error error;

    (void)config;
    if (ppu_vfio_transport(NULL, &transport, &error) != PPU_OK) {
        fail_msg("no PPU: %s: %s", ppu_error_name(error.code), error.text);
    }
    vfio_ops = transport->ops;
    kept_ops = *vfio_ops;
    kept_ops.close = keep_open;
    transport->ops = &kept_ops;
    return transport;
}

void machine_stop(void)
{
    vfio_ops->close(transport);
    transport = NULL;
}

const char *machine_firmware(void)
{
    return NULL;
}

/* An emulated processor. */
bool machine_is_slow(void)
{
    return true;
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
