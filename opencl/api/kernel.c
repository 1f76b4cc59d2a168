/* SPDX-License-Identifier: MIT */
#include "opencl/api/kernel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/buffer.h"
#include "opencl/api/cl_ppu.h"
#include "opencl/api/image.h"
#include "opencl/api/info.h"
#include "opencl/api/pipe.h"
#include "opencl/api/queue.h"
#include "opencl/api/sampler.h"
#include "opencl/api/svm.h"
#include "ppu/macros.h"
#include "ppu/tmd.h"

/* ---- life ---- */

void kernel_destroy(void *object)
{
    cl_kernel kernel = object;

    for (uint32_t i = 0; i < kernel->entry->argument_count; i++) {
        weak_set(&kernel->arguments[i].named, NULL);
    }
    program_count_kernel(kernel->program, -1);
    object_drop(kernel->program);
    free(kernel->arguments);
    free(kernel->params);
    free(kernel);
}

size_t kernel_param_bytes(const struct _cl_kernel *kernel)
{
    const uint32_t outside = ppu_arguments_outside(kernel->descriptions, kernel->entry->argument_count);

    return outside != 0 ? (size_t)PPU_MAX_PARAM + outside : kernel->entry->param_bytes;
}

static cl_kernel kernel_new(cl_program program, const struct ppu_kernel_entry *entry)
{
    cl_kernel kernel = calloc(1, sizeof(*kernel));

    if (!kernel) {
        return NULL;
    }
    kernel->entry = entry;
    kernel->descriptions = &program->view.arguments[entry->argument_first];
    kernel->arguments = calloc(entry->argument_count + 1u, sizeof(kernel->arguments[0]));
    kernel->params = calloc(1, kernel_param_bytes(kernel) + 1u);
    if (!kernel->arguments || !kernel->params) {
        free(kernel->arguments);
        free(kernel->params);
        free(kernel);
        return NULL;
    }
    object_init(&kernel->object, OBJECT_kernel);
    kernel->program = program;
    program->kernels++;
    object_use(program);
    return kernel;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *errcode)
{
    const struct ppu_kernel_entry *entry = NULL;
    cl_kernel kernel = NULL;
    cl_int error = CL_SUCCESS;

    if (!object_is(program, OBJECT_program)) {
        error = CL_INVALID_PROGRAM;
    } else if (!name) {
        error = CL_INVALID_VALUE;
    } else {
        pthread_mutex_lock(&program->lock);
        entry = program->loaded ? ppu_program_kernel(&program->view, name) : NULL;
        error = !program->loaded ? CL_INVALID_PROGRAM_EXECUTABLE : !entry ? CL_INVALID_KERNEL_NAME : error;
        kernel = entry ? kernel_new(program, entry) : NULL;
        error = entry && !kernel ? CL_OUT_OF_HOST_MEMORY : error;
        pthread_mutex_unlock(&program->lock);
    }
    if (errcode) {
        *errcode = error;
    }
    return kernel;
}

/* With the lock. */
static cl_int make_all(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count)
{
    if (!program->loaded) {
        return CL_INVALID_PROGRAM_EXECUTABLE;
    }
    uint32_t all = program->view.header->kernels;
    if (kernels && room < all) {
        return CL_INVALID_VALUE;
    }
    for (*count = 0; *count < all && kernels; (*count)++) {
        kernels[*count] = kernel_new(program, &program->view.kernels[*count]);
        if (!kernels[*count]) {
            return CL_OUT_OF_HOST_MEMORY;
        }
    }
    *count = all;
    return CL_SUCCESS;
}

cl_int clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count_ret)
{
    cl_uint count = 0;

    if (!object_is(program, OBJECT_program)) {
        return CL_INVALID_PROGRAM;
    }
    pthread_mutex_lock(&program->lock);
    cl_int error = make_all(program, room, kernels, &count);
    pthread_mutex_unlock(&program->lock);
    while (error == CL_OUT_OF_HOST_MEMORY && count > 0) {
        clReleaseKernel(kernels[--count]);
    }
    if (error == CL_SUCCESS && count_ret) {
        *count_ret = count;
    }
    return error;
}

