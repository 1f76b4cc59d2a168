/* SPDX-License-Identifier: MIT */
/* Tests sub-groups of every size: what they tell, their collective functions, and their forward progress. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define ITEMS 300u
#define LOCAL 100u /* the last sub-group of a work-group is not whole */

static const cl_uint sizes[] = { 32, 64, 128 };

static cl_int build(struct fixture *f, const char *text, const char *options, cl_program *program)
{
    cl_int error = CL_SUCCESS;

    *program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    return clBuildProgram(*program, 1, &f->device, options, NULL, NULL);
}

static cl_kernel kernel_of(struct fixture *f, const char *text, const char *options, const char *name)
{
    cl_program program;
    cl_int error = build(f, text, options, &program);

    if (error != CL_SUCCESS) {
        char log[4096] = "";
        clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fail_msg("%d: %s", error, log);
    }
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error);
    check(clReleaseProgram(program));
    return kernel;
}

static cl_kernel kernel_of_size(struct fixture *f, const char *text, cl_uint size, const char *name)
{
    char options[80];

    snprintf(options, sizeof(options), "-cl-std=CL3.0 -cl-ppu-sub-group-size=%u", size);
    return kernel_of(f, text, options, name);
}

/* Runs the kernel over ITEMS work-items, each of which writes `words`. */
static void run(struct fixture *f, cl_kernel kernel, uint32_t words, cl_uint *out)
{
    const size_t global = ITEMS, local = LOCAL;
    const size_t bytes = (size_t)ITEMS * words * sizeof(*out);
    cl_mem to = fixture_buffer(f, 0, bytes, NULL);

    check(clSetKernelArg(kernel, 0, sizeof(to), &to));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, bytes, out, 0, NULL, NULL));
    check(clReleaseMemObject(to));
}

/* Where a work-item is. */
struct spot {
    cl_uint begin, end; /* of its sub-group, in the range */
    cl_uint at;         /* in its sub-group */
};

static struct spot spot_of(cl_uint item, cl_uint size)
{
    const cl_uint group = item / LOCAL * LOCAL, begin = group + (item - group) / size * size;

    return (struct spot){ begin, PPU_MIN(begin + size, group + LOCAL), item - begin };
}

static void expect(cl_uint size, cl_uint item, const cl_uint *found, const cl_uint *expected, uint32_t words)
{
    for (uint32_t n = 0; n < words; n++) {
        if (found[item * words + n] != expected[n]) {
            fail_msg("sub-groups of %u: word %u of work-item %u is %#x, not %#x", size, n, item,
                     found[item * words + n], expected[n]);
        }
    }
}

#define MOST_WORDS 13u

/*
 * What a work-item writes in sub-groups of a size; `got`: what it did write, for words that have no value. Returns how
 * many words there are.
 */
typedef uint32_t expectation(cl_uint size, cl_uint i, struct spot p, const cl_uint *got, cl_uint *out);

/* Runs a kernel that writes so many words for each work-item. */
static void in_all_sizes(struct fixture *f, const char *text, uint32_t words, expectation *expected_of)
{
    static cl_uint out[ITEMS * MOST_WORDS];

    for (size_t s = 0; s < PPU_ARRAY_SIZE(sizes); s++) {
        cl_kernel kernel = kernel_of_size(f, text, sizes[s], "k");
        run(f, kernel, words, out);
        for (cl_uint i = 0; i < ITEMS; i++) {
            cl_uint expected[MOST_WORDS];
            assert_int_equal(expected_of(sizes[s], i, spot_of(i, sizes[s]), out + (size_t)i * words, expected), words);
            expect(sizes[s], i, out, expected, words);
        }
        check(clReleaseKernel(kernel));
    }
}

/* ---- numbers ---- */

static uint32_t numbers_expected(cl_uint size, cl_uint i, struct spot p, const cl_uint *got, cl_uint *out)
{
    const cl_uint count = (LOCAL + size - 1) / size;
    (void)got;
    const cl_uint expected[] = {
        p.end - p.begin, PPU_MIN(size, LOCAL), count, count, i % LOCAL / size, p.at,
    };
    memcpy(out, expected, sizeof(expected));
    return PPU_ARRAY_SIZE(expected);
}

