/* SPDX-License-Identifier: MIT */
/*
 * Tests kernels that check themselves: wrong ones are reported with their line and others are not, what a report says,
 * and what becomes of wrong accesses.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define WORK_ITEMS 64u
#define GROUP 32u
#define NUMBERS 64u
#define AMID 256u /* of the buffer of which the second argument is a part */
#define PART 100u
#define PART_AT 32u
#define NAME_BYTES 64u
#define MANY 150u     /* arguments that are numbers */
#define POINTERS 257u /* that are pointers: more than have bounds, and than the parameters have room for */
#define LINE_BYTES 400u
#define MARK "// wrong"

/* What the context's callback was told. */
static struct {
    pthread_mutex_t lock;
    char *text;
    useconds_t pause_us; /* before it notes anything */
} told = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void CL_CALLBACK listen(const char *text, const void *data, size_t bytes, void *user)
{
    char *all = NULL;

    (void)data;
    (void)bytes;
    (void)user;
    usleep(told.pause_us);
    pthread_mutex_lock(&told.lock);
    if (asprintf(&all, "%s%s", told.text ? told.text : "", text) >= 0) {
        free(told.text);
        told.text = all;
    }
    pthread_mutex_unlock(&told.lock);
}

/* All since the last call; to be freed. */
static char *take_reports(void)
{
    pthread_mutex_lock(&told.lock);
    char *text = told.text ? told.text : strdup("");
    told.text = NULL;
    pthread_mutex_unlock(&told.lock);
    return text;
}

/* A context that listens, and a queue. */
struct listener {
    struct fixture *fixture;
    cl_context context;
    cl_command_queue queue;
};

static struct listener listener_new(struct fixture *f)
{
    struct listener l = { .fixture = f };
    cl_int error = CL_SUCCESS;

    l.context = clCreateContext(NULL, 1, &f->device, listen, NULL, &error);
    check(error);
    l.queue = clCreateCommandQueueWithProperties(l.context, f->device, NULL, &error);
    check(error);
    free(take_reports());
    return l;
}

static void listener_end(struct listener *l)
{
    check(clFinish(l->queue));
    check(clReleaseCommandQueue(l->queue));
    check(clReleaseContext(l->context));
}

/* What get_default_queue() gives kernels. */
static cl_command_queue device_queue_new(struct listener *l)
{
    const cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0
    };
    cl_int error = CL_SUCCESS;

    cl_command_queue queue = clCreateCommandQueueWithProperties(l->context, l->fixture->device, properties, &error);
    check(error);
    return queue;
}

static cl_program build(struct listener *l, const char *text, const char *options)
{
    cl_int error = CL_SUCCESS;
    char log[4000] = "";

    cl_program program = clCreateProgramWithSource(l->context, 1, &text, NULL, &error);
    check(error);
    error = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        clGetProgramBuildInfo(program, l->fixture->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fail_msg("%d: %s", error, log);
    }
    return program;
}

static void run_one(struct listener *l, cl_program program, const char *name, cl_mem a, size_t global)
{
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &a));
    check(clEnqueueNDRangeKernel(l->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clFinish(l->queue));
    check(clReleaseKernel(kernel));
}

/* ---- files of wrong kernels and their twins ---- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1u << 20);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1u << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The arguments of all kernels in the files. */
struct arguments {
    cl_mem a, amid, b, c;
};

static cl_mem empty_buffer(struct listener *l, size_t numbers)
{
    cl_int error = CL_SUCCESS;
    cl_mem made = clCreateBuffer(l->context, CL_MEM_READ_WRITE, numbers * sizeof(cl_int), NULL, &error);

    check(error);
    return made;
}

static cl_mem buffer(struct listener *l, size_t numbers)
{
    cl_int *zeros = calloc(numbers, sizeof(cl_int));
    cl_int error = CL_SUCCESS;

    cl_mem made = clCreateBuffer(l->context, CL_MEM_COPY_HOST_PTR, numbers * sizeof(cl_int), zeros, &error);
    check(error);
    free(zeros);
    return made;
}

/* `make`: of a and b. */
static struct arguments arguments_new(struct listener *l, cl_mem (*make)(struct listener *l, size_t numbers))
{
    const cl_buffer_region part = { PART_AT * sizeof(cl_int), PART * sizeof(cl_int) };
    struct arguments arguments = { make(l, NUMBERS), make(l, AMID), NULL, buffer(l, 16) };
    cl_int error = CL_SUCCESS;

    arguments.b = clCreateSubBuffer(arguments.amid, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &error);
    check(error);
    return arguments;
}

static void arguments_end(struct arguments *arguments)
{
    check(clReleaseMemObject(arguments->b));
    check(clReleaseMemObject(arguments->amid));
    check(clReleaseMemObject(arguments->a));
    check(clReleaseMemObject(arguments->c));
}

