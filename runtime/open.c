/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "native/machine.h"

#define VFIO_WITH_ADDRESS "vfio:"

static enum ppu_err vfio_open(const char *address, struct ppu_device **device, struct ppu_error *error)
{
    struct ppu_transport *transport = NULL;
    enum ppu_err err = ppu_vfio_transport(address, &transport, error);

    return err == PPU_OK ? ppu_device_open(transport, NULL, device, error) : err;
}

enum ppu_err ppu_open(struct ppu_device **out, struct ppu_error *error)
{
    const char *wanted = getenv("PPU_DEVICE");

    *out = NULL;
    if (wanted == NULL || *wanted == '\0') {
        wanted = ppu_vfio_present() ? "vfio" : "native";
    }
    if (strcmp(wanted, "native") == 0) {
        return native_open(out, error);
    }
    if (strcmp(wanted, "vfio") == 0) {
        return vfio_open(NULL, out, error);
    }
    if (strncmp(wanted, VFIO_WITH_ADDRESS, strlen(VFIO_WITH_ADDRESS)) == 0) {
        return vfio_open(wanted + strlen(VFIO_WITH_ADDRESS), out, error);
    }
    return error_set(error, PPU_ERR_BAD_ARG, "PPU_DEVICE is \"%s\": neither native nor vfio nor vfio:ADDRESS", wanted);
}
