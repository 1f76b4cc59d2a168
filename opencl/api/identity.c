/* SPDX-License-Identifier: MIT */
#include "opencl/api/identity.h"

#include <string.h>

#include "ppu/macros.h"
#include "ppu/regs.h"
#include "ppu/version.h"

#define DRIVER_TAG "PPU" /* before the version */

static void put(struct identity *identity, uint32_t at, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        identity->bytes[at + i] = (cl_uchar)(value >> (8 * i));
    }
}

struct identity identity_of_device(const struct _cl_device_id *device)
{
    const struct ppu_device_info *info = device->info;
    struct identity identity = { { 0 } };

    put(&identity, 0, PPU_PCI_VENDOR, 2);
    put(&identity, 2, PPU_PCI_DEVICE, 2);
    put(&identity, 4, info->pci.domain, 4);
    put(&identity, 8, info->pci.bus, 1);
    put(&identity, 9, info->pci.device, 1);
    put(&identity, 10, info->pci.function, 1);
    put(&identity, 12, info->instance, 4);
    return identity;
}

struct identity identity_of_driver(void)
{
    static const char text[] = DRIVER_TAG PPU_VERSION;
    struct identity identity = { { 0 } };

    memcpy(identity.bytes, text, PPU_MIN(sizeof(text), sizeof(identity.bytes)));
    return identity;
}
