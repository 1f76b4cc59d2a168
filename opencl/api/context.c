/* SPDX-License-Identifier: MIT */
#include "opencl/api/context.h"
#include "opencl/api/footprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/info.h"
#include "opencl/api/vendor.h"
#include "opencl/build/compile_thread.h"
#include "opencl/submit/device_queue.h"
#include "opencl/submit/service_thread.h"
#include "opencl/submit/work_group.h"

#define NOTICE_BYTES (PPU_ERROR_TEXT_BYTES + 100u)

bool farewell_add(struct farewell **list, void(CL_CALLBACK *function)(void *object, void *user), void *user)
{
    struct farewell *farewell = malloc(sizeof(*farewell));

    if (!farewell) {
        return false;
    }
    *farewell = (struct farewell){ *list, function, user };
    *list = farewell;
    return true;
}

void farewell_say(struct farewell **list, void *object)
{
    while (*list) {
        struct farewell *farewell = *list;
        *list = farewell->next;
        farewell->function(object, farewell->user);
        free(farewell);
    }
}

void context_notify(cl_context context, const char *what, const char *text)
{
    char notice[NOTICE_BYTES];

    if (context->notify) {
        snprintf(notice, sizeof(notice), "%s: %s", what, text);
        context->notify(notice, NULL, 0, context->user);
    }
}

uint32_t context_ppu_index(const struct _cl_context *context, const struct _cl_device_id *device)
{
    for (uint32_t i = 0; i < context->device_count; i++) {
        if (context->devices[i] == device) {
            return i;
        }
    }
    return MAX_DEVICES;
}

cl_int context_check_devices(cl_context context, cl_uint count, const cl_device_id *devices, bool notify,
                             const void *user)
{
    if ((count == 0) != !devices || (!notify && user)) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (context_ppu_index(context, devices[i]) == MAX_DEVICES) {
            return CL_INVALID_DEVICE;
        }
    }
    return CL_SUCCESS;
}

/* ---- properties ---- */

static size_t property_count(const cl_context_properties *properties)
{
    size_t count = 0;

    while (properties[count] != 0) {
        count += 2;
    }
    return count + 1;
}

static bool is_known(cl_context_properties name)
{
    return name == CL_CONTEXT_PLATFORM || name == CL_CONTEXT_INTEROP_USER_SYNC || waiting_is_property(name) ||
           vendor_context_property(name);
}

static bool is_named_before(const cl_context_properties *first, const cl_context_properties *at)
{
    while (first != at && first[0] != at[0]) {
        first += 2;
    }
    return first != at;
}

static cl_int check_properties(const cl_context_properties *properties)
{
    const cl_context_properties *first = properties;

    for (; properties && *properties != 0; properties += 2) {
        if (!is_known(properties[0]) || is_named_before(first, properties)) {
            return CL_INVALID_PROPERTY;
        }
        if (properties[0] == CL_CONTEXT_PLATFORM && !object_is((void *)properties[1], OBJECT_platform)) {
            return CL_INVALID_PLATFORM;
        }
        if (properties[0] == CL_CONTEXT_INTEROP_USER_SYNC && properties[1] != CL_TRUE && properties[1] != CL_FALSE) {
            return CL_INVALID_PROPERTY;
        }
    }
    return CL_SUCCESS;
}

static bool keep_properties(cl_context context, const cl_context_properties *properties)
{
    if (!properties) {
        return true;
    }
    context->property_bytes = property_count(properties) * sizeof(properties[0]);
    context->properties = malloc(context->property_bytes);
    if (context->properties) {
        memcpy(context->properties, properties, context->property_bytes);
    }
    return context->properties;
}

/* ---- life ---- */

static void close_spaces(cl_context context)
{
    for (uint32_t i = 0; i < context->device_count; i++) {
        device_queues_end(context, i);
        print_memories_free(&context->print_memories[i]);
        ppu_context_destroy(context->ppus[i]);
    }
    context->device_count = 0;
}

/* A device that is named twice counts once. */
static enum ppu_err open_spaces(cl_context context, cl_uint count, const cl_device_id *devices)
{
    enum ppu_err err = PPU_OK;

    for (cl_uint i = 0; i < count && err == PPU_OK; i++) {
        uint32_t at = context->device_count;
        if (context_ppu_index(context, devices[i]) == MAX_DEVICES) {
            err = ppu_context_create(devices[i]->ppu, &context->ppus[at]);
            context->devices[at] = devices[i];
            context->device_count += err == PPU_OK;
        }
    }
    context->device = context->devices[0];
    context->ppu = context->ppus[0];
    return err;
}

