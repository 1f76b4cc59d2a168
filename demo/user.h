/* SPDX-License-Identifier: MIT */
/* Keeps a user of the PPU: an address space with a channel, a stream and the demo's kernels. */
#ifndef DEMO_USER_H
#define DEMO_USER_H

#include "ppu.h"

#define DEMO_WAIT_NS 30000000000ull

struct user {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
};

/* `image` is the file that demo/kernels.s was assembled to. These end the program when they fail. */
void user_open(struct user *user, struct ppu_device *device, const char *image);
void user_close(struct user *user);
const struct ppu_kernel *user_kernel(const struct user *user, const char *name);
struct ppu_memory *user_memory(const struct user *user, enum ppu_memory_kind kind, uint64_t bytes);
uint64_t user_va(const struct user *user, const struct ppu_memory *memory);

/* Launches and waits until it has ended. */
enum ppu_err user_run(const struct user *user, const struct ppu_kernel *kernel, const struct ppu_launch *launch);
/* The channel's words for what went wrong with it; for `err` when it has none. Valid until the next call. */
const char *user_reason(const struct user *user, enum ppu_err err);

#endif
