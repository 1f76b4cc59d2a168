/* SPDX-License-Identifier: MIT */
/*
 * Tests what SPIR-V has beside its core, and what its translator does not take as the specification has it: modules of
 * one kernel, which computes a number from each work-item's id.
 */
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

/* Opcodes by their names in the specification of SPIR-V. */
enum {
    OpExtension = 10,
    OpMemoryModel = 14,
    OpEntryPoint = 15,
    OpCapability = 17,
    OpTypeVoid = 19,
    OpTypeBool,
    OpTypeInt,
    OpTypeFloat,
    OpTypeVector,
    OpTypeStruct = 30,
    OpTypePointer = 32,
    OpTypeFunction,
    OpConstant = 43,
    OpConstantNull = 46,
    OpFunction = 54,
    OpFunctionParameter,
    OpFunctionEnd,
    OpVariable = 59,
    OpLoad = 61,
    OpStore,
    OpInBoundsPtrAccessChain = 70,
    OpDecorate,
    OpVectorShuffle = 79,
    OpCompositeConstruct,
    OpCompositeExtract,
    OpConvertFToU = 109,
    OpUConvert = 113,
    OpBitcast = 124,
    OpIAdd = 128,
    OpIMul = 132,
    OpSelect = 169,
    OpULessThan = 176,
    OpBitFieldInsert = 201,
    OpBitFieldSExtract,
    OpBitFieldUExtract,
    OpBitReverse,
    OpLabel = 248,
    OpReturn = 253,
    OpSDot = 4450,
    OpUDot,
    OpSUDot,
    OpSDotAccSat,
    OpUDotAccSat,
    OpSUDotAccSat,
    OpAssumeTrue = 5630,
    OpExpect,
};

/* Capabilities. */
enum { Kernel = 6, Float64 = 10, DotProductInput4x8Bit = 6017, DotProductPacked, DotProduct, BitInstructions = 6025 };
enum { ExpectAssume = 5629 };

/* Results that every module has. */
enum {
    VOID = 1,
    BOOL,
    BYTE,
    SHORT,
    UINT,
    ULONG,
    FLOAT,
    DOUBLE,
    UINT2,
    UINT4,
    BYTE4,
    ULONG3,
    IDS_POINTER,
    OUT_POINTER,
    FUNCTION,
    IDS,
    ONE,
    THREE,
    HUNDRED,
    MOST_LONG,
    KERNEL,
    OUT,
    LABEL,
    ALL_IDS,
    ID,
    PLACE,
    X, /* the work-item's id, 32 bits */
    RESULT,
    FREE, /* from here on a module's own */
    BOUND = FREE + 40,
};

#define MAGIC 0x07230203u
#define ITEMS 100u
#define MOST_WORDS 512u

struct module {
    uint32_t words[MOST_WORDS];
    uint32_t count;
};

static void put_words(struct module *module, uint32_t opcode, const uint32_t *operands, uint32_t count)
{
    assert_true(module->count + 1 + count <= MOST_WORDS);
    module->words[module->count++] = (count + 1) << 16 | opcode;
    memcpy(module->words + module->count, operands, count * sizeof(*operands));
    module->count += count;
}

#define PUT(opcode, ...) \
    put_words(module, opcode, (const uint32_t[]){ __VA_ARGS__ }, PPU_ARRAY_SIZE(((const uint32_t[]){ __VA_ARGS__ })))

static void put_text(struct module *module, uint32_t opcode, const char *text)
{
    uint32_t words[16] = { 0 };
    const uint32_t bytes = (uint32_t)strlen(text) + 1;

    assert_true(bytes <= sizeof(words));
    memcpy(words, text, bytes);
    put_words(module, opcode, words, (bytes + 3) / 4);
}

