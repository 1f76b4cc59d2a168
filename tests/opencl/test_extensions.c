/* SPDX-License-Identifier: MIT */
/* Tests small extensions: who the device is, suggested work-groups, fields of bits, dot products. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define ITEMS 64u

static void *extension(struct fixture *f, const char *name)
{
    void *function = clGetExtensionFunctionAddressForPlatform(f->platform, name);

    assert_non_null(function);
    return function;
}

static void device_says_who_it_is(void **state)
{
    struct fixture *f = *state;
    cl_device_pci_bus_info_khr pci = { 9, 9, 99, 99 };
    cl_uchar device[CL_UUID_SIZE_KHR] = { 0 }, again[CL_UUID_SIZE_KHR] = { 1 }, driver[CL_UUID_SIZE_KHR] = { 0 };
    cl_bool luid = CL_TRUE;
    size_t bytes = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(pci), &pci, &bytes));
    assert_int_equal(bytes, sizeof(pci));
    assert_true(pci.pci_domain == 0 && pci.pci_bus == 0 && pci.pci_device < 32 && pci.pci_function < 8);
    assert_int_equal(clGetDeviceInfo(f->device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(pci) - 1, &pci, NULL),
                     CL_INVALID_VALUE);
    check(clGetDeviceInfo(f->device, CL_DEVICE_UUID_KHR, sizeof(device), device, &bytes));
    assert_int_equal(bytes, CL_UUID_SIZE_KHR);
    check(clGetDeviceInfo(f->device, CL_DEVICE_UUID_KHR, sizeof(again), again, NULL));
    check(clGetDeviceInfo(f->device, CL_DRIVER_UUID_KHR, sizeof(driver), driver, NULL));
    assert_memory_equal(device, again, sizeof(device));
    assert_memory_not_equal(device, driver, sizeof(device));
    check(clGetDeviceInfo(f->device, CL_DEVICE_LUID_VALID_KHR, sizeof(luid), &luid, NULL));
    assert_int_equal(luid, CL_FALSE);
}

static void versions_are_of_3_0(void **state)
{
    struct fixture *f = *state;
    char text[64] = "";
    cl_version version = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_OPENCL_C_VERSION, sizeof(text), text, NULL));
    assert_string_equal(text, "OpenCL C 3.0 PPU");
    check(clGetDeviceInfo(f->device, CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, sizeof(version), &version, NULL));
    assert_int_equal(version, CL_MAKE_VERSION(3, 0, 0));
}

/* A kernel of each version, with what is new in it. */
static const struct {
    cl_version version;
    const char *options, *source;
} languages[] = {
    { CL_MAKE_VERSION(1, 0, 0), "-cl-std=CL1.1", "kernel void k(global int *a) { a[0] = 1; }" },
    { CL_MAKE_VERSION(1, 1, 0), "-cl-std=CL1.1",
      "kernel void k(global int3 *a) { vstore3((int3)1, 0, (global int *)a); }" },
    { CL_MAKE_VERSION(1, 2, 0), "-cl-std=CL1.2", "kernel void k(global int *a) { a[0] = popcount(a[1]); }" },
    { CL_MAKE_VERSION(2, 0, 0), "-cl-std=CL2.0",
      "global int kept = 4; kernel void k(global atomic_int *a, read_only pipe int p, queue_t q)"
      "{ int *g = &kept; atomic_fetch_add(a, work_group_reduce_add(*g)); int v = sub_group_all(1); read_pipe(p, &v);"
      "enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ kept++; }); }" },
    { CL_MAKE_VERSION(3, 0, 0), "-cl-std=CL3.0",
      "kernel void k(global atomic_int *a)"
      "{ atomic_fetch_add_explicit(a, 1, memory_order_seq_cst, memory_scope_all_devices); }" },
};

