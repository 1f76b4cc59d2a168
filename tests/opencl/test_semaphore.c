/* SPDX-License-Identifier: MIT */
/* Tests cl_khr_semaphore: a wait takes one signal, in whatever order both come, on queues of either order. */
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define SEMAPHORE_DEVICES 0x2053 /* CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR */

struct functions {
    clCreateSemaphoreWithPropertiesKHR_fn create;
    clEnqueueWaitSemaphoresKHR_fn wait;
    clEnqueueSignalSemaphoresKHR_fn signal;
    clGetSemaphoreInfoKHR_fn info;
    clGetSemaphoreHandleForTypeKHR_fn handle;
    clRetainSemaphoreKHR_fn retain;
    clReleaseSemaphoreKHR_fn release;
};

static struct functions find_functions(struct fixture *f)
{
    static const char *const names[] = { "clCreateSemaphoreWithPropertiesKHR",
                                         "clEnqueueWaitSemaphoresKHR",
                                         "clEnqueueSignalSemaphoresKHR",
                                         "clGetSemaphoreInfoKHR",
                                         "clGetSemaphoreHandleForTypeKHR",
                                         "clRetainSemaphoreKHR",
                                         "clReleaseSemaphoreKHR" };
    void *found[PPU_ARRAY_SIZE(names)];
    struct functions functions;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        found[i] = clGetExtensionFunctionAddressForPlatform(f->platform, names[i]);
        assert_non_null(found[i]);
    }
    memcpy(&functions, found, sizeof(functions));
    return functions;
}

static const cl_semaphore_properties_khr binary[] = { CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, 0 };

static cl_semaphore_khr make(struct fixture *f, const struct functions *call)
{
    cl_int error = CL_SUCCESS;
    cl_semaphore_khr semaphore = call->create(f->context, binary, &error);

    check(error);
    return semaphore;
}

static cl_semaphore_payload_khr payload_of(const struct functions *call, cl_semaphore_khr semaphore)
{
    cl_semaphore_payload_khr payload = 7;

    check(call->info(semaphore, CL_SEMAPHORE_PAYLOAD_KHR, sizeof(payload), &payload, NULL));
    return payload;
}

static cl_int status_of(cl_event event)
{
    cl_int status = 99;

    check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    return status;
}

static void signal_comes_first(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    cl_semaphore_khr semaphore = make(f, &call);
    cl_event event = NULL;
    cl_command_type type = 0;

    assert_int_equal(payload_of(&call, semaphore), 0);
    check(call.signal(f->queue, 1, &semaphore, NULL, 0, NULL, &event));
    check(clWaitForEvents(1, &event));
    check(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_COMMAND_SEMAPHORE_SIGNAL_KHR);
    check(clReleaseEvent(event));
    assert_int_equal(payload_of(&call, semaphore), 1);
    check(call.wait(f->loose, 1, &semaphore, NULL, 0, NULL, &event));
    check(clWaitForEvents(1, &event));
    check(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_COMMAND_SEMAPHORE_WAIT_KHR);
    check(clReleaseEvent(event));
    assert_int_equal(payload_of(&call, semaphore), 0);
    check(call.release(semaphore));
}

/* Waits that come first take the signals in their order. */
static void waits_come_first(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    cl_semaphore_khr semaphore = make(f, &call);
    cl_event waits[3], signal = NULL;

    for (int i = 0; i < 3; i++) {
        check(call.wait(f->loose, 1, &semaphore, NULL, 0, NULL, &waits[i]));
    }
    check(call.release(semaphore)); /* its waits use it */
    for (int i = 0; i < 3; i++) {
        assert_true(status_of(waits[i]) > CL_COMPLETE);
        check(call.signal(f->queue, 1, &semaphore, NULL, 0, NULL, &signal));
        check(clWaitForEvents(1, &signal));
        check(clReleaseEvent(signal));
        check(clWaitForEvents(1, &waits[i]));
        assert_int_equal(i < 2 ? status_of(waits[i + 1]) > CL_COMPLETE : true, true);
    }
    for (int i = 0; i < 3; i++) {
        check(clReleaseEvent(waits[i]));
    }
}

