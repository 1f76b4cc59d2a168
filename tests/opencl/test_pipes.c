/* SPDX-License-Identifier: MIT */
/* Tests pipes: packets of every size, reservations in every order, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define ITEMS 500u

static cl_mem pipe_of(struct fixture *f, cl_uint packet_bytes, cl_uint packets)
{
    cl_int error = CL_SUCCESS;
    cl_mem pipe =
        clCreatePipe(f->context, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, packet_bytes, packets, NULL, &error);

    check(error);
    return pipe;
}

static void set_memory(cl_kernel kernel, cl_uint i, cl_mem memory)
{
    check(clSetKernelArg(kernel, i, sizeof(memory), &memory));
}

static void run(struct fixture *f, cl_kernel kernel, size_t items, size_t local)
{
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, local != 0 ? &local : NULL, 0, NULL, NULL));
}

static void read_all(struct fixture *f, cl_mem buffer, size_t bytes, void *to)
{
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

/* Two kernels of one source: what one writes the other reads. */
struct pair {
    cl_kernel writes, reads;
};

static struct pair pair_of(struct fixture *f, const char *text)
{
    return (struct pair){ fixture_kernel(f, text, "writes"), fixture_kernel(f, text, "reads") };
}

static void pair_end(struct pair *pair)
{
    check(clReleaseKernel(pair->writes));
    check(clReleaseKernel(pair->reads));
}

/* ---- one packet at a time ---- */

static const char *const single = "kernel void writes(write_only pipe uint p, global int *failed)\n"
                                  "{\n"
                                  "    uint x = get_global_id(0);\n"
                                  "    failed[x] = write_pipe(p, &x);\n"
                                  "}\n"
                                  "kernel void reads(read_only pipe uint p, global int *failed, global uint *out)\n"
                                  "{\n"
                                  "    uint x = 0xffffffff;\n"
                                  "    failed[get_global_id(0)] = read_pipe(p, &x);\n"
                                  "    out[get_global_id(0)] = x;\n"
                                  "}\n";

static uint32_t count_failed(struct fixture *f, cl_mem failed)
{
    cl_int found[ITEMS];
    uint32_t count = 0;

    read_all(f, failed, sizeof(found), found);
    for (uint32_t i = 0; i < ITEMS; i++) {
        assert_true(found[i] == 0 || found[i] < 0);
        count += found[i] != 0;
    }
    return count;
}

/* A pipe that is full takes no more, one that is empty gives none, and every turn of its ring does the same. */
static void packets_pass_through(void **state)
{
    static const cl_uint rooms[] = { ITEMS, 77, 1 };
    struct fixture *f = *state;
    struct pair pair = pair_of(f, single);
    cl_mem failed = fixture_buffer(f, 0, ITEMS * sizeof(cl_int), NULL);
    cl_mem out = fixture_buffer(f, 0, ITEMS * sizeof(cl_uint), NULL);
    static cl_uint found[ITEMS];

    for (size_t r = 0; r < PPU_ARRAY_SIZE(rooms); r++) {
        cl_mem pipe = pipe_of(f, sizeof(cl_uint), rooms[r]);
        set_memory(pair.writes, 0, pipe);
        set_memory(pair.writes, 1, failed);
        set_memory(pair.reads, 0, pipe);
        set_memory(pair.reads, 1, failed);
        set_memory(pair.reads, 2, out);
        for (uint32_t turn = 0; turn < 3; turn++) {
            uint32_t seen[ITEMS] = { 0 }, read = 0;
            run(f, pair.writes, ITEMS, 0);
            assert_int_equal(count_failed(f, failed), ITEMS - rooms[r]);
            run(f, pair.reads, ITEMS, 0);
            assert_int_equal(count_failed(f, failed), ITEMS - rooms[r]);
            read_all(f, out, sizeof(found), found);
            for (uint32_t i = 0; i < ITEMS; i++) {
                assert_true(found[i] == UINT32_MAX || (found[i] < ITEMS && seen[found[i]]++ == 0));
                read += found[i] != UINT32_MAX;
            }
            assert_int_equal(read, rooms[r]);
        }
        check(clReleaseMemObject(pipe));
    }
    check(clReleaseMemObject(failed));
    check(clReleaseMemObject(out));
    pair_end(&pair);
}

/* ---- packets that are structures ---- */