static void launch(struct listener *l, cl_kernel kernel, const struct arguments *arguments)
{
    const size_t global = WORK_ITEMS, local = GROUP;
    const cl_uint n = NUMBERS;

    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &arguments->a));
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &arguments->b));
    check(clSetKernelArg(kernel, 2, sizeof(cl_mem), &arguments->c));
    check(clSetKernelArg(kernel, 3, 32 * sizeof(cl_int), NULL));
    check(clSetKernelArg(kernel, 4, sizeof(cl_mem), NULL));
    check(clSetKernelArg(kernel, 5, sizeof(n), &n));
    check(clEnqueueNDRangeKernel(l->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
}

/* The number of the line with the mark that comes first from there on. */
static uint32_t marked_line(const char *text, const char *from)
{
    const char *mark = strstr(from, MARK);
    uint32_t line = 1;

    assert_non_null(mark);
    for (const char *at = text; at < mark; at++) {
        line += *at == '\n';
    }
    return line;
}

/* Where the next kernel's name begins behind `at`; NULL: there is none. */
static const char *next_kernel(const char *at, char name[NAME_BYTES])
{
    static const char before[] = "\nkernel void ";
    const char *found = strstr(at, before);

    if (found) {
        found += strlen(before);
        snprintf(name, NAME_BYTES, "%.*s", (int)strcspn(found, "("), found);
    }
    return found;
}

/* The line of a kernel's mark, or the first mark of all when its own code has none. */
static uint32_t expected_line(const char *text, const char *kernel)
{
    const char *mark = strstr(kernel, MARK), *end = strstr(kernel, "\n}\n");

    return marked_line(text, mark && mark < end ? kernel : text);
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* True when one report of `quoted` names the line. Counts them. */
static bool is_reported_of(const char *reports, const char *quoted, uint32_t line, uint32_t *count)
{
    char wanted[LINE_BYTES];
    bool found = false;

    snprintf(wanted, sizeof(wanted), ":%u:", line);
    for (const char *at = reports; (at = strstr(at, quoted)); at++) {
        const char *begin = at;
        while (begin > reports && begin[-1] != '\n') {
            begin--;
        }
        const char *site = strstr(begin, wanted);
        found |= site && site < at;
        (*count)++;
    }
    return found;
}

/* True when one report is of that kernel, or a block of it, and of the line. `count`: reports of the kernel. */
static bool is_reported(const char *reports, const char *kernel, uint32_t line, uint32_t *count)
{
    char quoted[NAME_BYTES + 16], block[NAME_BYTES + 32];

    *count = 0;
    snprintf(quoted, sizeof(quoted), " in kernel '%s'\n", kernel);
    snprintf(block, sizeof(block), " in kernel '__%s_block_invoke", kernel);
    bool found = is_reported_of(reports, quoted, line, count);
    return is_reported_of(reports, block, line, count) || found;
}

static uint32_t check_reports(const char *text, const char *reports)
{
    char name[NAME_BYTES];
    uint32_t count, wrong = 0;

    for (const char *at = text; (at = next_kernel(at, name));) {
        const bool is_wrong = ends_with(name, "_bad");
        bool found = is_reported(reports, name, is_wrong ? expected_line(text, at) : 0, &count);
        if (found != is_wrong || (!is_wrong && count != 0)) {
            fail_msg("%s: %u reports, %s of the line that is expected; all of them:\n%s", name, count,
                     found ? "one" : "none", reports);
        }
        wrong += is_wrong;
    }
    return wrong;
}

/*
 * Each wrong kernel of the file is reported with its line, and no other is; how many there are. `make`: for each
 * kernel, its a and b.
 */
static uint32_t run_file(struct fixture *f, const char *path, const char *options,
                         cl_mem (*make)(struct listener *l, size_t numbers))
{
    struct listener l = listener_new(f);
    cl_command_queue device_queue = device_queue_new(&l);
    char *text = read_file(path), name[NAME_BYTES];
    cl_program program = build(&l, text, options);
    cl_int error = CL_SUCCESS;

    for (const char *at = text; (at = next_kernel(at, name));) {
        struct arguments arguments = arguments_new(&l, make);
        cl_kernel kernel = clCreateKernel(program, name, &error);
        check(error);
        launch(&l, kernel, &arguments);
        check(clReleaseKernel(kernel));
        arguments_end(&arguments);
    }
    check(clFinish(l.queue));
    char *reports = take_reports();
    uint32_t wrong = check_reports(text, reports);
    free(reports);
    free(text);
    check(clReleaseProgram(program));
    check(clReleaseCommandQueue(device_queue));
    listener_end(&l);
    return wrong;
}

static void wrong_accesses_are_reported_and_their_twins_are_not(void **state)
{
    assert_true(run_file(*state, "tests/opencl/sanitizer/address.cl", "-cl-std=CL3.0 -fsanitize=address", buffer) >=
                56);
}

static void races_are_reported_and_their_twins_are_not(void **state)
{
    assert_true(run_file(*state, "tests/opencl/sanitizer/race.cl", "-cl-std=CL3.0 -fsanitize=race", buffer) >= 48);
}

static void divergent_barriers_are_reported_and_their_twins_are_not(void **state)
{
    assert_true(run_file(*state, "tests/opencl/sanitizer/barrier.cl", "-cl-std=CL3.0 -fsanitize=barrier", buffer) >=
                20);
}

static void reads_of_what_nobody_wrote_are_reported_and_their_twins_are_not(void **state)
{
    assert_true(run_file(*state, "tests/opencl/sanitizer/uninit.cl", "-cl-std=CL3.0 -fsanitize=uninit", empty_buffer) >=
                48);
}

static void wrong_arguments_are_reported_and_their_twins_are_not(void **state)
{
    assert_true(run_file(*state, "tests/opencl/sanitizer/argument.cl", "-cl-std=CL3.0 -fsanitize=argument", buffer) >=
                29);
}

static void lost_nested_work_is_reported_and_other_is_not(void **state)
{
    assert_true(run_file(*state, "tests/opencl/sanitizer/lost.cl", "-cl-std=CL3.0 -fsanitize=lost", buffer) >= 7);
    assert_true(run_file(*state, "tests/opencl/sanitizer/never_set.cl", "-cl-std=CL3.0 -fsanitize=lost", buffer) == 2);
}

/* Of kernels and of the blocks that they enqueue. */
static void races_of_nested_work_are_reported_and_their_twins_are_not(void **state)
{
    assert_true(run_file(*state, "tests/opencl/sanitizer/nested.cl", "-cl-std=CL3.0 -fsanitize=race,barrier", buffer) >=
                20);
}

/* The library's own kernels, which end events, are launched as they are. */
static void kernels_that_enqueue_with_events_run_with_all_checks(void **state)
{
    static const char text[] =
        "kernel void parent(global int *out)\n"
        "{\n"
        "    clk_event_t event;\n"
        "    out[1] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(8), 0, NULL, &event,\n"
        "                            ^{ out[2 + get_global_id(0)] += 7; });\n"
        "    out[0] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &event, NULL,\n"
        "                            ^{ out[10] = out[2] + out[9]; });\n"
        "    release_event(event);\n"
        "}\n";
    struct listener l = listener_new(*state);
    cl_command_queue device_queue = device_queue_new(&l);
    cl_program program = build(&l, text, "-cl-std=CL3.0 -fsanitize=all");
    cl_mem a = buffer(&l, 16);
    cl_int out[16];

    run_one(&l, program, "parent", a, 1);
    check(clEnqueueReadBuffer(l.queue, a, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    char *reports = take_reports();
    assert_string_equal(reports, "");
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 0);
    assert_int_equal(out[10], 14);
    free(reports);
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    check(clReleaseCommandQueue(device_queue));
    listener_end(&l);
}

/* ---- what a report says ---- */

static void assert_says(const char *reports, const char *wanted)
{
    if (!strstr(reports, wanted)) {
        fail_msg("'%s' is not in\n%s", wanted, reports);
    }
}

static void a_report_names_site_work_item_distance_value_and_allocation(void **state)
{
    static const char text[] = "kernel void says_all(global int *out)\n"
                               "{\n"
                               "    out[get_global_id(0) + 8] = 77;\n"
                               "}\n";
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=address");
    cl_mem a = buffer(&l, 16);

    run_one(&l, program, "says_all", a, 9);
    char *reports = take_reports();
    assert_says(reports, "ppu: address: store of 4 bytes outside of argument 0 'out' (int*)\n");
    assert_says(reports, ":3:");
    assert_says(reports, " in kernel 'says_all'\n");
    assert_says(reports, "work-item (8, 0, 0), (8, 0, 0) in group (0, 0, 0)\n");
    assert_says(reports, "0 bytes behind the end of 64 bytes, value 0x4d\n");
    assert_says(reports, "memory of clCreateBuffer, call ");
    assert_says(reports, ", 64 bytes\n");
    free(reports);
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

static void a_report_of_an_unwritten_read_names_site_work_item_byte_and_allocation(void **state)
{
    static const char text[] = "kernel void unwritten(global int *out)\n"
                               "{\n"
                               "    if (get_global_id(0) == 5)\n"
                               "        out[0] = out[3];\n"
                               "}\n";
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=uninit");
    cl_mem a = empty_buffer(&l, 16);

    run_one(&l, program, "unwritten", a, 9);
    char *reports = take_reports();
    assert_says(reports, "ppu: uninit: load of 4 bytes that nobody wrote, argument 0 'out' (int*)\n");
    assert_says(reports, ":4:");
    assert_says(reports, " in kernel 'unwritten'\n");
    assert_says(reports, "work-item (5, 0, 0), (5, 0, 0) in group (0, 0, 0)\n");
    assert_says(reports, ", byte 12 of 64\n");
    assert_says(reports, "memory of clCreateBuffer, call ");
    free(reports);
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

static void a_report_of_an_argument_names_function_numbers_and_both_work_items(void **state)
{
    static const char text[] = "kernel void argues(global float *out)\n"
                               "{\n"
                               "    local float tile[16];\n"
                               "    const uint i = get_local_id(0);\n"
                               "    out[i] = clamp((float)i, 2.5f, i == 5 ? 0.75f : 3.0f);\n"
                               "    event_t e = async_work_group_copy(tile, out, i == 6 ? 12 : 13, 0);\n"
                               "    wait_group_events(1, &e);\n"
                               "}\n";
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=argument");
    cl_mem a = buffer(&l, 16);

    run_one(&l, program, "argues", a, 9);
    char *reports = take_reports();
    assert_says(reports, "ppu: argument: clamp(): the minimum is above the maximum: 2.5, 0.75\n  at ");
    assert_says(reports, ":5:14 in kernel 'argues'\n  work-item (5, 0, 0), (5, 0, 0) in group (0, 0, 0)\n");
    assert_says(reports, "ppu: argument: async_work_group_copy(): the number of elements differs among the group's "
                         "work-items: ");
    assert_says(reports,
                ":6:17 in kernel 'argues'\n  work-item (6, 0, 0), (6, 0, 0) in group (0, 0, 0)\n  the other at ");
    assert_says(reports, ":6:17 in kernel 'argues'\n  work-item (0, 0, 0) in group (0, 0, 0)\n");
    free(reports);
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

/* An image of 8 by 4 texels of four channels. */
static cl_mem image(struct listener *l, cl_channel_type type)
{
    const cl_image_format format = { CL_RGBA, type };
    const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 4 };
    cl_int error = CL_SUCCESS;

    cl_mem made = clCreateImage(l->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    check(error);
    return made;
}

/* A kernel of two images, one of floats and one of unsigned integers, that does this at (i, j); what is reported. */
static const struct {
    const char *does, *report; /* NULL: nothing is */
} image_uses[] = {
    { "read_imagef(floats, (int2)(i, j))", NULL },
    { "read_imageui(numbers, (int2)(i, j))", NULL },
    { "read_imagef(numbers, (int2)(i, j))",
      "read_imagef(): the function is not for the channel type of the image: 0x10dc\
" },
    { "read_imagei(numbers, (int2)(i, j))",
      "read_imagei(): the function is not for the channel type of the image: 0x10dc\
" },
    { "read_imageui(floats, (int2)(i, j))",
      "read_imageui(): the function is not for the channel type of the image: 0x10de\
" },
    { "read_imagef(floats, (int2)(i + 1, j))", "read_imagef(): the coordinate is outside of the image: 8, 8\
" },
    { "read_imagef(floats, (int2)(i, j - 1))", "read_imagef(): the coordinate is outside of the image: -1, 4\
" },
    { "read_imagef(floats, edge, (int2)(i + 1, j - 1))", NULL },
    { "read_imagef(floats, none, (int2)(i, j))", NULL },
    { "read_imagef(floats, none, (int2)(i, j + 1))", "read_imagef(): the coordinate is outside of the image: 4, 4\
" },
    { "read_imagef(floats, smooth, (float2)(i, j))", NULL },
    { "read_imagef(floats, smooth, (int2)(i, j))",
      "read_imagef(): the sampler is none for coordinates or texels that are integers: 0x22\
" },
    { "read_imageui(numbers, smooth, (float2)(i, j))",
      "read_imageui(): the sampler is none for coordinates or texels that are integers: 0x22\
" },
    { "read_imageui(numbers, normal, (float2)(i, j))", NULL },
    { "read_imageui(numbers, normal, (int2)(i, j))",
      "read_imageui(): the sampler is none for coordinates or texels that are integers: 0x13\
" },
    { "write_imageui(out, (int2)(i, j), (uint4)7)", NULL },
    { "write_imageui(out, (int2)(i, j + 3), (uint4)7)", "write_imageui(): the coordinate is outside of the image: 4, 4\
" },
    { "write_imagef(out, (int2)(i, j), (float4)7)",
      "write_imagef(): the function is not for the channel type of the image: 0x10dc\
" },
};

static char *reports_of_image_use(struct listener *l, const cl_mem images[3], uint32_t use)
{
    const size_t global[2] = { 8, 4 };
    cl_int error = CL_SUCCESS;
    char text[1000], name[16];

    snprintf(name, sizeof(name), "use%u", use);
    snprintf(
        text, sizeof(text),
        "constant sampler_t edge = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
        "constant sampler_t none = CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n"
        "constant sampler_t smooth = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n"
        "constant sampler_t normal = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
        "kernel void %s(read_only image2d_t floats, read_only image2d_t numbers, write_only image2d_t out)\n"
        "{ int i = get_global_id(0), j = get_global_id(1); (void)%s; }\n",
        name, image_uses[use].does);
    cl_program program = build(l, text, "-fsanitize=argument");
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error);
    for (cl_uint i = 0; i < 3; i++) {
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &images[i]));
    }
    check(clEnqueueNDRangeKernel(l->queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
    check(clFinish(l->queue));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
    return take_reports();
}

static void wrong_uses_of_images_are_reported_and_others_are_not(void **state)
{
    struct listener l = listener_new(*state);
    const cl_mem images[3] = { image(&l, CL_FLOAT), image(&l, CL_UNSIGNED_INT32), image(&l, CL_UNSIGNED_INT32) };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(image_uses); i++) {
        char *reports = reports_of_image_use(&l, images, i);
        if (image_uses[i].report) {
            assert_says(reports, image_uses[i].report);
        } else if (*reports != '\0') {
            fail_msg("%s: %s", image_uses[i].does, reports);
        }
        free(reports);
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(images); i++) {
        check(clReleaseMemObject(images[i]));
    }
    listener_end(&l);
}

/* With `w` and `v`: two packets of `p` that are to be written, and two of `r` that are to be read. */
static const struct {
    const char *does, *report; /* NULL: none */
} pipe_uses[] = {
    { "write_pipe(p, w, 0, &x); write_pipe(p, w, 1, &x); commit_write_pipe(p, w);", NULL },
    { "write_pipe(p, w, 2, &x); commit_write_pipe(p, w);",
      "write_pipe(): the index is not below the number of packets that are reserved: 2, 2\n" },
    { "commit_write_pipe(p, w); write_pipe(p, w, 0, &x);", "write_pipe(): it is no reservation for writing" },
    { "commit_write_pipe(p, w); commit_write_pipe(p, w);", "commit_write_pipe(): it is no reservation for writing" },
    { "write_pipe(q, w, 0, &x); commit_write_pipe(p, w);", "write_pipe(): it is no reservation for writing" },
    { "commit_write_pipe(q, w);", "commit_write_pipe(): it is no reservation for writing" },
    { "w = reserve_write_pipe(p, 100); if (is_valid_reserve_id(w)) write_pipe(p, w, 0, &x);", NULL },
    { "w = reserve_write_pipe(p, 100); write_pipe(p, w, 0, &x);", "write_pipe(): it is no reservation for writing" },
    { "if (write_pipe(p, &x) == 0) commit_write_pipe(p, w);", NULL },
    { "read_pipe(r, v, 1, &x); read_pipe(r, v, 0, &x); commit_read_pipe(r, v);", NULL },
    { "read_pipe(r, v, x, &x); commit_read_pipe(r, v);",
      "read_pipe(): the index is not below the number of packets that are reserved: 5, 2\n" },
    { "commit_read_pipe(r, v); read_pipe(r, v, 0, &x);", "read_pipe(): it is no reservation for reading" },
    { "commit_read_pipe(r, v); commit_read_pipe(r, v);", "commit_read_pipe(): it is no reservation for reading" },
    { "v = reserve_read_pipe(r, 1); read_pipe(r, v, 0, &x);", "read_pipe(): it is no reservation for reading" },
    { "w = work_group_reserve_write_pipe(p, 1); write_pipe(p, w, 0, &x); work_group_commit_write_pipe(p, w);", NULL },
    { "w = work_group_reserve_write_pipe(p, 1); work_group_commit_write_pipe(p, w); barrier(0); "
      "work_group_commit_write_pipe(p, w);",
      "work_group_commit_write_pipe(): it is no reservation for writing" },
    { "w = sub_group_reserve_write_pipe(p, 1); write_pipe(p, w, 0, &x); sub_group_commit_write_pipe(p, w);", NULL },
    { "v = sub_group_reserve_read_pipe(r, 1); sub_group_commit_read_pipe(r, v);",
      "sub_group_commit_read_pipe(): it is no reservation for reading" },
};

static cl_mem pipe_new(struct listener *l)
{
    cl_int error = CL_SUCCESS;
    cl_mem pipe = clCreatePipe(l->context, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, sizeof(cl_uint), 8, NULL, &error);

    check(error);
    return pipe;
}

static void run_with(struct listener *l, cl_program program, const char *name, const cl_mem *arguments, cl_uint count)
{
    const size_t global = 1;
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    check(error);
    for (cl_uint i = 0; i < count; i++) {
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &arguments[i]));
    }
    check(clEnqueueNDRangeKernel(l->queue, kernel, 1, NULL, &global, &global, 0, NULL, NULL));
    check(clFinish(l->queue));
    check(clReleaseKernel(kernel));
}

static char *reports_of_pipe_use(struct listener *l, uint32_t use)
{
    const cl_mem pipes[3] = { pipe_new(l), pipe_new(l), pipe_new(l) }; /* p, q, r */
    char text[1000], name[16];

    snprintf(name, sizeof(name), "pipe%u", use);
    snprintf(text, sizeof(text),
             "kernel void fill(write_only pipe uint r) { uint x = 7; write_pipe(r, &x); write_pipe(r, &x); }\n"
             "kernel void %s(write_only pipe uint p, write_only pipe uint q, read_only pipe uint r)\n"
             "{ uint x = 5;\n"
             "  reserve_id_t w = reserve_write_pipe(p, 2), v = reserve_read_pipe(r, 2);\n"
             "  %s }\n",
             name, pipe_uses[use].does);
    cl_program program = build(l, text, "-cl-std=CL3.0 -fsanitize=argument");
    run_with(l, program, "fill", &pipes[2], 1);
    run_with(l, program, name, pipes, 3);
    check(clReleaseProgram(program));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(pipes); i++) {
        check(clReleaseMemObject(pipes[i]));
    }
    return take_reports();
}

static void wrong_uses_of_pipes_are_reported_and_others_are_not(void **state)
{
    struct listener l = listener_new(*state);

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(pipe_uses); i++) {
        char *reports = reports_of_pipe_use(&l, i);
        if (pipe_uses[i].report) {
            assert_says(reports, pipe_uses[i].report);
        } else if (*reports != '\0') {
            fail_msg("%s: %s", pipe_uses[i].does, reports);
        }
        free(reports);
    }
    listener_end(&l);
}

