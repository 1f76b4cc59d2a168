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
    if (ppu_program_open(image, image_bytes(image), &view) || !view.kernels) {
        free(copy);
        free(image);
        fail_msg("the image is refused");
        return;
    }
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

/* ---- rules ---- */

/* The entries of an image that is made of `source`: kernels k and f, and k's arguments before f's. */
enum { K, F };
enum { K_O, K_L, K_Q, K_C, K_V, K_W, F_A, F_B, ARGUMENTS };

struct entries {
    struct ppu_program_header *header;
    struct ppu_kernel_entry *kernel;
    struct ppu_argument_entry *argument;
    uint32_t *format;
    struct ppu_line_entry *line;
    char *text;
};

#define WRONG(name, statement)                \
    static void name(const struct entries *e) \
    {                                         \
        statement;                            \
    }
WRONG(argument_name, e->argument[K_C].name = e->header->text_bytes)
WRONG(argument_type, e->argument[F_B].type = UINT32_MAX)
WRONG(argument_kind, e->argument[K_V].kind = PPU_ARGUMENT_KINDS)
WRONG(argument_qualifier, e->argument[K_O].qualifiers = PPU_ARGUMENT_QUALIFIERS + 1u)
WRONG(global_none, e->argument[K_O].offset = PPU_MAX_PARAM; e->argument[K_O].bytes = 0)
WRONG(local_none, e->argument[K_L].offset = PPU_MAX_PARAM; e->argument[K_L].bytes = 0)
WRONG(queue_none, e->argument[K_Q].offset = PPU_MAX_PARAM; e->argument[K_Q].bytes = 0)
WRONG(constant_none, e->argument[K_C].offset = PPU_MAX_PARAM; e->argument[K_C].bytes = 0)
WRONG(global_large, e->argument[K_O].bytes = 9)
WRONG(value_large, e->argument[K_W].bytes = PPU_MAX_OBJECT + 1u)
WRONG(value_as_sampler, e->argument[K_V].kind = PPU_ARGUMENT_SAMPLER)
WRONG(value_as_image, e->argument[K_W].kind = PPU_ARGUMENT_IMAGE2D)
WRONG(global_odd, e->argument[F_A].offset = 4)
WRONG(local_odd, e->argument[K_L].offset += 1)
WRONG(image_odd, e->argument[K_Q].kind = PPU_ARGUMENT_IMAGE3D; e->argument[K_Q].offset += 4)
WRONG(value_over, e->argument[K_W].offset = PPU_MAX_PARAM - 1; e->argument[K_W].bytes = 2)
WRONG(block_over, e->argument[K_W].offset = UINT32_MAX; e->argument[K_W].bytes = PPU_MAX_OBJECT)
WRONG(element_large, e->argument[K_O].element_log2 = PPU_MAX_ELEMENT_LOG2 + 1u)
WRONG(reach_backwards, e->argument[F_A].reach = ((struct ppu_reach){ 4, 1, 0 }))

