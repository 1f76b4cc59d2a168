/* SPDX-License-Identifier: MIT */
/* Tests program images from elsewhere: refused with a reason, or used like any other, whatever their entries say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/image.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define ROUNDS 1500u
#define THREADS 64u

static const char *const source =
    "kernel void k(global uint *o, local uint *l, queue_t q, constant uint *c, char v, long16 w)\n"
    "{ l[get_local_id(0)] = v; if (v == 77) printf(\"%d %s\\n\", v, \"x\"); o[get_global_id(0)] = l[0] + c[0] + (uint)w.s3; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void f(global float *a, float b) { a[get_global_id(0)] = b; }\n";

/* What a program does with an image: all that reads entries. */
struct user {
    struct fixture *fixture;
    cl_context context;
    cl_command_queue queue, device_queue;
    cl_mem buffer, pipe, images[8]; /* an image of each kind of argument */
    cl_sampler sampler;
    char notice[500];
    uint32_t taken, refused, launched;
};

static void CL_CALLBACK note(const char *text, const void *info, size_t bytes, void *user)
{
    struct user *u = user;

    (void)info;
    (void)bytes;
    snprintf(u->notice, sizeof(u->notice), "%s", text);
}

static void make_images(struct user *user)
{
    static const struct {
        cl_mem_object_type type;
        cl_channel_order order;
    } rows[] = {
        { CL_MEM_OBJECT_IMAGE1D, CL_RGBA },        { CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_RGBA },
        { CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_RGBA },  { CL_MEM_OBJECT_IMAGE2D, CL_RGBA },
        { CL_MEM_OBJECT_IMAGE2D, CL_DEPTH },       { CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_RGBA },
        { CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_DEPTH }, { CL_MEM_OBJECT_IMAGE3D, CL_RGBA },
    };
    cl_int error = CL_SUCCESS;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        const cl_image_format format = { rows[i].order, CL_FLOAT };
        const cl_image_desc desc = {
            .image_type = rows[i].type,
            .image_width = 4,
            .image_height = 4,
            .image_depth = 4,
            .image_array_size = 2,
            .mem_object = rows[i].type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? user->buffer : NULL,
        };
        user->images[i] = clCreateImage(user->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
        check(error);
    }
}

static void user_open(struct user *user, struct fixture *fixture)
{
    const cl_queue_properties on_device[] = { CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE, 0 };
    cl_int error = CL_SUCCESS;

    *user = (struct user){ .fixture = fixture };
    user->context = clCreateContext(NULL, 1, &fixture->device, note, user, &error);
    check(error);
    user->queue = clCreateCommandQueueWithProperties(user->context, fixture->device, NULL, &error);
    check(error);
    user->device_queue = clCreateCommandQueueWithProperties(user->context, fixture->device, on_device, &error);
    check(error);
    user->buffer = clCreateBuffer(user->context, 0, 65536, NULL, &error);
    check(error);
    make_images(user);
    user->sampler = clCreateSampler(user->context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error);
    check(error);
    user->pipe = clCreatePipe(user->context, 0, sizeof(cl_uint), 16, NULL, &error);
    check(error);
}

static void user_close(struct user *user)
{
    check(clFinish(user->queue));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(user->images); i++) {
        check(clReleaseMemObject(user->images[i]));
    }
    check(clReleaseSampler(user->sampler));
    check(clReleaseMemObject(user->pipe));
    check(clReleaseMemObject(user->buffer));
    check(clReleaseCommandQueue(user->device_queue));
    check(clReleaseCommandQueue(user->queue));
    check(clReleaseContext(user->context));
}

