/* SPDX-License-Identifier: MIT */
/* Names devices and the driver by numbers that no other has (cl_khr_device_uuid). */
#ifndef OPENCL_API_IDENTITY_H
#define OPENCL_API_IDENTITY_H

#include "opencl/api/device.h"

struct identity {
    cl_uchar bytes[CL_UUID_SIZE_KHR];
};

/* Returns the same for a device in each process and after each start: what it is, and where. */
struct identity identity_of_device(const struct _cl_device_id *device);
/* Returns the same for each copy of one version. */
struct identity identity_of_driver(void);

#endif
