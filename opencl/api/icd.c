/* SPDX-License-Identifier: MIT */
/* Exports the library: the dispatch table, and the functions an ICD loader looks up by name. */
#include <string.h>

#include "opencl/api/calls.h"
#include "opencl/api/cl_command_buffer.h"
#include "opencl/api/device.h"
#include "opencl/api/policy.h"
#include "opencl/api/semaphore.h"
#include "opencl/submit/task_queue.h"
#include "ppu/macros.h"

const cl_icd_dispatch dispatch_table = {
#define CL_ENTRY(function) .function = call_##function,
#include "opencl/api/entry.def"
#undef CL_ENTRY
};

static const struct entry {
    const char *name;
    void *function;
} entries[] = {
#define CL_ENTRY(function) { #function, (void *)call_##function },
#include "opencl/api/entry.def"
#undef CL_ENTRY
#define EXTENSION_ENTRY(name, function) { name, (void *)(function) },
#include "opencl/api/extension_entry.def"
#undef EXTENSION_ENTRY
};

cl_int clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    return clGetPlatformIDs(num_entries, platforms, num_platforms);
}

void *clGetExtensionFunctionAddress(const char *name)
{
    for (size_t i = 0; name && i < PPU_ARRAY_SIZE(entries); i++) {
        if (strcmp(entries[i].name, name) == 0) {
            return entries[i].function;
        }
    }
    return NULL;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    return object_is(platform, OBJECT_platform) ? clGetExtensionFunctionAddress(name) : NULL;
}
