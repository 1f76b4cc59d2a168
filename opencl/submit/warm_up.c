/* SPDX-License-Identifier: MIT */
/*
 * The microcontroller of a PPU that QEMU emulates translates its code where it comes to it first: that is some 3 ms of
 * the first launch. They pass while the program still compiles.
 */
#include "opencl/submit/warm_up.h"
#include "opencl/submit/submitter.h"

#include "opencl/api/context.h"
#include "opencl/api/queue.h"
#include "ppu.h"
#include "ppu/image.h"

#define KERNEL_NAME "warm_up"
#define SOURCE_NAME "libppu-opencl" /* what a profile calls the program */

/* A program of one kernel that ends at once. */
struct empty_image {
    struct ppu_program_header header;
    struct ppu_kernel_entry kernel;
    char text[24]; /* the empty name, the kernel's and the source's; whole words of 8 bytes */
    uint64_t code;
};
_Static_assert(1 + sizeof(KERNEL_NAME) + sizeof(SOURCE_NAME) <= sizeof(((struct empty_image *)NULL)->text),
               "names fit");

static struct empty_image empty_image(void)
{
    const struct ppu_insn end = { .op = PPU_OP_EXIT };

    return (struct empty_image){
        .header = { .magic = PPU_PROGRAM_MAGIC,
                    .head = { PPU_PROGRAM_VERSION, sizeof(struct ppu_program_header) },
                    .isa_version = PPU_ISA_VERSION,
                    .image_bytes = sizeof(struct empty_image),
                    .kernels = 1,
                    .text_bytes = sizeof(((struct empty_image *)NULL)->text),
                    .source = 1 + sizeof(KERNEL_NAME),
                    .code_bytes = sizeof(uint64_t) },
        .kernel = { .name = 1, .vregs = 1, .wave = PPU_LANES },
        .text = "\0" KERNEL_NAME "\0" SOURCE_NAME,
        .code = ppu_isa_encode(&end),
    };
}

static enum ppu_err launch(const struct submitter *submitter, struct ppu_program *program)
{
    const struct ppu_launch one = { .grid = { 1, 1, 1 }, .cta = { 1, 1, 1 } };
    const struct ppu_kernel *kernel = NULL;
    const enum ppu_err err = ppu_kernel_find(program, KERNEL_NAME, &kernel);

    return err == PPU_OK ? ppu_stream_launch(submitter->stream, kernel, &one, NULL) : err;
}

struct ppu_program *warm_up(const struct submitter *submitter)
{
    struct _cl_device_id *const device = submitter->queue->device;
    const struct empty_image image = empty_image();
    struct ppu_program *program = NULL;

    if (__atomic_exchange_n(&device->warm, true, __ATOMIC_RELAXED) ||
        ppu_program_load(submitter_space(submitter), &image, sizeof(image), &program, NULL) != PPU_OK) {
        return NULL;
    }
    if (launch(submitter, program) != PPU_OK) {
        ppu_program_unload(program);
        return NULL;
    }
    return program;
}