/* Two queues hand a buffer to each other. */
static void queues_take_turns(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    cl_semaphore_khr to_loose = make(f, &call), to_first = make(f, &call);
    cl_mem data = fixture_buffer(f, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL);
    cl_kernel twice = fixture_kernel(f, "kernel void twice(global uint *data) { *data *= 2; }", "twice");
    cl_kernel more = fixture_kernel(f, "kernel void more(global uint *data) { *data += 1; }", "more");
    const size_t one = 1;
    const cl_uint zero = 0;
    cl_uint result = 0;

    check(clSetKernelArg(twice, 0, sizeof(data), &data));
    check(clSetKernelArg(more, 0, sizeof(data), &data));
    check(clEnqueueFillBuffer(f->queue, data, &zero, sizeof(zero), 0, sizeof(zero), 0, NULL, NULL));
    for (int i = 0; i < 10; i++) {
        cl_event waited = NULL, done = NULL;
        check(clEnqueueNDRangeKernel(f->queue, more, 1, NULL, &one, NULL, 0, NULL, NULL));
        check(call.signal(f->queue, 1, &to_loose, NULL, 0, NULL, NULL));
        check(call.wait(f->loose, 1, &to_loose, NULL, 0, NULL, &waited));
        check(clEnqueueNDRangeKernel(f->loose, twice, 1, NULL, &one, NULL, 1, &waited, &done));
        check(call.signal(f->loose, 1, &to_first, NULL, 1, &done, NULL));
        check(call.wait(f->queue, 1, &to_first, NULL, 0, NULL, NULL));
        check(clReleaseEvent(waited));
        check(clReleaseEvent(done));
    }
    check(clEnqueueReadBuffer(f->queue, data, CL_TRUE, 0, sizeof(result), &result, 0, NULL, NULL));
    assert_int_equal(result, 2046);
    check(clReleaseKernel(twice));
    check(clReleaseKernel(more));
    check(clReleaseMemObject(data));
    check(call.release(to_loose));
    check(call.release(to_first));
}