static void ask(const struct user *user, cl_kernel kernel, cl_uint arguments)
{
    char text[200];
    cl_ulong number = 0;
    size_t group[3];

    (void)clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(text), text, NULL);
    (void)clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof(text), text, NULL);
    (void)clGetKernelWorkGroupInfo(kernel, user->fixture->device, CL_KERNEL_LOCAL_MEM_SIZE, 8, &number, NULL);
    (void)clGetKernelWorkGroupInfo(kernel, user->fixture->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(group),
                                   group, NULL);
    for (cl_uint i = 0; i < arguments; i++) {
        (void)clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof(text), text, NULL);
        (void)clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof(text), text, NULL);
        (void)clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, 8, &number, NULL);
    }
}

/* The first form that is taken. */
static bool set(const struct user *user, cl_kernel kernel, cl_uint i)
{
    static const char zeros[PPU_MAX_PARAM];

    if (clSetKernelArg(kernel, i, sizeof(user->buffer), &user->buffer) == CL_SUCCESS ||
        clSetKernelArg(kernel, i, sizeof(user->device_queue), &user->device_queue) == CL_SUCCESS ||
        clSetKernelArg(kernel, i, sizeof(user->sampler), &user->sampler) == CL_SUCCESS ||
        clSetKernelArg(kernel, i, sizeof(user->pipe), &user->pipe) == CL_SUCCESS ||
        clSetKernelArg(kernel, i, 256, NULL) == CL_SUCCESS) {
        return true;
    }
    for (size_t n = 0; n < PPU_ARRAY_SIZE(user->images); n++) {
        if (clSetKernelArg(kernel, i, sizeof(cl_mem), &user->images[n]) == CL_SUCCESS) {
            return true;
        }
    }
    for (size_t bytes = 0; bytes <= sizeof(zeros); bytes++) {
        if (clSetKernelArg(kernel, i, bytes, zeros) == CL_SUCCESS) {
            return true;
        }
    }
    return false;
}

static void launch(struct user *user, cl_kernel kernel)
{
    const size_t global[2] = { THREADS, 2 };
    cl_int error = CL_SUCCESS;
    cl_uint arguments = 0;

    check(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(arguments), &arguments, NULL));
    ask(user, kernel, arguments);
    for (cl_uint i = 0; i < arguments; i++) {
        if (!set(user, kernel, i)) {
            return; /* its entry says that it has more bytes than there are here */
        }
    }
    for (cl_uint dim = 1; dim <= 2; dim++) {
        user->launched += clEnqueueNDRangeKernel(user->queue, kernel, dim, NULL, global, NULL, 0, NULL, NULL) == 0;
    }
    (void)clFinish(user->queue);
    cl_kernel clone = clCloneKernel(kernel, &error);
    check(error);
    check(clReleaseKernel(clone));
}

static void use(struct user *user, const uint8_t *image, size_t bytes)
{
    cl_int status = CL_SUCCESS, error = CL_SUCCESS;
    cl_kernel kernels[2] = { NULL, NULL };
    cl_uint count = 0;

    user->notice[0] = '\0';
    cl_program program =
        clCreateProgramWithBinary(user->context, 1, &user->fixture->device, &bytes, &image, &status, &error);
    if (!program) {
        assert_true(error == CL_INVALID_BINARY || error == CL_OUT_OF_RESOURCES);
        assert_non_null(strstr(user->notice, "clCreateProgramWithBinary: "));
        user->refused++;
        return;
    }
    user->taken++;
    check(clCreateKernelsInProgram(program, 2, kernels, &count));
    for (cl_uint i = 0; i < count; i++) {
        launch(user, kernels[i]);
        check(clReleaseKernel(kernels[i]));
    }
    check(clReleaseProgram(program));
}

static uint8_t *make_image(struct fixture *f, size_t *bytes)
{
    cl_int error = CL_SUCCESS;
    const char *text = source;
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    check(clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(*bytes), bytes, NULL));
    uint8_t *image = malloc(*bytes);
    assert_non_null(image);
    check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(image), &image, NULL));
    check(clReleaseProgram(program));
    return image;
}

/* Without what the executable was made of, which lies behind the image. */
static size_t image_bytes(const uint8_t *image)
{
    struct ppu_program_header header;

    memcpy(&header, image, sizeof(header));
    return header.image_bytes;
}

