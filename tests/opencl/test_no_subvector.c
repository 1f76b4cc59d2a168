/* SPDX-License-Identifier: MIT */
/* Tests programs on a device without sub-vector mode: copies and loops run, other forms are refused when built. */
#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/joined/joined.h"
#include "tests/opencl/fixture.h"
#include "tests/opencl/source_joined.h"

#define ITEMS 256u
#define VALUES 80u

/* So many values live at once that a device with the mode would share registers for them. */
static const char source[] = "kernel void press(global const uint *in, global uint *out)\n"
                             "{\n"
                             "    uint v[80];\n"
                             "    #pragma unroll\n"
                             "    for (int n = 0; n < 80; n++) v[n] = in[(get_global_id(0) + n * 3) & 255];\n"
                             "    #pragma unroll\n"
                             "    for (int n = 0; n < 80; n++) v[n] += rotate(v[(n * 7 + 1) % 80], 3u);\n"
                             "    uint sum = 0;\n"
                             "    #pragma unroll\n"
                             "    for (int n = 79; n >= 0; n--) sum = sum * 17 + v[n];\n"
                             "    out[get_global_id(0)] = sum;\n"
                             "}\n";

void source_joined_adjust(struct joined_options *options)
{
    options->config.subvector = false;
}

static cl_uint sum_of(const cl_uint *in, uint32_t item)
{
    cl_uint v[VALUES], sum = 0;

    for (uint32_t n = 0; n < VALUES; n++) {
        v[n] = in[(item + n * 3) & 255];
    }
    for (uint32_t n = 0; n < VALUES; n++) {
        const cl_uint other = v[(n * 7 + 1) % VALUES];
        v[n] += other << 3 | other >> 29;
    }
    for (uint32_t n = VALUES; n-- > 0;) {
        sum = sum * 17 + v[n];
    }
    return sum;
}

static void forms_run(void **state)
{
    static const char *const options[] = {
        "",
        "-cl-ppu-segments=duplicate -cl-ppu-segment-threshold=20",
        "-cl-ppu-segments=loop -cl-ppu-segment-threshold=20",
        "-cl-ppu-segments=loop -cl-ppu-segment-threshold=20 -cl-ppu-sub-group-size=64",
    };
    struct fixture *f = *state;
    cl_uint in[ITEMS], out[ITEMS];
    uint64_t seed = 3;

    for (uint32_t i = 0; i < ITEMS; i++) {
        in[i] = fixture_random(&seed);
    }
    cl_mem from = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(in), in), to = fixture_buffer(f, 0, sizeof(out), NULL);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(options); i++) {
        cl_kernel kernel = fixture_kernel_with(f, source, "press", options[i]);
        const size_t global = ITEMS;
        check(clSetKernelArg(kernel, 0, sizeof(from), &from));
        check(clSetKernelArg(kernel, 1, sizeof(to), &to));
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
        check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
        for (uint32_t item = 0; item < ITEMS; item++) {
            assert_int_equal(out[item], sum_of(in, item));
        }
        check(clReleaseKernel(kernel));
    }
    check(clReleaseMemObject(from));
    check(clReleaseMemObject(to));
}

static void others_are_refused(void **state)
{
    static const char *const options[] = { "-cl-ppu-segments=enter", "-cl-ppu-segments=may" };
    struct fixture *f = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(options); i++) {
        const char *text = source;
        char log[500] = "";
        cl_int error = CL_SUCCESS;
        cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
        check(error);
        assert_int_equal(clBuildProgram(program, 0, NULL, options[i], NULL, NULL), CL_INVALID_BUILD_OPTIONS);
        check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
        assert_non_null(strstr(log, "need sub-vector mode, which the device has not"));
        check(clReleaseProgram(program));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("copies and loops run on a device without sub-vector mode [D7][D10]", forms_run),
        cl_test("other forms of segments are refused there when a program is built [D10]", others_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