static void they_are_numbered(void **state)
{
    static const char *const text = "kernel void k(global uint *out)\n"
                                    "{\n"
                                    "    global uint *o = out + get_global_id(0) * 6;\n"
                                    "    o[0] = get_sub_group_size();\n"
                                    "    o[1] = get_max_sub_group_size();\n"
                                    "    o[2] = get_num_sub_groups();\n"
                                    "    o[3] = get_enqueued_num_sub_groups();\n"
                                    "    o[4] = get_sub_group_id();\n"
                                    "    o[5] = get_sub_group_local_id();\n"
                                    "}\n";

    in_all_sizes(*state, text, 6, numbers_expected);
}

/* ---- collective functions ---- */

static cl_uint value_of(cl_uint item)
{
    return item * 2654435761u >> 16;
}

#define VALUE "uint x = (uint)get_global_id(0) * 2654435761u >> 16;\n"

static uint32_t collectives_expected(cl_uint size, cl_uint i, struct spot p, const cl_uint *got, cl_uint *out)
{
    cl_uint sum = 0, most = 0, least = UINT32_MAX, before = 0, below = 0, above = 0, byte = 255;
    for (cl_uint j = p.begin; j < p.end; j++) {
        const cl_uint x = value_of(j);
        sum += x;
        before += j < i ? x : 0;
        most = PPU_MAX(most, x);
        least = j <= i ? PPU_MIN(least, x) : least;
        below += x < 3000;
        above += x >= 60000;
        byte = PPU_MIN(byte, x & 255);
    }
    /* What comes from work-items that are not there has no value. */
    const cl_uint other = i ^ 1, turned = p.begin + (p.at + 2) % PPU_MIN(size, LOCAL);
    const bool there = other < p.end && turned < p.end;
    const cl_uint expected[] = {
        sum,
        most,
        least,
        before,
        value_of(p.begin + 3),
        (above == 0) * 2u + (below != 0),
        sum,
        before + value_of(i),
        byte,
        there ? value_of(other) ^ value_of(turned) : got[9],
    };
    memcpy(out, expected, sizeof(expected));
    return PPU_ARRAY_SIZE(expected);
}

static void all_take_part(void **state)
{
    static const char *const text =
        "kernel void k(global uint *out)\n"
        "{\n"
        "    global uint *o = out + get_global_id(0) * 10;\n" VALUE "    o[0] = sub_group_reduce_add(x);\n"
        "    o[1] = sub_group_reduce_max(x);\n"
        "    o[2] = sub_group_scan_inclusive_min(x);\n"
        "    o[3] = sub_group_scan_exclusive_add(x);\n"
        "    o[4] = sub_group_broadcast(x, 3);\n"
        "    o[5] = sub_group_all(x < 60000) * 2 + sub_group_any(x < 3000);\n"
        "    o[6] = sub_group_reduce_add((ulong)x << 33) >> 33;\n"
        "    o[7] = (uint)sub_group_scan_inclusive_add((double)x);\n"
        "    o[8] = sub_group_reduce_min((uchar)x);\n"
        "    o[9] = sub_group_shuffle_xor(x, 1) ^ sub_group_rotate(x, 2);\n"
        "}\n";

    in_all_sizes(*state, text, 10, collectives_expected);
}

