/* SPDX-License-Identifier: MIT */
/* Tests atomic functions with every order and scope that they may have, and what orders promise. */
#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define GROUP 64u
#define ITEMS 256u
#define SCOPES 3u /* work-group, device, all devices */
#define ORDERS 5u /* of what reads and writes */
#define WORDS 8u

/* Each operation of each work-item, once for each order and scope. */
static const char *const operations =
    "#define OPERATE(a, order, fails, scope)                                              \\\n"
    "    atomic_fetch_add_explicit(&a[0], 3, order, scope);                               \\\n"
    "    atomic_fetch_sub_explicit(&a[1], 5, order, scope);                               \\\n"
    "    atomic_fetch_or_explicit(&a[2], (T)1 << id % 31, order, scope);                  \\\n"
    "    atomic_fetch_xor_explicit(&a[3], (T)id, order, scope);                           \\\n"
    "    atomic_fetch_and_explicit(&a[4], ~((T)1 << id % 31), order, scope);              \\\n"
    "    atomic_fetch_max_explicit(&a[5], (T)id, order, scope);                           \\\n"
    "    atomic_fetch_min_explicit(&a[6], -(T)id, order, scope);                          \\\n"
    "    expected = atomic_load_explicit(&a[7], memory_order_relaxed, scope);             \\\n"
    "    while (!atomic_compare_exchange_strong_explicit(&a[7], &expected, expected + 1,  \\\n"
    "                                                    order, fails, scope)) { }        \\\n"
    "    before = atomic_exchange_explicit(&swap[lane], (T)id + 1, order, scope);         \\\n"
    "    wrong |= before != last; last = (T)id + 1;\n"
    "#define OPERATE_ALL(a, scope)                                                        \\\n"
    "    OPERATE(a, memory_order_relaxed, memory_order_relaxed, scope)                    \\\n"
    "    OPERATE(a, memory_order_acquire, memory_order_acquire, scope)                    \\\n"
    "    OPERATE(a, memory_order_release, memory_order_relaxed, scope)                    \\\n"
    "    OPERATE(a, memory_order_acq_rel, memory_order_acquire, scope)                    \\\n"
    "    OPERATE(a, memory_order_seq_cst, memory_order_seq_cst, scope)\n"
    "#define LOADS(order, scope) wrong |= atomic_load_explicit(&swap[lane], order, scope) != last;\n"
    "#define STORES(order, scope)                                                         \\\n"
    "    atomic_store_explicit(&swap[lane], last + 1, order, scope); last++;              \\\n"
    "    LOADS(memory_order_relaxed, scope) LOADS(memory_order_acquire, scope)            \\\n"
    "    LOADS(memory_order_seq_cst, scope)\n"
    "#define STORES_ALL(scope)                                                            \\\n"
    "    STORES(memory_order_relaxed, scope) STORES(memory_order_release, scope)          \\\n"
    "    STORES(memory_order_seq_cst, scope)\n"
    "kernel void k(global A *a, global A *each, global T *out)\n"
    "{\n"
    "    local A here[8], own[64];\n"
    "    const uint id = get_global_id(0), lane = get_local_id(0);\n"
    "    T expected, before, last = 0; int wrong = 0;\n"
    "    if (lane < 8) { atomic_init(&here[lane], (T)(lane == 4 ? 0x7fffffff : 0)); }\n"
    "    atomic_init(&own[lane], (T)0);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    { global A *swap = each + id - lane;\n"
    "      OPERATE_ALL(a, memory_scope_work_group) OPERATE_ALL(a, memory_scope_device)\n"
    "      OPERATE_ALL(a, memory_scope_all_svm_devices)\n"
    "      STORES_ALL(memory_scope_work_group) STORES_ALL(memory_scope_device) STORES_ALL(memory_scope_all_svm_devices) }\n"
    "    last = 0;\n"
    "    { local A *swap = own; OPERATE_ALL(here, memory_scope_work_group) STORES_ALL(memory_scope_work_group) }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (lane < 8) { out[get_group_id(0) * 8 + lane] = atomic_load(&here[lane]); }\n"
    "    if (wrong) { out[32 + get_group_id(0)] = 1; }\n"
    "}\n";