static void put_types(struct module *module)
{
    PUT(OpTypeVoid, VOID);
    PUT(OpTypeBool, BOOL);
    PUT(OpTypeInt, BYTE, 8, 0);
    PUT(OpTypeInt, SHORT, 16, 0);
    PUT(OpTypeInt, UINT, 32, 0);
    PUT(OpTypeInt, ULONG, 64, 0);
    PUT(OpTypeFloat, FLOAT, 32);
    PUT(OpTypeFloat, DOUBLE, 64);
    PUT(OpTypeVector, UINT2, UINT, 2);
    PUT(OpTypeVector, UINT4, UINT, 4);
    PUT(OpTypeVector, BYTE4, BYTE, 4);
    PUT(OpTypeVector, ULONG3, ULONG, 3);
    PUT(OpTypePointer, IDS_POINTER, 1 /* Input */, ULONG3);
    PUT(OpTypePointer, OUT_POINTER, 5 /* CrossWorkgroup */, UINT);
    PUT(OpTypeFunction, FUNCTION, VOID, OUT_POINTER);
    PUT(OpVariable, IDS_POINTER, IDS, 1);
    PUT(OpConstant, UINT, ONE, 1);
    PUT(OpConstant, UINT, THREE, 3);
    PUT(OpConstant, UINT, HUNDRED, 100);
    PUT(OpConstant, ULONG, MOST_LONG, 0xffffffffu, 0x7fffffffu);
}

/* Begins a module, up to its constants. `extension` may be NULL; capabilities end with 0. */
static void begin(struct module *module, const char *extension, const uint32_t *capabilities)
{
    const uint32_t usual[] = { 4 /* Addresses */, 5 /* Linkage */, Kernel, Float64,
                               11 /* Int64 */,    22 /* Int16 */,  39 /* Int8 */ };

    *module = (struct module){ .words = { MAGIC, 0x10300, 0, BOUND, 0 }, .count = 5 };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(usual); i++) {
        PUT(OpCapability, usual[i]);
    }
    for (; *capabilities != 0; capabilities++) {
        PUT(OpCapability, *capabilities);
    }
    if (extension) {
        put_text(module, OpExtension, extension);
    }
    PUT(OpMemoryModel, 2 /* Physical64 */, 2 /* OpenCL */);
    PUT(OpEntryPoint, Kernel, KERNEL, 'k', IDS);
    PUT(OpDecorate, IDS, 11 /* BuiltIn */, 28 /* GlobalInvocationId */);
    PUT(OpDecorate, IDS, 22 /* Constant */);
    put_types(module);
}

static void begin_kernel(struct module *module)
{
    PUT(OpFunction, VOID, KERNEL, 0, FUNCTION);
    PUT(OpFunctionParameter, OUT_POINTER, OUT);
    PUT(OpLabel, LABEL);
    PUT(OpLoad, ULONG3, ALL_IDS, IDS, 2 /* Aligned */, 32);
    PUT(OpCompositeExtract, ULONG, ID, ALL_IDS, 0);
    PUT(OpUConvert, UINT, X, ID);
    PUT(OpInBoundsPtrAccessChain, OUT_POINTER, PLACE, OUT, ID);
}

static void end(struct module *module)
{
    PUT(OpStore, PLACE, RESULT, 2 /* Aligned */, 4);
    assert_true(module->count + 2 <= MOST_WORDS);
    module->words[module->count++] = 1u << 16 | OpReturn;
    module->words[module->count++] = 1u << 16 | OpFunctionEnd;
}

static cl_program make(struct fixture *f, const struct module *module)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithIL(f->context, module->words, module->count * sizeof(uint32_t), &error);

    check(error);
    return program;
}

/* What each work-item's result must be. */
static void run(struct fixture *f, const struct module *module, cl_uint (*wanted)(cl_uint x))
{
    const size_t global = ITEMS;
    cl_uint out[ITEMS];
    cl_int error = CL_SUCCESS;
    cl_program program = make(f, module);

    check(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    cl_mem buffer = fixture_buffer(f, CL_MEM_READ_WRITE, sizeof(out), NULL);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    for (cl_uint x = 0; x < ITEMS; x++) {
        assert_int_equal(out[x], wanted(x));
    }
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
    check(clReleaseMemObject(buffer));
}

static cl_uint itself(cl_uint x)
{
    return x;
}

/* ---- the core ---- */

enum { NULL_BOOL = FREE, NULL_BYTE, NULL_SHORT, NULL_UINT, NULL_ULONG, NULL_FLOAT, NULL_DOUBLE, NULL_UINT4 };
enum { PART = NULL_UINT4 + 1 };

static void put_nulls(struct module *module)
{
    static const uint32_t types[] = { BOOL, BYTE, SHORT, UINT, ULONG, FLOAT, DOUBLE, UINT4 };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(types); i++) {
        PUT(OpConstantNull, types[i], NULL_BOOL + i);
    }
    begin_kernel(module);
    PUT(OpSelect, UINT, PART, NULL_BOOL, HUNDRED, X);
    PUT(OpUConvert, UINT, PART + 1, NULL_BYTE);
    PUT(OpUConvert, UINT, PART + 2, NULL_SHORT);
    PUT(OpUConvert, UINT, PART + 3, NULL_ULONG);
    PUT(OpConvertFToU, UINT, PART + 4, NULL_FLOAT);
    PUT(OpConvertFToU, UINT, PART + 5, NULL_DOUBLE);
    PUT(OpCompositeExtract, UINT, PART + 6, NULL_UINT4, 2);
    for (uint32_t i = 1; i <= 6; i++) {
        PUT(OpIAdd, UINT, PART + 10 + i, i == 1 ? PART : PART + 9 + i, PART + i);
    }
    PUT(OpIAdd, UINT, RESULT, PART + 16, NULL_UINT);
}

