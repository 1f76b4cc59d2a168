/* SPDX-License-Identifier: MIT */
/*
 * Tests programs from SPIR-V: what is built of them, their specialization constants, linking with source, and modules
 * that are wrong, cut off or changed at random.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

/* Opcodes and operands by their names in the specification of SPIR-V. */
enum {
    OpName = 5,
    OpMemoryModel = 14,
    OpEntryPoint = 15,
    OpCapability = 17,
    OpTypeVoid = 19,
    OpTypeBool,
    OpTypeInt,
    OpTypeFloat,
    OpTypeVector,
    OpTypePointer = 32,
    OpTypeFunction,
    OpConstant = 43,
    OpSpecConstantTrue = 48,
    OpSpecConstant = 50,
    OpFunction = 54,
    OpFunctionParameter,
    OpFunctionEnd,
    OpVariable = 59,
    OpLoad = 61,
    OpStore,
    OpInBoundsPtrAccessChain = 70,
    OpDecorate,
    OpCompositeExtract = 81,
    OpConvertFToU = 109,
    OpUConvert = 113,
    OpIAdd = 128,
    OpSelect = 169,
    OpLabel = 248,
    OpReturn = 253,
};

/* Names of results. */
enum {
    NONE,
    VOID,
    BOOL,
    BYTE,
    UINT,
    ULONG,
    FLOAT,
    DOUBLE,
    ULONG3,
    IDS_POINTER,
    OUT_POINTER,
    FUNCTION,
    IDS,
    OF_INT,
    OF_LONG,
    OF_FLOAT,
    OF_DOUBLE,
    OF_BOOL,
    OF_BYTE,
    ONE,
    ZERO,
    KERNEL,
    OUT,
    LABEL,
    ALL_IDS,
    ID,
    PLACE,
    FLOAT_AS_INT,
    DOUBLE_AS_INT,
    BOOL_AS_INT,
    LONG_AS_INT,
    BYTE_AS_INT,
    SUM1,
    SUM2,
    SUM3,
    SUM4,
    SUM5,
    BOUND,
};

/* Ids of specialization constants. */
enum { SPEC_INT = 7, SPEC_LONG, SPEC_FLOAT, SPEC_DOUBLE, SPEC_BOOL, SPEC_BYTE };

#define INS(words, opcode) ((uint32_t)(words) << 16 | (opcode))
#define MAGIC 0x07230203u
#define VERSION_WORD 1
#define HEADER 5u