/* Each version that is told can be built, and no other is told. */
static void told_versions_can_be_built(void **state)
{
    struct fixture *f = *state;
    cl_name_version told[16];
    cl_int error = CL_SUCCESS;
    size_t bytes = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_OPENCL_C_ALL_VERSIONS, sizeof(told), told, &bytes));
    assert_int_equal(bytes, PPU_ARRAY_SIZE(languages) * sizeof(told[0]));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(languages); i++) {
        assert_string_equal(told[i].name, "OpenCL C");
        assert_int_equal(told[i].version, languages[i].version);
        const char *source = languages[i].source;
        cl_program program = clCreateProgramWithSource(f->context, 1, &source, NULL, &error);
        check(error);
        check(clBuildProgram(program, 0, NULL, languages[i].options, NULL, NULL));
        check(clReleaseProgram(program));
    }
}

/* Every name is in the list of versions, and the other way round. */
static void extensions_are_told_twice(void **state)
{
    struct fixture *f = *state;
    cl_name_version list[128];
    char names[8192] = "", one[CL_NAME_VERSION_MAX_NAME_SIZE + 2];
    size_t bytes = 0, length = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS, sizeof(names), names, NULL));
    check(clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof(list), list, &bytes));
    for (size_t i = 0; i < bytes / sizeof(list[0]); i++) {
        snprintf(one, sizeof(one), "%s ", list[i].name);
        assert_non_null(strstr(names, one));
        assert_true(list[i].version > 0);
        length += strlen(one);
    }
    assert_int_equal(strlen(names), length);
}

static void khr_queue_is_a_queue(void **state)
{
    struct fixture *f = *state;
    clCreateCommandQueueWithPropertiesKHR_fn create = extension(f, "clCreateCommandQueueWithPropertiesKHR");
    const cl_queue_properties_khr good[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0 };
    const cl_queue_properties_khr bad[] = { 0x7777, 1, 0 };
    cl_command_queue_properties kept = 0;
    cl_int error = CL_SUCCESS;

    cl_command_queue queue = create(f->context, f->device, good, &error);
    check(error);
    check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(kept), &kept, NULL));
    assert_int_equal(kept, CL_QUEUE_PROFILING_ENABLE);
    check(clReleaseCommandQueue(queue));
    assert_null(create(f->context, f->device, bad, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clGetExtensionFunctionAddressForPlatform(f->platform, "clNoSuchFunctionKHR"));
}

/* ---- suggested work-groups ---- */

static const char two_kernels[] =
    "kernel void sees(global uint *out) { out[get_global_id(0)] = get_local_size(0); }\n"
    "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(global uint *out) { out[0] = get_local_size(0); }\n";

static void suggested_size_is_what_runs(void **state)
{
    struct fixture *f = *state;
    clGetKernelSuggestedLocalWorkSizeKHR_fn suggest = extension(f, "clGetKernelSuggestedLocalWorkSizeKHR");
    cl_kernel kernel = fixture_kernel(f, two_kernels, "sees");
    cl_mem out = fixture_buffer(f, CL_MEM_READ_WRITE, 4096 * sizeof(cl_uint), NULL);
    cl_uint seen = 0;
    size_t local[3] = { 0, 0, 0 };

    check(clSetKernelArg(kernel, 0, sizeof(out), &out));
    for (size_t global = 1; global <= 4096; global = 3 * global + 5) {
        check(suggest(f->queue, kernel, 1, NULL, &global, local));
        assert_in_range(local[0], 1, global); /* OpenCL C 3.0: the last work-group may be smaller */
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
        check(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof(seen), &seen, 0, NULL, NULL));
        assert_int_equal(seen, local[0]);
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, local, 0, NULL, NULL));
    }
    check(clFinish(f->queue));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(out));
}