WRONG(kernel_name, e->kernel[F].name = e->header->text_bytes)
WRONG(entry_odd, e->kernel[K].entry += 4)
WRONG(entry_beyond, e->kernel[F].entry = e->header->code_bytes)
WRONG(vregs_none, e->kernel[K].vregs = 0)
WRONG(vregs_many, e->kernel[K].vregs = PPU_MAX_VREGS + 1)
WRONG(shared_vregs_odd, e->kernel[K].vregs = 1; e->kernel[K].shared_vregs = 8)
WRONG(shared_vregs_many, e->kernel[K].vregs = PPU_MAX_VREGS; e->kernel[K].shared_vregs = 8)
WRONG(wave_unknown, e->kernel[K].wave = 16)
WRONG(shared_large, e->kernel[K].shared_bytes = PPU_MAX_SHARED + 1u)
WRONG(param_large, e->kernel[K].param_bytes = PPU_MAX_PARAM + 1u)
WRONG(local_large, e->kernel[K].local_bytes = PPU_MAX_LOCAL + 16u)
WRONG(local_uneven, e->kernel[K].local_bytes = 8)
WRONG(tokens_many, e->kernel[K].token_count = PPU_MAX_TOKENS + 1)
WRONG(flag_unknown, e->kernel[K].flags = (uint16_t)~PPU_TMD_FLAGS)
WRONG(cta_wide, e->kernel[F].cta[0] = PPU_MAX_CTA_DIM + 1)
WRONG(cta_large, e->kernel[F].cta[0] = PPU_MAX_CTA_THREADS)
WRONG(cta_flat, e->kernel[F].cta[0] = 0)
WRONG(implicit_odd, e->kernel[K].implicit_at += 4)
WRONG(implicit_far, e->kernel[K].implicit_at = PPU_MAX_PARAM + 8u)
WRONG(implicit_over, e->kernel[K].implicit_at += 8)
WRONG(bounds_nowhere, e->kernel[F].implicit_at = 0; e->kernel[F].param_bytes = 16;
      e->kernel[F].assumes |= PPU_KERNEL_BOUNDED)
WRONG(bounds_over, e->kernel[K].assumes |= PPU_KERNEL_BOUNDED;
      e->kernel[K].param_bytes = e->kernel[K].implicit_at + (uint32_t)(sizeof(struct ppu_implicit_args) +
                                                                       3 * sizeof(struct ppu_sanitizer_bounds) - 1))
WRONG(arguments_many, e->kernel[K].argument_count = ARGUMENTS + 1)
WRONG(arguments_beyond, e->kernel[F].argument_first += 1)
WRONG(assumes_unknown, e->kernel[K].assumes |= PPU_KERNEL_ASSUMES + 1u)
WRONG(allows_unknown, e->kernel[K].allows |= PPU_KERNEL_ALLOWS + 1u)
WRONG(gains_unknown, e->kernel[K].gains |= PPU_KERNEL_GAINS + 1u)
WRONG(attributes_beyond, e->kernel[F].attributes = e->header->text_bytes)

WRONG(arguments_shared, e->kernel[F].argument_first = 0; e->kernel[F].argument_count = 3)
WRONG(names_shared, memset(e->text, 'a', e->header->text_bytes - 1u); e->kernel[K].name = e->kernel[F].name = 0)
WRONG(block_nowhere, e->kernel[K].implicit_at = 0; e->argument[K_W].offset = PPU_MAX_PARAM)
WRONG(block_in_arguments, e->kernel[K].implicit_at = 32; e->argument[K_V].offset = PPU_MAX_PARAM;
      e->argument[K_W].offset = PPU_MAX_PARAM + 1)
WRONG(block_order, e->argument[K_V].offset = PPU_MAX_PARAM + 128; e->argument[K_W].offset = PPU_MAX_PARAM)
WRONG(overlap, e->argument[K_L].offset = e->argument[K_O].offset)
WRONG(overlap_byte, e->argument[K_V].offset = 31)
WRONG(order, e->argument[K_O].offset = 64)
WRONG(implicit_on_arguments, e->kernel[K].implicit_at = 248)
WRONG(in_implicit, e->argument[K_W].bytes += 1)
WRONG(beyond_parameters, e->kernel[K].implicit_at = 0; e->kernel[K].param_bytes = 255)

WRONG(magic_unknown, e->header->magic ^= 1)
WRONG(version_other, e->header->head.version += 1)
WRONG(header_large, e->header->head.size_bytes += 4)
WRONG(isa_other, e->header->isa_version += 1)
WRONG(variables_odd, e->header->variable_bytes = 4)
WRONG(image_large, e->header->image_bytes += 8)
WRONG(image_beyond, e->header->kernels = UINT32_MAX)
WRONG(code_none, e->header->debug_bytes += e->header->code_bytes; e->header->code_bytes = 0)
WRONG(text_open, e->text[e->header->text_bytes - 1u] = 'a')
WRONG(source_beyond, e->header->source = e->header->text_bytes)
WRONG(not_zero, e->header->reserved[0] = 1)
WRONG(format_beyond, e->format[0] = e->header->text_bytes)
WRONG(line_beyond, e->line[e->header->lines - 1u].insn = e->header->code_bytes / PPU_INSN_BYTES)
WRONG(line_order, e->line[1].insn = e->line[0].insn)

