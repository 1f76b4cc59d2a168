/* SPDX-License-Identifier: MIT */
#include "runtime/device_state.h"

#include "runtime/device.h"

enum ppu_err device_state_take(struct ppu_device *device, struct view *view)
{
    if (device_reg_read(device, PPU_REG_MAGIC) != PPU_MAGIC) {
        return PPU_ERR_DEVICE_LOST;
    }
    device_reg_write(device, PPU_REG_STATE_UPDATE, 1);
    (void)device_reg_read(device, PPU_REG_MAGIC); /* sees the effect of the write */
    return view_take(view, device->transport->vram, device->transport->vram_bytes, device->firmware.state)
               ? PPU_ERR_INTERNAL
               : PPU_OK;
}
