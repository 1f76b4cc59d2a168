/* SPDX-License-Identifier: MIT */
/* Tests cl_khr_command_buffer: what is recorded runs again and again, in the order of its sync points. */
#include <string.h>

#include "opencl/api/cl_command_buffer.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define ITEMS 256u
#define BYTES (ITEMS * sizeof(cl_uint))
#define BUILD "-cl-std=CL3.0 -DITEMS=256"
#define NO_POINTS 0, NULL, NULL, NULL

/* The extension's functions, as a program finds them. */
struct functions {
    __typeof__(&command_buffer_create) create;
    __typeof__(&command_buffer_finalize) finalize;
    __typeof__(&command_buffer_enqueue) enqueue;
    __typeof__(&command_buffer_info) info;
    __typeof__(&command_buffer_barrier) barrier;
    __typeof__(&command_buffer_copy_buffer) copy;
    __typeof__(&command_buffer_fill_buffer) fill;
    __typeof__(&command_buffer_kernel) kernel;
    __typeof__(&command_buffer_svm_fill) svm_fill;
    __typeof__(&command_buffer_svm_copy) svm_copy;
    __typeof__(&command_buffer_copy_rect) copy_rect;
    __typeof__(&command_buffer_buffer_to_image) to_image;
    __typeof__(&command_buffer_copy_image) copy_image;
    __typeof__(&command_buffer_fill_image) fill_image;
    __typeof__(&command_buffer_image_to_buffer) from_image;
    cl_int (*retain)(cl_command_buffer_khr buffer);
    cl_int (*release)(cl_command_buffer_khr buffer);
};

static struct functions find_functions(struct fixture *f)
{
    static const char *const names[] = {
        "clCreateCommandBufferKHR",  "clFinalizeCommandBufferKHR",      "clEnqueueCommandBufferKHR",
        "clGetCommandBufferInfoKHR", "clCommandBarrierWithWaitListKHR", "clCommandCopyBufferKHR",
        "clCommandFillBufferKHR",    "clCommandNDRangeKernelKHR",       "clCommandSVMMemFillKHR",
        "clCommandSVMMemcpyKHR",     "clCommandCopyBufferRectKHR",      "clCommandCopyBufferToImageKHR",
        "clCommandCopyImageKHR",     "clCommandFillImageKHR",           "clCommandCopyImageToBufferKHR",
        "clRetainCommandBufferKHR",  "clReleaseCommandBufferKHR",
    };
    void *found[PPU_ARRAY_SIZE(names)];
    struct functions functions;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        found[i] = clGetExtensionFunctionAddressForPlatform(f->platform, names[i]);
        assert_non_null(found[i]);
    }
    memcpy(&functions, found, sizeof(functions));
    return functions;
}

static const char step[] =
    "kernel void step(global uint *data, uint add) { uint i = get_global_id(0); data[i] = 3 * data[i] + add; }\n"
    "kernel void count(global uint *data) { atomic_inc(data); }\n"
    "kernel void late(global uint *data, uint turns) {\n"
    "    uint x = turns;\n"
    "    for (uint i = 0; i < turns; i++) { x = x * 3 + data[ITEMS]; }\n"
    "    data[get_global_id(0)] = x != 1 ? 5 : 6;\n"
    "}\n";

static cl_uint first_of(cl_command_queue queue, cl_mem memory)
{
    cl_uint data[ITEMS];

    check(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, BYTES, data, 0, NULL, NULL));
    for (size_t i = 1; i < ITEMS; i++) {
        assert_int_equal(data[i], data[0]);
    }
    return data[0];
}

