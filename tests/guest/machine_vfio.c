/* SPDX-License-Identifier: MIT */
/* Gives the API tests their machine in the guest: the PPU that was there when it booted. */
#include <stdlib.h>

#include "tests/api/api.h"
#include "tests/api/kept.h"

static struct ppu_transport *transport;

/* The properties are those QEMU was started with. */
struct ppu_transport *machine_start(const struct machine_config *config)
{
    struct ppu_error error;

    (void)config;
    const char *wanted = getenv("PPU_DEVICE"); /* "pci" where there is no IOMMU */
    if ((wanted ? ppu_pci_transport : ppu_vfio_transport)(NULL, &transport, &error) != PPU_OK) {
        fail_msg("no PPU: %s: %s", ppu_error_name(error.code), error.text);
    }
    transport_keep(transport);
    return transport;
}

void machine_stop(void)
{
    transport_close_kept(transport);
    transport = NULL;
}

/* An emulated processor. */
bool machine_is_slow(void)
{
    return true;
}