static void nulls_are_zeros(void **state)
{
    struct module made, *module = &made;

    begin(module, NULL, (const uint32_t[]){ 0 });
    put_nulls(module);
    end(module);
    run(*state, module, itself);
}

/* The components of (x, 3) and (1, 100, x, 3), as they stand behind each other, times powers of ten. */
static cl_uint shuffled(cl_uint x)
{
    return x + 10 * 1 + 100 * x + 1000 * 3;
}

static void put_vectors(struct module *module)
{
    PUT(OpCompositeConstruct, UINT2, FREE + 3, X, THREE);
    PUT(OpCompositeConstruct, UINT4, FREE + 4, ONE, HUNDRED, X, THREE);
}

/* RESULT is the sum of the components of FREE + 5, times 1, 10, 100, 1000. */
static void put_digits(struct module *module)
{
    for (uint32_t i = 0; i < 4; i++) {
        PUT(OpCompositeExtract, UINT, FREE + 10 + i, FREE + 5, i);
        PUT(OpIMul, UINT, FREE + 20 + i, FREE + 10 + i, i == 0 ? ONE : FREE + i - 1);
    }
    PUT(OpIAdd, UINT, FREE + 30, FREE + 20, FREE + 21);
    PUT(OpIAdd, UINT, FREE + 31, FREE + 22, FREE + 23);
    PUT(OpIAdd, UINT, RESULT, FREE + 30, FREE + 31);
}

static void put_powers(struct module *module)
{
    PUT(OpConstant, UINT, FREE, 10);
    PUT(OpConstant, UINT, FREE + 1, 100);
    PUT(OpConstant, UINT, FREE + 2, 1000);
}

static void vectors_of_two_lengths_are_shuffled(void **state)
{
    struct module made, *module = &made;

    begin(module, NULL, (const uint32_t[]){ 0 });
    put_powers(module);
    begin_kernel(module);
    put_vectors(module);
    PUT(OpVectorShuffle, UINT4, FREE + 5, FREE + 3, FREE + 4, 0, 2, 4, 1);
    put_digits(module);
    end(module);
    run(*state, module, shuffled);
    begin(module, NULL, (const uint32_t[]){ 0 });
    put_powers(module);
    begin_kernel(module);
    put_vectors(module);
    PUT(OpVectorShuffle, UINT4, FREE + 5, FREE + 4, FREE + 3, 4, 0, 2, 5);
    put_digits(module);
    end(module);
    run(*state, module, shuffled);
}

/* A vector of (x, 3) and (3, x), or of x, (3, 3) and x. */
static cl_uint joined(cl_uint x)
{
    return x + 10 * 3 + 100 * 3 + 1000 * x;
}

