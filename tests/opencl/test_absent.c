/* SPDX-License-Identifier: MIT */
/*
 * Tests what the platform has not: each function is there all the same, and says so with the specification's error.
 */
#include <stdio.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#include <CL/cl_icd.h>

/* Microsoft's; there are no such functions on Linux. */
static const struct {
    size_t first, last;
} foreign[] = {
    { offsetof(cl_icd_dispatch, clGetDeviceIDsFromD3D10KHR),
      offsetof(cl_icd_dispatch, clEnqueueReleaseD3D10ObjectsKHR) },
    { offsetof(cl_icd_dispatch, clGetDeviceIDsFromD3D11KHR),
      offsetof(cl_icd_dispatch, clEnqueueReleaseD3D11ObjectsKHR) },
    { offsetof(cl_icd_dispatch, clGetDeviceIDsFromDX9MediaAdapterKHR),
      offsetof(cl_icd_dispatch, clEnqueueReleaseDX9MediaSurfacesKHR) },
};

static bool is_foreign(size_t offset)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(foreign); i++) {
        if (offset >= foreign[i].first && offset <= foreign[i].last) {
            return true;
        }
    }
    return false;
}

static void table_is_full(void **state)
{
    struct fixture *f = *state;
    void *const *table = *(void *const *const *)(void *)f->platform;

    for (size_t i = 0; i < sizeof(cl_icd_dispatch) / sizeof(void *); i++) {
        if (!table[i] && !is_foreign(i * sizeof(void *))) {
            fail_msg("place %zu of the dispatch table is empty", i);
        }
    }
    assert_ptr_equal(*(void *const *const *)(void *)f->queue, table);
}

#define refused(call, expected)            \
    do {                                   \
        cl_int error = CL_SUCCESS;         \
        assert_null(call);                 \
        assert_int_equal(error, expected); \
    } while (0)

static void built_in_kernels_are_refused(void **state)
{
    struct fixture *f = *state;
    const char *text = "kernel void k() {}";
    cl_int error_of_source = CL_SUCCESS;

    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error_of_source);
    check(error_of_source);
    refused(clCreateProgramWithBuiltInKernels(f->context, 1, &f->device, "none", &error), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramReleaseCallback(program, NULL, NULL), CL_INVALID_OPERATION);
    check(clReleaseProgram(program));
}

static void devices_are_not_divided(void **state)
{
    struct fixture *f = *state;
    const cl_device_partition_property parts[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };

    assert_int_equal(clCreateSubDevices(f->device, parts, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices(NULL, parts, 0, NULL, NULL), CL_INVALID_DEVICE);
    assert_int_equal(clSetDefaultDeviceCommandQueue(f->context, f->device, f->queue), CL_INVALID_COMMAND_QUEUE);
}

static void graphics_are_refused(void **state)
{
    struct fixture *f = *state;
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);

    refused(clCreateFromGLBuffer(f->context, 0, 1, &error), CL_INVALID_CONTEXT);
    refused(clCreateFromGLTexture(f->context, 0, 0, 0, 1, &error), CL_INVALID_CONTEXT);
    refused(clCreateFromGLTexture2D(f->context, 0, 0, 0, 1, &error), CL_INVALID_CONTEXT);
    refused(clCreateFromGLTexture3D(f->context, 0, 0, 0, 1, &error), CL_INVALID_CONTEXT);
    refused(clCreateFromGLRenderbuffer(f->context, 0, 1, &error), CL_INVALID_CONTEXT);
    assert_int_equal(clGetGLObjectInfo(buffer, NULL, NULL), CL_INVALID_GL_OBJECT);
    assert_int_equal(clGetGLObjectInfo(NULL, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clGetGLTextureInfo(buffer, CL_GL_TEXTURE_TARGET, 0, NULL, NULL), CL_INVALID_GL_OBJECT);
    assert_int_equal(clEnqueueAcquireGLObjects(f->queue, 1, &buffer, 0, NULL, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueReleaseGLObjects(NULL, 1, &buffer, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    check(clReleaseMemObject(buffer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("no place of the dispatch table is empty [F6]", table_is_full),
        cl_test("built-in kernels and callbacks of released programs are refused [F6]", built_in_kernels_are_refused),
        cl_test("a device is not divided and has no queues of its own [F6]", devices_are_not_divided),
        cl_test("objects of OpenGL are refused [F6]", graphics_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