/* What a word is when work-items `first` to `end` have done their operations so often. */
static cl_long word_of(uint32_t word, uint32_t first, uint32_t end, uint32_t times)
{
    cl_long x = word == 4 ? 0x7fffffff : 0, count = (cl_long)(end - first) * times;

    for (uint32_t id = first; id < end; id++) {
        cl_long bit = 1ll << id % 31;
        x = word == 2   ? x | bit
            : word == 3 ? x ^ (times % 2 != 0 ? id : 0)
            : word == 4 ? x & ~bit
            : word == 5 ? PPU_MAX(x, (cl_long)id)
            : word == 6 ? PPU_MIN(x, -(cl_long)id)
                        : x;
    }
    return word == 0 ? 3 * count : word == 1 ? -5 * count : word == 7 ? count : x;
}

static cl_long value_of(const void *values, size_t bytes, uint32_t i)
{
    return bytes == sizeof(cl_int) ? ((const cl_int *)values)[i] : ((const cl_long *)values)[i];
}

static void every_order_and_scope(void **state)
{
    static const struct {
        const char *options;
        size_t bytes;
    } types[] = { { "-cl-std=CL3.0 -DA=atomic_int -DT=int", sizeof(cl_int) },
                  { "-cl-std=CL3.0 -DA=atomic_long -DT=long", sizeof(cl_long) } };
    struct fixture *f = *state;
    const size_t items = ITEMS, group = GROUP;

    for (size_t t = 0; t < PPU_ARRAY_SIZE(types); t++) {
        const size_t bytes = types[t].bytes;
        cl_long first[WORDS] = { 0 }, got[WORDS], out[40];
        memset((char *)first + 4 * bytes, 0xff, 4);
        ((char *)first)[4 * bytes + 3] = 0x7f;
        cl_kernel kernel = fixture_kernel_with(f, operations, "k", types[t].options);
        cl_mem buffers[] = { fixture_buffer(f, CL_MEM_COPY_HOST_PTR, WORDS * bytes, first),
                             fixture_buffer(f, 0, ITEMS * bytes, NULL), fixture_buffer(f, 0, 40 * bytes, NULL) };
        const cl_int zero = 0;
        check(clEnqueueFillBuffer(f->queue, buffers[1], &zero, sizeof(zero), 0, ITEMS * bytes, 0, NULL, NULL));
        check(clEnqueueFillBuffer(f->queue, buffers[2], &zero, sizeof(zero), 0, 40 * bytes, 0, NULL, NULL));
        for (cl_uint i = 0; i < PPU_ARRAY_SIZE(buffers); i++) {
            check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]));
        }
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL));
        check(clEnqueueReadBuffer(f->queue, buffers[0], CL_TRUE, 0, WORDS * bytes, got, 0, NULL, NULL));
        check(clEnqueueReadBuffer(f->queue, buffers[2], CL_TRUE, 0, 40 * bytes, out, 0, NULL, NULL));
        for (uint32_t w = 0; w < WORDS; w++) {
            assert_true(value_of(got, bytes, w) == word_of(w, 0, ITEMS, SCOPES * ORDERS));
            for (uint32_t g = 0; g < ITEMS / GROUP; g++) {
                assert_true(value_of(out, bytes, g * WORDS + w) == word_of(w, g * GROUP, (g + 1) * GROUP, ORDERS));
                assert_true(value_of(out, bytes, 32 + g) == 0);
            }
        }
        for (size_t i = 0; i < PPU_ARRAY_SIZE(buffers); i++) {
            check(clReleaseMemObject(buffers[i]));
        }
        check(clReleaseKernel(kernel));
    }
}