static void a_site_is_reported_once(void **state)
{
    static const char text[] = "kernel void once(global int *out) { out[get_global_id(0) + 1000] = 1; }\n";
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=address");
    cl_mem a = buffer(&l, 16);

    run_one(&l, program, "once", a, 100);
    char *first = take_reports();
    assert_says(first, "kernel 'once'");
    assert_null(strstr(strstr(first, "kernel 'once'") + 1, "kernel 'once'"));
    run_one(&l, program, "once", a, 100);
    char *second = take_reports();
    assert_string_equal(second, "");
    free(first);
    free(second);
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

/* Of kernels that end, and of one that a fault ends. */
static void reports_are_told_before_the_command_has_ended(void **state)
{
    static const char text[] = "kernel void told_first(global int *out) { out[0] = get_global_id(0); }\n"
                               "kernel void told_fault(global int *out)\n"
                               "{\n"
                               "    out[0] = get_global_id(0);\n"
                               "    *(volatile global int *)(ulong)64 = 2;\n"
                               "}\n";
    static const struct {
        const char *name;
        cl_int error; /* of clFinish */
    } kernels[] = { { "told_first", CL_SUCCESS }, { "told_fault", CL_OUT_OF_RESOURCES } };
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=race");
    cl_mem a = buffer(&l, 16);
    const size_t global = 10;
    cl_int error = CL_SUCCESS;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(kernels); i++) {
        cl_kernel kernel = clCreateKernel(program, kernels[i].name, &error);
        check(error);
        check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &a));
        told.pause_us = 100000;
        check(clEnqueueNDRangeKernel(l.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
        assert_int_equal(clFinish(l.queue), kernels[i].error);
        told.pause_us = 0;
        char *reports = take_reports();
        assert_says(reports, "race: store of 4 bytes, argument 0 'out'");
        free(reports);
        check(clReleaseKernel(kernel));
    }
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

/* ---- what becomes of the access ---- */

static void wrong_stores_are_left_out_and_wrong_loads_give_zero(void **state)
{
    static const char text[] = "kernel void goes_on(global int *out)\n"
                               "{\n"
                               "    int there = out[get_global_id(0) + 1024 * 1024 * 1024];\n"
                               "    out[get_global_id(0) * 2] = there + 5;\n"
                               "}\n";
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=address");
    cl_mem a = buffer(&l, 8);
    cl_int out[8];

    run_one(&l, program, "goes_on", a, 8);
    check(clEnqueueReadBuffer(l.queue, a, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(out[i], i % 2 == 0 ? 5 : 0);
    }
    char *reports = take_reports();
    assert_says(reports, "load of 4 bytes outside of argument 0");
    assert_says(reports, "store of 4 bytes outside of argument 0");
    free(reports);
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

/* ---- what counts as written ---- */

#define HALF (NUMBERS / 2 * sizeof(cl_int)) /* bytes that are written: the first half */

static void by_write(struct listener *l, cl_mem to)
{
    const cl_int numbers[NUMBERS / 2] = { 0 };

    check(clEnqueueWriteBuffer(l->queue, to, CL_FALSE, 0, HALF, numbers, 0, NULL, NULL));
    check(clFinish(l->queue));
}

static void by_fill(struct listener *l, cl_mem to)
{
    const cl_int one = 1;

    check(clEnqueueFillBuffer(l->queue, to, &one, sizeof(one), 0, HALF, 0, NULL, NULL));
}

static void by_copy(struct listener *l, cl_mem to)
{
    cl_mem from = buffer(l, NUMBERS);

    check(clEnqueueCopyBuffer(l->queue, from, to, 0, 0, HALF, 0, NULL, NULL));
    check(clReleaseMemObject(from));
}

static void by_rectangle(struct listener *l, cl_mem to)
{
    const cl_int numbers[NUMBERS / 2] = { 0 };
    const size_t zero[3] = { 0 }, region[3] = { HALF / 4, 4, 1 };

    check(clEnqueueWriteBufferRect(l->queue, to, CL_TRUE, zero, zero, region, 0, 0, 0, 0, numbers, 0, NULL, NULL));
}

static void by_map(struct listener *l, cl_mem to)
{
    cl_int error = CL_SUCCESS;
    cl_int *numbers = clEnqueueMapBuffer(l->queue, to, CL_TRUE, CL_MAP_WRITE, 0, HALF, 0, NULL, NULL, &error);

    check(error);
    memset(numbers, 0, HALF);
    check(clEnqueueUnmapMemObject(l->queue, to, numbers, 0, NULL, NULL));
}

static void by_sub_buffer(struct listener *l, cl_mem to)
{
    const cl_buffer_region half = { 0, HALF };
    cl_int error = CL_SUCCESS;
    cl_mem part = clCreateSubBuffer(to, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &error);

    check(error);
    by_write(l, part);
    check(clReleaseMemObject(part));
}

/* A kernel that is not checked may write all that it is given. */
static void by_unchecked_kernel(struct listener *l, cl_mem to)
{
    const cl_buffer_region half = { 0, HALF };
    cl_program program = build(l, "kernel void plain(global int *a) { a[get_global_id(0)] = 1; }", "");
    cl_int error = CL_SUCCESS;
    cl_mem part = clCreateSubBuffer(to, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &error);

    check(error);
    run_one(l, program, "plain", part, NUMBERS / 2);
    check(clReleaseMemObject(part));
    check(clReleaseProgram(program));
}

/* What a thread launches writes through pointers of which nothing is known. */
static void by_child(struct listener *l, cl_mem to)
{
    static const char text[] = "kernel void parent(global int *a)\n"
                               "{\n"
                               "    void (^child)(void) = ^{ a[get_global_id(0)] = 1; };\n"
                               "    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(32),\n"
                               "                   child);\n"
                               "}\n";
    const cl_queue_properties wanted[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0
    };
    cl_int error = CL_SUCCESS, written = 0;
    cl_command_queue queue = clCreateCommandQueueWithProperties(l->context, l->fixture->device, wanted, &error);

    check(error);
    cl_program program = build(l, text, "-cl-std=CL3.0 -fsanitize=uninit");
    run_one(l, program, "parent", to, 1);
    check(clEnqueueReadBuffer(l->queue, to, CL_TRUE, 31 * sizeof(written), sizeof(written), &written, 0, NULL, NULL));
    assert_int_equal(written, 1);
    check(clReleaseProgram(program));
    check(clReleaseCommandQueue(queue));
}

static void by_checked_kernel(struct listener *l, cl_mem to)
{
    cl_program program =
        build(l, "kernel void careful(global int *a) { a[get_global_id(0)] = 1; }", "-fsanitize=uninit");

    run_one(l, program, "careful", to, NUMBERS / 2);
    check(clReleaseProgram(program));
}

/* Each way writes the first half: reads of it are right, and those of the other half are not. */
static void what_others_write_counts_as_written(void **state)
{
    static const struct {
        const char *name;
        void (*write)(struct listener *l, cl_mem to);
    } ways[] = {
        { "write", by_write },
        { "fill", by_fill },
        { "copy", by_copy },
        { "rectangle", by_rectangle },
        { "map", by_map },
        { "sub_buffer", by_sub_buffer },
        { "unchecked_kernel", by_unchecked_kernel },
        { "child", by_child },
        { "checked_kernel", by_checked_kernel },
    };
    struct listener l = listener_new(*state);
    char text[400];

    for (size_t i = 0; i < PPU_ARRAY_SIZE(ways); i++) {
        cl_mem a = empty_buffer(&l, NUMBERS);
        snprintf(text, sizeof(text),
                 "kernel void of_%s(global int *a)\n{\n    int x = a[get_global_id(0)];\n"
                 "    a[63] = x;\n}\n"
                 "kernel void beyond_%s(global int *a)\n{\n    a[63] = a[32 + get_global_id(0)];\n}\n",
                 ways[i].name, ways[i].name);
        cl_program program = build(&l, text, "-fsanitize=uninit");
        ways[i].write(&l, a);
        snprintf(text, sizeof(text), "of_%s", ways[i].name);
        run_one(&l, program, text, a, NUMBERS / 2);
        char *reports = take_reports();
        assert_string_equal(reports, "");
        free(reports);
        snprintf(text, sizeof(text), "beyond_%s", ways[i].name);
        run_one(&l, program, text, a, 1);
        reports = take_reports();
        assert_says(reports, text);
        free(reports);
        check(clReleaseProgram(program));
        check(clReleaseMemObject(a));
    }
    listener_end(&l);
}

/* ---- pointers in memory ---- */

/* Pointers that lie in memory: what they lead to is known by what was released, and by what lies behind objects. */
static void released_memory_and_the_space_behind_it_are_known(void **state)
{
    static const char text[] = "struct list { global int *first, *second; };\n"
                               "kernel void follow(global struct list *list)\n"
                               "{\n"
                               "    list->first[0] = 1;\n"
                               "    list->second[10] = 2;\n"
                               "    list->second[16] = 3;\n"
                               "}\n";
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=address");
    cl_int error = CL_SUCCESS;
    void **list = clSVMAlloc(l.context, CL_MEM_SVM_FINE_GRAIN_BUFFER, 16, 0);
    void *first = clSVMAlloc(l.context, 0, 64, 0), *second = clSVMAlloc(l.context, 0, 64, 0);
    const size_t one = 1;

    if (!list) { /* a device without it */
        check(clReleaseProgram(program));
        listener_end(&l);
        skip();
        return;
    }
    list[0] = first;
    list[1] = second;
    clSVMFree(l.context, first);
    cl_kernel kernel = clCreateKernel(program, "follow", &error);
    check(error);
    check(clSetKernelArgSVMPointer(kernel, 0, list));
    check(clEnqueueNDRangeKernel(l.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    check(clFinish(l.queue));
    char *reports = take_reports();
    assert_says(reports, "store of 4 bytes where nothing is, through a global pointer");
    assert_says(reports, ":4:");
    assert_says(reports, "64 bytes, released\n");
    assert_says(reports, ":6:");
    assert_null(strstr(reports, ":5:"));
    free(reports);
    check(clReleaseKernel(kernel));
    clSVMFree(l.context, list);
    clSVMFree(l.context, second);
    check(clReleaseProgram(program));
    listener_end(&l);
}

static void shared_memory_is_bounded_at_both_ends(void **state)
{
    /* Places are reported once: each text has another line. */
    static const char text[] = "\n\n\n\nkernel void around(global int *mid, int at) { mid[at] = 1; }\n";
    static const int ats[] = { -5, -4, 11, 12 };
    struct listener l = listener_new(*state);
    cl_int error = CL_SUCCESS;
    cl_int *piece = clSVMAlloc(l.context, 0, 64, 0);
    const size_t one = 1;
    char *reports[4];

    if (!piece) {
        listener_end(&l);
        skip();
        return;
    }
    for (uint32_t i = 0; i < 4; i++) {
        cl_program program = build(&l, text + i, "-fsanitize=address");
        cl_kernel kernel = clCreateKernel(program, "around", &error);
        check(error);
        check(clSetKernelArgSVMPointer(kernel, 0, piece + 4));
        check(clSetKernelArg(kernel, 1, sizeof(ats[i]), &ats[i]));
        check(clEnqueueNDRangeKernel(l.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
        check(clFinish(l.queue));
        check(clReleaseKernel(kernel));
        check(clReleaseProgram(program));
        reports[i] = take_reports();
    }
    assert_says(reports[0], "4 bytes before 64 bytes");
    assert_string_equal(reports[1], "");
    assert_string_equal(reports[2], "");
    assert_says(reports[3], "0 bytes behind the end of 64 bytes");
    for (uint32_t i = 0; i < 4; i++) {
        free(reports[i]);
    }
    clSVMFree(l.context, piece);
    listener_end(&l);
}

/* ---- races where arguments overlap, or one dimension does not tell work-items apart ---- */

/* Where the second argument's object lies; the first is the begin of a buffer of twice as many numbers. */
enum second {
    SECOND_APART,
    SECOND_SAME,
    SECOND_BEHIND, /* in the same buffer */
    SECOND_OVERLAPS,
    SECOND_SVM_SAME, /* both are pointers to one piece of shared virtual memory */
    SECOND_SVM_APART,
};

/* The body of a kernel of two arguments, and whether its race is reported. */
static const struct overlap {
    const char *name, *body;
    enum second second;
    size_t rows; /* of 64 work-items */
    bool reported;
} overlaps[] = {
    { "reads_apart", "a[x] = b[63 - x];", SECOND_APART, 1, false },
    { "reads_same", "a[x] = b[63 - x];", SECOND_SAME, 1, true },
    { "reads_behind", "a[x] = b[63 - x];", SECOND_BEHIND, 1, false },
    { "reads_overlap", "a[x] = b[63 - x];", SECOND_OVERLAPS, 1, true },
    { "reads_svm", "a[x] = b[63 - x];", SECOND_SVM_SAME, 1, true },
    { "reads_svm_apart", "a[x] = b[63 - x];", SECOND_SVM_APART, 1, false },
    { "writes_apart", "a[x] = x; b[x] += x;", SECOND_APART, 1, false },
    { "writes_same", "a[x] = x; b[63 - x] += x;", SECOND_SAME, 1, true },
    { "writes_rows", "a[x] = x; b[x] += x;", SECOND_APART, 2, true },
    { "writes_unknown", "global int *p[2] = { a, b }; a[x] = x; p[x & 1][63 - x] = x;", SECOND_APART, 1, true },
    { "reads_unknown", "global int *p[2] = { a, b }; a[x] = x; b[x] = p[x & 1][63 - x];", SECOND_APART, 1, true },
    { "writes_beside", "a[x] = x; b[x] = a[x ^ 1];", SECOND_APART, 1, true },
    { "atomic", "atomic_inc(&a[x]); b[x] = a[x ^ 1];", SECOND_APART, 1, true },
};

static void set_pieces(const struct overlap *overlap, cl_kernel kernel, cl_int *const pieces[2])
{
    check(clSetKernelArgSVMPointer(kernel, 0, pieces[0]));
    check(clSetKernelArgSVMPointer(kernel, 1, overlap->second == SECOND_SVM_SAME ? pieces[0] + 8 : pieces[1]));
}

/* The part of the buffer that is the second argument; released by the caller. */
static cl_mem set_parts(const struct overlap *overlap, cl_kernel kernel, cl_mem all, cl_mem apart, cl_mem *first)
{
    const size_t bytes = NUMBERS * sizeof(cl_int);
    const cl_buffer_region begin = { 0, bytes }, behind = { bytes, bytes }, across = { bytes / 2, bytes };
    const cl_buffer_region *region = overlap->second == SECOND_BEHIND     ? &behind
                                     : overlap->second == SECOND_OVERLAPS ? &across
                                                                          : &begin;
    cl_int error = CL_SUCCESS;

    *first = clCreateSubBuffer(all, 0, CL_BUFFER_CREATE_TYPE_REGION, &begin, &error);
    check(error);
    cl_mem second = clCreateSubBuffer(overlap->second == SECOND_APART ? apart : all, 0, CL_BUFFER_CREATE_TYPE_REGION,
                                      region, &error);
    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), first));
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &second));
    return second;
}

static void run_overlap(struct listener *l, const struct overlap *overlap)
{
    const size_t global[2] = { WORK_ITEMS, overlap->rows }, local[2] = { GROUP, 1 };
    const bool svm = overlap->second == SECOND_SVM_SAME || overlap->second == SECOND_SVM_APART;
    char text[LINE_BYTES];
    cl_int error = CL_SUCCESS;
    cl_mem all = buffer(l, 2 * NUMBERS), apart = buffer(l, NUMBERS), first = NULL, second = NULL;
    cl_int *pieces[2] = { NULL, NULL };

    snprintf(text, sizeof(text), "kernel void %s(global int *a, global int *b) { int x = get_global_id(0); %s }\n",
             overlap->name, overlap->body);
    cl_program program = build(l, text, "-fsanitize=race");
    cl_kernel kernel = clCreateKernel(program, overlap->name, &error);
    check(error);
    for (uint32_t i = 0; svm && i < 2; i++) {
        pieces[i] = clSVMAlloc(l->context, 0, 2 * NUMBERS * sizeof(cl_int), 0);
        assert_non_null(pieces[i]);
    }
    if (svm) {
        set_pieces(overlap, kernel, pieces);
    } else {
        second = set_parts(overlap, kernel, all, apart, &first);
    }
    check(clEnqueueNDRangeKernel(l->queue, kernel, overlap->rows > 1 ? 2 : 1, NULL, global, local, 0, NULL, NULL));
    check(clFinish(l->queue));
    char *reports = take_reports();
    if ((*reports != 0) != overlap->reported) {
        fail_msg("%s: %s", overlap->name, *reports != 0 ? reports : "nothing is reported");
    }
    free(reports);
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
    for (uint32_t i = 0; i < 2; i++) {
        clSVMFree(l->context, pieces[i]);
    }
    if (!svm) {
        check(clReleaseMemObject(second));
        check(clReleaseMemObject(first));
    }
    check(clReleaseMemObject(apart));
    check(clReleaseMemObject(all));
}

static void races_through_arguments_that_overlap_are_reported(void **state)
{
    struct listener l = listener_new(*state);
    void *piece = clSVMAlloc(l.context, 0, 64, 0);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(overlaps); i++) {
        if (piece || overlaps[i].second < SECOND_SVM_SAME) {
            run_overlap(&l, &overlaps[i]);
        }
    }
    clSVMFree(l.context, piece);
    listener_end(&l);
}

/* The last group of a dimension may be smaller, and so the number of a work-item in it means another one. */
static void work_items_of_smaller_groups_are_named(void **state)
{
    static const char text[] = "kernel void smaller(global int *a)\n"
                               "{\n"
                               "    if (get_group_id(0) == 1 && get_local_id(0) == 1 && get_local_id(1) >= 2)\n"
                               "        a[0] = get_local_id(1);\n"
                               "}\n";
    const size_t global[2] = { 10, 4 }, local[2] = { 8, 4 };
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-cl-std=CL3.0 -fsanitize=race");
    cl_mem a = buffer(&l, 16);
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, "smaller", &error);

    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &a));
    check(clEnqueueNDRangeKernel(l.queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
    check(clFinish(l.queue));
    char *reports = take_reports();
    assert_says(reports, "(1, 2, 0) in group (1, 0, 0)\n");
    assert_says(reports, "(1, 3, 0) in group (1, 0, 0)\n");
    free(reports);
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

/* What a launch has noted is nothing to the next. */
static void launches_after_one_another_have_no_race(void **state)
{
    static const char text[] = "kernel void turns(global int *a, int by)\n"
                               "{ int x = get_global_id(0); a[(x + by) % 4096] = x; a[4096 + (x + by) % 4096]++; }\n";
    const size_t global = 4096;
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=race");
    cl_mem a = buffer(&l, 2 * global);
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, "turns", &error);

    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &a));
    for (cl_int by = 0; by < 8; by++) {
        check(clSetKernelArg(kernel, 1, sizeof(by), &by));
        check(clEnqueueNDRangeKernel(l.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    }
    check(clFinish(l.queue));
    char *reports = take_reports();
    assert_string_equal(reports, "");
    free(reports);
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

/* ---- more queues than have room for notes ---- */

#define QUEUES 56u       /* their notes are more than the memory of a device */
#define FEWEST_QUEUES 2u /* that a small machine must have, for one to wait for the other */

static uint32_t make_queues(struct listener *l, cl_command_queue queues[QUEUES])
{
    cl_int error = CL_SUCCESS;
    uint32_t made = 0;

    while (made < QUEUES && error == CL_SUCCESS) {
        queues[made] = clCreateCommandQueueWithProperties(l->context, l->fixture->device, NULL, &error);
        made += error == CL_SUCCESS;
    }
    assert_true(made >= FEWEST_QUEUES);
    return made;
}

/* Each queue counts up a number of its own. `gate`: what all of them wait for; NULL: each ends before the next. */
static void run_in_queues(cl_kernel kernel, const cl_command_queue *queues, uint32_t count, cl_event gate)
{
    const size_t one = 1;

    for (cl_uint i = 0; i < count; i++) {
        check(clSetKernelArg(kernel, 1, sizeof(i), &i));
        check(clEnqueueNDRangeKernel(queues[i], kernel, 1, NULL, &one, NULL, gate ? 1 : 0, gate ? &gate : NULL, NULL));
        check(gate ? CL_SUCCESS : clFinish(queues[i]));
    }
    check(gate ? clSetUserEventStatus(gate, CL_COMPLETE) : CL_SUCCESS);
    for (cl_uint i = 0; i < count; i++) {
        check(clFinish(queues[i]));
    }
}

/* One after the other they use the same memory for notes, and together they wait for it. */
static void many_queues_run_kernels_that_are_checked(void **state)
{
    static const char text[] = "kernel void count(global int *a, uint i) { a[i]++; }\n";
    cl_command_queue queues[QUEUES];
    struct listener l = listener_new(*state);
    cl_program program = build(&l, text, "-fsanitize=race");
    cl_mem a = buffer(&l, QUEUES);
    cl_int error = CL_SUCCESS, numbers[QUEUES];
    cl_kernel kernel = clCreateKernel(program, "count", &error);
    check(error);
    cl_event gate = clCreateUserEvent(l.context, &error);
    check(error);
    const uint32_t count = make_queues(&l, queues);

    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &a));
    run_in_queues(kernel, queues, count, NULL);
    run_in_queues(kernel, queues, count, gate);
    check(clEnqueueReadBuffer(l.queue, a, CL_TRUE, 0, count * sizeof(cl_int), numbers, 0, NULL, NULL));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(numbers[i], 2);
        check(clReleaseCommandQueue(queues[i]));
    }
    char *reports = take_reports();
    assert_string_equal(reports, "");
    free(reports);
    check(clReleaseEvent(gate));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(a));
    check(clReleaseProgram(program));
    listener_end(&l);
}