/* Work-items that come together, which others of their sub-group do not. */
static uint32_t partial_expected(cl_uint size, cl_uint i, struct spot p, const cl_uint *got, cl_uint *out)
{
    (void)size;
    (void)got;
    cl_uint sum = 0, most = 0, before = 0, first = UINT32_MAX, last = 0, odd = 0, cluster = 0, members = 0, hit = 0;
    for (cl_uint j = p.begin; j < p.end; j++) {
        const cl_uint x = value_of(j);
        if (x % 3 == 0) {
            continue;
        }
        sum += x;
        most = j <= i ? PPU_MAX(most, x) : most;
        before ^= j < i ? x : 0;
        first = PPU_MIN(first, j);
        last = j;
        odd += x % 2;
        members++;
        hit += x % 64 == 1;
        cluster += (j - p.begin) / 8 == p.at / 8 ? x : 0;
    }
    const bool in = value_of(i) % 3 != 0;
    const cl_uint expected[] = {
        in ? sum : 0,
        in ? most : 0,
        in ? before : 0,
        in && first == i,
        in ? value_of(first) : 0,
        in ? odd : 0,
        in && value_of(i) % 2,
        in ? last - p.begin : 0,
        in ? cluster : 0,
        in ? 4u + (odd == members) * 2u + (hit != 0) : 0,
    };
    memcpy(out, expected, sizeof(expected));
    return PPU_ARRAY_SIZE(expected);
}

static void some_take_part(void **state)
{
    static const char *const text =
        "kernel void k(global uint *out)\n"
        "{\n"
        "    global uint *o = out + get_global_id(0) * 10;\n" VALUE "    for (int n = 0; n < 10; n++) { o[n] = 0; }\n"
        "    if (x % 3 != 0) {\n"
        "        o[0] = sub_group_non_uniform_reduce_add(x);\n"
        "        o[1] = sub_group_non_uniform_scan_inclusive_max(x);\n"
        "        o[2] = sub_group_non_uniform_scan_exclusive_xor(x);\n"
        "        o[3] = sub_group_elect();\n"
        "        o[4] = sub_group_broadcast_first(x);\n"
        "        uint4 set = sub_group_ballot(x % 2);\n"
        "        o[5] = sub_group_ballot_bit_count(set);\n"
        "        o[6] = sub_group_inverse_ballot(set);\n"
        "        o[7] = sub_group_ballot_find_msb(sub_group_ballot(1));\n"
        "        o[8] = sub_group_clustered_reduce_add(x, 8);\n"
        "        o[9] = sub_group_non_uniform_all_equal(x % 3 != 0) * 4 + sub_group_non_uniform_all(x % 2) * 2 +\n"
        "               sub_group_non_uniform_any(x % 64 == 1);\n"
        "    }\n"
        "}\n";

    in_all_sizes(*state, text, 10, partial_expected);
}

/* ---- masks, and what moves between work-items ---- */

/* A mask of 128 bits as one word that shows each of them. */
#define FOLD "uint fold(uint4 m) { return m.x ^ m.y * 3 ^ m.z * 5 ^ m.w * 7; }\n"

/* The same of the bits `from` to before `to`, but those that are not chosen. */
static cl_uint fold(cl_uint from, cl_uint to, bool (*chosen)(cl_uint item), cl_uint begin)
{
    cl_uint word[4] = { 0 };

    for (cl_uint i = from; i < to; i++) {
        word[i / 32] |= (cl_uint)(!chosen || chosen(begin + i)) << i % 32;
    }
    return word[0] ^ word[1] * 3 ^ word[2] * 5 ^ word[3] * 7;
}

static bool is_odd(cl_uint item)
{
    return value_of(item) % 2 != 0;
}

static uint32_t masks_expected(cl_uint size, cl_uint i, struct spot p, const cl_uint *got, cl_uint *out)
{
    const cl_uint most = PPU_MIN(size, LOCAL);
    (void)got;
    cl_uint odd = 0, before = 0, first = size, product = 1, common = UINT32_MAX, whole = 1;
    for (cl_uint j = p.begin; j < p.end; j++) {
        odd += is_odd(j);
        before += j < i && is_odd(j);
        first = is_odd(j) ? PPU_MIN(first, j - p.begin) : first;
        product *= value_of(j) | 1;
        common &= j <= i ? value_of(j) | 1 : UINT32_MAX;
        whole &= (j - p.begin) / 4 != p.at / 4 || value_of(j) % 4 != 0;
    }
    const cl_uint expected[] = {
        fold(p.at, p.at + 1, NULL, 0),
        fold(p.at, most, NULL, 0),
        fold(p.at + 1, most, NULL, 0),
        fold(0, p.at + 1, NULL, 0),
        fold(0, p.at, NULL, 0),
        fold(0, p.end - p.begin, is_odd, p.begin),
        before + is_odd(i),
        before,
        first,
        is_odd(p.begin + p.at / 2),
        value_of(p.begin + 3),
        odd % 2 * 4 + (before + is_odd(i) != 0) * 2u + whole,
        product ^ common,
    };
    memcpy(out, expected, sizeof(expected));
    return PPU_ARRAY_SIZE(expected);
}

