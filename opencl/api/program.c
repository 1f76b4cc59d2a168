/* SPDX-License-Identifier: MIT */
#include "opencl/api/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/info.h"
#include "opencl/api/kernel.h"
#include "opencl/build/spirv.h"
#include "opencl/variants/variant.h"

/* ---- life ---- */

void program_set_text(char **to, const char *text)
{
    free(*to);
    *to = strdup(text);
}

void program_forget(cl_program program)
{
    for (uint32_t i = 0; i < MAX_DEVICES; i++) {
        ppu_program_unload(program->on[i]);
        program->on[i] = NULL;
    }
    program->loaded = NULL;
    variants_drop(program->variants);
    program->variants = NULL;
    free(program->names);
    program->names = NULL;
    free(program->saved.bytes);
    program->saved = (struct ppu_compiled){ NULL, 0, NULL };
    program->saves = false;
}

void program_destroy(void *object)
{
    cl_program program = object;

    farewell_say(&program->farewells, program);
    program_forget(program);
    pthread_mutex_destroy(&program->lock);
    binary_free(&program->binary);
    free(program->source);
    free(program->il);
    free(program->specialized);
    free(program->options);
    free(program->log);
    object_drop(program->context);
    free(program);
}

cl_program program_new(cl_context context)
{
    cl_program program = calloc(1, sizeof(*program));

    if (!program) {
        return NULL;
    }
    object_init(&program->object, OBJECT_program);
    program->context = context;
    program->status = CL_BUILD_NONE;
    program->options = strdup("");
    program->log = strdup("");
    pthread_mutex_init(&program->lock, NULL);
    object_use(context);
    return program;
}

void program_count_kernel(cl_program program, int by)
{
    pthread_mutex_lock(&program->lock);
    program->kernels += (uint32_t)by;
    pthread_mutex_unlock(&program->lock);
}

/* ---- loading ---- */

static char *list_names(const struct ppu_program_view *view)
{
    size_t bytes = 1;

    for (uint32_t i = 0; i < view->header->kernels; i++) {
        bytes += strlen(view->text + view->kernels[i].name) + 1;
    }
    char *names = calloc(1, bytes);
    size_t at = 0;
    for (uint32_t i = 0; i < view->header->kernels && names; i++) {
        at += (size_t)snprintf(names + at, bytes - at, "%s%s", i > 0 ? ";" : "", view->text + view->kernels[i].name);
    }
    return names;
}

/* Writes why no launch of a kernel can begin on the device; false: one can. */
static bool has_no_room(cl_program program, const struct ppu_kernel_entry *entry, char *text, size_t bytes)
{
    const struct _cl_device_id *device = program->context->device;
    const struct ppu_device_info *info = device->info;
    const uint32_t outside =
        ppu_arguments_outside(&program->view.arguments[entry->argument_first], entry->argument_count);
    const char *name = program->view.text + entry->name;

    if (kernel_work_group_most(entry, info) == 0) {
        snprintf(text, bytes,
                 "kernel '%.100s' has no room on an SM: a warp of %u threads needs %u registers, and there are %u, "
                 "for at most %u threads\n",
                 name, entry->wave, ppu_warp_vregs(entry->wave, entry->vregs, entry->shared_vregs), info->sm_vregs,
                 info->sm_warps * PPU_LANES);
        return true;
    }
    if (outside > device_max_alloc(device)) {
        snprintf(text, bytes,
                 "kernel '%.100s' has no room for its arguments: each launch needs %u bytes of device memory for them, "
                 "and an allocation has at most %llu\n",
                 name, outside, (unsigned long long)device_max_alloc(device));
        return true;
    }
    return false;
}

/* False: the log says which kernel cannot be launched, and why. */
static bool kernels_fit(cl_program program)
{
    char text[400];

    for (uint32_t i = 0; i < program->view.header->kernels; i++) {
        if (has_no_room(program, &program->view.kernels[i], text, sizeof(text))) {
            program_set_text(&program->log, text);
            return false;
        }
    }
    return true;
}