/* ---- launches beside each other ---- */

enum order {
    UNORDERED,
    SAME_QUEUE,
    BY_EVENT,
    BY_MARKER, /* of the first queue, for which a barrier of the second one waits */
    BY_HOST,   /* the first has ended when the second is enqueued */
    BESIDE,    /* both in a queue that is out of order */
    BY_BARRIER,
    BY_USER_EVENT, /* that the host sets when the first has ended */
};

static const struct {
    enum order order;
    const char *first, *second; /* what kernels do with a, and b */
    bool reported;
} pairs_of_launches[] = {
    { UNORDERED, "a[i] = 1;", "b[i] = a[i];", true },
    { UNORDERED, "b[i] = a[i];", "a[i] = 1;", true },
    { UNORDERED, "a[i] = 1;", "a[i] = 1;", true },
    { UNORDERED, "if (i == 9) a[0] = 1;", "if (i == 9) b[0] = a[0];", true },
    { UNORDERED, "a[i] = 1;", "atomic_inc(a + i);", true },
    { UNORDERED, "b[i] = a[i];", "b[i + 10] = a[i];", false },
    { UNORDERED, "a[i] = 1;", "a[i + 10] = 2;", false },
    { UNORDERED, "atomic_inc(a + i);", "atomic_inc(a + i);", false },
    { SAME_QUEUE, "a[i] = 1;", "b[i] = a[i];", false },
    { BY_EVENT, "a[i] = 1;", "b[i] = a[i];", false },
    { BY_MARKER, "a[i] = 1;", "b[i] = a[i];", false },
    { BY_HOST, "a[i] = 1;", "b[i] = a[i];", false },
    { BESIDE, "a[i] = 1;", "b[i] = a[i];", true },
    { BY_BARRIER, "a[i] = 1;", "b[i] = a[i];", false },
    { BY_USER_EVENT, "a[i] = 1;", "b[i] = a[i];", false },
};

