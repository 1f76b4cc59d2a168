/* SPDX-License-Identifier: MIT */
/* Tests what kernels print, against what C prints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/opencl/fixture.h"

#define TEXT_BYTES (80u << 20)

/* Standard output goes to a file meanwhile. */
struct capture {
    FILE *file;
    int before;
};

static void capture_begin(struct capture *capture)
{
    fflush(stdout);
    capture->file = tmpfile();
    capture->before = dup(STDOUT_FILENO);
    assert_non_null(capture->file);
    dup2(fileno(capture->file), STDOUT_FILENO);
}

/* To be freed. */
static char *capture_end(struct capture *capture)
{
    char *text = calloc(1, TEXT_BYTES);

    fflush(stdout);
    dup2(capture->before, STDOUT_FILENO);
    close(capture->before);
    rewind(capture->file);
    assert_non_null(text);
    text[fread(text, 1, TEXT_BYTES - 1, capture->file)] = '\0';
    fclose(capture->file);
    return text;
}

static cl_kernel kernel_of(struct fixture *f, const char *text, const char *options)
{
    cl_int error = CL_SUCCESS;
    char log[1000] = "";

    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    error = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fail_msg("%d: %s", error, log);
    }
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    check(clReleaseProgram(program));
    return kernel;
}

static char *printed(struct fixture *f, const char *text, const char *options, size_t global)
{
    struct capture capture;
    cl_kernel kernel = kernel_of(f, text, options);

    capture_begin(&capture);
    cl_int error = clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
    cl_int finished = clFinish(f->queue);
    char *output = capture_end(&capture);
    check(error);
    check(finished);
    check(clReleaseKernel(kernel));
    return output;
}

static void conversions_are_those_of_c(void **state)
{
    struct fixture *f = *state;
    char expected[2000];

    char *output =
        printed(f,
                "kernel void k() {\n"
                "  printf(\"%d|%5i|%-5d|%+d|%05d|% d|%.3d|\\n\", -1, 42, 42, 42, 42, 42, 7);\n"
                "  printf(\"%u|%o|%#o|%x|%#X|%c|%%|\\n\", 4000000000u, 8, 8, 0xbeef, 0xbeef, 'z');\n"
                "  printf(\"%hhd|%hd|%ld|%lx|%hhu|%lu|\\n\", (char)-3, (short)-300, -5000000000L, \n"
                "    0x123456789abcdefL, (uchar)200, 18446744073709551615UL);\n"
                "  printf(\"%f|%.2f|%10.3e|%g|%G|%a|%f|%f|\\n\", 1.5f, 2.345, 12345.678, 1e-10, 1e20, 1.0, \n"
                "    INFINITY, -0.0f);\n"
                "  printf(\"%s|%8s|%-8s|%.2s|%s\\n\", \"one\", \"two\", \"three\", \"four\", \"\");\n"
                "  printf(\"%p|no arguments|%y|%5\\n\", (global int *)0x1234);\n"
                "}\n",
                "", 1);
    snprintf(expected, sizeof(expected),
             "%d|%5i|%-5d|%+d|%05d|% d|%.3d|\n"
             "%u|%o|%#o|%x|%#X|%c|%%|\n"
             "%d|%d|%ld|%lx|%u|%lu|\n"
             "%f|%.2f|%10.3e|%g|%G|%a|%f|%f|\n"
             "%s|%8s|%-8s|%.2s|%s\n"
             "0x1234|no arguments|%%y|%%5\n",
             -1, 42, 42, 42, 42, 42, 7, 4000000000u, 8, 8, 0xbeef, 0xbeef, 'z', -3, -300, -5000000000L,
             0x123456789abcdefL, 200u, 18446744073709551615UL, 1.5, 2.345, 12345.678, 1e-10, 1e20, 1.0,
             (double)INFINITY, -0.0, "one", "two", "three", "four", "");
    assert_string_equal(output, expected);
    free(output);
}

static void vectors_have_commas(void **state)
{
    struct fixture *f = *state;

    char *output = printed(f,
                           "kernel void k() {\n"
                           "  printf(\"%v4hhd|%v2hd|%v3hlx|%v2ld\\n\", (char4)(-1, 2, -3, 4), (short2)(-5, 6),\n"
                           "    (uint3)(0xa, 0xb, 0xc), (long2)(-7, 8));\n"
                           "  printf(\"%v4hlf|%.1v2lf|%v16hhu|%s\\n\", (float4)(1, 2, 3, 4.5f), (double2)(0.5, 1.25),\n"
                           "    (uchar16)(250), \"behind\");\n"
                           "}\n",
                           "", 1);
    assert_string_equal(output, "-1,2,-3,4|-5,6|a,b,c|-7,8\n"
                                "1.000000,2.000000,3.000000,4.500000|0.5,1.2|"
                                "250,250,250,250,250,250,250,250,250,250,250,250,250,250,250,250|behind\n");
    free(output);
}

/* Launches print in their order; what one has printed is there when it has ended. */
static void launches_print_in_order(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel =
        kernel_of(f, "kernel void k(int launch) { printf(\"%d.%d \", launch, (int)get_global_id(0)); }", "");
    struct capture capture;
    const size_t global = 1;
    char expected[2000] = "";
    cl_event last = NULL;

    capture_begin(&capture);
    for (int i = 0; i < 40; i++) {
        clSetKernelArg(kernel, 0, sizeof(i), &i);
        clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, i == 39 ? &last : NULL);
        snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%d.0 ", i);
    }
    clWaitForEvents(1, &last);
    char *output = capture_end(&capture);
    assert_string_equal(output, expected);
    free(output);
    check(clReleaseEvent(last));
    check(clReleaseKernel(kernel));
}