static void suggested_size_is_the_required_one(void **state)
{
    struct fixture *f = *state;
    clGetKernelSuggestedLocalWorkSizeKHR_fn suggest = extension(f, "clGetKernelSuggestedLocalWorkSizeKHR");
    cl_kernel kernel = fixture_kernel(f, two_kernels, "fixed");
    cl_mem out = fixture_buffer(f, CL_MEM_READ_WRITE, 64, NULL);
    const size_t global[] = { 16, 4 }, none[] = { 16, 0 }, odd[] = { 15, 4 };
    size_t local[2] = { 0, 0 };

    assert_int_equal(suggest(f->queue, kernel, 2, NULL, global, local), CL_INVALID_KERNEL_ARGS);
    check(clSetKernelArg(kernel, 0, sizeof(out), &out));
    check(suggest(f->queue, kernel, 2, NULL, global, local));
    assert_true(local[0] == 8 && local[1] == 2);
    assert_int_equal(suggest(NULL, kernel, 2, NULL, global, local), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(suggest(f->queue, NULL, 2, NULL, global, local), CL_INVALID_KERNEL);
    assert_int_equal(suggest(f->queue, kernel, 4, NULL, global, local), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(suggest(f->queue, kernel, 2, NULL, global, NULL), CL_INVALID_VALUE);
    assert_int_equal(suggest(f->queue, kernel, 2, NULL, none, local), CL_INVALID_GLOBAL_WORK_SIZE);
    assert_int_equal(suggest(f->queue, kernel, 2, NULL, NULL, local), CL_INVALID_GLOBAL_WORK_SIZE);
    check(suggest(f->queue, kernel, 2, NULL, odd, local));
    assert_true(local[0] == 8 && local[1] == 2);
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(out));
}

/* ---- kernels ---- */

/* Runs `name` of the text over ITEMS work-items: in[i][4] to out[i]. */
static void run_words(struct fixture *f, const char *text, const char *name, cl_ulong in[ITEMS][4], cl_ulong *out)
{
    cl_kernel kernel = fixture_kernel(f, text, name);
    cl_mem from = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, ITEMS * 4 * sizeof(cl_ulong), in);
    cl_mem to = fixture_buffer(f, CL_MEM_READ_WRITE, ITEMS * sizeof(cl_ulong), NULL);
    const size_t global = ITEMS;

    check(clSetKernelArg(kernel, 0, sizeof(from), &from));
    check(clSetKernelArg(kernel, 1, sizeof(to), &to));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, ITEMS * sizeof(cl_ulong), out, 0, NULL, NULL));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(from));
    check(clReleaseMemObject(to));
}

static void fill_random(cl_ulong in[ITEMS][4])
{
    uint64_t seed = fixture_seed();

    for (uint32_t i = 0; i < ITEMS; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            in[i][k] = (cl_ulong)fixture_random(&seed) << 32 | fixture_random(&seed);
        }
    }
}

#define FIELDS(type)                                                                                         \
    "kernel void insert_" #type "(global const ulong4 *in, global ulong *out) {\n"                           \
    "    uint i = get_global_id(0); ulong4 a = in[i];\n"                                                     \
    "    out[i] = (ulong)bitfield_insert((" #type ")a.x, (" #type ")a.y, (uint)a.z, (uint)a.w); }\n"         \
    "kernel void signed_" #type "(global const ulong4 *in, global ulong *out) {\n"                           \
    "    uint i = get_global_id(0); ulong4 a = in[i];\n"                                                     \
    "    out[i] = (ulong)(long)bitfield_extract_signed((" #type "2)(a.y, a.x), (uint)a.z, (uint)a.w).y; }\n" \
    "kernel void unsigned_" #type "(global const ulong4 *in, global ulong *out) {\n"                         \
    "    uint i = get_global_id(0); ulong4 a = in[i];\n"                                                     \
    "    out[i] = (ulong)bitfield_extract_unsigned((" #type ")a.x, (uint)a.z, (uint)a.w); }\n"               \
    "kernel void reverse_" #type "(global const ulong4 *in, global ulong *out) {\n"                          \
    "    uint i = get_global_id(0);\n"                                                                       \
    "    out[i] = (ulong)bit_reverse((" #type "3)((" #type ")in[i].x)).z; }\n"

static const char fields[] =
    "#ifndef cl_khr_extended_bit_ops\n#error absent\n#endif\n" FIELDS(uchar) FIELDS(ushort) FIELDS(uint) FIELDS(ulong);