/* A fill, a kernel and a copy behind each other, in a queue of either order. */
static void commands_run_in_the_order_of_points(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const size_t global = ITEMS;
    const cl_uint seven = 7, eleven = 11;

    for (int order = 0; order < 2; order++) {
        cl_command_queue queue = order == 0 ? f->queue : f->loose;
        cl_mem data = fixture_buffer(f, CL_MEM_READ_WRITE, BYTES, NULL);
        cl_mem result = fixture_buffer(f, CL_MEM_READ_WRITE, BYTES, NULL);
        cl_kernel kernel = fixture_kernel_with(f, step, "step", BUILD);
        cl_sync_point_khr points[3] = { 0, 0, 0 };
        cl_int error = CL_SUCCESS;
        cl_command_buffer_khr buffer = call.create(1, &queue, NULL, &error);
        check(error);
        check(clSetKernelArg(kernel, 0, sizeof(data), &data));
        check(clSetKernelArg(kernel, 1, sizeof(eleven), &eleven));
        check(call.fill(buffer, NULL, NULL, data, &seven, sizeof(seven), 0, BYTES, 0, NULL, &points[0], NULL));
        check(call.kernel(buffer, NULL, NULL, kernel, 1, NULL, &global, NULL, 1, &points[0], &points[1], NULL));
        check(call.copy(buffer, NULL, NULL, data, result, 0, 0, BYTES, 1, &points[1], &points[2], NULL));
        assert_true(points[0] != points[1] && points[1] != points[2]);
        check(clSetKernelArg(kernel, 1, sizeof(seven), &seven)); /* it was captured before */
        check(call.finalize(buffer));
        check(clReleaseKernel(kernel)); /* the command buffer uses it */
        for (int i = 0; i < 3; i++) {
            const cl_uint nothing = 0;
            cl_event begin = NULL, end = NULL;
            check(clEnqueueFillBuffer(queue, result, &nothing, sizeof(nothing), 0, BYTES, 0, NULL, &begin));
            check(call.enqueue(0, NULL, buffer, 1, &begin, &end));
            check(clWaitForEvents(1, &end));
            assert_int_equal(first_of(f->queue, result), 3 * seven + eleven);
            check(clReleaseEvent(begin));
            check(clReleaseEvent(end));
        }
        check(clReleaseMemObject(data)); /* so are its buffers */
        check(call.enqueue(1, &queue, buffer, 0, NULL, NULL));
        check(call.release(buffer));
        check(clFinish(queue));
        assert_int_equal(first_of(f->queue, result), 3 * seven + eleven);
        check(clReleaseMemObject(result));
    }
}

#define SIDE 8u

static cl_mem words_image(struct fixture *f)
{
    const cl_image_format format = { CL_R, CL_UNSIGNED_INT32 };
    const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE };
    cl_int error = CL_SUCCESS;
    cl_mem image = clCreateImage(f->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);

    check(error);
    return image;
}

/* A square of a buffer goes by two images to another buffer, each command behind the one before it. */
static void every_transfer_is_recorded(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const size_t zero[3] = { 0, 0, 0 }, half[3] = { 2 * SIDE, SIDE, 1 }, one[3] = { 1, 1, 0 }, two[3] = { 2, 2, 1 };
    const size_t square[3] = { SIDE, SIDE, 1 }, less[3] = { SIDE - 1, SIDE - 1, 1 };
    const cl_uint colour[4] = { 99, 0, 0, 0 };
    cl_mem from = fixture_buffer(f, CL_MEM_READ_WRITE, BYTES, NULL);
    cl_mem between = fixture_buffer(f, CL_MEM_READ_WRITE, BYTES, NULL), to = fixture_buffer(f, 0, BYTES, NULL);
    cl_mem images[2] = { words_image(f), words_image(f) };
    cl_sync_point_khr p = 0;
    cl_int error = CL_SUCCESS;
    cl_command_buffer_khr buffer = call.create(1, &f->loose, NULL, &error);

    check(error);
    check(call.fill(buffer, NULL, NULL, between, &colour[3], 4, 0, BYTES, 0, NULL, &p, NULL));
    check(
        call.copy_rect(buffer, NULL, NULL, from, between, zero, zero, half, 4 * SIDE, 0, 4 * SIDE, 0, 1, &p, &p, NULL));
    check(call.to_image(buffer, NULL, NULL, between, images[0], 0, zero, square, 1, &p, &p, NULL));
    check(call.to_image(buffer, NULL, NULL, between, images[1], 0, zero, square, 1, &p, &p, NULL));
    check(call.copy_image(buffer, NULL, NULL, images[0], images[1], zero, one, less, 1, &p, &p, NULL));
    check(call.fill_image(buffer, NULL, NULL, images[1], colour, zero, two, 1, &p, &p, NULL));
    check(call.from_image(buffer, NULL, NULL, images[1], to, zero, square, 4, 1, &p, NULL, NULL));
    check(call.finalize(buffer));
    for (cl_uint add = 0; add < 200; add += 100) {
        cl_uint words[ITEMS];
        for (cl_uint i = 0; i < ITEMS; i++) {
            words[i] = i + add;
        }
        check(clEnqueueWriteBuffer(f->loose, from, CL_TRUE, 0, BYTES, words, 0, NULL, NULL));
        check(call.enqueue(0, NULL, buffer, 0, NULL, NULL));
        check(clFinish(f->loose));
        check(clEnqueueReadBuffer(f->loose, to, CL_TRUE, 0, BYTES, words, 0, NULL, NULL));
        for (cl_uint i = 0; i < SIDE * SIDE; i++) {
            cl_uint x = i % SIDE, y = i / SIDE, sx = x > 0 && y > 0 ? x - 1 : x, sy = x > 0 && y > 0 ? y - 1 : y;
            cl_uint expected = sx < SIDE / 2 ? sy * SIDE + sx + add : 0;
            assert_int_equal(words[1 + i], x < 2 && y < 2 ? 99 : expected);
        }
    }
    check(call.release(buffer));
    const cl_mem memories[] = { from, between, to, images[0], images[1] };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(memories); i++) {
        check(clReleaseMemObject(memories[i]));
    }
}