static void packets_of_any_size(void **state)
{
    static const struct {
        const char *type;
        cl_uint bytes;
    } types[] = { { "char", 1 }, { "short3", 8 }, { "double16", 128 }, { "struct odd", 37 }, { "struct wide", 1000 } };
    static uint8_t in[40 * 1000], out[40 * 1000];
    struct fixture *f = *state;
    uint64_t random = fixture_seed();

    for (size_t i = 0; i < sizeof(in); i++) {
        in[i] = (uint8_t)fixture_random(&random);
    }
    for (size_t t = 0; t < PPU_ARRAY_SIZE(types); t++) {
        char text[1024];
        const size_t bytes = 40 * types[t].bytes;
        snprintf(text, sizeof(text),
                 "struct odd { char at[37]; }; struct wide { int at[250]; };\n"
                 "kernel void writes(write_only pipe %s p, global %s *in)\n"
                 "{ if (get_global_id(0) == 0) { for (int i = 0; i < 40; i++) { write_pipe(p, in + i); } } }\n"
                 "kernel void reads(read_only pipe %s p, global %s *out)\n"
                 "{ if (get_global_id(0) == 0) { for (int i = 0; i < 40; i++) { read_pipe(p, out + i); } } }\n",
                 types[t].type, types[t].type, types[t].type, types[t].type);
        struct pair pair = pair_of(f, text);
        cl_mem pipe = pipe_of(f, types[t].bytes, 40);
        cl_mem from = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, bytes, in), to = fixture_buffer(f, 0, bytes, NULL);
        set_memory(pair.writes, 0, pipe);
        set_memory(pair.writes, 1, from);
        set_memory(pair.reads, 0, pipe);
        set_memory(pair.reads, 1, to);
        run(f, pair.writes, 1, 0);
        run(f, pair.reads, 1, 0);
        read_all(f, to, bytes, out);
        assert_memory_equal(in, out, bytes); /* one work-item: the order is kept */
        check(clReleaseMemObject(pipe));
        check(clReleaseMemObject(from));
        check(clReleaseMemObject(to));
        pair_end(&pair);
    }
}

/* ---- reservations ---- */

/* In every form: of a work-item, a sub-group, a work-group; committed in the order that the index says. */
static const char *const reserving =
    "kernel void writes(write_only pipe uint p, global uint *counts)\n"
    "{\n"
    "    uint id = get_global_id(0);\n"
    "    reserve_id_t r = RESERVE(write, p, N);\n"
    "    if (is_valid_reserve_id(r)) {\n"
    "        for (uint i = FROM; i < N; i += STEP) { uint x = id * 1000 + i; write_pipe(p, r, i, &x); }\n"
    "        COMMIT(write, p, r);\n"
    "        if (FROM == 0) { atomic_add(counts, N); }\n"
    "    }\n"
    "}\n"
    "kernel void reads(read_only pipe uint p, global uint *counts, global uint *out)\n"
    "{\n"
    "    reserve_id_t r = RESERVE(read, p, N);\n"
    "    if (is_valid_reserve_id(r)) {\n"
    "        for (uint i = FROM; i < N; i += STEP) {\n"
    "            uint x = 0;\n"
    "            if (read_pipe(p, r, i, &x) == 0) { out[atomic_inc(counts + 1)] = x; }\n"
    "        }\n"
    "        COMMIT(read, p, r);\n"
    "    }\n"
    "    if (get_global_id(0) == 0) { counts[3] = get_pipe_max_packets(p); }\n"
    "}\n"
    "kernel void left(read_only pipe uint p, global uint *counts) { counts[2] = get_pipe_num_packets(p); }\n";

static const char *const forms[] = {
    "#define RESERVE(way, p, n) reserve_##way##_pipe(p, n)\n#define COMMIT(way, p, r) commit_##way##_pipe(p, r)\n"
    "#define N 3\n#define FROM 0\n#define STEP 1\n",
    "#define RESERVE(way, p, n) sub_group_reserve_##way##_pipe(p, n)\n"
    "#define COMMIT(way, p, r) sub_group_commit_##way##_pipe(p, r)\n"
    "#define N 40\n#define FROM get_sub_group_local_id()\n#define STEP get_sub_group_size()\n",
    "#define RESERVE(way, p, n) work_group_reserve_##way##_pipe(p, n)\n"
    "#define COMMIT(way, p, r) work_group_commit_##way##_pipe(p, r)\n"
    "#define N 130\n#define FROM get_local_linear_id()\n#define STEP get_local_size(0)\n",
};

static int by_value(const void *a, const void *b)
{
    const cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;

    return (x > y) - (x < y);
}

