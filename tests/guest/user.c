/* SPDX-License-Identifier: MIT */
/*
 * Uses a PPU as the tests of machines that come and go tell it to.
 *   user count IMAGE N   launches a kernel N times, one after the other, and checks what it has counted
 *   user endless IMAGE   launches a kernel that never ends, says "running", and then says how the wait for it ended
 *   user through IMAGE   launches a kernel that runs until a line is read, says "running", and then what it has counted
 * IMAGE is that of tests/kernels/counter.s, of fair.s, or of told.s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu.h"

#define WAIT_NS (600ull * 1000000000u)
#define LANES 32u
#define TOLD_WORD 16u /* of the memory: its second half begins there, and told.s waits for it */

struct user {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
    struct ppu_memory *memory;
};

static void need(enum ppu_err err, const char *what, const char *text)
{
    if (err != PPU_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, ppu_error_name(err), text ? text : ppu_error_text(err));
        exit(EXIT_FAILURE);
    }
}

static void open_user(struct user *user, const char *image)
{
    struct ppu_error error;

    need(ppu_open(&user->device, &error), "open", error.text);
    need(ppu_context_create(user->device, &user->context), "context", NULL);
    need(ppu_channel_create(user->context, NULL, &user->channel), "channel", NULL);
    need(ppu_stream_create(user->channel, &user->stream), "stream", NULL);
    need(ppu_program_load_file(user->context, image, &user->program, &error), image, error.text);
    need(ppu_memory_create(user->context, PPU_MEMORY_VRAM, 65536, &user->memory), "memory", NULL);
}

static void launch(struct user *user, const char *name)
{
    const struct ppu_kernel *kernel = NULL;
    const uint64_t va = ppu_memory_va(user->memory, user->context).va;
    const uint64_t params[] = { va, va + sizeof(uint32_t) * TOLD_WORD };
    const struct ppu_launch what = { .grid = { 1 }, .cta = { LANES }, .params = params, .param_bytes = sizeof(params) };

    need(ppu_kernel_find(user->program, name, &kernel), name, NULL);
    need(ppu_stream_launch(user->stream, kernel, &what, NULL), "launch", NULL);
}

static int count(struct user *user, uint32_t launches)
{
    volatile uint32_t *counter = ppu_memory_host(user->memory);

    for (uint32_t i = 0; i < launches; i++) {
        launch(user, "counter");
        need(ppu_stream_wait(user->stream, WAIT_NS), "wait", NULL);
        if (*counter != (i + 1) * LANES) {
            printf("counted %u instead of %u\n", *counter, (i + 1) * LANES);
            return EXIT_FAILURE;
        }
    }
    printf("counted %u\n", *counter);
    ppu_device_close(user->device);
    return EXIT_SUCCESS;
}

static int endless(struct user *user)
{
    struct ppu_error error;

    launch(user, "endless");
    puts("running");
    fflush(stdout);
    enum ppu_err err = ppu_stream_wait(user->stream, WAIT_NS);
    ppu_device_error(user->device, &error);
    printf("ended: %s: %s\n", ppu_error_name(err), error.text);
    fflush(stdout);
    return EXIT_SUCCESS;
}

/* The kernel runs until a line is read. */
static int through(struct user *user)
{
    volatile uint32_t *counter = ppu_memory_host(user->memory);
    char line[16];

    launch(user, "told");
    puts("running");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin) || *counter != 0) {
        printf("counted %u before it was told\n", *counter);
        return EXIT_FAILURE;
    }
    counter[TOLD_WORD] = 1;
    need(ppu_stream_wait(user->stream, WAIT_NS), "wait", NULL);
    printf("counted %u\n", *counter);
    ppu_device_close(user->device);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct user user = { 0 };

    if (argc == 4 && strcmp(argv[1], "count") == 0) {
        open_user(&user, argv[2]);
        return count(&user, (uint32_t)strtoul(argv[3], NULL, 10));
    }
    if (argc == 3 && strcmp(argv[1], "endless") == 0) {
        open_user(&user, argv[2]);
        return endless(&user);
    }
    if (argc == 3 && strcmp(argv[1], "through") == 0) {
        open_user(&user, argv[2]);
        return through(&user);
    }
    fputs("usage: user count IMAGE N | user endless IMAGE | user through IMAGE\n", stderr);
    return EXIT_FAILURE;
}
