/* SPDX-License-Identifier: MIT */
#include "opencl/api/policy.h"

#include <assert.h>

#include "opencl/api/cl_ppu.h"

static_assert(CL_POLICY_MODE_THRESHOLD_PPU == PPU_POLICY_MODE_THRESHOLD &&
                  CL_POLICY_MODE_WINDOW_PPU == PPU_POLICY_MODE_WINDOW &&
                  CL_POLICY_MODE_HYSTERESIS_PPU == PPU_POLICY_MODE_HYSTERESIS &&
                  CL_POLICY_MODE_VREGS_PPU == PPU_POLICY_MODE_VREGS,
              "programs name policies by the numbers that the firmware has");

cl_int CL_API_CALL clSetDevicePolicyPPU(cl_device_id device, cl_uint policy, cl_uint value)
{
    if (!object_is(device, OBJECT_device)) {
        return CL_INVALID_DEVICE;
    }
    enum ppu_err err = ppu_device_policy(device->ppu, (enum ppu_policy)policy, value);
    return err == PPU_ERR_BAD_ARG ? CL_INVALID_VALUE : device_error(err);
}

cl_int policy_info(cl_device_id device, uint32_t policy, const struct info_room *room)
{
    uint64_t value = 0;
    enum ppu_err err = ppu_device_query(device->ppu, PPU_KEY_POLICY, policy, &value);

    if (err != PPU_OK) {
        return err == PPU_ERR_BAD_ARG ? CL_INVALID_VALUE : device_error(err);
    }
    const cl_uint answer = (cl_uint)value;
    return info_bytes(room, &answer, sizeof(answer));
}