static void reserve_by(struct fixture *f, const char *form, cl_uint room)
{
    static cl_uint out[4096];
    char text[4096];
    cl_uint counts[4] = { 0 };

    snprintf(text, sizeof(text), "%s%s", form, reserving);
    struct pair pair = pair_of(f, text);
    cl_kernel left = fixture_kernel(f, text, "left");
    cl_mem pipe = pipe_of(f, sizeof(cl_uint), room), to = fixture_buffer(f, 0, sizeof(out), NULL);
    cl_mem counter = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(counts), counts);
    set_memory(pair.writes, 0, pipe);
    set_memory(pair.writes, 1, counter);
    set_memory(pair.reads, 0, pipe);
    set_memory(pair.reads, 1, counter);
    set_memory(pair.reads, 2, to);
    set_memory(left, 0, pipe);
    set_memory(left, 1, counter);
    run(f, pair.writes, ITEMS, 100);
    run(f, left, 1, 0);
    read_all(f, counter, sizeof(counts), counts);
    assert_true(counts[0] > 0 && counts[0] <= room && counts[2] == counts[0]);
    run(f, pair.reads, ITEMS, 100);
    run(f, left, 1, 0);
    read_all(f, counter, sizeof(counts), counts);
    assert_int_equal(counts[1], counts[0]); /* all that was written has been read */
    assert_int_equal(counts[2], 0);
    assert_int_equal(counts[3], room);
    read_all(f, to, sizeof(out), out);
    qsort(out, counts[1], sizeof(out[0]), by_value);
    for (cl_uint i = 1; i < counts[1]; i++) {
        assert_true(out[i] != out[i - 1]);
    }
    check(clReleaseMemObject(pipe));
    check(clReleaseMemObject(to));
    check(clReleaseMemObject(counter));
    check(clReleaseKernel(left));
    pair_end(&pair);
}

static void reservations_of_every_form(void **state)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(forms); i++) {
        reserve_by(*state, forms[i], 2000);
        reserve_by(*state, forms[i], 131); /* not all of them find room */
    }
}

/* ---- what cannot be ---- */

static void what_cannot_be_is_refused_in_kernels(void **state)
{
    static const char *const text =
        "kernel void k(write_only pipe uint w, read_only pipe uint r, write_only pipe ulong wrong, global int *out)\n"
        "{\n"
        "    uint x = 1;\n"
        "    ulong wide = 1;\n"
        "    out[0] = is_valid_reserve_id(reserve_write_pipe(w, 11));\n"
        "    out[1] = is_valid_reserve_id(reserve_write_pipe(w, 0));\n"
        "    out[2] = is_valid_reserve_id(reserve_read_pipe(r, 1));\n"
        "    reserve_id_t id = reserve_write_pipe(w, 4);\n"
        "    out[3] = is_valid_reserve_id(id);\n"
        "    out[4] = write_pipe(w, id, 4, &x);\n"
        "    out[5] = write_pipe(w, id, 0xffffffff, &x);\n"
        "    out[6] = is_valid_reserve_id(reserve_read_pipe(r, 1));\n" /* nothing is committed */
        "    for (uint i = 0; i < 4; i++) { write_pipe(w, id, i, &x); }\n"
        "    commit_write_pipe(w, id);\n"
        "    out[7] = is_valid_reserve_id(reserve_read_pipe(r, 5));\n"
        "    out[8] = write_pipe(wrong, &wide);\n"
        "    out[9] = get_pipe_num_packets(r);\n"
        "    id = CLK_NULL_RESERVE_ID;\n"
        "    out[10] = is_valid_reserve_id(id);\n"
        "    out[11] = write_pipe(w, id, 0, &x);\n"
        "}\n";
    static const cl_int expected[12] = { 0, 0, 0, 1, -1, -1, 0, 0, -1, 4, 0, -1 };
    struct fixture *f = *state;
    cl_kernel kernel = fixture_kernel(f, text, "k");
    cl_mem pipe = pipe_of(f, sizeof(cl_uint), 10), out = fixture_buffer(f, 0, sizeof(expected), NULL);
    cl_int found[12];

    set_memory(kernel, 0, pipe);
    set_memory(kernel, 1, pipe);
    set_memory(kernel, 2, pipe); /* its packets are smaller than the kernel's */
    set_memory(kernel, 3, out);
    run(f, kernel, 1, 0);
    read_all(f, out, sizeof(found), found);
    assert_memory_equal(found, expected, sizeof(found));
    check(clReleaseMemObject(pipe));
    check(clReleaseMemObject(out));
    check(clReleaseKernel(kernel));
}

