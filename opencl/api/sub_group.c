/* SPDX-License-Identifier: MIT */
/* Answers what is asked about the sub-groups of a kernel: they are the warps of its work-groups. */
#include "opencl/api/cl_ppu.h"
#include "opencl/api/info.h"
#include "opencl/api/kernel.h"
#include "ppu/macros.h"

/* A local size as the question gives it; 0 when it is none. */
static size_t items_of(const size_t *local, size_t dimensions)
{
    size_t items = 1;

    for (size_t i = 0; i < dimensions; i++) {
        if (local[i] == 0 || local[i] > PPU_MAX_CTA_THREADS) {
            return 0;
        }
        items *= local[i];
    }
    return items;
}

static bool is_local_size(const void *input, size_t input_bytes)
{
    return input && input_bytes > 0 && input_bytes % sizeof(size_t) == 0 && input_bytes <= 3 * sizeof(size_t);
}

static cl_int answer_for_range(cl_kernel kernel, cl_kernel_sub_group_info query, const size_t *local, size_t dimensions,
                               const struct info_room *room)
{
    const size_t wave = kernel->entry->wave, items = items_of(local, dimensions);
    const size_t answer =
        query == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE ? PPU_MIN(wave, items) : (items + wave - 1) / wave;

    return items != 0 ? info_bytes(room, &answer, sizeof(answer)) : CL_INVALID_VALUE;
}

/* Counts those that find room on the device's SMs together. */
static cl_int answer_resident(cl_kernel kernel, cl_device_id device, const size_t *local, size_t dimensions,
                              const struct info_room *room)
{
    const struct _cl_program *program = kernel->program;
    const uint32_t index = device ? context_ppu_index(program->context, device) : 0;
    const struct ppu_kernel *found = NULL;
    struct ppu_launch launch = { .grid = { 1 }, .mode = kernel->mode };

    if (items_of(local, dimensions) == 0 || items_of(local, dimensions) > kernel_max_work_group(kernel)) {
        return CL_INVALID_VALUE;
    }
    for (size_t i = 0; i < dimensions; i++) {
        launch.cta[i] = (uint32_t)local[i];
    }
    launch.shared_bytes = (uint32_t)PPU_MIN(kernel_local_bytes(kernel) - kernel->entry->shared_bytes, PPU_MAX_SHARED);
    if (ppu_kernel_find(program->on[index], kernel_text(kernel, kernel->entry->name), &found) != PPU_OK) {
        return CL_INVALID_PROGRAM_EXECUTABLE;
    }
    const size_t answer = ppu_kernel_resident(found, &launch);
    return info_bytes(room, &answer, sizeof(answer));
}

/* All in the first dimension; zeros when no work-group has so many. */
static cl_int answer_for_count(cl_kernel kernel, size_t count, const struct info_room *room)
{
    const struct ppu_kernel_entry *entry = kernel->entry;
    const size_t wave = entry->wave, most = kernel_max_work_group(kernel);
    size_t local[3] = { 0, 0, 0 };
    size_t fixed = items_of((const size_t[3]){ entry->cta[0], entry->cta[1], entry->cta[2] }, 3);

    if (count > 0 && count <= most / wave && (fixed == 0 || (fixed + wave - 1) / wave == count)) {
        local[0] = fixed != 0 ? entry->cta[0] : count * wave;
        local[1] = fixed != 0 ? entry->cta[1] : 1;
        local[2] = fixed != 0 ? entry->cta[2] : 1;
    }
    bool whole = room->bytes % sizeof(size_t) == 0 && room->bytes > 0 && room->bytes <= sizeof(local);
    if (room->at && !whole) {
        return CL_INVALID_VALUE;
    }
    return info_bytes(room, local, room->at ? room->bytes : sizeof(local));
}

cl_int clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info query,
                               size_t input_bytes, const void *input, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(kernel, OBJECT_kernel)) {
        return CL_INVALID_KERNEL;
    }
    if (device && context_ppu_index(kernel->program->context, device) == MAX_DEVICES) {
        return CL_INVALID_DEVICE;
    }
    switch (query) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        return is_local_size(input, input_bytes)
                   ? answer_for_range(kernel, query, input, input_bytes / sizeof(size_t), &room)
                   : CL_INVALID_VALUE;
    case CL_KERNEL_RESIDENT_WORK_GROUPS_PPU:
        return is_local_size(input, input_bytes)
                   ? answer_resident(kernel, device, input, input_bytes / sizeof(size_t), &room)
                   : CL_INVALID_VALUE;
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
        return input && input_bytes == sizeof(size_t) ? answer_for_count(kernel, *(const size_t *)input, &room)
                                                      : CL_INVALID_VALUE;
#define INFO_OF_SUB_GROUPS
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info query,
                                  size_t input_bytes, const void *input, size_t bytes, void *at, size_t *size_ret)
{
    return clGetKernelSubGroupInfo(kernel, device, query, input_bytes, input, bytes, at, size_ret);
}