static void composites_are_made_of_what_is_computed(void **state)
{
    struct module made, *module = &made;

    begin(module, NULL, (const uint32_t[]){ 0 });
    put_powers(module);
    begin_kernel(module);
    PUT(OpCompositeConstruct, UINT2, FREE + 3, X, THREE);
    PUT(OpCompositeConstruct, UINT2, FREE + 4, THREE, X);
    PUT(OpCompositeConstruct, UINT4, FREE + 5, FREE + 3, FREE + 4);
    put_digits(module);
    end(module);
    run(*state, module, joined);
    begin(module, NULL, (const uint32_t[]){ 0 });
    put_powers(module);
    begin_kernel(module);
    PUT(OpCompositeConstruct, UINT2, FREE + 3, THREE, THREE);
    PUT(OpCompositeConstruct, UINT4, FREE + 5, X, FREE + 3, X);
    put_digits(module);
    end(module);
    run(*state, module, joined);
    begin(module, NULL, (const uint32_t[]){ 0 });
    PUT(OpTypeStruct, FREE, UINT, UINT2);
    begin_kernel(module);
    PUT(OpCompositeConstruct, UINT2, FREE + 3, THREE, X);
    PUT(OpCompositeConstruct, FREE, FREE + 4, THREE, FREE + 3);
    PUT(OpCompositeExtract, UINT2, FREE + 5, FREE + 4, 1);
    PUT(OpCompositeExtract, UINT, RESULT, FREE + 5, 1);
    end(module);
    run(*state, module, itself);
}

/* ---- extensions ---- */

static void expected_values_and_assumptions_change_nothing(void **state)
{
    struct module made, *module = &made;

    begin(module, "SPV_KHR_expect_assume", (const uint32_t[]){ ExpectAssume, 0 });
    begin_kernel(module);
    PUT(OpULessThan, BOOL, FREE, X, HUNDRED);
    PUT(OpAssumeTrue, FREE);
    PUT(OpExpect, UINT, RESULT, X, THREE);
    end(module);
    run(*state, module, itself);
}

static cl_uint reversed(cl_uint x)
{
    cl_uint made = 0;

    for (uint32_t i = 0; i < 32; i++) {
        made |= (x >> i & 1) << (31 - i);
    }
    return made;
}

static cl_uint field(cl_uint x)
{
    return x >> 1 & 7;
}

static cl_uint signed_field(cl_uint x)
{
    return field(x) - (field(x) > 3 ? 8 : 0);
}

static cl_uint inserted(cl_uint x)
{
    return (x & ~0xeu) | (100 & 7) << 1;
}

static void fields_of_bits(void **state)
{
    static const struct {
        uint32_t opcode;
        cl_uint (*wanted)(cl_uint x);
    } rows[] = { { OpBitReverse, reversed },
                 { OpBitFieldUExtract, field },
                 { OpBitFieldSExtract, signed_field },
                 { OpBitFieldInsert, inserted } };
    struct module made, *module = &made;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        begin(module, "SPV_KHR_bit_instructions", (const uint32_t[]){ BitInstructions, 0 });
        begin_kernel(module);
        if (rows[i].opcode == OpBitReverse) {
            PUT(OpBitReverse, UINT, RESULT, X);
        } else if (rows[i].opcode == OpBitFieldInsert) {
            PUT(OpBitFieldInsert, UINT, RESULT, X, HUNDRED, ONE, THREE);
        } else {
            PUT(rows[i].opcode, UINT, RESULT, X, ONE, THREE);
        }
        end(module);
        run(*state, module, rows[i].wanted);
    }
}

/* The bytes of x * FACTOR and their product with themselves, by the signs of both. */
#define FACTOR 0x0f83d1e7u

static int64_t dot(cl_uint x, bool first_signed, bool second_signed)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t byte = (uint8_t)(x * FACTOR >> 8 * i);
        sum += (int64_t)(first_signed ? (int8_t)byte : byte) * (second_signed ? (int8_t)byte : byte);
    }
    return sum;
}

static cl_uint dot_ss(cl_uint x)
{
    return (cl_uint)dot(x, true, true);
}

static cl_uint dot_uu(cl_uint x)
{
    return (cl_uint)dot(x, false, false);
}

static cl_uint dot_su(cl_uint x)
{
    return (cl_uint)dot(x, true, false);
}

/* With INT32_MAX, and UINT32_MAX, added. */
static cl_uint saturated_ss(cl_uint x)
{
    const int64_t sum = dot(x, true, true) + INT32_MAX;

    return (cl_uint)(sum > INT32_MAX ? INT32_MAX : sum);
}

static cl_uint saturated_uu(cl_uint x)
{
    (void)x;
    return UINT32_MAX;
}