/* Out of order: each line once, from any queue's lane. */
static void lanes_print_apart(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel = kernel_of(f, "kernel void k(int launch) { printf(\"<%d>\\n\", launch); }", "");
    struct capture capture;
    const size_t global = 1;
    char line[20];

    capture_begin(&capture);
    for (int i = 0; i < 40; i++) {
        clSetKernelArg(kernel, 0, sizeof(i), &i);
        clEnqueueNDRangeKernel(f->loose, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
    }
    clFinish(f->loose);
    char *output = capture_end(&capture);
    size_t expected = 0;
    for (int i = 0; i < 40; i++) {
        expected += (size_t)snprintf(line, sizeof(line), "<%d>\n", i);
        assert_non_null(strstr(output, line));
    }
    assert_int_equal(strlen(output), expected);
    free(output);
    check(clReleaseKernel(kernel));
}

static void CL_CALLBACK note(const char *text, const void *data, size_t bytes, void *user)
{
    uint32_t *notes = user;

    (void)data;
    (void)bytes;
    if (strstr(text, "lost")) {
        __atomic_add_fetch(notes, 1, __ATOMIC_RELAXED);
    }
}

/* More than the buffer holds: printf tells the kernel, the callback tells the program; then all is well again. */
static void lost_output_is_told(void **state)
{
    struct fixture *f = *state;
    static const char *const text =
        "kernel void k(global int *lost) { if (printf(\"%64d\\n\", (int)get_global_id(0)) != 0) atomic_inc(lost); }";
    struct fixture own = *f;
    struct capture capture;
    size_t global = 100000, lines = 0, size = 0;
    int lost = 0;
    uint32_t notes = 0;
    cl_int error = CL_SUCCESS;

    check(clGetDeviceInfo(f->device, CL_DEVICE_PRINTF_BUFFER_SIZE, sizeof(size), &size, NULL));
    assert_true(size >= 1u << 20);
    own.context = clCreateContext(NULL, 1, &f->device, note, &notes, &error);
    check(error);
    own.queue = clCreateCommandQueueWithProperties(own.context, f->device, NULL, &error);
    check(error);
    cl_kernel kernel = kernel_of(&own, text, "");
    cl_mem count = fixture_buffer(&own, CL_MEM_COPY_HOST_PTR, sizeof(lost), &lost);
    for (int round = 0; round < 2; round++) {
        check(clSetKernelArg(kernel, 0, sizeof(count), &count));
        capture_begin(&capture);
        clEnqueueNDRangeKernel(own.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
        clFinish(own.queue);
        char *output = capture_end(&capture);
        for (lines = 0; output[65 * lines] != '\0'; lines++) {
            assert_int_equal(output[65 * lines + 64], '\n');
        }
        free(output);
        if (round == 0) {
            check(clEnqueueReadBuffer(own.queue, count, CL_TRUE, 0, sizeof(lost), &lost, 0, NULL, NULL));
            assert_int_equal(lines + (size_t)lost, global);
            assert_true(lost > 0);
            global = 1000;
        }
    }
    assert_int_equal(lines, 1000);
    check(clReleaseMemObject(count));
    check(clReleaseKernel(kernel));
    check(clReleaseCommandQueue(own.queue));
    check(clReleaseContext(own.context));
    assert_int_equal(__atomic_load_n(&notes, __ATOMIC_RELAXED), 1);
}

#define BOMB_BYTES (64u << 20) /* of one launch */

/* Formats make much of few bytes: there is an end, it is told, and the next launch prints again. */
static void long_output_has_an_end(void **state)
{
    struct fixture *f = *state;
    struct fixture own = *f;
    struct capture capture;
    size_t global = 40000;
    uint32_t notes = 0;
    cl_int error = CL_SUCCESS;

    own.context = clCreateContext(NULL, 1, &f->device, note, &notes, &error);
    check(error);
    own.queue = clCreateCommandQueueWithProperties(own.context, f->device, NULL, &error);
    check(error);
    cl_kernel kernel = kernel_of(&own, "kernel void k() { printf(\"%4095d\\n\", 7); }", "");
    for (size_t expected = BOMB_BYTES; global >= 1; global /= 40000, expected = 4096) {
        capture_begin(&capture);
        check(clEnqueueNDRangeKernel(own.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
        check(clFinish(own.queue));
        char *output = capture_end(&capture);
        assert_in_range(strlen(output), expected, expected + 4096);
        free(output);
    }
    check(clReleaseKernel(kernel));
    check(clReleaseCommandQueue(own.queue));
    check(clReleaseContext(own.context));
    assert_int_equal(__atomic_load_n(&notes, __ATOMIC_RELAXED), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("conversions print what C prints", conversions_are_those_of_c),
        cl_test("vectors are printed with commas", vectors_have_commas),
        cl_test("launches print in their order [F6]", launches_print_in_order),
        cl_test("an out-of-order queue prints each line once [F6]", lanes_print_apart),
        cl_test("output that is lost is told to kernel and program [F6]", lost_output_is_told),
        cl_test("output that is too long ends, which is told [F6]", long_output_has_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