static void masks_are_counted(void **state)
{
    static const char *const text =
        FOLD "kernel void k(global uint *out)\n"
             "{\n"
             "    global uint *o = out + get_global_id(0) * 13;\n" VALUE "    uint4 odd = sub_group_ballot(x % 2);\n"
             "    o[0] = fold(get_sub_group_eq_mask());\n"
             "    o[1] = fold(get_sub_group_ge_mask());\n"
             "    o[2] = fold(get_sub_group_gt_mask());\n"
             "    o[3] = fold(get_sub_group_le_mask());\n"
             "    o[4] = fold(get_sub_group_lt_mask());\n"
             "    o[5] = fold(odd);\n"
             "    o[6] = sub_group_ballot_inclusive_scan(odd);\n"
             "    o[7] = sub_group_ballot_exclusive_scan(odd);\n"
             "    o[8] = sub_group_ballot_find_lsb(odd);\n"
             "    o[9] = sub_group_ballot_bit_extract(odd, get_sub_group_local_id() / 2);\n"
             "    o[10] = sub_group_non_uniform_broadcast(x, 3);\n"
             "    o[11] = sub_group_non_uniform_reduce_logical_xor((int)(x % 2)) * 4 +\n"
             "            sub_group_non_uniform_scan_inclusive_logical_or((int)(x % 2)) * 2 +\n"
             "            sub_group_clustered_reduce_logical_and((int)(x % 4 != 0), 4);\n"
             "    o[12] = sub_group_non_uniform_reduce_mul(x | 1) ^ sub_group_non_uniform_scan_inclusive_and(x | 1);\n"
             "}\n";

    in_all_sizes(*state, text, 13, masks_expected);
}

static uint32_t moves_expected(cl_uint size, cl_uint i, struct spot p, const cl_uint *got, cl_uint *out)
{
    (void)size;
    const cl_uint other = p.begin + (p.at ^ 2);
    /* What comes from work-items that are not there has no value. */
    const cl_uint expected[] = {
        p.at >= 3 ? value_of(i - 3) : got[0],
        i + 5 < p.end ? value_of(i + 5) : got[1],
        value_of(p.begin + (p.at * 5 + 1) % (p.end - p.begin)),
        value_of(p.begin + p.at / 4 * 4 + (p.at + 3) % 4),
        value_of(i - p.at % 2) + value_of(p.begin + 1),
        !is_odd(i)                       ? 7
        : other < p.end && is_odd(other) ? value_of(other)
                                         : got[5],
    };
    memcpy(out, expected, sizeof(expected));
    return PPU_ARRAY_SIZE(expected);
}

static void values_move(void **state)
{
    static const char *const text =
        "kernel void k(global uint *out)\n"
        "{\n"
        "    global uint *o = out + get_global_id(0) * 6;\n" VALUE "    uint at = get_sub_group_local_id();\n"
        "    o[0] = sub_group_shuffle_up(x, 3);\n"
        "    o[1] = sub_group_shuffle_down(x, 5);\n"
        "    o[2] = sub_group_shuffle(x, (at * 5 + 1) % get_sub_group_size());\n"
        "    o[3] = sub_group_clustered_rotate(x, 3, 4);\n"
        "    o[4] = (uint)(sub_group_shuffle_up((double)x, at % 2) + sub_group_shuffle((ulong)x, 1));\n"
        "    o[5] = x % 2 ? sub_group_shuffle_xor((ushort)x, 2) : 7;\n"
        "}\n";

    in_all_sizes(*state, text, 6, moves_expected);
}