#define NAME "argument name lies beyond the text"
#define KIND "argument has a kind or qualifier that does not exist"
#define SIZE "argument has a size that its kind cannot have"
#define ALIGNMENT "argument is misaligned for its kind"
#define OUTSIDE "argument lies outside of the parameters"
#define ENTRY "kernel entry is misaligned or beyond the code"
#define VREGS "kernel has no or too many vector registers"
#define SHARED_VREGS "kernel has shared vector registers that do not go with its private ones"
#define MEMORY "kernel has too much memory, or local memory that is not a multiple of 16"
#define FLAGS "kernel has a token count or flag that does not exist"
#define CTA "kernel has a CTA with too many threads, or with none in its first dimension alone"
#define IMPLICIT "kernel has its implicit arguments outside of its parameters"
#define BOUNDS "kernel has bounds of its arguments outside of its parameters"
#define UNDESCRIBED "kernel has arguments that the image does not describe"
#define SHARED "kernels share names or arguments"
#define BLOCK "kernel has arguments outside of its parameters without their address"
#define OVERLAP "argument overlaps the one before it, or lies before it"
#define IN_IMPLICIT "argument lies outside of its kernel's parameters, or in the implicit arguments"
#define VERSION "program image has an unknown version"
#define LENGTH "program image is truncated or too long"
#define TEXT "program image has malformed text"
#define LINES "program image has a malformed line table"

/* One row at least for each sentence of image.h, but that about addresses, which this image has none of. */
static const struct {
    void (*make)(const struct entries *entries);
    const char *says;
} wrongs[] = {
    { argument_name, NAME },
    { argument_type, NAME },
    { argument_kind, KIND },
    { argument_qualifier, KIND },
    { global_none, SIZE },
    { local_none, SIZE },
    { queue_none, SIZE },
    { constant_none, SIZE },
    { global_large, SIZE },
    { value_large, SIZE },
    { value_as_sampler, SIZE },
    { value_as_image, SIZE },
    { global_odd, ALIGNMENT },
    { local_odd, ALIGNMENT },
    { image_odd, ALIGNMENT },
    { value_over, OUTSIDE },
    { block_over, OUTSIDE },
    { element_large, "argument has larger elements than there are" },
    { reach_backwards, "argument's reach ends before it begins" },
    { kernel_name, "kernel name lies beyond the text" },
    { entry_odd, ENTRY },
    { entry_beyond, ENTRY },
    { vregs_none, VREGS },
    { vregs_many, VREGS },
    { shared_vregs_odd, SHARED_VREGS },
    { shared_vregs_many, SHARED_VREGS },
    { wave_unknown, "kernel has a wave that is not 32, 64 or 128" },
    { shared_large, MEMORY },
    { param_large, MEMORY },
    { local_large, MEMORY },
    { local_uneven, MEMORY },
    { tokens_many, FLAGS },
    { flag_unknown, FLAGS },
    { cta_wide, CTA },
    { cta_large, CTA },
    { cta_flat, CTA },
    { implicit_odd, IMPLICIT },
    { implicit_far, IMPLICIT },
    { implicit_over, IMPLICIT },
    { bounds_nowhere, BOUNDS },
    { bounds_over, BOUNDS },
    { arguments_many, UNDESCRIBED },
    { arguments_beyond, UNDESCRIBED },
    { assumes_unknown, "kernel assumes something that does not exist" },
    { allows_unknown, "kernel allows something that does not exist" },
    { gains_unknown, "kernel gains from something that does not exist" },
    { attributes_beyond, "kernel attributes lie beyond the text" },
    { arguments_shared, SHARED },
    { names_shared, SHARED },
    { block_nowhere, BLOCK },
    { block_in_arguments, IN_IMPLICIT },
    { block_order, OVERLAP },
    { overlap, OVERLAP },
    { overlap_byte, OVERLAP },
    { order, OVERLAP },
    { implicit_on_arguments, IN_IMPLICIT },
    { in_implicit, IN_IMPLICIT },
    { beyond_parameters, IN_IMPLICIT },
    { magic_unknown, "not a program image" },
    { version_other, VERSION },
    { header_large, VERSION },
    { isa_other, "program image is for another instruction set" },
    { variables_odd, "program image has variables of a wrong size" },
    { image_large, LENGTH },
    { image_beyond, LENGTH },
    { code_none, "program image has no code, or code of a wrong size" },
    { text_open, TEXT },
    { source_beyond, TEXT },
    { not_zero, "program image has something where zeros must be" },
    { format_beyond, "printf format lies beyond the text" },
    { line_beyond, LINES },
    { line_order, LINES },
};