void context_destroy(void *object)
{
    cl_context context = object;

    farewell_say(&context->farewells, context);
    close_spaces(context);
    footprints_free(context->footprints);
    pthread_cond_destroy(&context->changed);
    pthread_mutex_destroy(&context->lock);
    pthread_mutex_destroy(&context->device_queues_lock);
    free(context->properties);
    free(context);
}

static cl_context context_new(cl_uint count, const cl_device_id *devices, const cl_context_properties *properties,
                              cl_int *error)
{
    cl_context context = calloc(1, sizeof(*context));

    *error = CL_OUT_OF_HOST_MEMORY;
    if (!context || !keep_properties(context, properties)) {
        free(context);
        return NULL;
    }
    service_thread_drain(); /* behind the memory of contexts that are still being closed it would split the VRAM */
    enum ppu_err err = open_spaces(context, count, devices);
    if (err != PPU_OK) { /* maybe because programs of others are still being compiled */
        close_spaces(context);
        compile_thread_settle();
        service_thread_drain();
        err = open_spaces(context, count, devices);
    }
    *error = device_error(err);
    if (err != PPU_OK) {
        close_spaces(context);
        free(context->properties);
        free(context);
        return NULL;
    }
    object_init(&context->object, OBJECT_context);
    context->as_asked = work_group_as_asked();
    context->calls_end = &context->calls;
    pthread_mutex_init(&context->lock, NULL);
    pthread_mutex_init(&context->device_queues_lock, NULL);
    pthread_cond_init(&context->changed, NULL);
    return context;
}

static cl_int check_devices(cl_uint count, const cl_device_id *devices)
{
    if (!devices || count == 0) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (!object_is(devices[i], OBJECT_device)) {
            return CL_INVALID_DEVICE;
        }
    }
    return CL_SUCCESS;
}

/* What is out of range is told to whoever wants to know. */
static cl_int read_waiting(struct waiting *waiting, const cl_context_properties *properties,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user)
{
    char text[WAITING_TEXT_BYTES], notice[WAITING_TEXT_BYTES + 40];

    if (waiting_read(waiting, properties, text)) {
        return CL_SUCCESS;
    }
    snprintf(notice, sizeof(notice), "create a context: %s", text);
    if (notify) {
        notify(notice, NULL, 0, user);
    }
    return CL_INVALID_PROPERTY;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint num_devices, const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                           cl_int *errcode)
{
    cl_context context = NULL;
    struct waiting waiting = { 0 };
    cl_int error = check_properties(properties);

    if (error == CL_SUCCESS) {
        error = check_devices(num_devices, devices);
    }
    if (error == CL_SUCCESS && !notify && user) {
        error = CL_INVALID_VALUE;
    }
    if (error == CL_SUCCESS) {
        error = read_waiting(&waiting, properties, notify, user);
    }
    if (error == CL_SUCCESS) {
        context = context_new(num_devices, devices, properties, &error);
    }
    if (context) {
        context->waiting = waiting;
        context->notify = notify;
        context->user = user;
        vendor_note_context(context, properties);
    }
    if (errcode) {
        *errcode = error;
    }
    return context;
}

cl_context clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                   void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                                   cl_int *errcode)
{
    cl_device_id devices[MAX_DEVICES];
    cl_uint count = 0;
    cl_int error = check_properties(properties);

    if (error == CL_SUCCESS) {
        error = clGetDeviceIDs(&the_platform, type, MAX_DEVICES, devices, &count);
    }
    if (error == CL_SUCCESS) {
        return clCreateContext(properties, count, devices, notify, user, errcode);
    }
    if (errcode) {
        *errcode = error;
    }
    return NULL;
}

cl_int clSetContextDestructorCallback(cl_context context, void(CL_CALLBACK *function)(cl_context, void *), void *user)
{
    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    if (!function) {
        return CL_INVALID_VALUE;
    }
    pthread_mutex_lock(&context->lock);
    bool added = farewell_add(&context->farewells, (void(CL_CALLBACK *)(void *, void *))(void *)function, user);
    pthread_mutex_unlock(&context->lock);
    return added ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int clGetContextInfo(cl_context context, cl_context_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    switch (query) {
#define INFO_OF_CONTEXT
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
