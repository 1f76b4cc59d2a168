/* SPDX-License-Identifier: MIT */
/*
 * Surface: program images through the whole OpenCL front: loaded, asked, given arguments, enqueued, launched; and what
 * their kernels print.
 *
 * An input changes fields of a right image and then says what is printed. A refusal has a reason; what is accepted is
 * used in every way, without a device: commands wait for an event that fails, launches end at the descriptor
 * (fake_ppu.c).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opencl/api/device.h"
#include "opencl/api/kernel.h"
#include "opencl/build/compiler_dl.h"
#include "opencl/submit/printf.h"
#include "ppu/image.h"
#include "ppu/macros.h"
#include "runtime/block.h"
#include "runtime/stream.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/program.h"

#define MOST_KERNELS 3u
#define MOST_ARGUMENTS 8u
#define MOST_FORMATS 3u
#define MOST_CHANGES 12u
#define MOST_SET 64u /* arguments that are set */
#define PRINT_WORDS 64u

static cl_device_id only_device;
static cl_context context;
static cl_command_queue queue, device_queue;
static cl_mem buffer, pipe_of_words;
static cl_mem images[8]; /* of each kind of argument one, see make_images() */
static cl_sampler sampler;
static char notice[600];

/* ---- what OpenCL asks for ---- */

uint32_t source_count(void)
{
    return 1;
}

enum ppu_err source_open(uint32_t index, struct ppu_device **device, struct ppu_error *error)
{
    static char fake;

    (void)index;
    (void)error;
    *device = (struct ppu_device *)(void *)&fake; /* only handed around */
    return PPU_OK;
}

const struct compiler *compiler_get(void)
{
    return NULL;
}

const char *compiler_trouble(void)
{
    return "there is none";
}

const char *fork_server_path(void)
{
    return NULL;
}

bool compiler_path(char path[PATH_MAX])
{
    (void)path;
    return false;
}

bool foreign_path(char path[PATH_MAX])
{
    (void)path;
    return false;
}

static void CL_CALLBACK note(const char *text, const void *data, size_t bytes, void *user)
{
    (void)data;
    (void)bytes;
    (void)user;
    snprintf(notice, sizeof(notice), "%s", text);
}

static void must(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fuzz_found("%s: %d", what, error);
    }
}

static void make_images(void)
{
    static const struct {
        cl_mem_object_type type;
        cl_channel_order order;
    } rows[PPU_ARRAY_SIZE(images)] = {
        { CL_MEM_OBJECT_IMAGE1D, CL_RGBA },        { CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_RGBA },
        { CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_RGBA },  { CL_MEM_OBJECT_IMAGE2D, CL_RGBA },
        { CL_MEM_OBJECT_IMAGE2D, CL_DEPTH },       { CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_RGBA },
        { CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_DEPTH }, { CL_MEM_OBJECT_IMAGE3D, CL_RGBA },
    };
    cl_int error = CL_SUCCESS;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(images); i++) {
        const cl_image_format format = { rows[i].order, CL_FLOAT };
        const cl_image_desc desc = {
            .image_type = rows[i].type,
            .image_width = 4,
            .image_height = 4,
            .image_depth = 4,
            .image_array_size = 2,
            .mem_object = rows[i].type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? buffer : NULL,
        };
        images[i] = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
        must(error, "image");
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const cl_queue_properties on_device[] = { CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE, 0 };
    cl_platform_id platform = NULL;
    cl_int error = CL_SUCCESS;

    (void)argc;
    (void)argv;
    setenv("PPU_CACHE", "off", 1);
    must(clGetPlatformIDs(1, &platform, NULL), "platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &only_device, NULL), "device");
    context = clCreateContext(NULL, 1, &only_device, note, NULL, &error);
    must(error, "context");
    queue = clCreateCommandQueueWithProperties(context, only_device, NULL, &error);
    must(error, "queue");
    device_queue = clCreateCommandQueueWithProperties(context, only_device, on_device, &error);
    must(error, "device's queue");
    buffer = clCreateBuffer(context, 0, 4096, NULL, &error);
    must(error, "buffer");
    make_images();
    sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error);
    must(error, "sampler");
    pipe_of_words = clCreatePipe(context, 0, sizeof(cl_uint), 16, NULL, &error);
    must(error, "pipe");
    return 0;
}

/* ---- images ---- */

static const char text[] = "k\0l\0m\0int*\0x\0%d %5.3f %s\n\0%4095d%c%v4hld\0%";

struct image {
    struct ppu_program_header header;
    struct ppu_kernel_entry kernels[MOST_KERNELS];
    struct ppu_line_entry lines[2];
    struct ppu_argument_entry arguments[MOST_ARGUMENTS];
    uint32_t formats[MOST_FORMATS];
    char text[(sizeof(text) + 7) / 8 * 8 + 4]; /* code begins at a multiple of 8 */
    uint64_t code[4];
};
_Static_assert(offsetof(struct image, code) % 8 == 0 &&
                   offsetof(struct image, code) == offsetof(struct image, text) + sizeof(((struct image *)0)->text),
               "nothing between text and code");