/* kernel void k(global uint *out) { out[get_global_id(0)] = the sum of all specialization constants; } */
/* clang-format off: an instruction is more than a line of numbers */
static const uint32_t sum_of_constants[] = {
    MAGIC,
    0x10200,
    0,
    BOUND,
    0,
    INS(2, OpCapability),
    4 /* Addresses */,
    INS(2, OpCapability),
    6 /* Kernel */,
    INS(2, OpCapability),
    10 /* Float64 */,
    INS(2, OpCapability),
    11 /* Int64 */,
    INS(2, OpCapability),
    39 /* Int8 */,
    INS(3, OpMemoryModel),
    2 /* Physical64 */,
    2 /* OpenCL */,
    INS(5, OpEntryPoint),
    6 /* Kernel */,
    KERNEL,
    'k',
    IDS,
    INS(3, OpName),
    KERNEL,
    'k',
    INS(3, OpName),
    OUT,
    'o',
    INS(4, OpDecorate),
    IDS,
    11 /* BuiltIn */,
    28 /* GlobalInvocationId */,
    INS(3, OpDecorate),
    IDS,
    22 /* Constant */,
    INS(4, OpDecorate),
    OF_INT,
    1 /* SpecId */,
    SPEC_INT,
    INS(4, OpDecorate),
    OF_LONG,
    1,
    SPEC_LONG,
    INS(4, OpDecorate),
    OF_FLOAT,
    1,
    SPEC_FLOAT,
    INS(4, OpDecorate),
    OF_DOUBLE,
    1,
    SPEC_DOUBLE,
    INS(4, OpDecorate),
    OF_BOOL,
    1,
    SPEC_BOOL,
    INS(4, OpDecorate),
    OF_BYTE,
    1,
    SPEC_BYTE,
    INS(2, OpTypeVoid),
    VOID,
    INS(2, OpTypeBool),
    BOOL,
    INS(4, OpTypeInt),
    BYTE,
    8,
    0,
    INS(4, OpTypeInt),
    UINT,
    32,
    0,
    INS(4, OpTypeInt),
    ULONG,
    64,
    0,
    INS(3, OpTypeFloat),
    FLOAT,
    32,
    INS(3, OpTypeFloat),
    DOUBLE,
    64,
    INS(4, OpTypeVector),
    ULONG3,
    ULONG,
    3,
    INS(4, OpTypePointer),
    IDS_POINTER,
    1 /* Input */,
    ULONG3,
    INS(4, OpTypePointer),
    OUT_POINTER,
    5 /* CrossWorkgroup */,
    UINT,
    INS(4, OpTypeFunction),
    FUNCTION,
    VOID,
    OUT_POINTER,
    INS(4, OpVariable),
    IDS_POINTER,
    IDS,
    1,
    INS(4, OpSpecConstant),
    UINT,
    OF_INT,
    1,
    INS(5, OpSpecConstant),
    ULONG,
    OF_LONG,
    20,
    0,
    INS(4, OpSpecConstant),
    FLOAT,
    OF_FLOAT,
    0x43960000 /* 300 */,
    INS(5, OpSpecConstant),
    DOUBLE,
    OF_DOUBLE,
    0,
    0x40af4000 /* 4000 */,
    INS(3, OpSpecConstantTrue),
    BOOL,
    OF_BOOL,
    INS(4, OpSpecConstant),
    BYTE,
    OF_BYTE,
    9,
    INS(4, OpConstant),
    UINT,
    ONE,
    50000,
    INS(4, OpConstant),
    UINT,
    ZERO,
    0,
    INS(5, OpFunction),
    VOID,
    KERNEL,
    0,
    FUNCTION,
    INS(3, OpFunctionParameter),
    OUT_POINTER,
    OUT,
    INS(2, OpLabel),
    LABEL,
    INS(6, OpLoad),
    ULONG3,
    ALL_IDS,
    IDS,
    2 /* Aligned */,
    32,
    INS(5, OpCompositeExtract),
    ULONG,
    ID,
    ALL_IDS,
    0,
    INS(5, OpInBoundsPtrAccessChain),
    OUT_POINTER,
    PLACE,
    OUT,
    ID,
    INS(4, OpConvertFToU),
    UINT,
    FLOAT_AS_INT,
    OF_FLOAT,
    INS(4, OpConvertFToU),
    UINT,
    DOUBLE_AS_INT,
    OF_DOUBLE,
    INS(6, OpSelect),
    UINT,
    BOOL_AS_INT,
    OF_BOOL,
    ONE,
    ZERO,
    INS(4, OpUConvert),
    UINT,
    LONG_AS_INT,
    OF_LONG,
    INS(4, OpUConvert),
    UINT,
    BYTE_AS_INT,
    OF_BYTE,
    INS(5, OpIAdd),
    UINT,
    SUM1,
    OF_INT,
    FLOAT_AS_INT,
    INS(5, OpIAdd),
    UINT,
    SUM2,
    SUM1,
    DOUBLE_AS_INT,
    INS(5, OpIAdd),
    UINT,
    SUM3,
    SUM2,
    BOOL_AS_INT,
    INS(5, OpIAdd),
    UINT,
    SUM4,
    SUM3,
    LONG_AS_INT,
    INS(5, OpIAdd),
    UINT,
    SUM5,
    SUM4,
    BYTE_AS_INT,
    INS(5, OpStore),
    PLACE,
    SUM5,
    2,
    4,
    INS(1, OpReturn),
    INS(1, OpFunctionEnd),
};

/* clang-format on */

#define DEFAULT_SUM (1 + 20 + 300 + 4000 + 50000 + 9)

static cl_program of_il(struct fixture *f, const void *il, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithIL(f->context, il, bytes, &error);

    check(error);
    return program;
}

static cl_program good(struct fixture *f)
{
    return of_il(f, sum_of_constants, sizeof(sum_of_constants));
}

/* What each of some work-items has written. */
static cl_uint run_kernel(struct fixture *f, cl_program program)
{
    const size_t global = 200;
    cl_uint out[200];
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, "k", &error);

    check(error);
    cl_mem buffer = fixture_buffer(f, CL_MEM_READ_WRITE, sizeof(out), NULL);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    for (size_t i = 1; i < global; i++) {
        assert_int_equal(out[i], out[0]);
    }
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(buffer));
    return out[0];
}