/* ---- random entries ---- */

/* A number that is near one that is looked at, as wide as the field. */
static uint32_t interesting(uint64_t *random)
{
    static const uint32_t numbers[] = { 0, 1, 2, 4, 7, 8, 9, 16, 31, 32, 64, 128, 256, 1024, 4095, 4096, 4097 };
    uint32_t kind = fixture_random(random) % 8;

    return kind == 0   ? fixture_random(random)
           : kind == 1 ? UINT32_MAX
                       : numbers[fixture_random(random) % PPU_ARRAY_SIZE(numbers)];
}

/* One byte, half-word or word. Code and text stay: kernels should end. */
static void scribble(uint64_t *random, uint8_t *image, size_t from, size_t to)
{
    size_t bytes = (size_t)1 << fixture_random(random) % 3, positions = (to - from) / bytes;
    uint32_t value = interesting(random);

    if (positions > 0) {
        memcpy(image + from + fixture_random(random) % positions * bytes, &value, bytes);
    }
}

static void entries_say_anything(void **state)
{
    uint64_t random = fixture_seed();
    struct ppu_program_view view = { .header = NULL };
    struct user user;
    size_t bytes = 0;
    uint8_t *image = make_image(*state, &bytes), *copy = malloc(bytes);

    assert_non_null(copy);
    user_open(&user, *state);
    assert_null(ppu_program_open(image, image_bytes(image), &view));
    size_t kernels = sizeof(*view.header), arguments = (size_t)((const uint8_t *)view.arguments - image);
    size_t text = (size_t)((const uint8_t *)view.text - image);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        memcpy(copy, image, bytes);
        for (uint32_t n = fixture_random(&random) % 3; n > 0; n--) {
            bool of_kernel = fixture_random(&random) % 3 == 0;
            scribble(&random, copy, of_kernel ? kernels : arguments,
                     of_kernel ? kernels + 2 * sizeof(view.kernels[0]) : text);
        }
        /* Where it begins is not what is looked at: code from the middle on may be without end. */
        for (uint32_t k = 0; k < 2; k++) {
            memcpy(copy + kernels + k * sizeof(view.kernels[0]) + offsetof(struct ppu_kernel_entry, entry),
                   &view.kernels[k].entry, sizeof(uint32_t));
        }
        use(&user, copy, bytes);
    }
    print_message("# %u taken, %u launches, %u refused\n", user.taken, user.launched, user.refused);
    assert_true(user.taken > ROUNDS / 10 && user.refused > ROUNDS / 10 && user.launched > 0);
    user_close(&user);
    free(copy);
    free(image);
}

/* ---- entries that once led out of the parameters ---- */

static void arguments_stay_inside(void **state)
{
    struct ppu_program_view view = { .header = NULL };
    struct user user;
    size_t bytes = 0;
    uint8_t *image = make_image(*state, &bytes);

    if (ppu_program_open(image, image_bytes(image), &view) || !view.arguments) {
        fail_msg("the image is refused");
        return;
    }
    user_open(&user, *state);
    for (uint32_t i = 0; i < 4; i++) {
        struct ppu_argument_entry *argument = (struct ppu_argument_entry *)(uintptr_t)&view.arguments[i];
        const struct ppu_argument_entry right = *argument;
        argument->offset = PPU_MAX_PARAM;
        argument->bytes = 0;
        use(&user, image, bytes);
        assert_string_equal(user.notice, "clCreateProgramWithBinary: argument has a size that its kind cannot have");
        *argument = right;
    }
    assert_int_equal(user.refused, 4);
    use(&user, image, bytes);
    assert_int_equal(user.taken, 1);
    user_close(&user);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("arguments that lie outside of the parameters are refused [F6]", arguments_stay_inside),
        cl_test("images whose entries say anything are refused or used [F6]", entries_say_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