/* `shared`: memory in place of the first buffer, or NULL. */
static void enqueue_with(cl_command_queue queue, cl_kernel kernel, const cl_mem buffers[2], void *shared, cl_uint count,
                         const cl_event *after, cl_event *event)
{
    const size_t global[2] = { 5, 2 }, local[2] = { 4, 2 };

    check(shared ? clSetKernelArgSVMPointer(kernel, 0, shared)
                 : clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffers[0]));
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &buffers[1]));
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, count, count != 0 ? after : NULL, event));
}

static void enqueue_one(cl_command_queue queue, cl_kernel kernel, const cl_mem buffers[2], cl_uint count,
                        const cl_event *after, cl_event *event)
{
    enqueue_with(queue, kernel, buffers, NULL, count, after, event);
}

/* Both wait for a gate, so that they are in flight together; but for BY_HOST and BY_USER_EVENT. */
static void launch_pair(cl_context context, const cl_command_queue queues[2], enum order order,
                        const cl_kernel kernels[2], const cl_mem buffers[2])
{
    cl_int error = CL_SUCCESS;
    cl_event gate = clCreateUserEvent(context, &error), wait[2] = { gate, NULL }, first, second, marker;

    check(error);
    enqueue_one(queues[0], kernels[0], buffers, order != BY_USER_EVENT, &gate, &first);
    wait[1] = first;
    if (order == BY_HOST) {
        check(clSetUserEventStatus(gate, CL_COMPLETE));
        check(clFinish(queues[0]));
    }
    if (order == BY_MARKER) {
        check(clEnqueueMarkerWithWaitList(queues[0], 1, &first, &marker));
        check(clEnqueueBarrierWithWaitList(queues[1], 1, &marker, NULL));
        check(clReleaseEvent(marker));
    }
    if (order == BY_BARRIER) {
        check(clEnqueueBarrierWithWaitList(queues[1], 0, NULL, NULL));
    }
    enqueue_one(queues[1], kernels[1], buffers, order == BY_EVENT ? 2 : 1, wait, &second);
    if (order == BY_USER_EVENT) {
        check(clWaitForEvents(1, &first));
    }
    if (order != BY_HOST) {
        check(clSetUserEventStatus(gate, CL_COMPLETE));
    }
    check(clFinish(queues[0]));
    check(clFinish(queues[1]));
    check(clReleaseEvent(gate));
    check(clReleaseEvent(first));
    check(clReleaseEvent(second));
}