/* The pieces of shared virtual memory are looked at when it runs. */
static void shared_memory_is_recorded(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const cl_uint seven = 7;
    cl_device_svm_capabilities has = 0;
    cl_int error = CL_SUCCESS;

    check(clGetDeviceInfo(f->device, CL_DEVICE_SVM_CAPABILITIES, sizeof(has), &has, NULL));
    cl_command_buffer_khr buffer = call.create(1, &f->queue, NULL, &error);
    check(error);
    if (has == 0) {
        cl_uint host[4];
        assert_int_equal(call.svm_fill(buffer, NULL, NULL, host, &seven, 4, sizeof(host), NO_POINTS),
                         CL_INVALID_OPERATION);
        check(call.release(buffer));
        return;
    }
    cl_uint *words = clSVMAlloc(f->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 2 * BYTES, 0);
    assert_non_null(words);
    memset(words, 0, 2 * BYTES);
    check(call.svm_fill(buffer, NULL, NULL, words + 1, &seven, 4, BYTES - 4, NO_POINTS));
    check(call.svm_copy(buffer, NULL, NULL, words + ITEMS, words, BYTES, NO_POINTS));
    assert_int_equal(call.svm_copy(buffer, NULL, NULL, words + 1, words, BYTES, NO_POINTS), CL_MEM_COPY_OVERLAP);
    check(call.finalize(buffer));
    for (cl_uint i = 0; i < 2; i++) {
        words[0] = 40 + i;
        check(call.enqueue(0, NULL, buffer, 0, NULL, NULL));
        check(clFinish(f->queue));
        assert_int_equal(words[ITEMS], 40 + i);
        assert_int_equal(words[2 * ITEMS - 1], 7);
    }
    check(call.release(buffer));
    clSVMFree(f->context, words);
}

/* What was recorded for a queue that is in order keeps this order in one that is not. */
static void order_goes_with_the_recording(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const cl_uint nothing[ITEMS + 1] = { 0 }, turns = 200000;
    const size_t global = ITEMS;
    cl_mem data = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(nothing), (void *)(uintptr_t)nothing);
    cl_mem result = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, BYTES, (void *)(uintptr_t)nothing);
    cl_kernel kernel = fixture_kernel_with(f, step, "late", BUILD);
    cl_command_queue loose = f->loose;
    cl_int error = CL_SUCCESS;
    cl_command_buffer_khr buffer = call.create(1, &f->queue, NULL, &error);

    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(data), &data));
    check(clSetKernelArg(kernel, 1, sizeof(turns), &turns));
    check(call.kernel(buffer, NULL, NULL, kernel, 1, NULL, &global, NULL, NO_POINTS));
    check(call.copy(buffer, NULL, NULL, data, result, 0, 0, BYTES, NO_POINTS));
    check(call.finalize(buffer));
    check(call.enqueue(1, &loose, buffer, 0, NULL, NULL));
    check(clFinish(loose));
    assert_int_equal(first_of(f->queue, result), 5);
    check(call.release(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(result));
    check(clReleaseMemObject(data));
}

