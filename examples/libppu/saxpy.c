/* SPDX-License-Identifier: MIT */
/* Computes y = a * x + y on the PPU. Usage: saxpy build/kernels/saxpy.ppu */
#include <stdio.h>

#include "ppu.h"

#define N (1u << 20)
/* Calls that take an error fill in a sentence, which says what failed; for the others there is one a code. */
#define TRY(what, call)                                             \
    if ((err = (call)) != PPU_OK) {                                 \
        if (err == error.code) {                                    \
            fprintf(stderr, "%s\n", error.text);                    \
        } else {                                                    \
            fprintf(stderr, "%s: %s\n", what, ppu_error_text(err)); \
        }                                                           \
        return 1;                                                   \
    }

int main(int argc, char **argv)
{
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
    struct ppu_memory *x, *y;
    const struct ppu_kernel *kernel;
    struct ppu_error error = { .code = PPU_OK };
    enum ppu_err err;

    TRY("open a PPU", ppu_open(&device, &error));
    TRY("create a context", ppu_context_create(device, &context));
    TRY("create a channel", ppu_channel_create(context, NULL, &channel));
    TRY("create a stream", ppu_stream_create(channel, &stream));
    TRY("load the program",
        ppu_program_load_file(context, argc > 1 ? argv[1] : "build/kernels/saxpy.ppu", &program, &error));
    TRY("find the kernel saxpy", ppu_kernel_find(program, "saxpy", &kernel));
    TRY("allocate x", ppu_memory_create(context, PPU_MEMORY_VRAM, N * sizeof(float), &x));
    TRY("allocate y", ppu_memory_create(context, PPU_MEMORY_VRAM, N * sizeof(float), &y));
    float *xs = ppu_memory_host(x), *ys = ppu_memory_host(y);
    for (uint32_t i = 0; i < N; i++) {
        xs[i] = (float)i;
        ys[i] = 1.0f;
    }
    const struct {
        ppu_va_t x, y;
        uint32_t n;
        float a;
    } params = { ppu_memory_va(x, context), ppu_memory_va(y, context), N, 2.0f };
    const struct ppu_launch launch = {
        .grid = { N / 256 }, .cta = { 256 }, .params = &params, .param_bytes = sizeof(params)
    };
    TRY("launch the kernel", ppu_stream_launch(stream, kernel, &launch, NULL));
    TRY("wait for the kernel", ppu_stream_wait(stream, 10000000000u));
    printf("y[1000] = %g\n", (double)ys[1000]);
    TRY("destroy the channel", ppu_channel_destroy(channel));
    ppu_device_close(device);
    return 0;
}
