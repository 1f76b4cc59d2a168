/* SPDX-License-Identifier: MIT */
/* Tests reads, writes, copies, fills, maps, and shared virtual memory. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define BYTES 4096u
#define BUFFERS 3u
#define STEPS 400u

/* ---- random operations against memory ---- */

struct model {
    struct fixture *fixture;
    cl_command_queue queue;
    uint64_t random;
    cl_mem buffer[BUFFERS];
    uint8_t bytes[BUFFERS][BYTES];
};

static size_t below(struct model *model, size_t limit)
{
    return fixture_random(&model->random) % limit;
}

static void step_write(struct model *m, uint32_t to)
{
    size_t at = below(m, BYTES), count = 1 + below(m, BYTES - at);
    uint8_t data[BYTES];

    for (size_t i = 0; i < count; i++) {
        data[i] = (uint8_t)fixture_random(&m->random);
    }
    memcpy(&m->bytes[to][at], data, count);
    check(clEnqueueWriteBuffer(m->queue, m->buffer[to], CL_TRUE, at, count, data, 0, NULL, NULL));
}

static void step_copy(struct model *m, uint32_t to)
{
    uint32_t from = (uint32_t)below(m, BUFFERS);
    size_t count = 1 + below(m, BYTES / 2);
    size_t src = below(m, BYTES - count), dst = below(m, BYTES - count);
    bool meets = from == to && src < dst + count && dst < src + count;

    cl_int error = clEnqueueCopyBuffer(m->queue, m->buffer[from], m->buffer[to], src, dst, count, 0, NULL, NULL);
    assert_int_equal(error, meets ? CL_MEM_COPY_OVERLAP : CL_SUCCESS);
    if (!meets) {
        memcpy(&m->bytes[to][dst], &m->bytes[from][src], count);
    }
}

static void step_fill(struct model *m, uint32_t to)
{
    uint8_t pattern[16];
    size_t size = 1u << below(m, 5);
    size_t at = below(m, BYTES / size) * size, count = below(m, (BYTES - at) / size) * size;

    for (size_t i = 0; i < size; i++) {
        pattern[i] = (uint8_t)fixture_random(&m->random);
    }
    for (size_t i = 0; i < count; i++) {
        m->bytes[to][at + i] = pattern[i % size];
    }
    check(clEnqueueFillBuffer(m->queue, m->buffer[to], pattern, size, at, count, 0, NULL, NULL));
}

/* Boxes of a 16 x 16 x 16 cube; overlap decided byte by byte. */
static void step_rect(struct model *m, uint32_t to)
{
    uint32_t from = (uint32_t)below(m, BUFFERS);
    const size_t pitch[2] = { 16, 256 };
    size_t region[3], src[3], dst[3];
    uint8_t touched[BYTES] = { 0 }, before[BYTES];
    bool meets = false;

    for (int i = 0; i < 3; i++) {
        region[i] = 1 + below(m, 8);
        src[i] = below(m, 16 - region[i]);
        dst[i] = below(m, 16 - region[i]);
    }
    memcpy(before, m->bytes[from], BYTES);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < region[0] * region[1] * region[2]; i++) {
            size_t x = i % region[0], y = i / region[0] % region[1], z = i / region[0] / region[1];
            size_t s = src[0] + x + (src[1] + y) * pitch[0] + (src[2] + z) * pitch[1];
            size_t d = dst[0] + x + (dst[1] + y) * pitch[0] + (dst[2] + z) * pitch[1];
            if (pass == 0) {
                touched[s] = 1;
            } else {
                meets |= from == to && touched[d];
            }
        }
    }
    cl_int error = clEnqueueCopyBufferRect(m->queue, m->buffer[from], m->buffer[to], src, dst, region, pitch[0],
                                           pitch[1], pitch[0], pitch[1], 0, NULL, NULL);
    assert_int_equal(error, meets ? CL_MEM_COPY_OVERLAP : CL_SUCCESS);
    for (size_t i = 0; i < region[0] * region[1] * region[2] && !meets; i++) {
        size_t x = i % region[0], y = i / region[0] % region[1], z = i / region[0] / region[1];
        m->bytes[to][dst[0] + x + (dst[1] + y) * pitch[0] + (dst[2] + z) * pitch[1]] =
            before[src[0] + x + (src[1] + y) * pitch[0] + (src[2] + z) * pitch[1]];
    }
}