cl_int program_load(cl_program program)
{
    struct ppu_error error;
    const char *why = ppu_program_open(program->binary.at, program->binary.bytes, &program->view);

    if (why) {
        program_set_text(&program->log, why);
        return CL_INVALID_BINARY;
    }
    if (!kernels_fit(program)) {
        return CL_OUT_OF_RESOURCES;
    }
    enum ppu_err err = PPU_OK;
    for (uint32_t i = 0; i < program->context->device_count && err == PPU_OK; i++) {
        err = ppu_program_load(program->context->ppus[i], program->binary.at, program->binary.bytes, &program->on[i],
                               &error);
        if (err == PPU_OK && program->source) {
            ppu_program_source(program->on[i], program->source, program->source_bytes);
        }
    }
    if (err != PPU_OK) {
        program_forget(program);
        program_set_text(&program->log, error.text);
        return device_error(err);
    }
    program->loaded = program->on[0];
    program->names = list_names(&program->view);
    program->variants = program->source || program->binary.module.bytes ? variants_new(program) : NULL;
    return program->names ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* ---- making ---- */

static size_t length_of(const char *text, const size_t *lengths, cl_uint i)
{
    return lengths && lengths[i] != 0 ? lengths[i] : strlen(text);
}

static char *join_sources(cl_uint count, const char **strings, const size_t *lengths, size_t *bytes)
{
    *bytes = 0;
    for (cl_uint i = 0; i < count; i++) {
        *bytes += length_of(strings[i], lengths, i);
    }
    char *source = malloc(*bytes + 1);
    if (!source) {
        return NULL;
    }
    char *at = source;
    for (cl_uint i = 0; i < count; i++) {
        size_t length = length_of(strings[i], lengths, i);
        memcpy(at, strings[i], length);
        at += length;
    }
    *at = '\0';
    return source;
}

static cl_int check_source(cl_context context, cl_uint count, const char **strings)
{
    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    if (count == 0 || !strings) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (!strings[i]) {
            return CL_INVALID_VALUE;
        }
    }
    return CL_SUCCESS;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings, const size_t *lengths,
                                     cl_int *errcode)
{
    cl_int error = check_source(context, count, strings);
    cl_program program = NULL;

    if (error == CL_SUCCESS) {
        program = program_new(context);
        error = program ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (program && !(program->source = join_sources(count, strings, lengths, &program->source_bytes))) {
        clReleaseProgram(program);
        program = NULL;
        error = CL_OUT_OF_HOST_MEMORY;
    }
    if (errcode) {
        *errcode = error;
    }
    return program;
}

static cl_int check_binary(cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
                           const unsigned char **binaries)
{
    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    if (count == 0 || !devices || !lengths || !binaries) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (context_ppu_index(context, devices[i]) == MAX_DEVICES) {
            return CL_INVALID_DEVICE;
        }
        if (lengths[i] == 0 || !binaries[i]) {
            return CL_INVALID_VALUE;
        }
    }
    return CL_SUCCESS;
}