/* An argument whose object has ended is one that was not set. */
static void copy_arguments(cl_kernel kernel, cl_kernel source)
{
    memcpy(kernel->params, source->params, kernel_param_bytes(kernel));
    kernel->mode = source->mode;
    kernel->miss_rate = source->miss_rate;
    for (uint32_t i = 0; i < kernel->entry->argument_count; i++) {
        const struct argument *from = &source->arguments[i];
        struct argument *to = &kernel->arguments[i];
        void *object = NULL;
        bool there = weak_take(&from->named, &object);
        to->set = from->set && there;
        to->shared = from->shared;
        to->local_bytes = from->local_bytes;
        weak_set(&to->named, object);
        object_drop(object);
    }
}

cl_kernel clCloneKernel(cl_kernel source, cl_int *errcode)
{
    cl_kernel kernel = NULL;
    cl_int error = object_is(source, OBJECT_kernel) ? CL_SUCCESS : CL_INVALID_KERNEL;

    if (error == CL_SUCCESS) {
        pthread_mutex_lock(&source->program->lock);
        kernel = kernel_new(source->program, source->entry);
        pthread_mutex_unlock(&source->program->lock);
        error = kernel ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (kernel) {
        copy_arguments(kernel, source);
    }
    if (errcode) {
        *errcode = error;
    }
    return kernel;
}

/* ---- arguments ---- */

static void put_value(cl_kernel kernel, cl_uint i, const void *value, size_t bytes)
{
    memcpy(kernel->params + kernel->descriptions[i].offset, value, bytes);
    kernel->arguments[i].set = true;
}

static void put_memory(cl_kernel kernel, cl_uint i, cl_mem memory)
{
    const uint64_t va = memory ? memory->va : 0;

    weak_set(&kernel->arguments[i].named, memory);
    kernel->arguments[i].shared = false;
    put_value(kernel, i, &va, sizeof(va));
}

static cl_int set_memory(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    cl_mem memory = NULL;

    if (bytes != sizeof(cl_mem)) {
        return CL_INVALID_ARG_SIZE;
    }
    if (value) {
        memcpy(&memory, value, sizeof(memory));
    }
    bool wants_pipe = (kernel->descriptions[i].qualifiers & PPU_ARGUMENT_PIPE) != 0;
    if ((memory && !(wants_pipe ? pipe_is(memory) : buffer_is(memory))) || (wants_pipe && !memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    if (memory && memory->context != kernel->program->context) {
        return CL_INVALID_MEM_OBJECT;
    }
    put_memory(kernel, i, memory);
    return CL_SUCCESS;
}

/* An image of another type, or one that kernels must not use so, is INVALID_ARG_VALUE. */
static bool image_fits(const struct _cl_mem *memory, const struct ppu_argument_entry *argument)
{
    static const cl_mem_object_type types[PPU_ARGUMENT_KINDS] = {
        [PPU_ARGUMENT_IMAGE1D] = CL_MEM_OBJECT_IMAGE1D,
        [PPU_ARGUMENT_IMAGE1D_BUFFER] = CL_MEM_OBJECT_IMAGE1D_BUFFER,
        [PPU_ARGUMENT_IMAGE1D_ARRAY] = CL_MEM_OBJECT_IMAGE1D_ARRAY,
        [PPU_ARGUMENT_IMAGE2D] = CL_MEM_OBJECT_IMAGE2D,
        [PPU_ARGUMENT_IMAGE2D_DEPTH] = CL_MEM_OBJECT_IMAGE2D,
        [PPU_ARGUMENT_IMAGE2D_ARRAY] = CL_MEM_OBJECT_IMAGE2D_ARRAY,
        [PPU_ARGUMENT_IMAGE2D_ARRAY_DEPTH] = CL_MEM_OBJECT_IMAGE2D_ARRAY,
        [PPU_ARGUMENT_IMAGE3D] = CL_MEM_OBJECT_IMAGE3D,
    };
    bool deep = argument->kind == PPU_ARGUMENT_IMAGE2D_DEPTH || argument->kind == PPU_ARGUMENT_IMAGE2D_ARRAY_DEPTH;
    bool reads = (argument->qualifiers & PPU_ARGUMENT_READS) != 0;
    bool writes = (argument->qualifiers & PPU_ARGUMENT_WRITES) != 0;

    return memory->image->desc.image_type == types[argument->kind] &&
           deep == (memory->image->format.image_channel_order == CL_DEPTH) &&
           !(reads && (memory->flags & CL_MEM_WRITE_ONLY) != 0) && !(writes && (memory->flags & CL_MEM_READ_ONLY) != 0);
}

static cl_int set_image(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    cl_mem memory = NULL;

    if (bytes != sizeof(cl_mem)) {
        return CL_INVALID_ARG_SIZE;
    }
    if (!value) {
        return CL_INVALID_ARG_VALUE;
    }
    memcpy(&memory, value, sizeof(memory));
    if (!image_is(memory) || memory->context != kernel->program->context) {
        return CL_INVALID_MEM_OBJECT;
    }
    if (!image_fits(memory, &kernel->descriptions[i])) {
        return CL_INVALID_ARG_VALUE;
    }
    weak_set(&kernel->arguments[i].named, memory);
    put_value(kernel, i, &memory->image->surface_va, sizeof(memory->image->surface_va));
    return CL_SUCCESS;
}

/* Its bits are all that a kernel needs. */
static cl_int set_sampler(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    cl_sampler sampler = NULL;

    if (bytes != sizeof(cl_sampler)) {
        return CL_INVALID_ARG_SIZE;
    }
    if (value) {
        memcpy(&sampler, value, sizeof(sampler));
    }
    if (!sampler || !object_is(sampler, OBJECT_sampler) || sampler->context != kernel->program->context) {
        return CL_INVALID_SAMPLER;
    }
    put_value(kernel, i, &sampler->bits, sizeof(sampler->bits));
    return CL_SUCCESS;
}

static cl_int set_local(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    if (value) {
        return CL_INVALID_ARG_VALUE;
    }
    if (bytes == 0 || bytes > device_local_bytes(kernel->program->context->device)) {
        return CL_INVALID_ARG_SIZE;
    }
    kernel->arguments[i].local_bytes = bytes;
    kernel->arguments[i].set = true;
    return CL_SUCCESS;
}

/* A queue on the device. */
static cl_int set_queue(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    cl_command_queue queue = NULL;

    if (bytes != sizeof(cl_command_queue)) {
        return CL_INVALID_ARG_SIZE;
    }
    if (value) {
        memcpy(&queue, value, sizeof(queue));
    }
    if (!queue || !object_is(queue, OBJECT_queue) || queue->device_va == 0 ||
        queue->context != kernel->program->context) {
        return CL_INVALID_DEVICE_QUEUE;
    }
    weak_set(&kernel->arguments[i].named, queue);
    put_value(kernel, i, &queue->device_va, sizeof(queue->device_va));
    return CL_SUCCESS;
}

static cl_int set_value(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    if (!value) {
        return CL_INVALID_ARG_VALUE;
    }
    if (bytes != kernel->descriptions[i].bytes) {
        return CL_INVALID_ARG_SIZE;
    }
    put_value(kernel, i, value, bytes);
    return CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
{
    if (!object_is(kernel, OBJECT_kernel)) {
        return CL_INVALID_KERNEL;
    }
    if (i >= kernel->entry->argument_count) {
        return CL_INVALID_ARG_INDEX;
    }
    if (ppu_argument_is_image(kernel->descriptions[i].kind)) {
        return set_image(kernel, i, bytes, value);
    }
    switch (kernel->descriptions[i].kind) {
    case PPU_ARGUMENT_SAMPLER:
        return set_sampler(kernel, i, bytes, value);
    case PPU_ARGUMENT_GLOBAL:
    case PPU_ARGUMENT_CONSTANT:
        return set_memory(kernel, i, bytes, value);
    case PPU_ARGUMENT_LOCAL:
        return set_local(kernel, i, bytes, value);
    case PPU_ARGUMENT_QUEUE:
        return set_queue(kernel, i, bytes, value);
    default:
        return set_value(kernel, i, bytes, value);
    }
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint i, const void *value)
{
    const uint64_t va = (uint64_t)(uintptr_t)value;

    if (!object_is(kernel, OBJECT_kernel)) {
        return CL_INVALID_KERNEL;
    }
    if (!device_has_svm(kernel->program->context->device)) {
        return CL_INVALID_OPERATION;
    }
    if (i >= kernel->entry->argument_count) {
        return CL_INVALID_ARG_INDEX;
    }
    uint8_t kind = kernel->descriptions[i].kind;
    bool is_pipe = (kernel->descriptions[i].qualifiers & PPU_ARGUMENT_PIPE) != 0;
    if ((kind != PPU_ARGUMENT_GLOBAL && kind != PPU_ARGUMENT_CONSTANT) || is_pipe) {
        return CL_INVALID_ARG_VALUE;
    }
    put_memory(kernel, i, NULL);
    put_value(kernel, i, &va, sizeof(va));
    kernel->arguments[i].shared = value;
    return CL_SUCCESS;
}

static_assert(CL_MODE_NORMAL_PPU == PPU_MODE_NORMAL && CL_MODE_SUBVECTOR_PPU == PPU_MODE_SUBVECTOR &&
                  CL_MISS_RATE_PPU(5) == PPU_MISS_RATE(5) && CL_MISS_BELOW_PPU == PPU_MISS_BELOW &&
                  CL_MISS_ABOVE_PPU == PPU_MISS_ABOVE,
              "programs say them as launches do");

static cl_int set_mode(cl_kernel kernel, cl_kernel_exec_info name, size_t bytes, const void *value)
{
    cl_uint number;

    if (bytes != sizeof(number) || !value) {
        return CL_INVALID_VALUE;
    }
    memcpy(&number, value, sizeof(number));
    bool is_mode = name == CL_KERNEL_EXEC_INFO_MODE_PPU;
    if (is_mode ? number >= PPU_MODES : !ppu_miss_rate_ok(number) || number > PPU_MISS_ABOVE) {
        return CL_INVALID_VALUE;
    }
    *(is_mode ? &kernel->mode : &kernel->miss_rate) = number;
    return CL_SUCCESS;
}

/* Every piece of shared virtual memory is mapped while it exists: to name some asks for nothing. */
cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t bytes, const void *value)
{
    if (!object_is(kernel, OBJECT_kernel)) {
        return CL_INVALID_KERNEL;
    }
    if (name == CL_KERNEL_EXEC_INFO_MODE_PPU || name == CL_KERNEL_EXEC_INFO_MISS_RATE_PPU) {
        return set_mode(kernel, name, bytes, value);
    }
    if (!device_has_svm(kernel->program->context->device)) {
        return CL_INVALID_OPERATION;
    }
    if (name == CL_KERNEL_EXEC_INFO_SVM_PTRS && !value && bytes == 0) {
        return CL_SUCCESS; /* there is none any more */
    }
    if (!value) {
        return CL_INVALID_VALUE;
    }
    switch (name) {
    case CL_KERNEL_EXEC_INFO_SVM_PTRS:
        return bytes > 0 && bytes % sizeof(void *) == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
        return bytes != sizeof(cl_bool)  ? CL_INVALID_VALUE
               : *(const cl_bool *)value ? CL_INVALID_OPERATION
                                         : CL_SUCCESS;
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- queries ---- */

size_t kernel_work_group_most(const struct ppu_kernel_entry *entry, const struct ppu_device_info *info)
{
    size_t wave = entry->wave;
    size_t by_registers = info->sm_vregs / ppu_warp_vregs(entry->wave, entry->vregs, entry->shared_vregs) * wave;
    size_t by_warps = (size_t)info->sm_warps * PPU_LANES;
    size_t most = PPU_MIN(by_registers, by_warps);

    most = PPU_MIN(most, PPU_MAX_CTA_THREADS);
    return most / wave * wave;
}

/* program_load() has refused kernels without any. */
size_t kernel_max_work_group(const struct _cl_kernel *kernel)
{
    return kernel_work_group_most(kernel->entry, kernel->program->context->device->info);
}

uint64_t kernel_local_at(uint64_t used)
{
    return used > 0 ? (used + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN : LOCAL_ALIGN;
}

uint64_t kernel_local_bytes(const struct _cl_kernel *kernel)
{
    uint64_t bytes = kernel->entry->shared_bytes;

    for (uint32_t i = 0; i < kernel->entry->argument_count; i++) {
        const size_t more = kernel->arguments[i].local_bytes;
        bytes = more > 0 ? kernel_local_at(bytes) + more : bytes;
    }
    return bytes;
}

const char *kernel_text(const struct _cl_kernel *kernel, uint32_t offset)
{
    return kernel->program->view.text + offset;
}

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(kernel, OBJECT_kernel)) {
        return CL_INVALID_KERNEL;
    }
    switch (query) {
#define INFO_OF_KERNEL
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info query, size_t bytes,
                                void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(kernel, OBJECT_kernel)) {
        return CL_INVALID_KERNEL;
    }
    if (device && context_ppu_index(kernel->program->context, device) == MAX_DEVICES) {
        return CL_INVALID_DEVICE;
    }
    const struct ppu_kernel_entry *entry = kernel->entry;
    const size_t work_group[3] = { entry->cta[0], entry->cta[1], entry->cta[2] };
    uint64_t local_bytes = entry->shared_bytes;
    for (uint32_t i = 0; i < entry->argument_count; i++) {
        local_bytes += kernel->arguments[i].local_bytes;
    }
    switch (query) {
#define INFO_OF_WORK_GROUP
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_kernel_arg_address_qualifier address_of(uint8_t kind)
{
    if (ppu_argument_is_image(kind)) {
        return CL_KERNEL_ARG_ADDRESS_GLOBAL;
    }
    switch (kind) {
    case PPU_ARGUMENT_GLOBAL:
        return CL_KERNEL_ARG_ADDRESS_GLOBAL;
    case PPU_ARGUMENT_CONSTANT:
        return CL_KERNEL_ARG_ADDRESS_CONSTANT;
    case PPU_ARGUMENT_LOCAL:
        return CL_KERNEL_ARG_ADDRESS_LOCAL;
    default:
        return CL_KERNEL_ARG_ADDRESS_PRIVATE;
    }
}

/* What a pointer to constant memory points to is const. */
static cl_kernel_arg_type_qualifier qualifiers_of(const struct ppu_argument_entry *argument)
{
    bool constant = (argument->qualifiers & PPU_ARGUMENT_CONST) != 0 || argument->kind == PPU_ARGUMENT_CONSTANT;

    return (constant ? CL_KERNEL_ARG_TYPE_CONST : 0u) |
           ((argument->qualifiers & PPU_ARGUMENT_PIPE) != 0 ? CL_KERNEL_ARG_TYPE_PIPE : 0u) |
           ((argument->qualifiers & PPU_ARGUMENT_RESTRICT) != 0 ? CL_KERNEL_ARG_TYPE_RESTRICT : 0u) |
           ((argument->qualifiers & PPU_ARGUMENT_VOLATILE) != 0 ? CL_KERNEL_ARG_TYPE_VOLATILE : 0u);
}

static cl_kernel_arg_access_qualifier access_of(const struct ppu_argument_entry *argument)
{
    switch (argument->qualifiers & (PPU_ARGUMENT_READS | PPU_ARGUMENT_WRITES)) {
    case PPU_ARGUMENT_READS:
        return CL_KERNEL_ARG_ACCESS_READ_ONLY;
    case PPU_ARGUMENT_WRITES:
        return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
    case PPU_ARGUMENT_READS | PPU_ARGUMENT_WRITES:
        return CL_KERNEL_ARG_ACCESS_READ_WRITE;
    default:
        return CL_KERNEL_ARG_ACCESS_NONE;
    }
}

cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint i, cl_kernel_arg_info query, size_t bytes, void *at,
                          size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(kernel, OBJECT_kernel)) {
        return CL_INVALID_KERNEL;
    }
    if (i >= kernel->entry->argument_count) {
        return CL_INVALID_ARG_INDEX;
    }
    const struct ppu_argument_entry *argument = &kernel->descriptions[i];
    switch (query) {
#define INFO_OF_ARGUMENT
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