static void make_arguments(struct fuzz_input *input, struct image *image)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < MOST_ARGUMENTS; i++) {
        struct ppu_argument_entry *argument = &image->arguments[i];
        uint8_t kind = (uint8_t)fuzz_below(input, PPU_ARGUMENT_KINDS);
        *argument = (struct ppu_argument_entry){ .name = 11, .type = 6, .offset = (uint16_t)at, .bytes = 8 };
        argument->kind = kind;
        argument->references = PPU_REFERENCE_READ;
        at += 8;
    }
}

static void make_image(struct fuzz_input *input, struct image *image)
{
    memset(image, 0, sizeof(*image));
    image->header = (struct ppu_program_header){
        .magic = PPU_PROGRAM_MAGIC,
        .head = { PPU_PROGRAM_VERSION, sizeof(struct ppu_program_header) },
        .isa_version = PPU_ISA_VERSION,
        .image_bytes = sizeof(*image),
        .kernels = MOST_KERNELS,
        .lines = 2,
        .text_bytes = sizeof(image->text),
        .code_bytes = sizeof(image->code),
        .arguments = MOST_ARGUMENTS,
        .formats = MOST_FORMATS,
    };
    for (uint32_t k = 0; k < MOST_KERNELS; k++) {
        image->kernels[k] = (struct ppu_kernel_entry){ .name = 2 * k, .vregs = 8, .wave = 128, .param_bytes = 128 };
        image->kernels[k].argument_first = 4 * k;
        image->kernels[k].argument_count = k < 2 ? 4 : 0;
        image->kernels[k].implicit_at = k == 1 ? 0 : 64;
    }
    image->lines[1] = (struct ppu_line_entry){ 2, 7 };
    image->formats[1] = 13;
    image->formats[2] = 27;
    memcpy(image->text, text, sizeof(text));
    make_arguments(input, image);
}

/* Of an aligned byte, half-word or word in the tables: arguments are half of what is changed. */
static void change(struct fuzz_input *input, struct image *image)
{
    static const uint32_t numbers[] = { 0, 1, 2, 7, 8, 9, 64, 128, 256, 1024, 4095, 4096, 4097, UINT32_MAX };
    static const struct {
        size_t from, to;
    } areas[] = {
        { 0, offsetof(struct image, code) },
        { offsetof(struct image, kernels), offsetof(struct image, lines) },
        { offsetof(struct image, arguments), offsetof(struct image, formats) },
        { offsetof(struct image, arguments), offsetof(struct image, formats) },
    };
    uint32_t area = fuzz_below(input, 4), bytes = 1u << fuzz_below(input, 3), choice = fuzz_below(input, 32);
    uint32_t positions = (uint32_t)(areas[area].to - areas[area].from) / bytes;
    size_t at = areas[area].from + fuzz_below(input, positions) * bytes;
    uint32_t value = choice < PPU_ARRAY_SIZE(numbers) ? numbers[choice] : fuzz_u32(input);

    memcpy((uint8_t *)image + at, &value, bytes);
}

/* ---- what a program does with it ---- */

static void ask(cl_kernel kernel, cl_uint arguments)
{
    char answer[100];
    cl_ulong number = 0;
    size_t group[3];

    must(clGetKernelWorkGroupInfo(kernel, only_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(group), group, NULL), "size");
    if (group[0] == 0) {
        fuzz_found("a kernel has no room for a work-item");
    }
    (void)clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(answer), answer, NULL);
    (void)clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof(answer), answer, NULL);
    (void)clGetKernelWorkGroupInfo(kernel, only_device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(number), &number, NULL);
    (void)clGetKernelWorkGroupInfo(kernel, only_device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(group), group, NULL);
    for (cl_uint i = 0; i < arguments; i++) {
        (void)clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof(answer), answer, NULL);
        (void)clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof(answer), answer, NULL);
        (void)clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(number), &number, NULL);
    }
}

/* The library takes as many bytes as the image says that the argument has. */
static bool set_zeros(cl_kernel kernel, cl_uint i)
{
    const size_t bytes = kernel->descriptions[i].bytes;
    uint8_t *zeros = calloc(1, bytes + 1);
    const bool is_set = zeros && clSetKernelArg(kernel, i, bytes, zeros) == CL_SUCCESS;

    free(zeros);
    return is_set;
}