/* Loops that each work-item leaves at another time, and yields, do not keep them from meeting in what all call. */
static uint32_t meeting_expected(cl_uint size, cl_uint i, struct spot p, const cl_uint *got, cl_uint *out)
{
    (void)size;
    (void)i;
    (void)got;
    cl_uint expected[] = { p.at + 1, 0 };
    for (cl_uint j = p.begin; j < p.end; j++) {
        expected[1] += value_of(j);
    }
    memcpy(out, expected, sizeof(expected));
    return PPU_ARRAY_SIZE(expected);
}

static void they_meet_again(void **state)
{
    static const char *const text =
        "kernel void k(global uint *out)\n"
        "{\n"
        "    volatile global uint *o = out + get_global_id(0) * 2;\n" VALUE "    o[0] = x % 7;\n"
        "    while (o[0] != 0) { o[0] = o[0] - 1; ppu_yield(); }\n"
        "    if (x & 1) { ppu_yield(); }\n"
        "    uint sum = sub_group_reduce_add(x);\n"
        "    for (uint n = 0; n < x % 5; n++) { if (o[0] == 0) { ppu_yield(); } }\n"
        "    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);\n"
        "    o[1] = sub_group_any(get_sub_group_local_id() == 0) ? sum : 0;\n"
        "    o[0] = sub_group_scan_inclusive_add(1);\n"
        "}\n";

    in_all_sizes(*state, text, 2, meeting_expected);
}

/* ---- forward progress ---- */

/* Each work-item waits for a lock that another one of its sub-group may hold, and nobody yields. */
static void locks_inside_them_finish(void **state)
{
    static const char *const text = "kernel void k(global uint *out, global atomic_int *lock, global uint *count)\n"
                                    "{\n"
                                    "    int free = 0;\n"
                                    "    while (!atomic_compare_exchange_strong(lock, &free, 1)) { free = 0; }\n"
                                    "    uint turn = count[0];\n"
                                    "    count[0] = turn + 1;\n"
                                    "    out[get_global_id(0)] = turn;\n"
                                    "    atomic_store(lock, 0);\n"
                                    "}\n";
    struct fixture *f = *state;
    static cl_uint out[ITEMS];
    cl_bool independent = CL_FALSE;

    check(clGetDeviceInfo(f->device, CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, sizeof(independent),
                          &independent, NULL));
    assert_true(independent);
    for (size_t s = 0; s < PPU_ARRAY_SIZE(sizes); s++) {
        cl_uint zero = 0, count = 0, seen[ITEMS] = { 0 };
        cl_kernel kernel = kernel_of_size(f, text, sizes[s], "k");
        cl_mem lock = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(zero), &zero);
        cl_mem counter = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(zero), &zero);
        check(clSetKernelArg(kernel, 1, sizeof(lock), &lock));
        check(clSetKernelArg(kernel, 2, sizeof(counter), &counter));
        run(f, kernel, 1, out);
        check(clEnqueueReadBuffer(f->queue, counter, CL_TRUE, 0, sizeof(count), &count, 0, NULL, NULL));
        assert_int_equal(count, ITEMS);
        for (cl_uint i = 0; i < ITEMS; i++) {
            assert_true(out[i] < ITEMS && seen[out[i]]++ == 0); /* each had a turn of its own */
        }
        check(clReleaseMemObject(lock));
        check(clReleaseMemObject(counter));
        check(clReleaseKernel(kernel));
    }
}

/* ---- queries, bad input ---- */