static void step_map(struct model *m, uint32_t to)
{
    size_t at = below(m, BYTES), count = 1 + below(m, BYTES - at);
    cl_int error = CL_SUCCESS;
    uint8_t *bytes = clEnqueueMapBuffer(m->queue, m->buffer[to], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at, count, 0,
                                        NULL, NULL, &error);

    check(error);
    assert_memory_equal(bytes, &m->bytes[to][at], count);
    bytes[count / 2] ^= 0xff;
    m->bytes[to][at + count / 2] ^= 0xff;
    check(clEnqueueUnmapMemObject(m->queue, m->buffer[to], bytes, 0, NULL, NULL));
}

static void step_read(struct model *m, uint32_t from)
{
    uint8_t bytes[BYTES];

    check(clEnqueueReadBuffer(m->queue, m->buffer[from], CL_TRUE, 0, BYTES, bytes, 0, NULL, NULL));
    assert_memory_equal(bytes, m->bytes[from], BYTES);
}

static void random_transfers(void **state)
{
    static void (*const steps[])(struct model *, uint32_t) = { step_write, step_copy, step_fill,
                                                               step_rect,  step_map,  step_read };
    struct fixture *f = *state;
    struct model *m = calloc(1, sizeof(*m));
    static uint8_t shadow[BYTES];

    assert_non_null(m);
    m->fixture = f;
    m->queue = f->queue;
    m->random = fixture_seed();
    memset(shadow, 0, sizeof(shadow));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        m->buffer[i] =
            i == 0 ? fixture_buffer(f, CL_MEM_USE_HOST_PTR, BYTES, shadow) : fixture_buffer(f, 0, BYTES, NULL);
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        steps[below(m, PPU_ARRAY_SIZE(steps))](m, (uint32_t)below(m, BUFFERS));
    }
    for (uint32_t i = 0; i < BUFFERS; i++) {
        step_read(m, i);
        check(clReleaseMemObject(m->buffer[i]));
    }
    free(m);
}

/* ---- errors ---- */