/* A list may name one point many times. */
static void points_are_repeated(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const cl_uint one = 1, two = 2;
    cl_mem data = fixture_buffer(f, CL_MEM_READ_WRITE, BYTES, NULL);
    cl_sync_point_khr point = 0, points[200];
    cl_int error = CL_SUCCESS;
    cl_command_buffer_khr buffer = call.create(1, &f->loose, NULL, &error);

    check(error);
    check(call.fill(buffer, NULL, NULL, data, &one, sizeof(one), 0, BYTES, 0, NULL, &point, NULL));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(points); i++) {
        points[i] = point;
    }
    check(call.fill(buffer, NULL, NULL, data, &two, sizeof(two), 0, BYTES, PPU_ARRAY_SIZE(points), points, NULL, NULL));
    check(call.finalize(buffer));
    check(call.enqueue(0, NULL, buffer, 0, NULL, NULL));
    check(clFinish(f->loose));
    assert_int_equal(first_of(f->queue, data), 2);
    check(call.release(buffer));
    check(clReleaseMemObject(data));
}

/* Without sync points, but for a barrier. */
static void barrier_parts_what_is_beside_it(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const cl_uint ones = 1, fives = 5;
    const size_t global = ITEMS;
    cl_mem data = fixture_buffer(f, CL_MEM_READ_WRITE, BYTES, NULL);
    cl_kernel kernel = fixture_kernel_with(f, step, "step", BUILD);
    cl_int error = CL_SUCCESS;
    cl_command_buffer_khr buffer = call.create(1, &f->loose, NULL, &error);

    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(data), &data));
    check(clSetKernelArg(kernel, 1, sizeof(ones), &ones));
    for (int i = 0; i < 4; i++) {
        check(call.fill(buffer, NULL, NULL, data, &fives, sizeof(fives), 64 * i, 64, NO_POINTS));
    }
    check(call.fill(buffer, NULL, NULL, data, &fives, sizeof(fives), 256, BYTES - 256, NO_POINTS));
    for (int i = 0; i < 3; i++) {
        check(call.barrier(buffer, NULL, NULL, NO_POINTS));
        check(call.kernel(buffer, NULL, NULL, kernel, 1, NULL, &global, NULL, NO_POINTS));
    }
    check(call.finalize(buffer));
    for (int i = 0; i < 5; i++) {
        cl_event end = NULL;
        check(call.enqueue(0, NULL, buffer, 0, NULL, &end));
        check(clWaitForEvents(1, &end));
        check(clReleaseEvent(end));
        assert_int_equal(first_of(f->queue, data), ((5 * 3 + 1) * 3 + 1) * 3 + 1);
    }
    check(call.release(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(data));
}