static void queries_agree(void **state)
{
    static const char *const text = "__attribute__((intel_reqd_sub_group_size(64))) kernel void k(global uint *out)\n"
                                    "{ out[get_global_id(0)] = get_max_sub_group_size(); }\n";
    struct fixture *f = *state;
    cl_kernel kernel = kernel_of(f, text, "-cl-std=CL3.0", "k");
    const size_t local[2] = { 10, 7 }, nothing = 0, three = 3, many = 1000;
    size_t answer = 0, found[3] = { 9, 9, 9 };
    cl_uint most = 0;

#define ASK(query, input, input_bytes, at, bytes) \
    clGetKernelSubGroupInfo(kernel, f->device, CL_KERNEL_##query, input_bytes, input, bytes, at, NULL)
    check(ASK(MAX_SUB_GROUP_SIZE_FOR_NDRANGE, local, sizeof(local), &answer, sizeof(answer)));
    assert_int_equal(answer, 64);
    check(ASK(SUB_GROUP_COUNT_FOR_NDRANGE, local, sizeof(local), &answer, sizeof(answer)));
    assert_int_equal(answer, 2);
    check(ASK(LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &three, sizeof(three), found, sizeof(found)));
    assert_true(found[0] == 192 && found[1] == 1 && found[2] == 1);
    check(ASK(LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &many, sizeof(many), found, sizeof(found)));
    assert_true(found[0] == 0 && found[1] == 0 && found[2] == 0);
    check(ASK(MAX_NUM_SUB_GROUPS, NULL, 0, &answer, sizeof(answer)));
    assert_int_equal(answer, 16);
    check(ASK(COMPILE_NUM_SUB_GROUPS, NULL, 0, &answer, sizeof(answer)));
    assert_int_equal(answer, 0);
    check(ASK(COMPILE_SUB_GROUP_SIZE_INTEL, NULL, 0, &answer, sizeof(answer)));
    assert_int_equal(answer, 64);
    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof(most), &most, NULL));
    assert_int_equal(most, 32);

    assert_int_equal(ASK(SUB_GROUP_COUNT_FOR_NDRANGE, NULL, 0, &answer, sizeof(answer)), CL_INVALID_VALUE);
    assert_int_equal(ASK(SUB_GROUP_COUNT_FOR_NDRANGE, local, 4 * sizeof(size_t), &answer, sizeof(answer)),
                     CL_INVALID_VALUE);
    assert_int_equal(ASK(SUB_GROUP_COUNT_FOR_NDRANGE, &nothing, sizeof(nothing), &answer, sizeof(answer)),
                     CL_INVALID_VALUE);
    assert_int_equal(ASK(SUB_GROUP_COUNT_FOR_NDRANGE, local, sizeof(local), &answer, 4), CL_INVALID_VALUE);
    assert_int_equal(ASK(LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &three, 4, found, sizeof(found)), CL_INVALID_VALUE);
    assert_int_equal(ASK(LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &three, sizeof(three), found, 4), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelSubGroupInfo(kernel, f->device, 0, 0, NULL, sizeof(answer), &answer, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clGetKernelSubGroupInfo(NULL, f->device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, 0, NULL, NULL),
                     CL_INVALID_KERNEL);
    check(clReleaseKernel(kernel));
}