static cl_uint saturated_su(cl_uint x)
{
    const int64_t sum = dot(x, true, false) + INT32_MAX;

    return (cl_uint)(sum > INT32_MAX ? INT32_MAX : sum);
}

static const struct {
    uint32_t opcode, accumulator;
    cl_uint (*wanted)(cl_uint x);
} dots[] = {
    { OpSDot, 0, dot_ss },
    { OpUDot, 0, dot_uu },
    { OpSUDot, 0, dot_su },
    { OpSDotAccSat, INT32_MAX, saturated_ss },
    { OpUDotAccSat, UINT32_MAX, saturated_uu },
    { OpSUDotAccSat, INT32_MAX, saturated_su },
};

/* `a`: the vectors, packed or not. */
static void put_dot(struct module *module, uint32_t opcode, uint32_t a, bool packed)
{
    const uint32_t without[] = { UINT, RESULT, a, a, 0 /* PackedVectorFormat4x8Bit */ },
                   with[] = { UINT, RESULT, a, a, FREE + 1, 0 };

    if (opcode >= OpSDotAccSat) {
        put_words(module, opcode, with, packed ? 6 : 5);
    } else {
        put_words(module, opcode, without, packed ? 5 : 4);
    }
}

static void dot_products(void **state)
{
    struct module made, *module = &made;

    for (uint32_t i = 0; i < 2 * PPU_ARRAY_SIZE(dots); i++) {
        const bool packed = i % 2 != 0;
        begin(module, "SPV_KHR_integer_dot_product",
              (const uint32_t[]){ DotProduct, DotProductInput4x8Bit, DotProductPacked, 0 });
        PUT(OpConstant, UINT, FREE, FACTOR);
        PUT(OpConstant, UINT, FREE + 1, dots[i / 2].accumulator);
        begin_kernel(module);
        PUT(OpIMul, UINT, FREE + 2, X, FREE);
        PUT(OpBitcast, BYTE4, FREE + 3, FREE + 2);
        put_dot(module, dots[i / 2].opcode, packed ? FREE + 2 : FREE + 3, packed);
        end(module);
        run(*state, module, dots[i / 2].wanted);
    }
}

/* ---- what is wrong ---- */

/* Ids that are none, components that do not exist, types that are none: a build ends, and says why. */
static void changed_modules_harm_nobody(void **state)
{
    struct fixture *f = *state;
    struct module made, *module = &made;
    uint64_t seed = fixture_seed();

    for (int i = 0; i < 12; i++) {
        begin(module, NULL, (const uint32_t[]){ 0 });
        if (i % 2 != 0) {
            put_nulls(module);
        } else {
            put_powers(module);
            begin_kernel(module);
            put_vectors(module);
            PUT(OpVectorShuffle, UINT4, FREE + 5, FREE + 3, FREE + 4, 0, 2, 4, 1);
            put_digits(module);
        }
        end(module);
        for (uint32_t at = 3; at < module->count; at++) {
            const bool is_operand = at == 3 || (module->words[at] < BOUND && module->words[at] > KERNEL);
            if (is_operand && fixture_random(&seed) % 16 == 0) {
                module->words[at] =
                    (uint32_t)(fixture_random(&seed) % 3 == 0 ? UINT32_MAX : fixture_random(&seed) % BOUND);
            }
        }
        cl_program program = make(f, module);
        const cl_int error = clBuildProgram(program, 0, NULL, "", NULL, NULL);
        size_t bytes = 0;
        check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes));
        assert_true(error == CL_SUCCESS || (error == CL_BUILD_PROGRAM_FAILURE && bytes > 1));
        check(clReleaseProgram(program));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("nulls of numbers and bool are zeros in SPIR-V too [F6]", nulls_are_zeros),
        cl_test("SPIR-V shuffles vectors of two lengths [F6]", vectors_of_two_lengths_are_shuffled),
        cl_test("SPIR-V makes vectors and structures of what is computed [F6]",
                composites_are_made_of_what_is_computed),
        cl_test("what SPIR-V expects and assumes changes nothing [F6]", expected_values_and_assumptions_change_nothing),
        cl_test("SPIR-V takes, sets and reverses fields of bits [F6]", fields_of_bits),
        cl_test("SPIR-V has dot products of each kind [F6]", dot_products),
        cl_test("modules with wrong ids and components harm nobody [F6]", changed_modules_harm_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
