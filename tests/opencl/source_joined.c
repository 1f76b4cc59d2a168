/* SPDX-License-Identifier: MIT */
/* The device of tests with sanitizers: a joined machine instead of QEMU. */
#include <stdio.h>

#include "opencl/api/device.h"
#include "tests/joined/joined.h"
#include "tests/opencl/source_joined.h"

/*
 * Kernels that enqueue until there is no memory left take as many seconds as there is, with sanitizers. This is no
 * constant: gcc would know it, whatever a test defines.
 */
__attribute__((weak)) uint64_t source_joined_vram_bytes = PPU_DEFAULT_VRAM / 4;

__attribute__((weak)) void source_joined_adjust(struct joined_options *options)
{
    (void)options;
}

uint32_t source_count(void)
{
    return 1;
}

enum ppu_err source_open(uint32_t index, struct ppu_device **device, struct ppu_error *error)
{
    struct joined_options options;
    const char *why = NULL;

    (void)index;
    joined_default(&options);
    options.config.vram_bytes = source_joined_vram_bytes;
    source_joined_adjust(&options);
    struct joined *joined = joined_start(&options, &why);
    if (!joined) {
        error->code = PPU_ERR_NO_DEVICE;
        snprintf(error->text, sizeof(error->text), "%s", why);
        return PPU_ERR_NO_DEVICE;
    }
    const struct ppu_device_options device_options = { .firmware = joined_firmware(joined) };
    return ppu_device_open(joined_transport(joined), &device_options, device, error);
}