static void sizes_that_do_not_exist(void **state)
{
    static const struct {
        const char *text, *options, *says;
        cl_int error;
    } cases[] = {
        { "kernel void k(void) {}\n", "-cl-ppu-sub-group-size=48", "'48' is not 32, 64 or 128",
          CL_INVALID_BUILD_OPTIONS },
        { "kernel void k(void) {}\n", "-cl-ppu-sub-group-size=", "'' is not 32, 64 or 128", CL_INVALID_BUILD_OPTIONS },
        { "kernel void k(void) {}\n", "-cl-ppu-token-entries=0", "'0' is not a number from 1 to 4096",
          CL_INVALID_BUILD_OPTIONS },
        { "kernel void k(void) {}\n", "-cl-ppu-token-entries=4097", "'4097' is not a number from 1 to 4096",
          CL_INVALID_BUILD_OPTIONS },
        { "kernel void k(void) {}\n", "-cl-ppu-token-entries=64x", "'64x' is not a number from 1 to 4096",
          CL_INVALID_BUILD_OPTIONS },
        { "__attribute__((intel_reqd_sub_group_size(16))) kernel void k(void) {}\n", "",
          "kernel 'k' requires sub-groups of 16 work-items; they have 32, 64 or 128", CL_BUILD_PROGRAM_FAILURE },
        { "__attribute__((intel_reqd_sub_group_size(32))) kernel void a(void) {}\n"
          "__attribute__((intel_reqd_sub_group_size(64))) kernel void b(void) {}\n",
          "", "kernels 'a' and 'b' of one program require sub-groups of 32 and 64 work-items",
          CL_BUILD_PROGRAM_FAILURE },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_program program;
        char log[2048] = "";
        assert_int_equal(build(f, cases[i].text, cases[i].options, &program), cases[i].error);
        check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
        if (!strstr(log, cases[i].says)) {
            fail_msg("the log does not say \"%s\": %s", cases[i].says, log);
        }
        check(clReleaseProgram(program));
    }
}

/* Lanes leave two loops at different times, within calls that the compiler keeps: each needs entries of the queue. */
static const char deep[] =
    "__attribute__((noinline)) uint one(uint x) { for (uint i = x % 5; i < 9; i++) if (x * i % 3) x += i; return x; }\n"
    "__attribute__((noinline)) uint two(uint x) { for (uint i = x % 7; i < 9; i++) if (x * i % 5) x = one(x); return x; }\n"
    "kernel void k(global uint *out)\n"
    "{\n"
    "    uint x = get_global_id(0);\n"
    "    switch (x % 6) { case 0: x = two(x); break; case 1: x = one(x); break; case 3: x += two(x); break; default: x++; }\n"
    "    out[get_global_id(0)] = x;\n"
    "}\n";

static void token_queues_have_the_size_asked_for(void **state)
{
    static const struct {
        const char *options;
        bool fits;
    } cases[] = { { "", true },
                  { "-cl-ppu-token-entries=1", false },
                  { "-cl-ppu-token-entries=64", true },
                  { "-cl-ppu-token-entries=4096 -cl-ppu-sub-group-size=32", true } };
    struct fixture *f = *state;
    cl_uint usual[ITEMS], out[ITEMS] = { 0 };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_kernel kernel = kernel_of(f, deep, cases[i].options, "k");
        cl_mem to = fixture_buffer(f, 0, sizeof(out), NULL);
        const size_t global = ITEMS, local = LOCAL;
        cl_event event;
        cl_int status = CL_SUCCESS;

        check(clSetKernelArg(kernel, 0, sizeof(to), &to));
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
        clWaitForEvents(1, &event);
        check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
        assert_int_equal(status >= 0, cases[i].fits);
        if (cases[i].fits) {
            check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(out), i == 0 ? usual : out, 0, NULL, NULL));
            assert_memory_equal(i == 0 ? usual : out, usual, sizeof(usual));
        }
        check(clReleaseEvent(event));
        check(clReleaseMemObject(to));
        check(clReleaseKernel(kernel));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cl_test("sub-groups are warps, and numbered", they_are_numbered),
        cl_test("collective functions of all work-items of a sub-group", all_take_part),
        cl_test("collective functions of some work-items of a sub-group", some_take_part),
        cl_test("masks and ballots have the bits of work-items, and are counted [F6]", masks_are_counted),
        cl_test("values move between work-items by all forms of shuffles [F6]", values_move),
        cl_test("work-items meet again in what all of them call [E11]", they_meet_again),
        cl_test("a lock inside a sub-group finishes [E8]", locks_inside_them_finish),
        cl_test("queries about sub-groups agree with the kernels", queries_agree),
        cl_test("sizes of sub-groups and of token queues that do not exist are refused", sizes_that_do_not_exist),
        cl_test("token queues have the size that the build asks for", token_queues_have_the_size_asked_for),
    };

    return cmocka_run_group_tests_name("subgroups", tests, NULL, NULL);
}