/* Bit by bit. */
static cl_ulong field_model(uint32_t kind, const cl_ulong in[4], uint32_t bits)
{
    const cl_ulong x = in[0];
    cl_ulong result = 0;

    for (uint32_t i = 0; i < bits; i++) {
        bool inside = i >= in[2] && i < in[2] + in[3];
        cl_ulong bit = 0;
        switch (kind) {
        case 0:
            bit = (inside ? in[1] >> (i - in[2]) : x >> i) & 1;
            break;
        case 3:
            bit = x >> (bits - 1 - i) & 1;
            break;
        default:
            bit = i < in[3] ? x >> (i + in[2]) & 1 : 0;
        }
        result |= bit << i;
    }
    bool negative = kind == 1 && in[3] > 0 && (result >> (in[3] - 1) & 1) != 0;
    return negative && in[3] < 64 ? result | ~0ull << in[3] : result;
}

static void fields_of_bits(void **state)
{
    static const char *const kinds[] = { "insert", "signed", "unsigned", "reverse" };
    static const char *const types[] = { "uchar", "ushort", "uint", "ulong" };
    struct fixture *f = *state;
    cl_ulong in[ITEMS][4], out[ITEMS];

    for (uint32_t t = 0; t < PPU_ARRAY_SIZE(types); t++) {
        const uint32_t bits = 8u << t;
        fill_random(in);
        for (uint32_t i = 0; i < ITEMS; i++) {
            in[i][2] %= bits + 1; /* offset, count: also none, and all */
            in[i][3] %= bits - in[i][2] + 1;
        }
        in[0][2] = 0;
        in[0][3] = bits;
        for (uint32_t k = 0; k < PPU_ARRAY_SIZE(kinds); k++) {
            char name[32];
            snprintf(name, sizeof(name), "%s_%s", kinds[k], types[t]);
            run_words(f, fields, name, in, out);
            for (uint32_t i = 0; i < ITEMS; i++) {
                cl_ulong mask = k == 1 || bits == 64 ? ~0ull : (1ull << bits) - 1;
                if ((out[i] & mask) != field_model(k, in[i], bits)) {
                    fail_msg("%s: item %u: offset %u, count %u", name, i, (uint32_t)in[i][2], (uint32_t)in[i][3]);
                }
            }
        }
    }
}

static const char dots[] =
    "#ifndef __opencl_c_integer_dot_product_input_4x8bit_packed\n#error absent\n#endif\n"
    "#define KERNEL(name, form) kernel void name(global const ulong4 *in, global ulong *out) {\\\n"
    "    uint i = get_global_id(0); uint a = in[i].x, b = in[i].y, c = in[i].z; out[i] = (ulong)(uint)(form); }\n"
    "KERNEL(uu, dot(as_uchar4(a), as_uchar4(b)))\n"
    "KERNEL(ss, dot(as_char4(a), as_char4(b)))\n"
    "KERNEL(us, dot(as_uchar4(a), as_char4(b)))\n"
    "KERNEL(su, dot(as_char4(a), as_uchar4(b)))\n"
    "KERNEL(uu_packed, dot_4x8packed_uu_uint(a, b))\n"
    "KERNEL(ss_packed, dot_4x8packed_ss_int(a, b))\n"
    "KERNEL(us_packed, dot_4x8packed_us_int(a, b))\n"
    "KERNEL(su_packed, dot_4x8packed_su_int(a, b))\n"
    "KERNEL(uu_sat, dot_acc_sat(as_uchar4(a), as_uchar4(b), c))\n"
    "KERNEL(ss_sat, dot_acc_sat(as_char4(a), as_char4(b), (int)c))\n"
    "KERNEL(us_sat, dot_acc_sat(as_uchar4(a), as_char4(b), (int)c))\n"
    "KERNEL(su_sat, dot_acc_sat(as_char4(a), as_uchar4(b), (int)c))\n"
    "KERNEL(uu_sat_packed, dot_acc_sat_4x8packed_uu_uint(a, b, c))\n"
    "KERNEL(ss_sat_packed, dot_acc_sat_4x8packed_ss_int(a, b, (int)c))\n"
    "KERNEL(us_sat_packed, dot_acc_sat_4x8packed_us_int(a, b, (int)c))\n"
    "KERNEL(su_sat_packed, dot_acc_sat_4x8packed_su_int(a, b, (int)c))\n";