/* Work-groups hand data to each other: what was written before a release is there after the acquire that sees it. */
static void releases_are_acquired(void **state)
{
    static const char *const text =
        "kernel void k(global atomic_int *turn, global int *data, global int *out)\n"
        "{\n"
        "    const int group = get_group_id(0), groups = get_num_groups(0);\n"
        "    if (get_local_id(0) != 0) { return; }\n"
        "    int wrong = 0;\n"
        "    for (int round = 0; round < 8; round++) {\n"
        "        int mine = round * groups + group;\n"
        "        while (WAIT != mine) { }\n"
        "        for (int i = 0; i < 8; i++) { wrong += data[i] != mine * 8 + i; data[i] = (mine + 1) * 8 + i; }\n"
        "        PASS;\n"
        "    }\n"
        "    out[group] = wrong;\n"
        "}\n";
    static const char *const options[] = {
        "-cl-std=CL3.0 -DWAIT=atomic_load_explicit(turn,memory_order_acquire,memory_scope_device) "
        "-DPASS=atomic_store_explicit(turn,mine+1,memory_order_release,memory_scope_device)",
        "-cl-std=CL3.0 -DWAIT=atomic_fetch_add_explicit(turn,0,memory_order_acq_rel,memory_scope_device) "
        "-DPASS=atomic_fetch_add_explicit(turn,1,memory_order_acq_rel,memory_scope_device)",
        "-cl-std=CL3.0 -DWAIT=atomic_load(turn) -DPASS=atomic_store(turn,mine+1)",
        "-cl-std=CL3.0 -DWAIT=atomic_load_explicit(turn,memory_order_acquire,memory_scope_all_svm_devices) "
        "-DPASS=atomic_store_explicit(turn,mine+1,memory_order_release,memory_scope_all_svm_devices)",
    };
    struct fixture *f = *state;
    const size_t items = 16, group = 4;

    for (size_t o = 0; o < PPU_ARRAY_SIZE(options); o++) {
        cl_int zero = 0, data[8], out[4] = { 9, 9, 9, 9 };
        for (cl_int i = 0; i < 8; i++) {
            data[i] = i;
        }
        cl_kernel kernel = fixture_kernel_with(f, text, "k", options[o]);
        cl_mem buffers[] = { fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(zero), &zero),
                             fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(data), data),
                             fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(out), out) };
        for (cl_uint i = 0; i < PPU_ARRAY_SIZE(buffers); i++) {
            check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]));
        }
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL));
        check(clEnqueueReadBuffer(f->queue, buffers[2], CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
        for (size_t i = 0; i < PPU_ARRAY_SIZE(buffers); i++) {
            check(clReleaseMemObject(buffers[i]));
        }
        for (size_t g = 0; g < PPU_ARRAY_SIZE(out); g++) {
            assert_int_equal(out[g], 0);
        }
        check(clReleaseKernel(kernel));
    }
}

/* What is added to a pointer's integer is a difference, which has a sign. */
static void pointers_take_differences(void **state)
{
    static const char text[] =
        "#define ALL(p)                                                                        \\\n"
        "    atomic_fetch_add(p, seven); atomic_fetch_sub(p, one);                             \\\n"
        "    atomic_fetch_add_explicit(p, -one, memory_order_relaxed);                         \\\n"
        "    atomic_fetch_sub_explicit(p, -one, memory_order_relaxed);                         \\\n"
        "    atomic_fetch_add_explicit(p, one, memory_order_relaxed, memory_scope_work_group); \\\n"
        "    atomic_fetch_sub_explicit(p, seven, memory_order_relaxed, memory_scope_work_group);\n"
        "kernel void k(global atomic_uintptr_t *a, global ulong *out) {\n"
        "    local atomic_uintptr_t here;\n"
        "    const ptrdiff_t one = 1, seven = get_global_size(0) == 256 ? 7 : 8;\n"
        "    volatile atomic_uintptr_t *any = get_local_id(0) % 2 ? a + 1 : (atomic_uintptr_t *)&here;\n"
        "    if (get_local_id(0) == 0) { atomic_init(&here, (uintptr_t)5000); }\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    ALL(a) ALL(&here) ALL(any) atomic_fetch_add(any, seven);\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    if (get_local_id(0) == 0) { out[get_group_id(0)] = atomic_load(&here); }\n"
        "}\n";
    struct fixture *f = *state;
    const size_t items = ITEMS, group = GROUP;
    const cl_ulong begin[2] = { 1000, 2000 };
    cl_ulong end[2], out[ITEMS / GROUP];
    cl_kernel kernel = fixture_kernel(f, text, "k");
    cl_mem words = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(begin), (void *)(uintptr_t)begin);
    cl_mem results = fixture_buffer(f, 0, sizeof(out), NULL);

    check(clSetKernelArg(kernel, 0, sizeof(words), &words));
    check(clSetKernelArg(kernel, 1, sizeof(results), &results));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, words, CL_TRUE, 0, sizeof(end), end, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, results, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    assert_int_equal(end[0], begin[0]); /* 7 - 1 - 1 + 1 + 1 - 7 */
    assert_int_equal(end[1], begin[1] + 7 * ITEMS / 2);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(out); i++) {
        assert_int_equal(out[i], 5000 + 7 * GROUP / 2);
    }
    check(clReleaseMemObject(words));
    check(clReleaseMemObject(results));
    check(clReleaseKernel(kernel));
}