/* Enqueued again before it has ended, and by an event that comes later. */
static void many_are_in_flight(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const size_t one = 1;
    const cl_uint zero = 0;
    cl_mem data = fixture_buffer(f, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL);
    cl_kernel kernel = fixture_kernel_with(f, step, "count", BUILD);
    cl_uint counted = 0;
    cl_int error = CL_SUCCESS, status = 0;
    cl_command_buffer_khr buffer = call.create(1, &f->loose, NULL, &error);

    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(data), &data));
    check(call.kernel(buffer, NULL, NULL, kernel, 1, NULL, &one, NULL, NO_POINTS));
    check(call.kernel(buffer, NULL, NULL, kernel, 1, NULL, &one, &one, NO_POINTS));
    check(call.finalize(buffer));
    check(clEnqueueFillBuffer(f->queue, data, &zero, sizeof(zero), 0, sizeof(zero), 0, NULL, NULL));
    check(clFinish(f->queue));
    cl_event gate = clCreateUserEvent(f->context, &error), last = NULL;
    check(error);
    for (int i = 0; i < 50; i++) {
        check(call.enqueue(0, NULL, buffer, 1, &gate, i == 49 ? &last : NULL));
    }
    check(clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    assert_int_equal(status, CL_QUEUED);
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    check(clFinish(f->loose));
    check(clEnqueueReadBuffer(f->queue, data, CL_TRUE, 0, sizeof(counted), &counted, 0, NULL, NULL));
    assert_int_equal(counted, 100);
    check(clReleaseEvent(last));
    /* A list that fails. */
    check(clReleaseEvent(gate));
    gate = clCreateUserEvent(f->context, &error);
    check(call.enqueue(0, NULL, buffer, 1, &gate, &last));
    check(clSetUserEventStatus(gate, -5));
    assert_int_equal(clWaitForEvents(1, &last), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    check(clReleaseEvent(last));
    check(clReleaseEvent(gate));
    check(call.release(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(data));
}

static void questions_are_answered(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const cl_command_buffer_properties_khr flags[] = { CL_COMMAND_BUFFER_FLAGS_KHR, 0, 0 };
    cl_command_buffer_properties_khr kept[3] = { 1, 1, 1 };
    cl_command_queue queue = NULL;
    cl_context context = NULL;
    cl_uint number = 0;
    cl_ulong start = 0, end = 0;
    cl_command_type type = 0;
    const cl_uint one = 1;
    cl_event event = NULL;
    cl_int error = CL_SUCCESS;
    cl_mem data = fixture_buffer(f, CL_MEM_READ_WRITE, BYTES, NULL);
    cl_command_buffer_khr buffer = call.create(1, &f->queue, flags, &error);

    check(error);
    check(call.info(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof(number), &number, NULL));
    assert_int_equal(number, CL_COMMAND_BUFFER_STATE_RECORDING_KHR);
    check(call.fill(buffer, NULL, NULL, data, &one, sizeof(one), 0, BYTES, NO_POINTS));
    check(call.finalize(buffer));
    check(call.info(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof(number), &number, NULL));
    assert_int_equal(number, CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    check(call.info(buffer, CL_COMMAND_BUFFER_NUM_QUEUES_KHR, sizeof(number), &number, NULL));
    assert_int_equal(number, 1);
    check(call.info(buffer, CL_COMMAND_BUFFER_QUEUES_KHR, sizeof(queue), &queue, NULL));
    assert_ptr_equal(queue, f->queue);
    check(call.info(buffer, COMMAND_BUFFER_CONTEXT, sizeof(context), &context, NULL));
    assert_ptr_equal(context, f->context);
    check(call.info(buffer, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, sizeof(kept), kept, NULL));
    assert_memory_equal(kept, flags, sizeof(flags));
    check(call.retain(buffer));
    check(call.info(buffer, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, sizeof(number), &number, NULL));
    assert_int_equal(number, 2);
    check(call.release(buffer));
    assert_int_equal(call.info(buffer, CL_COMMAND_BUFFER_STATE_KHR, 1, &number, NULL), CL_INVALID_VALUE);
    assert_int_equal(call.info(buffer, 0x1234, sizeof(number), &number, NULL), CL_INVALID_VALUE);
    check(call.enqueue(0, NULL, buffer, 0, NULL, &event));
    check(clWaitForEvents(1, &event));
    check(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_COMMAND_COMMAND_BUFFER_KHR);
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL));
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL));
    assert_true(start > 0 && start < end); /* its fill's time is its own */
    check(clReleaseEvent(event));
    check(call.release(buffer));
    check(clReleaseMemObject(data));
}

