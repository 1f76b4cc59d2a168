/* SPDX-License-Identifier: MIT */
#include "tests/opencl/fixture.h"

#include <stdlib.h>
#include <time.h>

/* PPU_SKIP_TESTS: tests that are left out; a star in it stands for anything. */
__attribute__((constructor)) static void skip_tests(void)
{
    const char *pattern = getenv("PPU_SKIP_TESTS");

    if (pattern) {
        cmocka_set_skip_filter(pattern);
    }
}

int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const cl_queue_properties timed[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0 };
    const cl_queue_properties loose[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
    cl_int error = CL_SUCCESS;

    assert_non_null(fixture);
    setenv("PPU_CACHE", "off", 0); /* a test of the compiler must not find what an older one made */
    check(clGetPlatformIDs(1, &fixture->platform, NULL));
    check(clGetDeviceIDs(fixture->platform, CL_DEVICE_TYPE_ALL, 1, &fixture->device, NULL));
    fixture->context = clCreateContext(NULL, 1, &fixture->device, NULL, NULL, &error);
    check(error);
    fixture->queue = clCreateCommandQueueWithProperties(fixture->context, fixture->device, timed, &error);
    check(error);
    fixture->loose = clCreateCommandQueueWithProperties(fixture->context, fixture->device, loose, &error);
    check(error);
    *state = fixture;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    check(clFinish(fixture->queue));
    check(clFinish(fixture->loose));
    check(clReleaseCommandQueue(fixture->queue));
    check(clReleaseCommandQueue(fixture->loose));
    check(clReleaseContext(fixture->context));
    free(fixture);
    return 0;
}

cl_mem fixture_buffer(struct fixture *fixture, cl_mem_flags flags, size_t bytes, void *host)
{
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(fixture->context, flags, bytes, host, &error);

    check(error);
    return buffer;
}

cl_kernel fixture_kernel(struct fixture *fixture, const char *text, const char *name)
{
    return fixture_kernel_with(fixture, text, name, "-cl-std=CL3.0");
}

cl_kernel fixture_kernel_with(struct fixture *fixture, const char *text, const char *name, const char *options)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(fixture->context, 1, &text, NULL, &error);

    check(error);
    check(clBuildProgram(program, 0, NULL, options, NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error);
    check(clReleaseProgram(program));
    return kernel;
}

uint64_t fixture_seed(void)
{
    const char *text = getenv("PPU_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

    print_message("# PPU_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* splitmix64 */
uint32_t fixture_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 32);
}