static void transfer_errors(void **state)
{
    struct fixture *f = *state;
    cl_mem buffer = fixture_buffer(f, CL_MEM_HOST_NO_ACCESS, 256, NULL);
    cl_mem open = fixture_buffer(f, 0, 256, NULL);
    const size_t zero[3] = { 0, 0, 0 }, one[3] = { 1, 1, 1 }, wide[3] = { 300, 1, 1 }, none[3] = { 1, 0, 1 };
    char data[512] = { 0 };
    cl_int error = CL_SUCCESS;

    assert_int_equal(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, data, 0, NULL, NULL), CL_INVALID_OPERATION);
    assert_int_equal(clEnqueueWriteBuffer(f->queue, buffer, CL_TRUE, 0, 4, data, 0, NULL, NULL), CL_INVALID_OPERATION);
    assert_null(clEnqueueMapBuffer(f->queue, buffer, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    assert_int_equal(clEnqueueReadBuffer(f->queue, open, CL_TRUE, 250, 7, data, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBuffer(f->queue, open, CL_TRUE, 0, SIZE_MAX, data, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBuffer(f->queue, open, CL_TRUE, 0, 4, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillBuffer(f->queue, open, data, 3, 0, 6, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillBuffer(f->queue, open, data, 4, 2, 8, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueReadBufferRect(f->queue, open, CL_TRUE, zero, zero, wide, 0, 0, 0, 0, data, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueReadBufferRect(f->queue, open, CL_TRUE, zero, zero, none, 0, 0, 0, 0, data, 0, NULL, NULL),
        CL_INVALID_VALUE);
    const size_t far[3] = { 0, SIZE_MAX / 2, SIZE_MAX / 2 };
    assert_int_equal(
        clEnqueueWriteBufferRect(f->queue, open, CL_TRUE, far, zero, one, 64, 0, 0, 0, data, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_null(clEnqueueMapBuffer(f->queue, open, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, 0, NULL,
                                   NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_int_equal(clEnqueueUnmapMemObject(f->queue, open, data, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueMigrateMemObjects(f->queue, 0, NULL, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    check(clEnqueueMigrateMemObjects(f->queue, 1, &open, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    check(clReleaseMemObject(buffer));
    check(clReleaseMemObject(open));
}

static void strangers_are_refused(void **state)
{
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    char byte = 0;

    cl_context other = clCreateContext(NULL, 1, &f->device, NULL, NULL, &error);
    check(error);
    cl_mem buffer = clCreateBuffer(other, 0, 16, NULL, &error);
    check(error);
    cl_event event = clCreateUserEvent(other, &error);
    check(error);
    assert_int_equal(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 1, &byte, 0, NULL, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueMarkerWithWaitList(f->queue, 1, &event, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueMarkerWithWaitList(f->queue, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueMarkerWithWaitList(f->queue, 0, &event, NULL), CL_INVALID_EVENT_WAIT_LIST);
    check(clReleaseEvent(event));
    check(clReleaseMemObject(buffer));
    check(clReleaseContext(other));
}

/* ---- views of the same bytes ---- */

static void sub_buffers_share(void **state)
{
    struct fixture *f = *state;
    cl_mem buffer = fixture_buffer(f, 0, 1024, NULL);
    const cl_buffer_region region = { 256, 256 };
    cl_int error = CL_SUCCESS;
    uint32_t value = 0x12345678, seen = 0;

    cl_mem sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    check(error);
    check(clReleaseMemObject(buffer)); /* the part keeps the whole */
    check(clEnqueueWriteBuffer(f->queue, sub, CL_FALSE, 4, 4, &value, 0, NULL, NULL));
    assert_int_equal(clEnqueueCopyBuffer(f->queue, sub, buffer, 0, 300, 64, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    check(clEnqueueCopyBuffer(f->queue, sub, buffer, 4, 0, 4, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, &seen, 0, NULL, NULL));
    assert_int_equal(seen, value);
    check(clReleaseMemObject(sub));
}

static void host_pointer_is_kept_up(void **state)
{
    struct fixture *f = *state;
    uint32_t host[64];
    cl_int error = CL_SUCCESS;
    const uint32_t seven = 7;

    memset(host, 0, sizeof(host));
    host[3] = 3;
    cl_mem buffer = fixture_buffer(f, CL_MEM_USE_HOST_PTR, sizeof(host), host);
    check(clEnqueueFillBuffer(f->queue, buffer, &seven, 4, 0, 8, 0, NULL, NULL));
    uint32_t *mapped =
        clEnqueueMapBuffer(f->queue, buffer, CL_TRUE, CL_MAP_READ, 0, sizeof(host), 0, NULL, NULL, &error);
    check(error);
    assert_ptr_equal(mapped, host);
    assert_int_equal(host[0], 7);
    assert_int_equal(host[3], 3);
    cl_uint maps = 0;
    check(clGetMemObjectInfo(buffer, CL_MEM_MAP_COUNT, sizeof(maps), &maps, NULL));
    assert_int_equal(maps, 1);
    check(clEnqueueUnmapMemObject(f->queue, buffer, mapped, 0, NULL, NULL));
    check(clReleaseMemObject(buffer));
}

static bool has_svm(struct fixture *f)
{
    cl_device_svm_capabilities svm = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_SVM_CAPABILITIES, sizeof(svm), &svm, NULL));
    return svm != 0;
}

static void svm_is_one_address(void **state)
{
    struct fixture *f = *state;
    const uint32_t nine = 9;
    uint32_t seen = 0;

    if (!has_svm(f)) {
        assert_null(clSVMAlloc(f->context, CL_MEM_READ_WRITE, 64, 0));
        assert_int_equal(clEnqueueSVMFree(f->queue, 0, NULL, NULL, NULL, 0, NULL, NULL), CL_INVALID_OPERATION);
        return;
    }
    uint32_t *shared = clSVMAlloc(f->context, CL_MEM_READ_WRITE, 3u << 20, 0);
    uint32_t *other = clSVMAlloc(f->context, CL_MEM_READ_WRITE, 64, 128);
    assert_non_null(shared);
    assert_non_null(other);
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_WRITE, 0, 0));
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_WRITE, 64, 3));
    assert_null(clSVMAlloc(f->context, CL_MEM_HOST_NO_ACCESS, 64, 0));
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, 0));
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_WRITE | CL_MEM_SVM_ATOMICS, 64, 0));
    check(clEnqueueSVMMemFill(f->queue, shared, &nine, 4, 64, 0, NULL, NULL));
    check(clEnqueueSVMMap(f->queue, CL_TRUE, CL_MAP_READ, shared, 64, 0, NULL, NULL));
    assert_int_equal(shared[15], 9);
    check(clEnqueueSVMUnmap(f->queue, shared, 0, NULL, NULL));
    check(clEnqueueSVMMemcpy(f->queue, CL_TRUE, other, shared, 64, 0, NULL, NULL));
    assert_int_equal(other[15], 9);
    assert_int_equal(clEnqueueSVMMemcpy(f->queue, CL_TRUE, shared, shared + 1, 64, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    /* The PPU's copy engine reads it at the host's address. */
    cl_mem buffer = fixture_buffer(f, CL_MEM_USE_HOST_PTR, 1u << 20, shared);
    cl_mem target = fixture_buffer(f, 0, 1u << 20, NULL);
    cl_bool uses = CL_FALSE;
    check(clGetMemObjectInfo(buffer, CL_MEM_USES_SVM_POINTER, sizeof(uses), &uses, NULL));
    assert_int_equal(uses, CL_TRUE);
    shared[100000] = 1234;
    check(clEnqueueCopyBuffer(f->queue, buffer, target, 0, 0, 1u << 20, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, target, CL_TRUE, 400000, 4, &seen, 0, NULL, NULL));
    assert_int_equal(seen, 1234);
    check(clReleaseMemObject(buffer));
    check(clReleaseMemObject(target));
    void *pointers[] = { shared, other };
    cl_event freed = NULL;
    check(clEnqueueSVMFree(f->queue, 2, pointers, NULL, NULL, 0, NULL, &freed));
    check(clWaitForEvents(1, &freed));
    check(clReleaseEvent(freed));
    cl_int error = clEnqueueSVMMigrateMem(f->queue, 1, (const void **)pointers, NULL, 0, 0, NULL, NULL);
    assert_int_equal(error, CL_INVALID_VALUE);
}

#define TURNS 50

/* Host and a kernel that runs hand a ball to each other, by nothing but what both see in shared memory. */
static void a_running_kernel_and_the_host_talk(void **state)
{
    static const char *const text =
        "kernel void k(volatile global atomic_int *ball, global int *sum, int turns)\n"
        "{\n"
        "    for (int i = 0; i < turns; i++) {\n"
        "        while (atomic_load_explicit(ball, memory_order_acquire, memory_scope_all_svm_devices) != 2 * i + 1) {}\n"
        "        *sum += i;\n"
        "        atomic_fetch_add_explicit(ball, 1, memory_order_acq_rel, memory_scope_all_svm_devices);\n"
        "    }\n"
        "}\n";
    struct fixture *f = *state;
    cl_device_svm_capabilities has = 0;
    const size_t one = 1;
    const cl_int turns = TURNS;

    check(clGetDeviceInfo(f->device, CL_DEVICE_SVM_CAPABILITIES, sizeof(has), &has, NULL));
    if (has == 0) {
        return; /* where the host sees no VRAM at the device's addresses */
    }
    assert_int_equal(has, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS);
    cl_kernel kernel = fixture_kernel(f, text, "k");
    int32_t *shared =
        clSVMAlloc(f->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 4096, 0);
    assert_non_null(shared);
    shared[0] = shared[512] = 0; /* no map, no unmap */
    check(clSetKernelArgSVMPointer(kernel, 0, shared));
    check(clSetKernelArgSVMPointer(kernel, 1, shared + 512));
    check(clSetKernelArg(kernel, 2, sizeof(turns), &turns));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    check(clFlush(f->queue));
    for (int32_t i = 0; i < TURNS; i++) {
        assert_int_equal(shared[512], i * (i - 1) / 2); /* of the turns so far */
        __atomic_fetch_add(&shared[0], 1, __ATOMIC_ACQ_REL);
        while (__atomic_load_n(&shared[0], __ATOMIC_ACQUIRE) != 2 * i + 2) {
            sched_yield();
        }
    }
    check(clFinish(f->queue));
    clSVMFree(f->context, shared);
    check(clReleaseKernel(kernel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("random transfers leave what memory would hold [F6]", random_transfers),
        cl_test("wrong transfers get their errors and do nothing [F6]", transfer_errors),
        cl_test("objects of another context are refused [A9]", strangers_are_refused),
        cl_test("a sub-buffer shares its bytes with the whole [F6]", sub_buffers_share),
        cl_test("a host pointer shows the buffer while it is mapped [F6]", host_pointer_is_kept_up),
        cl_test("shared virtual memory has one address on both sides", svm_is_one_address),
        cl_test("a running kernel and the host talk by shared virtual memory", a_running_kernel_and_the_host_talk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