/* Whatever is refused leaves nothing behind. */
static void wrong_calls_are_refused(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const cl_command_buffer_properties_khr unknown[] = { 0x7777, 0, 0 },
                                           no_flag[] = { CL_COMMAND_BUFFER_FLAGS_KHR, 64, 0 };
    const cl_command_queue two[] = { f->queue, f->loose };
    const cl_uint one = 1;
    const cl_sync_point_khr later = 2, none = 0;
    cl_sync_point_khr point = 0;
    cl_mutable_command_khr handle = NULL;
    cl_command_queue loose = f->loose;
    cl_int error = CL_SUCCESS;
    cl_mem data = fixture_buffer(f, CL_MEM_READ_WRITE, BYTES, NULL);

    assert_null(call.create(0, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(call.create(2, two, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    cl_command_queue nobody = NULL;
    assert_null(call.create(1, &nobody, NULL, &error));
    assert_int_equal(error, CL_INVALID_COMMAND_QUEUE);
    assert_null(call.create(1, &f->queue, unknown, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(call.create(1, &f->queue, no_flag, &error));
    assert_int_equal(error, CL_INVALID_PROPERTY);
    cl_command_buffer_khr buffer = call.create(1, &f->queue, NULL, &error);
    check(error);
    assert_int_equal(call.enqueue(0, NULL, buffer, 0, NULL, NULL), CL_INVALID_OPERATION);
    assert_int_equal(call.fill(NULL, NULL, NULL, data, &one, 4, 0, BYTES, NO_POINTS), CL_INVALID_COMMAND_BUFFER_KHR);
    assert_int_equal(call.fill((cl_command_buffer_khr)f->queue, NULL, NULL, data, &one, 4, 0, BYTES, NO_POINTS),
                     CL_INVALID_COMMAND_BUFFER_KHR);
    assert_int_equal(call.fill(buffer, f->queue, NULL, data, &one, 4, 0, BYTES, NO_POINTS), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(call.fill(buffer, NULL, NULL, data, &one, 4, 0, 2 * BYTES, NO_POINTS), CL_INVALID_VALUE);
    assert_int_equal(call.fill(buffer, NULL, NULL, NULL, &one, 4, 0, BYTES, NO_POINTS), CL_INVALID_MEM_OBJECT);
    assert_int_equal(call.fill(buffer, NULL, NULL, data, &one, 4, 0, BYTES, 0, NULL, NULL, &handle), CL_INVALID_VALUE);
    assert_int_equal(call.fill(buffer, NULL, NULL, data, &one, 4, 0, BYTES, 1, NULL, NULL, NULL),
                     CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
    check(call.fill(buffer, NULL, NULL, data, &one, 4, 0, BYTES, 0, NULL, &point, NULL));
    assert_int_equal(point, 1); /* none of the others was kept */
    assert_int_equal(call.copy(buffer, NULL, NULL, data, data, 0, 4, 8, NO_POINTS), CL_MEM_COPY_OVERLAP);
    assert_int_equal(call.barrier(buffer, NULL, NULL, 1, &later, NULL, NULL), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
    assert_int_equal(call.barrier(buffer, NULL, NULL, 1, &none, NULL, NULL), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
    cl_context other = clCreateContext(NULL, 1, &f->device, NULL, NULL, &error);
    check(error);
    cl_command_queue elsewhere = clCreateCommandQueueWithProperties(other, f->device, NULL, &error);
    check(error);
    check(call.finalize(buffer));
    assert_int_equal(call.finalize(buffer), CL_INVALID_OPERATION);
    assert_int_equal(call.barrier(buffer, NULL, NULL, NO_POINTS), CL_INVALID_OPERATION);
    assert_int_equal(call.enqueue(1, &elsewhere, buffer, 0, NULL, NULL), CL_INVALID_CONTEXT);
    check(call.enqueue(1, &loose, buffer, 0, NULL, NULL)); /* of the other order, but of the same device */
    check(clFinish(f->loose));
    check(clReleaseCommandQueue(elsewhere));
    check(clReleaseContext(other));
    assert_int_equal(call.enqueue(2, (cl_command_queue *)(uintptr_t)two, buffer, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(call.enqueue(0, NULL, NULL, 0, NULL, NULL), CL_INVALID_COMMAND_BUFFER_KHR);
    assert_int_equal(call.enqueue(0, NULL, buffer, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    check(call.enqueue(0, NULL, buffer, 0, NULL, NULL));
    check(clFinish(f->queue));
    assert_int_equal(first_of(f->queue, data), 1);
    check(call.release(buffer));
    assert_int_equal(call.release(NULL), CL_INVALID_COMMAND_BUFFER_KHR);
    check(clReleaseMemObject(data));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("commands run in the order of their sync points, each time [F6]", commands_run_in_the_order_of_points),
        cl_test("every kind of transfer is recorded, and runs each time [F6]", every_transfer_is_recorded),
        cl_test("fills and copies of shared virtual memory are recorded [F6]", shared_memory_is_recorded),
        cl_test("commands keep the order of the queue that they were recorded for [F6]", order_goes_with_the_recording),
        cl_test("a list of sync points may repeat them [F6]", points_are_repeated),
        cl_test("a barrier parts what is before and behind it [F6]", barrier_parts_what_is_beside_it),
        cl_test("many enqueues are in flight at once [F6]", many_are_in_flight),
        cl_test("questions about a command buffer are answered [F6]", questions_are_answered),
        cl_test("wrong calls are refused, and leave nothing behind [F6]", wrong_calls_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