static char *reports_of_pair(struct listener *l, uint32_t pair)
{
    const enum order order = pairs_of_launches[pair].order;
    const bool one = order == SAME_QUEUE || order == BESIDE || order == BY_BARRIER;
    const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES,
                                               one && order != SAME_QUEUE ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0,
                                               0 };
    const cl_mem buffers[2] = { buffer(l, 32), buffer(l, 32) };
    cl_command_queue queues[2] = { NULL, NULL };
    cl_kernel kernels[2];
    cl_int error = CL_SUCCESS;
    char text[500], names[2][16];

    for (uint32_t i = 0; i < 2; i++) {
        queues[i] = i == 1 && one
                        ? queues[0]
                        : clCreateCommandQueueWithProperties(l->context, l->fixture->device, properties, &error);
        check(error);
        snprintf(names[i], sizeof(names[i]), "pair%u_%u", pair, i);
    }
    snprintf(text, sizeof(text),
             "kernel void %s(global int *a, global int *b) { int i = get_global_id(0) + 5 * get_global_id(1); %s }\n"
             "kernel void %s(global int *a, global int *b) { int i = get_global_id(0) + 5 * get_global_id(1); %s }\n",
             names[0], pairs_of_launches[pair].first, names[1], pairs_of_launches[pair].second);
    cl_program program = build(l, text, "-cl-std=CL3.0 -fsanitize=race");
    for (uint32_t i = 0; i < 2; i++) {
        kernels[i] = clCreateKernel(program, names[i], &error);
        check(error);
    }
    launch_pair(l->context, queues, order, kernels, buffers);
    for (uint32_t i = 0; i < 2; i++) {
        check(clReleaseKernel(kernels[i]));
        check(clReleaseMemObject(buffers[i]));
        check(i == 1 && one ? CL_SUCCESS : clReleaseCommandQueue(queues[i]));
    }
    check(clReleaseProgram(program));
    return take_reports();
}

/* Both sides are work-item (4, 1) of all. */
static bool names_last_of_smaller_group(const char *reports)
{
    return strstr(reports, "work-item (4, 1, 0), (0, 1, 0) in group (1, 0, 0)\n") &&
           strstr(reports, "work-item (0, 1, 0) in group (1, 0, 0)\n");
}

static void races_between_launches_that_nothing_orders_are_reported(void **state)
{
    struct listener l = listener_new(*state);
    char first[32], second[32];

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(pairs_of_launches); i++) {
        char *reports = reports_of_pair(&l, i);
        snprintf(first, sizeof(first), "in kernel 'pair%u_0'", i);
        snprintf(second, sizeof(second), "in kernel 'pair%u_1'", i);
        if (pairs_of_launches[i].reported) {
            assert_says(reports, "of another launch\n");
            assert_says(reports, first);
            assert_says(reports, second);
            assert_true(!strstr(pairs_of_launches[i].first, "9") || names_last_of_smaller_group(reports));
        } else if (*reports != '\0') {
            fail_msg("pair %u: %s", i, reports);
        }
        free(reports);
    }
    listener_end(&l);
}

/* ---- launches and commands of the host ---- */

enum host_command {
    FILLS,
    WRITES,
    READS,
    COPIES_FROM,
    COPIES_TO,
    MAPS,
    UNMAPS,
    READS_RECTANGLE, /* two rows of two numbers, the second begins with number 8 */
    WRITES_RECTANGLE,
    COPIES_RECTANGLE,
    COPIES_TO_IMAGE,
    COPIES_FROM_IMAGE,
    SHARED, /* from here on the first argument is shared virtual memory */
    FILLS_SHARED = SHARED,
    COPIES_FROM_SHARED,
    COPIES_TO_SHARED,
    MAPS_SHARED,
};

