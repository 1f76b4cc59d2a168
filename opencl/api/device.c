/* SPDX-License-Identifier: MIT */
#include "opencl/api/device.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "opencl/api/cl_command_buffer.h"
#include "opencl/api/cl_ppu.h"
#include "opencl/api/host_clock.h"
#include "opencl/api/identity.h"
#include "opencl/api/image.h"
#include "opencl/api/info.h"
#include "opencl/api/pipe.h"
#include "opencl/api/policy.h"
#include "opencl/api/sampler.h"
#include "opencl/api/sanitize.h"
#include "opencl/build/spirv.h"
#include "opencl/submit/device_queue.h"
#include "opencl/submit/printf.h"
#include "opencl/submit/service_thread.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/version.h"

#define LARGE_HEAP (256ull * PPU_MIB)

struct _cl_platform_id the_platform = {
    .object = { .dispatch = &dispatch_table, .kind = OBJECT_platform, .references = 1, .uses = 1 }
};

static struct _cl_device_id the_devices[MAX_DEVICES];
static uint32_t device_count;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* ---- opening ---- */

static bool open_device(uint32_t index)
{
    struct _cl_device_id *device = &the_devices[index];
    struct ppu_error error = { .code = PPU_OK };

    *device = (struct _cl_device_id){
        .object = { .dispatch = &dispatch_table, .kind = OBJECT_device, .references = 1, .uses = 1 }
    };
    if (source_open(index, &device->ppu, &error) != PPU_OK) {
        fprintf(stderr, "OpenCL on the PPU: %s\n", error.text);
        return false;
    }
    device->info = ppu_device_info(device->ppu);
    return true;
}

static void open_devices(struct errand *errand)
{
    uint32_t wanted = source_count();

    (void)errand;
    sanitize_begin();
    wanted = PPU_MIN(wanted, MAX_DEVICES);
    while (device_count < wanted && open_device(device_count)) {
        device_count++;
    }
}

static void open_once(void)
{
    struct errand errand = { .run = open_devices };

    service_thread_call(&errand);
}

uint32_t device_list(cl_device_id devices[MAX_DEVICES])
{
    pthread_once(&opened, open_once);
    for (uint32_t i = 0; i < device_count; i++) {
        devices[i] = &the_devices[i];
    }
    return device_count;
}

/* ---- what it has ---- */

bool device_has_svm(const struct _cl_device_id *device)
{
    return ppu_device_shares_addresses(device->ppu);
}

uint64_t device_local_bytes(const struct _cl_device_id *device)
{
    uint64_t sm_bytes = device->info->sm_shared;

    return PPU_MIN(sm_bytes, PPU_MAX_SHARED) - LOCAL_ALIGN;
}

uint64_t device_max_alloc(const struct _cl_device_id *device)
{
    uint64_t heap = ppu_device_heap_bytes(device->ppu);
    uint64_t most = heap >= LARGE_HEAP ? heap / 4 * 3 : heap / 2; /* what contexts need is much of a small heap */

    return PPU_MIN(most, PPU_MAX_OBJECT);
}

cl_int device_error(enum ppu_err err)
{
    switch (err) {
    case PPU_OK:
        return CL_SUCCESS;
    case PPU_ERR_NO_MEMORY:
        return CL_OUT_OF_HOST_MEMORY;
    default:
        return CL_OUT_OF_RESOURCES;
    }
}

/* Work-groups start in memory of the kind that programs of this type get by default. */
static const cl_name_version c_versions[] = {
    { CL_MAKE_VERSION(1, 0, 0), "OpenCL C" },
    { CL_MAKE_VERSION(1, 1, 0), "OpenCL C" },
    { CL_MAKE_VERSION(1, 2, 0), "OpenCL C" },
    { CL_MAKE_VERSION(2, 0, 0), "OpenCL C" }, /* all of its features are among c_features */
    { CL_MAKE_VERSION(3, 0, 0), "OpenCL C" },
};

static const cl_name_version c_features[] = {
#define C_FEATURE(name) { CL_MAKE_VERSION(3, 0, 0), name },
#include "opencl/api/version.def"
#undef C_FEATURE
};

#define IL_EXTENSION EXTENSION
static const cl_name_version extensions[] = {
#define EXTENSION(name, major, minor, patch) { CL_MAKE_VERSION(major, minor, patch), name },
#include "opencl/api/version.def"
#undef EXTENSION
};

#define EXTENSION(name, major, minor, patch) name " "
static const char extension_names[] =
#include "opencl/api/version.def"
    "";
#undef EXTENSION
#undef IL_EXTENSION

#define IL_EXTENSION(name, major, minor, patch) name " "
static const char il_extension_names[] =
#include "opencl/api/version.def"
    "";
#undef IL_EXTENSION

#define IL_EXTENSION(name, major, minor, patch) +1
static const uint32_t il_extensions = 0
#include "opencl/api/version.def"
    ;
#undef IL_EXTENSION