static void device_tells_versions(void **state)
{
    struct fixture *f = *state;
    char names[256] = "", word[32];
    cl_name_version versions[16];
    size_t bytes = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_IL_VERSION, sizeof(names), names, NULL));
    check(clGetDeviceInfo(f->device, CL_DEVICE_ILS_WITH_VERSION, sizeof(versions), versions, &bytes));
    assert_true(bytes > 0);
    for (size_t i = 0; i < bytes / sizeof(versions[0]); i++) {
        assert_string_equal(versions[i].name, "SPIR-V");
        snprintf(word, sizeof(word), "SPIR-V_%u.%u", CL_VERSION_MAJOR(versions[i].version),
                 CL_VERSION_MINOR(versions[i].version));
        assert_non_null(strstr(names, word));
    }
    assert_non_null(clGetExtensionFunctionAddressForPlatform(f->platform, "clCreateProgramWithILKHR"));
}

static void program_of_spirv_runs(void **state)
{
    struct fixture *f = *state;
    cl_program program = good(f);
    uint32_t told[PPU_ARRAY_SIZE(sum_of_constants)];
    size_t bytes = 0;
    char log[256] = "";

    check(clGetProgramInfo(program, CL_PROGRAM_IL, sizeof(told), told, &bytes));
    assert_int_equal(bytes, sizeof(sum_of_constants));
    assert_memory_equal(told, sum_of_constants, sizeof(told));
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_IL, sizeof(told) - 4, told, NULL), CL_INVALID_VALUE);
    check(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof(log), log, &bytes));
    assert_int_equal(bytes, 1);
    assert_int_equal(clBuildProgram(program, 0, NULL, "-no-such-option", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    assert_non_null(strstr(log, "-no-such-option"));
    check(clBuildProgram(program, 0, NULL, "-cl-mad-enable", NULL, NULL));
    assert_int_equal(run_kernel(f, program), DEFAULT_SUM);
    check(clReleaseProgram(program));
}

static void constants_are_specialized(void **state)
{
    struct fixture *f = *state;
    cl_program program = good(f);
    const cl_uint int_value = 0xfffffff0u;
    const cl_ulong long_value = 0xffffffff00000005ull;
    const cl_float float_value = 6.5f;
    const cl_double double_value = 70.25;
    const cl_uchar no = 0, byte_value = 255;
    uint32_t told[PPU_ARRAY_SIZE(sum_of_constants)];

    check(clSetProgramSpecializationConstant(program, SPEC_INT, sizeof(int_value), &int_value));
    check(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    assert_int_equal(run_kernel(f, program), DEFAULT_SUM - 1 + int_value);
    check(clSetProgramSpecializationConstant(program, SPEC_LONG, sizeof(long_value), &long_value));
    check(clSetProgramSpecializationConstant(program, SPEC_FLOAT, sizeof(float_value), &float_value));
    check(clSetProgramSpecializationConstant(program, SPEC_DOUBLE, sizeof(double_value), &double_value));
    check(clSetProgramSpecializationConstant(program, SPEC_BOOL, sizeof(no), &no));
    check(clSetProgramSpecializationConstant(program, SPEC_BYTE, sizeof(byte_value), &byte_value));
    assert_int_equal(run_kernel(f, program), DEFAULT_SUM - 1 + int_value); /* until it is built again */
    check(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    assert_int_equal(run_kernel(f, program), (cl_uint)(int_value + 5 + 6 + 70 + 255));
    check(clGetProgramInfo(program, CL_PROGRAM_IL, sizeof(told), told, NULL));
    assert_memory_equal(told, sum_of_constants, sizeof(told));
    check(clReleaseProgram(program));
}

static void wrong_constants_are_refused(void **state)
{
    struct fixture *f = *state;
    cl_program program = good(f);
    const char *text = "kernel void k(global uint *out) { out[0] = 1; }";
    const cl_ulong value = 1;
    cl_int error = CL_SUCCESS;

    assert_int_equal(clSetProgramSpecializationConstant(program, 6, 4, &value), CL_INVALID_SPEC_ID);
    assert_int_equal(clSetProgramSpecializationConstant(program, 0, 4, &value), CL_INVALID_SPEC_ID);
    assert_int_equal(clSetProgramSpecializationConstant(program, SPEC_INT, 8, &value), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramSpecializationConstant(program, SPEC_LONG, 4, &value), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramSpecializationConstant(program, SPEC_BOOL, 4, &value), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramSpecializationConstant(program, SPEC_BYTE, 0, &value), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramSpecializationConstant(program, SPEC_INT, 4, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetProgramSpecializationConstant(NULL, SPEC_INT, 4, &value), CL_INVALID_PROGRAM);
    check(clReleaseProgram(program));
    program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    assert_int_equal(clSetProgramSpecializationConstant(program, SPEC_INT, 4, &value), CL_INVALID_PROGRAM);
    check(clReleaseProgram(program));
}

/* A function of source that SPIR-V has beside it in one program. */
static void spirv_is_linked_with_source(void **state)
{
    struct fixture *f = *state;
    const char *text = "kernel void other(global uint *out) { out[get_global_id(0)] = 3; }";
    cl_int error = CL_SUCCESS;
    cl_program parts[] = { good(f), clCreateProgramWithSource(f->context, 1, &text, NULL, &error) };
    char names[32] = "";

    check(error);
    check(clCompileProgram(parts[0], 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    check(clCompileProgram(parts[1], 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    cl_program whole = clLinkProgram(f->context, 0, NULL, "", 2, parts, NULL, NULL, &error);
    check(error);
    check(clGetProgramInfo(whole, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, NULL));
    assert_true(strstr(names, "k") && strstr(names, "other"));
    assert_int_equal(run_kernel(f, whole), DEFAULT_SUM);
    check(clReleaseProgram(whole));
    check(clReleaseProgram(parts[0]));
    check(clReleaseProgram(parts[1]));
}

/* ---- what is wrong ---- */

static void must_be_refused(struct fixture *f, const void *il, size_t bytes)
{
    cl_int error = CL_SUCCESS;

    assert_null(clCreateProgramWithIL(f->context, il, bytes, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
}

static void wrong_modules_are_refused(void **state)
{
    struct fixture *f = *state;
    uint32_t changed[PPU_ARRAY_SIZE(sum_of_constants)];
    cl_int error = CL_SUCCESS;

    must_be_refused(f, NULL, sizeof(changed));
    must_be_refused(f, sum_of_constants, 0);
    must_be_refused(f, sum_of_constants, 4);
    must_be_refused(f, sum_of_constants, sizeof(changed) - 1);
    must_be_refused(f, sum_of_constants, sizeof(changed) - 12); /* in the midst of an instruction */
    memcpy(changed, sum_of_constants, sizeof(changed));
    changed[0] = __builtin_bswap32(MAGIC);
    must_be_refused(f, changed, sizeof(changed));
    changed[0] = 0;
    must_be_refused(f, changed, sizeof(changed));
    changed[0] = MAGIC;
    changed[VERSION_WORD] = 0x10500;
    must_be_refused(f, changed, sizeof(changed));
    changed[VERSION_WORD] = sum_of_constants[VERSION_WORD];
    changed[HEADER] = INS(0, OpCapability);
    must_be_refused(f, changed, sizeof(changed));
    assert_null(clCreateProgramWithIL(NULL, sum_of_constants, sizeof(changed), &error));
    assert_int_equal(error, CL_INVALID_CONTEXT);
}

/* The translator says what it does not know, or its process ends: the build fails, and says why. */
static void changed_modules_harm_nobody(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = fixture_seed();
    uint32_t changed[PPU_ARRAY_SIZE(sum_of_constants)], failed = 0;

    for (int i = 0; i < 12; i++) {
        memcpy(changed, sum_of_constants, sizeof(changed));
        for (size_t at = HEADER; at < PPU_ARRAY_SIZE(changed);) {
            const uint32_t length = changed[at] >> 16;
            if (length > 1 && fixture_random(&seed) % 24 == 0) {
                changed[at + 1 + fixture_random(&seed) % (length - 1)] = fixture_random(&seed) % (2 * BOUND);
            }
            at += length;
        }
        cl_program program = of_il(f, changed, sizeof(changed));
        const cl_int error = clBuildProgram(program, 0, NULL, "", NULL, NULL);
        size_t bytes = 0;
        check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes));
        assert_true(error == CL_SUCCESS || (error == CL_BUILD_PROGRAM_FAILURE && bytes > 1));
        failed += error != CL_SUCCESS;
        check(clReleaseProgram(program));
    }
    assert_true(failed > 0);
    cl_program program = good(f);
    check(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    assert_int_equal(run_kernel(f, program), DEFAULT_SUM);
    check(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("the device tells which versions of SPIR-V it takes [F6]", device_tells_versions),
        cl_test("a program of SPIR-V is built and runs [F6]", program_of_spirv_runs),
        cl_test("specialization constants of each type take effect when it is built [F6]", constants_are_specialized),
        cl_test("specialization constants that are none are refused [F6]", wrong_constants_are_refused),
        cl_test("SPIR-V is compiled and linked with source [F6]", spirv_is_linked_with_source),
        cl_test("modules that are wrong are refused [F6]", wrong_modules_are_refused),
        cl_test("modules that were changed at random harm nobody [F6]", changed_modules_harm_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