static const struct {
    bool first;   /* the command is enqueued before the launch */
    bool ordered; /* the second waits for the first */
    const char *does;
    enum host_command command;
    const char *report; /* NULL: none */
} pairs_with_host[] = {
    { false, false, "a[i] = 1;", FILLS,
      "store of 4 bytes, argument 0 'a' (int*), unordered with clEnqueueFillBuffer\n" },
    { true, false, "b[i] = a[i];", FILLS,
      "load of 4 bytes, argument 0 'a' (int*), unordered with clEnqueueFillBuffer\n" },
    { false, true, "a[i] = 1;", FILLS, NULL },
    { true, true, "a[i] = 1;", FILLS, NULL },
    { false, false, "a[i + 16] = 1;", FILLS, NULL },
    { false, false, "a[i] = 1;", WRITES, "unordered with clEnqueueWriteBuffer\n" },
    { true, true, "a[i] = 1;", WRITES, NULL },
    { false, false, "atomic_inc(a + i);", READS, "atomic operation of 4 bytes, argument 0 'a' (int*), unordered with" },
    { true, false, "a[i] = 1;", READS, "unordered with clEnqueueReadBuffer\n" },
    { false, false, "b[i] = a[i];", READS, NULL },
    { false, true, "a[i] = 1;", READS, NULL },
    { false, false, "a[i] = 1;", COPIES_FROM, "unordered with clEnqueueCopyBuffer\n" },
    { false, false, "b[i] = a[i];", COPIES_FROM, NULL },
    { true, false, "b[i] = a[i];", COPIES_TO, "unordered with clEnqueueCopyBuffer\n" },
    { true, true, "b[i] = a[i];", COPIES_TO, NULL },
    { false, false, "a[i] = 1;", MAPS, "unordered with clEnqueueMapBuffer\n" },
    { false, false, "b[i] = a[i];", MAPS, NULL },
    { false, true, "a[i] = 1;", MAPS, NULL },
    { false, false, "b[i] = a[i];", UNMAPS, "unordered with clEnqueueUnmapMemObject\n" },
    { false, false, "if (i == 9) a[i] = 1;", READS_RECTANGLE, "unordered with clEnqueueReadBufferRect\n" },
    { false, false, "if ((i & 7) > 1) a[i] = 1;", READS_RECTANGLE, NULL },
    { true, false, "if (i == 8) b[i] = a[i];", WRITES_RECTANGLE, "unordered with clEnqueueWriteBufferRect\n" },
    { true, false, "if ((i & 7) > 1) b[i] = a[i];", WRITES_RECTANGLE, NULL },
    { false, true, "a[i] = 1;", WRITES_RECTANGLE, NULL },
    { false, false, "if (i == 9) a[i] = 1;", COPIES_RECTANGLE, "unordered with clEnqueueCopyBufferRect\n" },
    { false, false, "if ((i & 7) > 1) a[i] = 1;", COPIES_RECTANGLE, NULL },
    { false, false, "a[i] = 1;", COPIES_TO_IMAGE, "unordered with clEnqueueCopyBufferToImage\n" },
    { false, false, "b[i] = a[i];", COPIES_TO_IMAGE, NULL },
    { true, false, "b[i] = a[i];", COPIES_FROM_IMAGE, "unordered with clEnqueueCopyImageToBuffer\n" },
    { true, true, "b[i] = a[i];", COPIES_FROM_IMAGE, NULL },
    { false, false, "a[i] = 1;", FILLS_SHARED, "unordered with clEnqueueSVMMemFill\n" },
    { false, true, "a[i] = 1;", FILLS_SHARED, NULL },
    { false, false, "a[i] = 1;", COPIES_FROM_SHARED, "unordered with clEnqueueSVMMemcpy\n" },
    { false, false, "b[i] = a[i];", COPIES_FROM_SHARED, NULL },
    { true, false, "b[i] = a[i];", COPIES_TO_SHARED, "unordered with clEnqueueSVMMemcpy\n" },
    { true, true, "b[i] = a[i];", COPIES_TO_SHARED, NULL },
    { false, false, "a[i] = 1;", MAPS_SHARED, "unordered with clEnqueueSVMMap\n" },
    { false, false, "b[i] = a[i];", MAPS_SHARED, NULL },
    { false, true, "b[i] = a[i];", UNMAPS, NULL },
};

/* Of buffer a, or shared memory: what the enumeration says, else the first 64 bytes. */
static void enqueue_host(cl_command_queue queue, enum host_command command, const cl_mem buffers[4], void *mapped,
                         cl_uint count, const cl_event *after, cl_event *event)
{
    static cl_int numbers[16];
    static const size_t origin[3] = { 0, 0, 0 }, rectangle[3] = { 8, 2, 1 }, texels[3] = { 4, 1, 1 };
    const size_t bytes = sizeof(numbers);
    const cl_int zero = 0;
    cl_int error = CL_SUCCESS;

    switch (command) {
    case FILLS:
        check(clEnqueueFillBuffer(queue, buffers[0], &zero, sizeof(zero), 0, bytes, count, after, event));
        break;
    case WRITES:
        check(clEnqueueWriteBuffer(queue, buffers[0], CL_FALSE, 0, bytes, numbers, count, after, event));
        break;
    case READS:
        check(clEnqueueReadBuffer(queue, buffers[0], CL_FALSE, 0, bytes, numbers, count, after, event));
        break;
    case COPIES_FROM:
        check(clEnqueueCopyBuffer(queue, buffers[0], buffers[2], 0, 0, bytes, count, after, event));
        break;
    case COPIES_TO:
        check(clEnqueueCopyBuffer(queue, buffers[2], buffers[0], 0, 0, bytes, count, after, event));
        break;
    case MAPS:
        clEnqueueMapBuffer(queue, buffers[0], CL_FALSE, CL_MAP_READ, 0, bytes, count, after, event, &error);
        check(error);
        break;
    case UNMAPS:
        check(clEnqueueUnmapMemObject(queue, buffers[0], mapped, count, after, event));
        break;
    case READS_RECTANGLE:
        check(clEnqueueReadBufferRect(queue, buffers[0], CL_FALSE, origin, origin, rectangle, 32, 0, 8, 0, numbers,
                                      count, after, event));
        break;
    case WRITES_RECTANGLE:
        check(clEnqueueWriteBufferRect(queue, buffers[0], CL_FALSE, origin, origin, rectangle, 32, 0, 8, 0, numbers,
                                       count, after, event));
        break;
    case COPIES_RECTANGLE:
        check(clEnqueueCopyBufferRect(queue, buffers[0], buffers[2], origin, origin, rectangle, 32, 0, 8, 0, count,
                                      after, event));
        break;
    case COPIES_TO_IMAGE:
        check(clEnqueueCopyBufferToImage(queue, buffers[0], buffers[3], 0, origin, texels, count, after, event));
        break;
    case COPIES_FROM_IMAGE:
        check(clEnqueueCopyImageToBuffer(queue, buffers[3], buffers[0], origin, texels, 0, count, after, event));
        break;
    case FILLS_SHARED:
        check(clEnqueueSVMMemFill(queue, mapped, &zero, sizeof(zero), bytes, count, after, event));
        break;
    case COPIES_FROM_SHARED:
        check(clEnqueueSVMMemcpy(queue, CL_FALSE, numbers, mapped, bytes, count, after, event));
        break;
    case COPIES_TO_SHARED:
        check(clEnqueueSVMMemcpy(queue, CL_FALSE, mapped, numbers, bytes, count, after, event));
        break;
    case MAPS_SHARED:
        check(clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_READ, mapped, bytes, count, after, event));
        break;
    }
}

static char *reports_with_host(struct listener *l, const cl_command_queue queues[2], uint32_t pair)
{
    const cl_mem buffers[4] = { buffer(l, 32), buffer(l, 32), buffer(l, 32), image(l, CL_SIGNED_INT32) };
    const bool shares = pairs_with_host[pair].command >= SHARED;
    const bool host_first = pairs_with_host[pair].first;
    const cl_uint waits = pairs_with_host[pair].ordered ? 2 : 1;
    cl_int error = CL_SUCCESS;
    char text[300], name[16];

    snprintf(name, sizeof(name), "host%u", pair);
    snprintf(text, sizeof(text),
             "kernel void %s(global int *a, global int *b) { int i = get_global_id(0) + 5 * get_global_id(1); %s }\n",
             name, pairs_with_host[pair].does);
    cl_program program = build(l, text, "-cl-std=CL3.0 -fsanitize=race");
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error);
    void *mapped = shares
                       ? clSVMAlloc(l->context, CL_MEM_READ_WRITE, 256, 0)
                       : clEnqueueMapBuffer(queues[1], buffers[0], CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, &error);
    check(error);
    assert_non_null(mapped);
    cl_event gate = clCreateUserEvent(l->context, &error), wait[2] = { gate, NULL }, first, second;
    check(error);
    if (host_first) {
        enqueue_host(queues[1], pairs_with_host[pair].command, buffers, mapped, 1, &gate, &first);
    } else {
        enqueue_with(queues[0], kernel, buffers, shares ? mapped : NULL, 1, &gate, &first);
    }
    wait[1] = first;
    if (host_first) {
        enqueue_with(queues[0], kernel, buffers, shares ? mapped : NULL, waits, wait, &second);
    } else {
        enqueue_host(queues[1], pairs_with_host[pair].command, buffers, mapped, waits, wait, &second);
    }
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    check(clFinish(queues[0]));
    check(clFinish(queues[1]));
    check(clReleaseEvent(gate));
    check(clReleaseEvent(first));
    check(clReleaseEvent(second));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(buffers); i++) {
        check(clReleaseMemObject(buffers[i]));
    }
    if (shares) {
        clSVMFree(l->context, mapped);
    }
    return take_reports();
}

/* Those races are ones of the host's memory: joined with the machine, they are not for the thread sanitizer. */
static bool can_race_here(void)
{
#ifdef __SANITIZE_THREAD__
    return false;
#else
    return true;
#endif
}

