/* SPDX-License-Identifier: MIT */
/* Declares how programs set and ask the policies of a device (extension cl_ppu_policies). */
#ifndef OPENCL_API_POLICY_H
#define OPENCL_API_POLICY_H

#include "opencl/api/device.h"
#include "opencl/api/info.h"

cl_int CL_API_CALL clSetDevicePolicyPPU(cl_device_id device, cl_uint policy, cl_uint value);
/* Answers a query of the device with what a policy is. */
cl_int policy_info(cl_device_id device, uint32_t policy, const struct info_room *room);

#endif