/* A flag that is set is a lock that one work-item has, of whatever sub-group and work-group, until it is cleared. */
static void flags_are_locks(void **state)
{
    static const char text[] =
        "#define GUARDED(take, count, give) while (take) { } count[0]++; give;\n"
        "#define SET(f, order, scope) atomic_flag_test_and_set_explicit(f, memory_order_##order, memory_scope_##scope)\n"
        "#define CLEAR(f, order, scope) atomic_flag_clear_explicit(f, memory_order_##order, memory_scope_##scope)\n"
        "kernel void k(global atomic_flag *flags, volatile global int *count, global int *first, global int *sums)\n"
        "{\n"
        "    local atomic_flag lock; volatile local int here[1];\n"
        "    if (get_local_id(0) == 0) { atomic_flag_clear(&lock); here[0] = 0; }\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    GUARDED(atomic_flag_test_and_set(flags), count, atomic_flag_clear(flags))\n"
        "    GUARDED(atomic_flag_test_and_set_explicit(flags, memory_order_acquire), count,\n"
        "            atomic_flag_clear_explicit(flags, memory_order_release))\n"
        "    GUARDED(SET(flags, acq_rel, device), count, CLEAR(flags, release, device))\n"
        "    GUARDED(SET(flags, seq_cst, all_svm_devices), count, CLEAR(flags, seq_cst, all_svm_devices))\n"
        "    GUARDED(SET(&lock, acquire, work_group), here, CLEAR(&lock, release, work_group))\n"
        "    if (!SET(&flags[1], relaxed, device)) { atomic_inc(first); }\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    if (get_local_id(0) == 0) { sums[get_group_id(0)] = here[0]; }\n"
        "}\n";
    struct fixture *f = *state;
    const size_t items = ITEMS, group = GROUP;
    cl_int words[3][4] = { { 0 } };
    cl_kernel kernel = fixture_kernel(f, text, "k");
    cl_mem buffers[4];

    for (cl_uint i = 0; i < PPU_ARRAY_SIZE(buffers); i++) {
        buffers[i] = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(words[0]), words[0]);
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]));
    }
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(words); i++) {
        check(clEnqueueReadBuffer(f->queue, buffers[i + 1], CL_TRUE, 0, sizeof(words[i]), words[i], 0, NULL, NULL));
    }
    assert_int_equal(words[0][0], 4 * ITEMS);
    assert_int_equal(words[1][0], 1);
    for (size_t g = 0; g < ITEMS / GROUP; g++) {
        assert_int_equal(words[2][g], GROUP);
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(buffers); i++) {
        check(clReleaseMemObject(buffers[i]));
    }
    check(clReleaseKernel(kernel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("every operation has every order and scope", every_order_and_scope),
        cl_test("integers of pointers take differences in all memory", pointers_take_differences),
        cl_test("what is released is there for who acquires", releases_are_acquired),
        cl_test("flags are locks for each work-item", flags_are_locks),
    };

    return cmocka_run_group_tests_name("atomics", tests, NULL, NULL);
}
