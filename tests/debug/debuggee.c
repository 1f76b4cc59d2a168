/* SPDX-License-Identifier: MIT */
/*
 * Gives the debugger something to stop: a kernel keeps every SM busy while another channel's doorbell rings. Runs
 * until it is killed. usage: debuggee IMAGE, that of tests/kernels/spin.s
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ppu.h"

#define TURNS 0x7fffffffu
#define RING_EVERY_US 20000

static void need(enum ppu_err err, const char *what)
{
    if (err != PPU_OK) {
        fprintf(stderr, "%s: %s\n", what, ppu_error_text(err));
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    struct ppu_device *device = NULL;
    struct ppu_context *context = NULL;
    struct ppu_channel *busy = NULL, *ringing = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_program *program = NULL;
    const struct ppu_kernel *spin = NULL;
    struct ppu_memory *word = NULL;

    need(argc == 2 ? PPU_OK : PPU_ERR_BAD_ARG, "usage: debuggee IMAGE");
    need(ppu_open(&device, NULL), "device");
    need(ppu_context_create(device, &context), "context");
    need(ppu_channel_create(context, NULL, &busy), "channel");
    need(ppu_channel_create(context, NULL, &ringing), "channel");
    need(ppu_stream_create(busy, &stream), "stream");
    need(ppu_program_load_file(context, argv[1], &program, NULL), argv[1]);
    need(ppu_kernel_find(program, "spin_count", &spin), "kernel");
    need(ppu_memory_create(context, PPU_MEMORY_VRAM, 65536, &word), "memory");
    const struct {
        uint32_t turns;
        uint64_t counter;
    } params = { TURNS, ppu_memory_va(word, context).va };
    const struct ppu_device_info *info = ppu_device_info(device);
    const struct ppu_launch launch = {
        .grid = { info->sms * info->sm_ctas }, .cta = { 64 }, .params = &params, .param_bytes = sizeof(params)
    };
    for (uint32_t value = 0;; value++) {
        struct ppu_block *block = NULL;
        /* Launched again when the watchdog has ended it. */
        if (ppu_channel_error(busy, NULL) != PPU_OK || value == 0) {
            need(value == 0 ? PPU_OK : ppu_channel_reset(busy), "reset");
            need(ppu_stream_launch(stream, spin, &launch, NULL), "launch");
        }
        need(ppu_block_begin(ringing, &block), "block");
        ppu_block_release(block, ppu_memory_va(word, context), value, false);
        need(ppu_block_submit(block, NULL), "submit");
        usleep(RING_EVERY_US);
    }
}