/* Into a program that nobody else knows; its log says why not. */
static cl_int take_binary(cl_program program, const unsigned char *bytes, size_t count)
{
    const char *why = NULL;
    cl_int error = binary_copy(&program->binary, bytes, count, &why);

    if (error == CL_INVALID_BINARY) {
        program_set_text(&program->log, why);
    }
    /* Programs use kernels of a binary without building it. */
    bool runs = error == CL_SUCCESS && program->binary.type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return runs ? program_load(program) : error;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries, cl_int *binary_status,
                                     cl_int *errcode)
{
    cl_int error = check_binary(context, count, devices, lengths, binaries);
    cl_program program = NULL;

    if (error == CL_SUCCESS) {
        program = program_new(context);
        error = program ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (program) {
        error = take_binary(program, binaries[0], lengths[0]);
    }
    if (error != CL_SUCCESS && program) {
        if (program->log && *program->log != '\0') {
            context_notify(context, "clCreateProgramWithBinary", program->log);
        }
        clReleaseProgram(program);
        program = NULL;
    }
    for (cl_uint i = 0; i < count && binary_status; i++) {
        binary_status[i] = error == CL_INVALID_BINARY ? error : CL_SUCCESS;
    }
    if (errcode) {
        *errcode = error;
    }
    return program;
}

/* ---- intermediate language ---- */

static cl_int check_il(cl_context context, const void *il, size_t bytes)
{
    char path[PATH_MAX];

    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    if (!spirv_translator(path)) {
        return CL_INVALID_OPERATION;
    }
    const char *why = il && bytes > 0 ? spirv_wrong(il, bytes) : "there is none";
    if (why) {
        char text[160];
        snprintf(text, sizeof(text), "make a program from SPIR-V: %s", why);
        context_notify(context, "clCreateProgramWithIL", text);
    }
    return why ? CL_INVALID_VALUE : CL_SUCCESS;
}

/* Twice: as it is told, and with its specialization constants set. False: no memory. */
static bool take_il(cl_program program, const void *il, size_t bytes)
{
    program->il = malloc(bytes);
    program->specialized = malloc(bytes);
    program->il_bytes = bytes;
    if (!program->il || !program->specialized) {
        return false;
    }
    memcpy(program->il, il, bytes);
    memcpy(program->specialized, il, bytes);
    return true;
}

cl_program clCreateProgramWithIL(cl_context context, const void *il, size_t bytes, cl_int *errcode)
{
    cl_int error = check_il(context, il, bytes);
    cl_program program = NULL;

    if (error == CL_SUCCESS) {
        program = program_new(context);
        error = program ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (program && !take_il(program, il, bytes)) {
        clReleaseProgram(program);
        program = NULL;
        error = CL_OUT_OF_HOST_MEMORY;
    }
    if (errcode) {
        *errcode = error;
    }
    return program;
}

cl_int clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t bytes, const void *value)
{
    struct spirv_constant constant;
    char path[PATH_MAX];

    if (!object_is(program, OBJECT_program)) {
        return CL_INVALID_PROGRAM;
    }
    if (!spirv_translator(path)) {
        return CL_INVALID_OPERATION;
    }
    if (!program->il) {
        return CL_INVALID_PROGRAM;
    }
    if (!spirv_find_constant(program->specialized, program->il_bytes, id, &constant)) {
        return CL_INVALID_SPEC_ID;
    }
    if (!value || bytes != constant.bytes) {
        return CL_INVALID_VALUE;
    }
    pthread_mutex_lock(&program->lock);
    spirv_set_constant(program->specialized, &constant, value);
    pthread_mutex_unlock(&program->lock);
    return CL_SUCCESS;
}

/* The device has no kernels of its own. */
cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                             const char *names, cl_int *errcode)
{
    (void)count;
    (void)devices;
    (void)names;
    if (errcode) {
        *errcode = object_is(context, OBJECT_context) ? CL_INVALID_VALUE : CL_INVALID_CONTEXT;
    }
    return NULL;
}

