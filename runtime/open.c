/* SPDX-License-Identifier: MIT */
/* Opens a device: through vfio, without a driver, by vfio-user, or in a QEMU that is started for it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/native/machine.h"

#define VFIO_WITH_ADDRESS "vfio:"
#define PCI_WITH_ADDRESS "pci:"
#define VFIO_USER_WITH_PATH "vfio-user:"

static enum ppu_err vfio_open(const char *address, const struct ppu_device_options *options, struct ppu_device **device,
                              struct ppu_error *error)
{
    struct ppu_transport *transport = NULL;
    enum ppu_err err = ppu_vfio_transport(address, &transport, error);

    return err == PPU_OK ? ppu_device_open(transport, options, device, error) : err;
}

static enum ppu_err pci_open(const char *address, const struct ppu_device_options *options, struct ppu_device **device,
                             struct ppu_error *error)
{
    struct ppu_transport *transport = NULL;
    enum ppu_err err = ppu_pci_transport(address, &transport, error);

    return err == PPU_OK ? ppu_device_open(transport, options, device, error) : err;
}

/* The first of the sockets, with commas between them, that no other client has. */
static enum ppu_err vfio_user_open(const char *paths, const struct ppu_device_options *options,
                                   struct ppu_device **device, struct ppu_error *error)
{
    struct ppu_transport *transport = NULL;
    enum ppu_err err = PPU_ERR_BUSY;

    for (const char *path = paths; path && err == PPU_ERR_BUSY;
         path = strchr(path, ',') ? strchr(path, ',') + 1 : NULL) {
        char one[PATH_MAX];
        snprintf(one, sizeof(one), "%.*s", (int)strcspn(path, ","), path);
        err = ppu_vfio_user_transport(one, &transport, error);
    }

    return err == PPU_OK ? ppu_device_open(transport, options, device, error) : err;
}

/* NULL where the environment says it: libppu looks there then. */
static const char *unless_set(const char *variable, const char *path)
{
    return secure_getenv(variable) ? NULL : path;
}

enum ppu_err ppu_open(struct ppu_device **out, struct ppu_error *error)
{
    return ppu_open_with(NULL, out, error);
}

enum ppu_err ppu_open_with(const struct ppu_open_options *options, struct ppu_device **out, struct ppu_error *error)
{
    static const struct ppu_open_options defaults;
    const struct ppu_open_options *chosen = options ? options : &defaults;
    const struct ppu_machine_options machine = { .launcher = unless_set("PPU_RUN", chosen->launcher) };
    const struct ppu_device_options device = { .firmware = unless_set("PPU_FIRMWARE", chosen->firmware) };
    const char *wanted = secure_getenv("PPU_DEVICE");

    *out = NULL;
    if (!wanted || *wanted == '\0') {
        wanted = ppu_vfio_present() ? "vfio" : "native";
    }
    if (strcmp(wanted, "native") == 0) {
        return native_open(&machine, &device, out, error);
    }
    if (strcmp(wanted, "vfio") == 0) {
        return vfio_open(NULL, &device, out, error);
    }
    if (strncmp(wanted, VFIO_WITH_ADDRESS, strlen(VFIO_WITH_ADDRESS)) == 0) {
        return vfio_open(wanted + strlen(VFIO_WITH_ADDRESS), &device, out, error);
    }
    if (strcmp(wanted, "pci") == 0) {
        return pci_open(NULL, &device, out, error);
    }
    if (strncmp(wanted, PCI_WITH_ADDRESS, strlen(PCI_WITH_ADDRESS)) == 0) {
        return pci_open(wanted + strlen(PCI_WITH_ADDRESS), &device, out, error);
    }
    if (strncmp(wanted, VFIO_USER_WITH_PATH, strlen(VFIO_USER_WITH_PATH)) == 0) {
        return vfio_user_open(wanted + strlen(VFIO_USER_WITH_PATH), &device, out, error);
    }
    return error_set(
        error, PPU_ERR_BAD_ARG,
        "open a device: PPU_DEVICE is \"%s\"; it may be native, vfio, vfio:ADDRESS, pci, pci:ADDRESS or vfio-user:SOCKET",
        wanted);
}