/* A wait that fails gives its signal to the next; a signal that fails ends the wait. */
static void failures_are_passed_on(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    cl_semaphore_khr pair[] = { make(f, &call), make(f, &call) };
    cl_int error = CL_SUCCESS;
    cl_event gate = clCreateUserEvent(f->context, &error), failed = NULL, next = NULL;

    check(error);
    check(call.signal(f->queue, 2, pair, NULL, 0, NULL, NULL));
    check(clFinish(f->queue));
    check(call.wait(f->loose, 2, pair, NULL, 1, &gate, &failed));
    check(call.wait(f->loose, 2, pair, NULL, 0, NULL, &next));
    check(clSetUserEventStatus(gate, -7));
    assert_int_equal(clWaitForEvents(1, &failed), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    check(clWaitForEvents(1, &next));
    check(clReleaseEvent(failed));
    check(clReleaseEvent(next));
    check(call.wait(f->loose, 1, pair, NULL, 0, NULL, &next));
    assert_int_equal(call.signal(f->queue, 1, pair, NULL, 1, &gate, NULL),
                     CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(call.wait(f->queue, 1, pair, NULL, 1, &gate, NULL), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    check(clReleaseEvent(gate));
    gate = clCreateUserEvent(f->context, &error);
    check(error);
    check(call.signal(f->queue, 1, pair, NULL, 1, &gate, &failed));
    check(clSetUserEventStatus(gate, -7));
    assert_int_equal(clWaitForEvents(1, &failed), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(clWaitForEvents(1, &next), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    check(clReleaseEvent(failed));
    check(clReleaseEvent(next));
    check(clReleaseEvent(gate));
    check(call.release(pair[0]));
    check(call.release(pair[1]));
}

static void questions_are_answered(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const cl_semaphore_properties_khr for_device[] = {
        SEMAPHORE_DEVICES,     (cl_semaphore_properties_khr)f->device, 0,
        CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,           0
    };
    cl_semaphore_properties_khr kept[6];
    cl_semaphore_type_khr type = 0;
    cl_device_id device = NULL;
    cl_context context = NULL;
    cl_uint count = 0;
    cl_int error = CL_SUCCESS;
    size_t bytes = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_SEMAPHORE_TYPES_KHR, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_SEMAPHORE_TYPE_BINARY_KHR);
    check(clGetPlatformInfo(f->platform, CL_PLATFORM_SEMAPHORE_TYPES_KHR, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_SEMAPHORE_TYPE_BINARY_KHR);
    cl_semaphore_khr semaphore = call.create(f->context, for_device, &error);
    check(error);
    check(call.info(semaphore, CL_SEMAPHORE_PROPERTIES_KHR, sizeof(kept), kept, &bytes));
    assert_int_equal(bytes, sizeof(for_device));
    assert_memory_equal(kept, for_device, sizeof(kept));
    check(call.info(semaphore, SEMAPHORE_DEVICES, sizeof(device), &device, NULL));
    assert_ptr_equal(device, f->device);
    check(call.info(semaphore, CL_SEMAPHORE_CONTEXT_KHR, sizeof(context), &context, NULL));
    assert_ptr_equal(context, f->context);
    check(call.info(semaphore, CL_SEMAPHORE_TYPE_KHR, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_SEMAPHORE_TYPE_BINARY_KHR);
    cl_semaphore_khr of_all = make(f, &call);
    check(call.info(of_all, SEMAPHORE_DEVICES, sizeof(device), &device, NULL));
    assert_ptr_equal(device, f->device);
    check(call.release(of_all));
    check(call.retain(semaphore));
    check(call.info(semaphore, CL_SEMAPHORE_REFERENCE_COUNT_KHR, sizeof(count), &count, NULL));
    assert_int_equal(count, 2);
    check(call.release(semaphore));
    assert_int_equal(call.info(semaphore, 0x1234, sizeof(count), &count, NULL), CL_INVALID_VALUE);
    assert_int_equal(call.info(semaphore, CL_SEMAPHORE_TYPE_KHR, 1, &count, NULL), CL_INVALID_VALUE);
    assert_int_equal(call.info(NULL, CL_SEMAPHORE_TYPE_KHR, sizeof(count), &count, NULL), CL_INVALID_SEMAPHORE_KHR);
    check(call.release(semaphore));
}

static void must_not_be_made(struct fixture *f, const struct functions *call,
                             const cl_semaphore_properties_khr *properties, cl_int expected)
{
    cl_int error = CL_SUCCESS;

    assert_null(call->create(f->context, properties, &error));
    assert_int_equal(error, expected);
}

static void wrong_calls_are_refused(void **state)
{
    struct fixture *f = *state;
    const struct functions call = find_functions(f);
    const cl_semaphore_properties_khr none[] = { 0 }, unknown[] = { 0x7777, 1, 0 };
    const cl_semaphore_properties_khr odd[] = { CL_SEMAPHORE_TYPE_KHR, 2, 0 };
    const cl_semaphore_properties_khr twice[] = { CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_TYPE_KHR, 1, 0 };
    const cl_semaphore_properties_khr nowhere[] = { CL_SEMAPHORE_TYPE_KHR, 1, SEMAPHORE_DEVICES, 0, 0 };
    const cl_semaphore_properties_khr two[] = {
        CL_SEMAPHORE_TYPE_KHR, 1, SEMAPHORE_DEVICES, (cl_ulong)f->device, (cl_ulong)f->device, 0, 0
    };
    cl_semaphore_khr semaphore = make(f, &call), wrong = (cl_semaphore_khr)f->queue;
    cl_int error = CL_SUCCESS;

    must_not_be_made(f, &call, NULL, CL_INVALID_VALUE);
    must_not_be_made(f, &call, none, CL_INVALID_VALUE);
    must_not_be_made(f, &call, unknown, CL_INVALID_PROPERTY);
    must_not_be_made(f, &call, odd, CL_INVALID_PROPERTY);
    must_not_be_made(f, &call, twice, CL_INVALID_PROPERTY);
    must_not_be_made(f, &call, nowhere, CL_INVALID_DEVICE);
    must_not_be_made(f, &call, two, CL_INVALID_DEVICE);
    assert_null(call.create(NULL, binary, &error));
    assert_int_equal(error, CL_INVALID_CONTEXT);
    assert_int_equal(call.wait(NULL, 1, &semaphore, NULL, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(call.wait(f->queue, 0, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(call.wait(f->queue, 1, &wrong, NULL, 0, NULL, NULL), CL_INVALID_SEMAPHORE_KHR);
    assert_int_equal(call.wait(f->queue, 1, &semaphore, NULL, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(call.signal(f->queue, 0, &semaphore, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(call.signal(f->queue, 1, &wrong, NULL, 0, NULL, NULL), CL_INVALID_SEMAPHORE_KHR);
    cl_context other = clCreateContext(NULL, 1, &f->device, NULL, NULL, &error);
    check(error);
    cl_command_queue there = clCreateCommandQueueWithProperties(other, f->device, NULL, &error);
    check(error);
    assert_int_equal(call.signal(there, 1, &semaphore, NULL, 0, NULL, NULL), CL_INVALID_CONTEXT);
    check(clReleaseCommandQueue(there));
    check(clReleaseContext(other));
    assert_int_equal(payload_of(&call, semaphore), 0);
    int handle = -1;
    assert_int_equal(
        call.handle(semaphore, f->device, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, sizeof(handle), &handle, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(call.handle(wrong, f->device, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, sizeof(handle), &handle, NULL),
                     CL_INVALID_SEMAPHORE_KHR);
    check(call.release(semaphore));
    assert_int_equal(call.release(wrong), CL_INVALID_SEMAPHORE_KHR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("a signal waits for its wait [F6]", signal_comes_first),
        cl_test("waits take signals in their order [F6]", waits_come_first),
        cl_test("queues hand a buffer to each other [F6]", queues_take_turns),
        cl_test("failures of waits and signals are passed on [F6]", failures_are_passed_on),
        cl_test("questions about a semaphore are answered [F6]", questions_are_answered),
        cl_test("wrong calls are refused [F6]", wrong_calls_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