/* What SPIR-V's translator takes, if this system has it. */
static const cl_name_version il_versions[] = {
    { CL_MAKE_VERSION(1, 0, 0), "SPIR-V" },
    { CL_MAKE_VERSION(1, 1, 0), "SPIR-V" },
    { CL_MAKE_VERSION(1, 2, 0), "SPIR-V" },
    { CL_MAKE_VERSION(1, 3, 0), "SPIR-V" },
};
static const char il_names[] = "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3";
_Static_assert(PPU_ARRAY_SIZE(il_versions) == SPIRV_MINOR_WHOLE + 1, "a row for each version that is whole");

static bool has_il(void)
{
    char path[PATH_MAX];

    return spirv_translator(path);
}

/* Extensions that the system's tools do not allow; they come first. */
static uint32_t untold(void)
{
    return has_il() ? 0 : il_extensions;
}

static const cl_name_version *told_extensions(void)
{
    return extensions + untold();
}

static const char *told_names(void)
{
    return extension_names + (has_il() ? 0 : strlen(il_extension_names));
}

/* A dot product is as fast as the products and sums that it is made of. */
static const cl_device_integer_dot_product_acceleration_properties_khr no_dot_unit = { .signed_accelerated = CL_FALSE };

static const size_t sub_group_sizes[] = { PPU_LANES, 2 * PPU_LANES, PPU_MAX_WAVE };
static const size_t max_work_items[] = { PPU_MAX_CTA_DIM, PPU_MAX_CTA_DIM, PPU_MAX_CTA_DIM };

/* ---- platform ---- */

cl_int clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    if ((num_entries == 0 && platforms) || (!platforms && !num_platforms)) {
        return CL_INVALID_VALUE;
    }
    if (platforms) {
        platforms[0] = &the_platform;
    }
    if (num_platforms) {
        *num_platforms = 1;
    }
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(platform, OBJECT_platform)) {
        return CL_INVALID_PLATFORM;
    }
    switch (query) {
#define INFO_OF_PLATFORM
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- device ---- */

static bool is_device_type(cl_device_type type)
{
    const cl_device_type types = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                 CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;

    return type == CL_DEVICE_TYPE_ALL || (type != 0 && (type & ~types) == 0);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint num_entries, cl_device_id *devices,
                      cl_uint *num_devices)
{
    if (!object_is(platform, OBJECT_platform)) {
        return CL_INVALID_PLATFORM;
    }
    if (!is_device_type(type)) {
        return CL_INVALID_DEVICE_TYPE;
    }
    if ((num_entries == 0 && devices) || (!devices && !num_devices)) {
        return CL_INVALID_VALUE;
    }
    bool wanted = (type & (CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_GPU)) != 0;
    cl_device_id all[MAX_DEVICES];
    cl_uint count = wanted ? device_list(all) : 0;
    count = (type & CL_DEVICE_TYPE_GPU) != 0 || count == 0 ? count : 1; /* one is the default */
    if (num_devices) {
        *num_devices = count;
    }
    for (cl_uint i = 0; i < count && i < num_entries && devices; i++) {
        devices[i] = all[i];
    }
    return count > 0 ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(device, OBJECT_device)) {
        return CL_INVALID_DEVICE;
    }
    const struct ppu_device_info *info = device->info;
    switch (query) {
#define INFO_OF_DEVICE
#include "opencl/api/info.def"
    default:
        return query - CL_DEVICE_POLICY_PPU(0) < PPU_POLICIES
                   ? policy_info(device, query - CL_DEVICE_POLICY_PPU(0), &room)
                   : CL_INVALID_VALUE;
    }
}

/* Devices that are no parts of others are not counted. */
cl_int clRetainDevice(cl_device_id device)
{
    return object_is(device, OBJECT_device) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int clReleaseDevice(cl_device_id device)
{
    return object_is(device, OBJECT_device) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

/* A PPU has no way to be divided that a program could name. */
cl_int clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties, cl_uint num_devices,
                          cl_device_id *devices, cl_uint *num_devices_ret)
{
    (void)properties;
    (void)num_devices;
    (void)devices;
    (void)num_devices_ret;
    return object_is(device, OBJECT_device) ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

/* The names of the extension that came before OpenCL 1.2. */
cl_int clCreateSubDevicesEXT(cl_device_id device, const cl_device_partition_property_ext *properties,
                             cl_uint num_devices, cl_device_id *devices, cl_uint *num_devices_ret)
{
    (void)properties;
    return clCreateSubDevices(device, NULL, num_devices, devices, num_devices_ret);
}

cl_int clRetainDeviceEXT(cl_device_id device)
{
    return clRetainDevice(device);
}

cl_int clReleaseDeviceEXT(cl_device_id device)
{
    return clReleaseDevice(device);
}

cl_int clGetHostTimer(cl_device_id device, cl_ulong *host_time)
{
    if (!object_is(device, OBJECT_device)) {
        return CL_INVALID_DEVICE;
    }
    if (!host_time) {
        return CL_INVALID_VALUE;
    }
    *host_time = host_clock_ns();
    return CL_SUCCESS;
}

cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_time, cl_ulong *host_time)
{
    if (!object_is(device, OBJECT_device)) {
        return CL_INVALID_DEVICE;
    }
    if (!device_time || !host_time) {
        return CL_INVALID_VALUE;
    }
    *device_time = ppu_device_time_ns(device->ppu);
    *host_time = host_clock_ns();
    return CL_SUCCESS;
}