static bool set(cl_kernel kernel, cl_uint i)
{
    for (size_t n = 0; n < PPU_ARRAY_SIZE(images); n++) {
        if (clSetKernelArg(kernel, i, sizeof(cl_mem), &images[n]) == CL_SUCCESS) {
            return true;
        }
    }
    return clSetKernelArg(kernel, i, sizeof(cl_sampler), &sampler) == CL_SUCCESS ||
           clSetKernelArg(kernel, i, sizeof(cl_mem), &pipe_of_words) == CL_SUCCESS ||
           clSetKernelArg(kernel, i, sizeof(cl_mem), &buffer) == CL_SUCCESS ||
           clSetKernelArg(kernel, i, sizeof(cl_command_queue), &device_queue) == CL_SUCCESS ||
           clSetKernelArg(kernel, i, 16, NULL) == CL_SUCCESS || set_zeros(kernel, i);
}

/* Up to the lane: the event that it waits for fails. */
static void enqueue(cl_kernel kernel, const size_t *global, const size_t *local)
{
    cl_int error = CL_SUCCESS;
    cl_event gate = clCreateUserEvent(context, &error);

    must(error, "gate");
    (void)clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 1, &gate, NULL);
    must(clSetUserEventStatus(gate, -1), "gate's end");
    must(clReleaseEvent(gate), "gate's release");
    must(clFinish(queue), "finish");
}

/* As libppu launches it. */
static void launch(cl_kernel kernel, const size_t *global)
{
    static uint8_t params[PPU_MAX_PARAM];
    struct ppu_channel channel = { .context = context->ppu };
    struct ppu_stream stream = { .channel = &channel };
    const struct ppu_kernel *code = NULL;
    struct ppu_block *block = NULL;
    const struct ppu_launch described = { .grid = { (uint32_t)global[0], 1, 1 },
                                          .cta = { 1, 0, 0 },
                                          .params = params,
                                          .param_bytes = kernel->entry->param_bytes };

    must((cl_int)ppu_kernel_find(kernel->program->loaded, kernel_text(kernel, kernel->entry->name), &code), "kernel");
    must((cl_int)ppu_block_begin(&channel, &block), "block");
    ppu_block_launch(block, &stream, code, &described);
    (void)ppu_block_submit(block, NULL);
    ppu_memory_free(stream.local[0]);
}

static void use(cl_kernel kernel, const size_t *sizes)
{
    cl_uint arguments = kernel->entry->argument_count;
    cl_int error = CL_SUCCESS;

    ask(kernel, PPU_MIN(arguments, MOST_SET));
    for (cl_uint i = 0; i < arguments; i++) {
        if (!set(kernel, i)) {
            fuzz_found("argument %u of kind %u cannot be set", i, kernel->descriptions[i].kind);
        }
    }
    enqueue(kernel, sizes, NULL);
    enqueue(kernel, sizes, sizes + 2);
    launch(kernel, sizes);
    cl_kernel clone = clCloneKernel(kernel, &error);
    must(error, "clone");
    must(clReleaseKernel(clone), "clone's release");
}

/* Records and formats are the kernel's to write. */
static void print(struct fuzz_input *input, cl_program program)
{
    struct ppu_printf_buffer *printed = calloc(1, PRINTF_BUFFER_BYTES);
    int before = dup(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY);
    const struct print_source source = { .view = &program->view, .code_va = ppu_program_code_va(program->on[0]).va };

    printf_begin(printed);
    printed->used = fuzz_below(input, 8) == 0 ? fuzz_u32(input) : fuzz_below(input, PRINT_WORDS);
    fuzz_bytes(input, printed->words, PRINT_WORDS * sizeof(uint32_t));
    dup2(nothing, STDOUT_FILENO);
    char *reports = NULL;
    (void)printf_end(printed, &source, &reports);
    free(reports);
    dup2(before, STDOUT_FILENO);
    close(nothing);
    close(before);
    free(printed);
}

static void use_all(struct fuzz_input *input, cl_program program)
{
    const size_t sizes[] = { fuzz_u8(input), fuzz_u16(input), fuzz_below(input, 65), fuzz_below(input, 17) };
    cl_kernel kernels[MOST_KERNELS];
    cl_uint count = 0;

    must(clCreateKernelsInProgram(program, MOST_KERNELS, kernels, &count), "kernels");
    for (cl_uint i = 0; i < count; i++) {
        use(kernels[i], sizes);
        must(clReleaseKernel(kernels[i]), "kernel's release");
    }
    print(input, program);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count);
    struct image *image = malloc(sizeof(*image));
    const size_t size = sizeof(*image);
    cl_int error = CL_SUCCESS, status = CL_SUCCESS;

    make_image(&input, image);
    for (uint32_t changes = fuzz_below(&input, MOST_CHANGES); changes > 0; changes--) {
        change(&input, image);
    }
    const unsigned char *given = (const unsigned char *)image;
    notice[0] = 0;
    cl_program program = clCreateProgramWithBinary(context, 1, &only_device, &size, &given, &status, &error);
    free(image);
    if (!program && strncmp(notice, "clCreateProgramWithBinary: ", 27) != 0) {
        fuzz_found("an image is refused without a reason: %d", error);
    }
    if (program) {
        use_all(&input, program);
        must(clReleaseProgram(program), "program's release");
    }
    return 0;
}