static int64_t byte_of(cl_ulong word, uint32_t i, bool is_signed)
{
    return is_signed ? (int8_t)(word >> 8 * i) : (uint8_t)(word >> 8 * i);
}

static cl_uint dot_model(const char *name, const cl_ulong in[4])
{
    bool saturates = !!strstr(name, "sat"), is_unsigned = name[0] == 'u' && name[1] == 'u';
    int64_t sum = !saturates ? 0 : is_unsigned ? (int64_t)(cl_uint)in[2] : (int64_t)(cl_int)in[2];
    int64_t least = is_unsigned ? 0 : INT32_MIN, most = is_unsigned ? UINT32_MAX : INT32_MAX;

    for (uint32_t i = 0; i < 4; i++) {
        sum += byte_of(in[0], i, name[0] == 's') * byte_of(in[1], i, name[1] == 's');
    }
    return (cl_uint)PPU_MIN(sum < least ? least : sum, most);
}

static void dot_products_of_bytes(void **state)
{
    static const char *const kinds[] = { "uu", "ss", "us", "su" }, *const forms[] = { "", "_packed", "_sat",
                                                                                      "_sat_packed" };
    struct fixture *f = *state;
    cl_ulong in[ITEMS][4], out[ITEMS];

    fill_random(in);
    for (uint32_t i = 0; i < ITEMS; i += 4) { /* the ends of the range */
        in[i][0] = in[i][1] = i % 8 == 0 ? 0xffffffffu : 0x80808080u;
        in[i][2] = i % 16 == 0 ? 0x7fffffffu : i % 16 == 4 ? 0x80000000u : 0xffffffffu;
    }
    for (uint32_t k = 0; k < PPU_ARRAY_SIZE(kinds) * PPU_ARRAY_SIZE(forms); k++) {
        char name[32];
        snprintf(name, sizeof(name), "%s%s", kinds[k % 4], forms[k / 4]);
        run_words(f, dots, name, in, out);
        for (uint32_t i = 0; i < ITEMS; i++) {
            if ((cl_uint)out[i] != dot_model(name, in[i])) {
                fail_msg("%s: item %u", name, i);
            }
        }
    }
}

static void dot_products_are_told(void **state)
{
    struct fixture *f = *state;
    cl_device_integer_dot_product_capabilities_khr has = 0;
    cl_device_integer_dot_product_acceleration_properties_khr fast;

    check(clGetDeviceInfo(f->device, CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR, sizeof(has), &has, NULL));
    assert_int_equal(has, CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR |
                              CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR);
    memset(&fast, 1, sizeof(fast));
    check(clGetDeviceInfo(f->device, CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR, sizeof(fast),
                          &fast, NULL));
    assert_int_equal(fast.signed_accelerated, CL_FALSE);
    assert_int_equal(fast.accumulating_saturating_mixed_signedness_accelerated, CL_FALSE);
}

/* ---- other vendors ---- */

static void CL_CALLBACK keep_note(const char *text, const void *data, size_t bytes, void *user)
{
    (void)data;
    (void)bytes;
    snprintf(user, 256, "%s", text);
}