cl_int clSetProgramReleaseCallback(cl_program program, void(CL_CALLBACK *function)(cl_program, void *), void *user)
{
    (void)function;
    (void)user;
    return object_is(program, OBJECT_program) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

/* ---- queries ---- */

/*
 * Puts the bitcode to an executable whose binary is asked for first, so that it has variants when it is loaded. Of a
 * program from source it may have to be made: one that is never saved does not pay for it. What was answered once
 * stays.
 */
static void save_executable(cl_program program)
{
    static pthread_mutex_t saving = PTHREAD_MUTEX_INITIALIZER; /* who asks second gets the first one's answer */
    struct ppu_compile_module module;

    pthread_mutex_lock(&saving);
    pthread_mutex_lock(&program->lock);
    struct variants *variants = program->saves ? NULL : program->variants;
    if (variants) {
        variants_use(variants);
    }
    pthread_mutex_unlock(&program->lock);
    if (variants) {
        bool there = variants_module(variants, program, &module);
        pthread_mutex_lock(&program->lock);
        bool still = program->variants == variants;
        program->saves |= still;
        if (there && still) { /* without memory the image alone is saved */
            (void)binary_save(&program->saved, &program->binary, &module, variants->options, variants->threshold);
        }
        pthread_mutex_unlock(&program->lock);
        variants_release(variants);
    }
    pthread_mutex_unlock(&saving);
}

/* What is saved of the program: NULL bytes, nothing. */
static struct ppu_compile_module saved_bytes(const struct _cl_program *program)
{
    return program->saved.bytes ? (struct ppu_compile_module){ program->saved.bytes, program->saved.len_bytes }
                                : (struct ppu_compile_module){ program->binary.at, program->binary.bytes };
}

/* Writes the same binary for each device to where the program wants it. */
static cl_int answer_binaries(cl_program program, const struct info_room *room)
{
    const struct ppu_compile_module saved = saved_bytes(program);
    uint32_t count = program->context->device_count;

    if (room->size_ret) {
        *room->size_ret = count * sizeof(unsigned char *);
    }
    if (!room->at) {
        return CL_SUCCESS;
    }
    if (room->bytes < count * sizeof(unsigned char *)) {
        return CL_INVALID_VALUE;
    }
    unsigned char **to = room->at;
    for (uint32_t i = 0; i < count; i++) {
        if (to[i] && saved.bitcode) {
            memcpy(to[i], saved.bitcode, saved.len_bytes);
        }
    }
    return CL_SUCCESS;
}

static cl_int answer_sizes(cl_program program, const struct info_room *room)
{
    size_t sizes[MAX_DEVICES];

    for (uint32_t i = 0; i < MAX_DEVICES; i++) {
        sizes[i] = saved_bytes(program).len_bytes;
    }
    return info_bytes(room, sizes, program->context->device_count * sizeof(sizes[0]));
}

static cl_int answer(cl_program program, cl_program_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    switch (query) {
#define INFO_OF_PROGRAM
#include "opencl/api/info.def"
    case CL_PROGRAM_BINARY_SIZES:
        return answer_sizes(program, &room);
    case CL_PROGRAM_BINARIES:
        return answer_binaries(program, &room);
    case CL_PROGRAM_NUM_KERNELS:
    case CL_PROGRAM_KERNEL_NAMES:
        if (!program->loaded) {
            return CL_INVALID_PROGRAM_EXECUTABLE;
        }
        if (query == CL_PROGRAM_KERNEL_NAMES) {
            return info_text(&room, program->names);
        }
        const size_t kernels = program->view.header->kernels;
        return info_bytes(&room, &kernels, sizeof(kernels));
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetProgramInfo(cl_program program, cl_program_info query, size_t bytes, void *at, size_t *size_ret)
{
    if (!object_is(program, OBJECT_program)) {
        return CL_INVALID_PROGRAM;
    }
    if (query == CL_PROGRAM_BINARY_SIZES || query == CL_PROGRAM_BINARIES) {
        save_executable(program);
    }
    pthread_mutex_lock(&program->lock);
    cl_int error = answer(program, query, bytes, at, size_ret);
    pthread_mutex_unlock(&program->lock);
    return error;
}

static cl_int answer_build(cl_program program, cl_program_build_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    switch (query) {
#define INFO_OF_BUILD
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info query, size_t bytes,
                             void *at, size_t *size_ret)
{
    if (!object_is(program, OBJECT_program)) {
        return CL_INVALID_PROGRAM;
    }
    if (context_ppu_index(program->context, device) == MAX_DEVICES) {
        return CL_INVALID_DEVICE;
    }
    pthread_mutex_lock(&program->lock);
    cl_int error = answer_build(program, query, bytes, at, size_ret);
    pthread_mutex_unlock(&program->lock);
    return error;
}

/* Nothing of the compiler stays between builds. */
cl_int clUnloadPlatformCompiler(cl_platform_id platform)
{
    return object_is(platform, OBJECT_platform) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int clUnloadCompiler(void)
{
    return CL_SUCCESS;
}