static bool has_shared_memory(cl_context context)
{
    void *const piece = clSVMAlloc(context, 0, 64, 0);
    const bool has = piece;

    clSVMFree(context, piece);
    return has;
}

static void races_with_commands_of_the_host_are_reported(void **state)
{
    struct listener l = listener_new(*state);
    const cl_command_queue queues[2] = { l.queue,
                                         clCreateCommandQueueWithProperties(l.context, l.fixture->device, NULL, NULL) };
    const bool shares = has_shared_memory(l.context);
    char name[32];

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(pairs_with_host); i++) {
        if ((pairs_with_host[i].report && !can_race_here()) || (pairs_with_host[i].command >= SHARED && !shares)) {
            continue;
        }
        char *reports = reports_with_host(&l, queues, i);
        snprintf(name, sizeof(name), "in kernel 'host%u'", i);
        if (pairs_with_host[i].report) {
            assert_says(reports, pairs_with_host[i].report);
            assert_says(reports, name);
        } else if (*reports != '\0') {
            fail_msg("pair %u: %s", i, reports);
        }
        free(reports);
    }
    check(clReleaseCommandQueue(queues[1]));
    listener_end(&l);
}

static void lists_of_checks_are_read_or_refused(void **state)
{
    static const char *const wrong[] = { "-fsanitize=", "-fsanitize=adress", "-fsanitize=address,",
                                         "-fsanitize=address,thread", "-fsanitize=,all" };
    const char *text = "kernel void k(global int *a) { *a = 1; }\n";
    struct listener l = listener_new(*state);
    cl_int error = CL_SUCCESS;
    char log[1000], options[100];

    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        cl_program program = clCreateProgramWithSource(l.context, 1, &text, NULL, &error);
        check(error);
        assert_int_equal(clBuildProgram(program, 0, NULL, wrong[i], NULL, NULL), CL_INVALID_BUILD_OPTIONS);
        check(clGetProgramBuildInfo(program, l.fixture->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
        assert_says(log, "is not a list, with commas, of address");
        check(clReleaseProgram(program));
    }
    cl_program program = build(&l, text, "-fsanitize=all");
    check(clGetProgramBuildInfo(program, l.fixture->device, CL_PROGRAM_BUILD_OPTIONS, sizeof(options), options, NULL));
    assert_string_equal(options, "-fsanitize=all");
    check(clReleaseProgram(program));
    listener_end(&l);
}

/* Only arguments that are memory have bounds: the parameters have room for those of a kernel with many numbers. */
static void kernels_with_many_arguments_are_checked(void **state)
{
    char text[4000] = "kernel void many(global int *out";
    struct listener l = listener_new(*state);
    size_t at = strlen(text);

    for (uint32_t i = 0; i < MANY; i++) {
        at += (size_t)snprintf(text + at, sizeof(text) - at, ", int a%u", i);
    }
    snprintf(text + at, sizeof(text) - at, ", global int *last) { last[get_global_id(0) + 14] = a%u; }", MANY - 1);
    cl_program program = build(&l, text, "-fsanitize=address");
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, "many", &error);
    cl_mem a = buffer(&l, 16), last = buffer(&l, 16);
    const size_t global = 4;
    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &a));
    for (cl_uint i = 0; i < MANY; i++) {
        check(clSetKernelArg(kernel, 1 + i, sizeof(i), &i));
    }
    check(clSetKernelArg(kernel, 1 + MANY, sizeof(cl_mem), &last));
    check(clEnqueueNDRangeKernel(l.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clFinish(l.queue));
    char *reports = take_reports();
    assert_says(reports, "outside of argument 151 'last' (int*)");
    assert_says(reports, " behind the end of 64 bytes, value 0x95\n");
    free(reports);
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
    check(clReleaseMemObject(a));
    check(clReleaseMemObject(last));
    listener_end(&l);
}

/* Pointers behind the last one that has bounds are looked at as those that come from nobody knows where. */
static void kernels_with_many_pointers_are_checked(void **state)
{
    char text[8000] = "kernel void many(global int *out";
    struct listener l = listener_new(*state);
    size_t at = strlen(text);

    for (uint32_t i = 1; i < POINTERS; i++) {
        at += (size_t)snprintf(text + at, sizeof(text) - at, ", global int *a%u", i);
    }
    snprintf(text + at, sizeof(text) - at,
             ") { size_t i = get_global_id(0); out[i + 14] = 1; a%u[i] = 2; a%u[i + 14] = 3; }", POINTERS - 2,
             POINTERS - 1);
    cl_program program = build(&l, text, "-fsanitize=all");
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, "many", &error);
    cl_mem first = buffer(&l, 16), right = buffer(&l, 16), last = buffer(&l, 16);
    const size_t global = 4;
    check(error);
    for (cl_uint i = 0; i < POINTERS; i++) {
        cl_mem given = i == 0 ? first : i < POINTERS - 1 ? right : last;
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &given));
    }
    check(clEnqueueNDRangeKernel(l.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clFinish(l.queue));
    char *reports = take_reports();
    assert_says(reports, "outside of argument 0 'out' (int*)");
    assert_says(reports, "value 0x3\n");
    assert_null(strstr(reports, "value 0x2\n"));
    free(reports);
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
    check(clReleaseMemObject(first));
    check(clReleaseMemObject(right));
    check(clReleaseMemObject(last));
    listener_end(&l);
}

static void modules_that_are_linked_are_checked_too(void **state)
{
    const char *text = "kernel void linked(global int *a) { a[get_global_id(0) + 20] = 1; }\n";
    struct listener l = listener_new(*state);
    cl_int error = CL_SUCCESS;
    cl_mem a = buffer(&l, 16);

    cl_program object = clCreateProgramWithSource(l.context, 1, &text, NULL, &error);
    check(error);
    check(clCompileProgram(object, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    cl_program program = clLinkProgram(l.context, 0, NULL, "-fsanitize=address", 1, &object, NULL, NULL, &error);
    check(error);
    run_one(&l, program, "linked", a, 4);
    char *reports = take_reports();
    assert_says(reports, "in kernel 'linked'");
    free(reports);
    check(clReleaseMemObject(a));
    check(clReleaseProgram(object));
    check(clReleaseProgram(program));
    listener_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("wrong accesses are reported with their line, and their twins are not",
                wrong_accesses_are_reported_and_their_twins_are_not),
        cl_test("data races are reported with a line, and their twins are not",
                races_are_reported_and_their_twins_are_not),
        cl_test("barriers that not all reach are reported, and their twins are not",
                divergent_barriers_are_reported_and_their_twins_are_not),
        cl_test("reads of what nobody wrote are reported, and their twins are not",
                reads_of_what_nobody_wrote_are_reported_and_their_twins_are_not),
        cl_test("wrong arguments of built-in functions are reported, and their twins are not",
                wrong_arguments_are_reported_and_their_twins_are_not),
        cl_test("a report of an unwritten read names place, work-item, byte and allocation",
                a_report_of_an_unwritten_read_names_site_work_item_byte_and_allocation),
        cl_test("what others write counts as written", what_others_write_counts_as_written),
        cl_test("a report names place, work-item, distance, value and allocation",
                a_report_names_site_work_item_distance_value_and_allocation),
        cl_test("nested work that is lost is reported, and other is not",
                lost_nested_work_is_reported_and_other_is_not),
        cl_test("data races of nested work are reported with a line, and their twins are not",
                races_of_nested_work_are_reported_and_their_twins_are_not),
        cl_test("kernels that enqueue with events run with all checks",
                kernels_that_enqueue_with_events_run_with_all_checks),
        cl_test("wrong uses of images are reported, and others are not",
                wrong_uses_of_images_are_reported_and_others_are_not),
        cl_test("wrong uses of pipes are reported, and others are not",
                wrong_uses_of_pipes_are_reported_and_others_are_not),
        cl_test("a report of an argument names function, numbers, and both work-items",
                a_report_of_an_argument_names_function_numbers_and_both_work_items),
        cl_test("a place is reported once", a_site_is_reported_once),
        cl_test("reports are told before the command has ended", reports_are_told_before_the_command_has_ended),
        cl_test("wrong stores are left out, and wrong loads give zero",
                wrong_stores_are_left_out_and_wrong_loads_give_zero),
        cl_test("released memory and the space behind memory are known",
                released_memory_and_the_space_behind_it_are_known),
        cl_test("shared virtual memory is bounded at both ends", shared_memory_is_bounded_at_both_ends),
        cl_test("races through arguments that overlap are reported", races_through_arguments_that_overlap_are_reported),
        cl_test("work-items of smaller groups are named", work_items_of_smaller_groups_are_named),
        cl_test("launches after one another have no race", launches_after_one_another_have_no_race),
        cl_test("many queues run kernels that are checked", many_queues_run_kernels_that_are_checked),
        cl_test("races between launches that nothing orders are reported",
                races_between_launches_that_nothing_orders_are_reported),
        cl_test("races of launches with commands of the host are reported",
                races_with_commands_of_the_host_are_reported),
        cl_test("kernels with many arguments are checked", kernels_with_many_arguments_are_checked),
        cl_test("kernels with many pointers are checked", kernels_with_many_pointers_are_checked),
        cl_test("lists of checks are read or refused", lists_of_checks_are_read_or_refused),
        cl_test("modules that are linked are checked, too", modules_that_are_linked_are_checked_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