/* Harmless flags and options are taken, and the program is told; what nobody knows is refused. */
static void vendors_words_are_noted(void **state)
{
    struct fixture *f = *state;
    const char *source = "kernel void k(global int *out) { *out = 1; }";
    const cl_mem_flags persistent = 1u << 6, compressed = 1u << 21; /* AMD's and Intel's */
    const cl_image_format format = { CL_R, CL_FLOAT };
    const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 4 };
    char note[256] = "", log[512] = "";
    cl_int error = CL_SUCCESS;
    cl_mem_flags kept = 0;

    cl_context context = clCreateContext(NULL, 1, &f->device, keep_note, note, &error);
    check(error);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_ONLY | persistent, 64, NULL, &error);
    check(error);
    assert_non_null(strstr(note, "another vendor's"));
    check(clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof(kept), &kept, NULL));
    assert_int_equal(kept, CL_MEM_READ_ONLY | persistent);
    check(clReleaseMemObject(buffer));
    note[0] = 0;
    cl_mem image = clCreateImage(context, compressed, &format, &desc, NULL, &error);
    check(error);
    assert_non_null(strstr(note, "clCreateImage: note: a memory flag is another vendor's"));
    check(clReleaseMemObject(image));
    assert_null(clCreateBuffer(context, 1u << 30, 64, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error);
    check(clBuildProgram(program, 0, NULL, "-cl-nv-verbose -cl-nv-maxrregcount=32", NULL, NULL));
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    assert_true(strstr(log, "-cl-nv-verbose") && strstr(log, "another vendor's"));
    assert_int_equal(clBuildProgram(program, 0, NULL, "-cl-nv-nothing", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    check(clReleaseProgram(program));
    check(clReleaseContext(context));
}

/* So are properties of contexts and queues, which are told again as they were given. */
static void vendors_properties_are_noted(void **state)
{
    struct fixture *f = *state;
    const cl_context_properties diagnostics[] = { 0x4106, 0xff, CL_CONTEXT_PLATFORM, (cl_context_properties)f->platform,
                                                  0 };
    const cl_queue_properties family[] = { 0x418c, 0, CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0x418d, 0, 0 };
    const cl_command_queue_properties alone = CL_QUEUE_PROFILING_ENABLE | 1ull << 31;
    cl_context_properties told[5] = { 0 };
    cl_queue_properties given[7] = { 0 };
    cl_command_queue_properties flags = 0;
    char note[256] = "";
    cl_int error = CL_SUCCESS;

    cl_context context = clCreateContext(diagnostics, 1, &f->device, keep_note, note, &error);
    check(error);
    assert_non_null(strstr(note, "clCreateContext: note: a property is another vendor's"));
    check(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof(told), told, NULL));
    assert_memory_equal(told, diagnostics, sizeof(told));
    note[0] = 0;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, f->device, family, &error);
    check(error);
    assert_non_null(strstr(note, "create a queue: note: a property is another vendor's"));
    check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof(given), given, NULL));
    assert_memory_equal(given, family, sizeof(given));
    check(clReleaseCommandQueue(queue));
    note[0] = 0;
    queue = clCreateCommandQueue(context, f->device, alone, &error);
    check(error);
    assert_non_null(strstr(note, "another vendor's"));
    check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(flags), &flags, NULL));
    assert_int_equal(flags, alone);
    check(clReleaseCommandQueue(queue));
    note[0] = 0;
    queue = clCreateCommandQueue(context, f->device, 0, &error);
    check(error);
    assert_string_equal(note, "");
    check(clReleaseCommandQueue(queue));
    check(clReleaseContext(context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("the device says who it is, the same each time [F6]", device_says_who_it_is),
        cl_test("OpenCL C is told as 3.0 [F6]", versions_are_of_3_0),
        cl_test("each version of OpenCL C that is told can be built [F6]", told_versions_can_be_built),
        cl_test("each extension has a version [F6]", extensions_are_told_twice),
        cl_test("the extension's function makes a queue [F6]", khr_queue_is_a_queue),
        cl_test("a suggested work-group is the one that runs [F6]", suggested_size_is_what_runs),
        cl_test("a required work-group is suggested, and bad questions are refused [F6]",
                suggested_size_is_the_required_one),
        cl_test("fields of bits are as a loop over bits has them [F6]", fields_of_bits),
        cl_test("dot products of bytes, at the ends of the range too [F6]", dot_products_of_bytes),
        cl_test("dot products are told as what they are [F6]", dot_products_are_told),
        cl_test("harmless words of other vendors are taken, and noted [F6]", vendors_words_are_noted),
        cl_test("so are properties of contexts and queues [F6]", vendors_properties_are_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