static struct entries entries_of(uint8_t *image)
{
    struct ppu_program_header *header = (struct ppu_program_header *)(void *)image;
    struct ppu_kernel_entry *kernel = (struct ppu_kernel_entry *)(void *)(header + 1);
    struct ppu_line_entry *line = (struct ppu_line_entry *)(void *)(kernel + header->kernels);
    struct ppu_argument_entry *argument = (struct ppu_argument_entry *)(void *)(line + header->lines);
    uint32_t *format = (uint32_t *)(void *)(argument + header->arguments);

    return (struct entries){
        header, kernel, argument,
        format, line,   (char *)(format + header->formats) + header->addresses * sizeof(struct ppu_address_entry)
    };
}

/* What the rows rely on. */
static void assert_layout(const struct entries *entries)
{
    const struct ppu_argument_entry *w = &entries->argument[K_W];

    assert_int_equal(entries->header->kernels, 2);
    assert_int_equal(entries->header->arguments, ARGUMENTS);
    assert_true(entries->header->formats > 0 && entries->header->lines > 1);
    assert_string_equal(entries->text + entries->kernel[K].name, "k");
    assert_int_equal(entries->argument[K_V].offset, 32);
    assert_int_equal(w->offset + w->bytes, 256);
    assert_int_equal(entries->kernel[K].implicit_at, 256);
    assert_int_equal(entries->kernel[K].param_bytes, 256 + sizeof(struct ppu_implicit_args));
}

/* True when the change makes the image one that is refused with the sentence. */
static bool is_refused(struct user *user, const uint8_t *image, size_t bytes, uint32_t row)
{
    const uint32_t refused = user->refused;
    uint8_t *copy = malloc(bytes);
    char says[200];

    assert_non_null(copy);
    memcpy(copy, image, bytes);
    const struct entries entries = entries_of(copy);
    assert_layout(&entries);
    wrongs[row].make(&entries);
    use(user, copy, bytes);
    free(copy);
    snprintf(says, sizeof(says), "clCreateProgramWithBinary: %s", wrongs[row].says);
    if (user->refused == refused || strcmp(user->notice, says) != 0) {
        print_error("row %u: '%s' instead of '%s'\n", row, user->notice, says);
        return false;
    }
    return true;
}

static void rules_are_kept(void **state)
{
    struct user user;
    size_t bytes = 0;
    uint8_t *image = make_image(*state, &bytes);
    uint32_t misses = 0;

    user_open(&user, *state);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(wrongs); i++) {
        misses += !is_refused(&user, image, bytes, i);
    }
    assert_int_equal(misses, 0);
    use(&user, image, bytes);
    assert_int_equal(user.taken, 1);
    user_close(&user);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("images that break a rule are refused with the sentence that says which [F6]", rules_are_kept),
        cl_test("images whose entries say anything are refused or used [F6]", entries_say_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