static void what_cannot_be_is_refused_on_the_host(void **state)
{
    struct fixture *f = *state;
    cl_uint most = 0, asked = 0;
    cl_int error = CL_SUCCESS;

    check(clGetDeviceInfo(f->device, CL_DEVICE_PIPE_MAX_PACKET_SIZE, sizeof(most), &most, NULL));
    const cl_pipe_properties nothing[] = { 0 }, something[] = { 1, 2, 0 };
    const struct {
        cl_mem_flags flags;
        cl_uint bytes, packets;
        const cl_pipe_properties *properties;
        cl_int error;
    } cases[] = {
        { 0, 4, 0, NULL, CL_INVALID_PIPE_SIZE },
        { 0, 0, 4, NULL, CL_INVALID_PIPE_SIZE },
        { 0, most + 1, 4, NULL, CL_INVALID_PIPE_SIZE },
        { 0, UINT32_MAX, UINT32_MAX, NULL, CL_INVALID_PIPE_SIZE },
        { 0, most, 0xfffffffe, NULL, CL_MEM_OBJECT_ALLOCATION_FAILURE },
        { 0, 4, 0x40000000, NULL, CL_MEM_OBJECT_ALLOCATION_FAILURE },
        { CL_MEM_READ_ONLY, 4, 4, NULL, CL_INVALID_VALUE },
        { CL_MEM_USE_HOST_PTR, 4, 4, NULL, CL_INVALID_VALUE },
        { 0, 4, 4, something, CL_INVALID_VALUE },
        { 0, 4, 4, nothing, CL_SUCCESS },
        { 0, most, 1, NULL, CL_SUCCESS },
    };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_mem pipe =
            clCreatePipe(f->context, cases[i].flags, cases[i].bytes, cases[i].packets, cases[i].properties, &error);
        assert_int_equal(error, cases[i].error);
        assert_true(!!pipe == (error == CL_SUCCESS));
        if (pipe) {
            check(clReleaseMemObject(pipe));
        }
    }
    assert_null(clCreatePipe(NULL, 0, 4, 4, NULL, &error));
    assert_int_equal(error, CL_INVALID_CONTEXT);

    cl_mem pipe = pipe_of(f, 12, 7), buffer = fixture_buffer(f, 0, 64, NULL);
    cl_mem_object_type type = 0;
    char bytes[16] = "";
    check(clGetPipeInfo(pipe, CL_PIPE_PACKET_SIZE, sizeof(asked), &asked, NULL));
    assert_int_equal(asked, 12);
    check(clGetPipeInfo(pipe, CL_PIPE_MAX_PACKETS, sizeof(asked), &asked, NULL));
    assert_int_equal(asked, 7);
    check(clGetMemObjectInfo(pipe, CL_MEM_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_MEM_OBJECT_PIPE);
    assert_int_equal(clGetPipeInfo(pipe, CL_PIPE_MAX_PACKETS, 1, &asked, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetPipeInfo(pipe, 0, sizeof(asked), &asked, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetPipeInfo(buffer, CL_PIPE_MAX_PACKETS, sizeof(asked), &asked, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadBuffer(f->queue, pipe, CL_TRUE, 0, 16, bytes, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueCopyBuffer(f->queue, buffer, pipe, 0, 0, 16, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_null(clCreateSubBuffer(pipe, 0, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){ 0, 128 }, &error));
    assert_int_equal(error, CL_INVALID_MEM_OBJECT);
    check(clReleaseMemObject(pipe));
    check(clReleaseMemObject(buffer));
}

/* A pipe is no buffer for a kernel, nor the other way round. */
static void arguments_are_checked(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel =
        fixture_kernel(f, "kernel void k(read_only pipe int p, global int *o) { read_pipe(p, o); }", "k");
    cl_mem pipe = pipe_of(f, 4, 7), buffer = fixture_buffer(f, 0, 64, NULL), none = NULL;
    cl_kernel_arg_type_qualifier type = 0;
    cl_kernel_arg_access_qualifier access = 0;

    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(none), &none), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(none), NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, 4, &pipe), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(pipe), &pipe), CL_INVALID_MEM_OBJECT);
    check(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_KERNEL_ARG_TYPE_PIPE);
    check(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access), &access, NULL));
    assert_int_equal(access, CL_KERNEL_ARG_ACCESS_READ_ONLY);
    check(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access), &access, NULL));
    assert_int_equal(access, CL_KERNEL_ARG_ACCESS_NONE);
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(pipe));
    check(clReleaseMemObject(buffer));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cl_test("packets pass through a pipe, turn after turn", packets_pass_through),
        cl_test("packets of any size", packets_of_any_size),
        cl_test("reservations of work-items, sub-groups and work-groups", reservations_of_every_form),
        cl_test("what cannot be is refused in kernels", what_cannot_be_is_refused_in_kernels),
        cl_test("what cannot be is refused on the host", what_cannot_be_is_refused_on_the_host),
        cl_test("arguments that are no pipes are refused", arguments_are_checked),
    };

    return cmocka_run_group_tests_name("pipes", tests, NULL, NULL);
}
