/* SPDX-License-Identifier: MIT */
/*
 * Stands for libppu without a device, below what uses it: memory is the process's own, whatever is submitted has
 * ended. Programs and launches are libppu's own code (runtime/program.c, launch.c) up to the descriptor, which is
 * looked at here.
 */
#include <stdlib.h>
#include <string.h>

#include "opencl/api/device.h"
#include "ppu.h"
#include "ppu/mmu.h"
#include "runtime/block.h"
#include "runtime/memory.h"
#include "runtime/profile.h"
#include "runtime/program.h"
#include "runtime/recorder.h"
#include "runtime/stream.h"
#include "tests/fuzz/input.h"

#define FIRST_VA (1ull << 32)

static const struct ppu_device_info info = {
    .vram_bytes = 256u << 20,
    .channels = 64,
    .contexts = 8,
    .slots = 16,
    .gpcs = 1,
    .sms = 2,
    .sm_warps = 64,
    .sm_ctas = 16,
    .sm_vregs = 65536,
    .sm_shared = PPU_MAX_SHARED,
    .vectors = 32,
    .streams = 32,
    .tasks = 1024,
    .features = PPU_FEATURE_SUBVECTOR,
};

/* ---- device ---- */

const struct ppu_device_info *ppu_device_info(const struct ppu_device *device)
{
    (void)device;
    return &info;
}

uint64_t ppu_device_heap_bytes(const struct ppu_device *device)
{
    (void)device;
    return info.vram_bytes;
}

bool ppu_device_shares_addresses(const struct ppu_device *device)
{
    (void)device;
    return false;
}

enum ppu_err ppu_device_policy(struct ppu_device *device, enum ppu_policy policy, uint32_t value)
{
    (void)device, (void)policy, (void)value;
    return PPU_OK;
}

bool ppu_record_wanted(void)
{
    return false;
}

uint32_t recorder_add_kernel(const struct ppu_program *program, const struct ppu_kernel_entry *entry)
{
    return ppu_record_name(program->view.text + entry->name);
}

void profile_program_loaded(struct ppu_program *program)
{
    (void)program; /* no tool profiles it */
}

void profile_program_unloaded(struct ppu_program *program)
{
    (void)program;
}

void ppu_program_source(const struct ppu_program *program, const char *text, size_t bytes)
{
    (void)program, (void)text, (void)bytes;
}

/* It reads the text, as the recorder would. */
uint32_t ppu_record_name(const char *text)
{
    return (uint32_t)strlen(text);
}

void ppu_record(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1, uint32_t id2)
{
    (void)type, (void)correlation, (void)id0, (void)id1, (void)id2;
}

uint32_t ppu_device_recorded(const struct ppu_device *device)
{
    (void)device;
    return 0;
}

uint64_t ppu_device_time_ns(struct ppu_device *device)
{
    (void)device;
    return 0;
}

enum ppu_err ppu_device_query(struct ppu_device *device, enum ppu_key key, uint32_t object, uint64_t *value)
{
    (void)device;
    (void)key;
    (void)object;
    *value = 0;
    return PPU_OK;
}

enum ppu_err ppu_context_create(struct ppu_device *device, struct ppu_context **out)
{
    *out = calloc(1, sizeof(**out));
    (*out)->device = device;
    return PPU_OK;
}

enum ppu_err ppu_context_destroy(struct ppu_context *context)
{
    free(context);
    return PPU_OK;
}

enum ppu_err ppu_context_nest(struct ppu_context *context, const struct ppu_nest_options *options)
{
    (void)context;
    (void)options;
    return PPU_OK;
}

void ppu_context_join_heap(struct ppu_context *context)
{
    (void)context; /* threads take nothing */
}

/* ---- memory ---- */

enum ppu_err ppu_memory_alloc(struct ppu_device *device, enum ppu_memory_kind kind, uint64_t bytes,
                              struct ppu_memory **out)
{
    struct ppu_memory *memory = calloc(1, sizeof(*memory));

    memory->device = device;
    memory->kind = kind;
    memory->bytes = bytes;
    memory->host = calloc(1, bytes);
    *out = memory;
    return PPU_OK;
}

enum ppu_err ppu_memory_create(struct ppu_context *context, enum ppu_memory_kind kind, uint64_t bytes,
                               struct ppu_memory **out)
{
    return ppu_memory_alloc(context->device, kind, bytes, out);
}

enum ppu_err ppu_memory_free(struct ppu_memory *memory)
{
    if (memory) {
        free(memory->host);
    }
    free(memory);
    return PPU_OK;
}

void *ppu_memory_host(const struct ppu_memory *memory)
{
    return memory->host;
}

uint64_t ppu_memory_bytes(const struct ppu_memory *memory)
{
    return memory->bytes;
}

/* The same for each: addresses decide nothing here. */
ppu_va_t ppu_memory_va(const struct ppu_memory *memory, const struct ppu_context *context)
{
    (void)memory;
    (void)context;
    return (ppu_va_t){ FIRST_VA };
}

bool ppu_context_maps(const struct ppu_context *context, ppu_va_t va, uint64_t bytes)
{
    (void)context;
    return va.va < FIRST_VA + bytes;
}

enum ppu_err ppu_memory_of_peer(struct ppu_device *device, const struct ppu_memory *of, struct ppu_memory **out)
{
    (void)device;
    (void)of;
    *out = NULL;
    return PPU_ERR_NO_RESOURCE;
}

enum ppu_err ppu_memory_map(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t *va)
{
    (void)flags;
    *va = ppu_memory_va(memory, context);
    return PPU_OK;
}

enum ppu_err ppu_memory_map_at(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t va)
{
    (void)memory;
    (void)context;
    (void)flags;
    (void)va;
    return PPU_OK;
}

/* ---- channels ---- */

enum ppu_err ppu_channel_create(struct ppu_context *context, const struct ppu_channel_options *options,
                                struct ppu_channel **out)
{
    (void)options;
    *out = calloc(1, sizeof(**out));
    (*out)->context = context;
    return PPU_OK;
}

enum ppu_err ppu_channel_destroy(struct ppu_channel *channel)
{
    free(channel);
    return PPU_OK;
}

enum ppu_err ppu_channel_reset(struct ppu_channel *channel)
{
    (void)channel;
    return PPU_OK;
}

enum ppu_err ppu_channel_error(struct ppu_channel *channel, struct ppu_error *error)
{
    (void)channel;
    if (error) {
        *error = (struct ppu_error){ .code = PPU_OK };
    }
    return PPU_OK;
}

uint32_t ppu_channel_index(const struct ppu_channel *channel)
{
    return channel->index;
}

enum ppu_err ppu_stream_create(struct ppu_channel *channel, struct ppu_stream **out)
{
    *out = calloc(1, sizeof(**out));
    (*out)->channel = channel;
    return PPU_OK;
}

enum ppu_err ppu_stream_destroy(struct ppu_stream *stream)
{
    if (stream) {
        ppu_memory_free(stream->local[0]);
    }
    free(stream);
    return PPU_OK;
}

enum ppu_err stream_local_memory(struct ppu_stream *stream, uint64_t bytes, struct ppu_memory **memory)
{
    (void)bytes;
    if (!stream->local[0]) {
        ppu_memory_alloc(stream->channel->context->device, PPU_MEMORY_VRAM, LOCAL_SMALLEST, &stream->local[0]);
    }
    *memory = stream->local[0];
    return PPU_OK;
}

/* ---- blocks ---- */

enum ppu_err ppu_block_begin(struct ppu_channel *channel, struct ppu_block **out)
{
    *out = calloc(1, sizeof(**out));
    (*out)->channel = channel;
    return PPU_OK;
}

enum ppu_err ppu_block_submit(struct ppu_block *block, struct ppu_event *event)
{
    enum ppu_err err = block->error;

    if (event) {
        *event = (struct ppu_event){ .channel = block->channel };
    }
    free(block);
    return err;
}

uint32_t ppu_block_correlation(const struct ppu_block *block)
{
    return block->launches;
}

enum ppu_err ppu_stream_launch(struct ppu_stream *stream, const struct ppu_kernel *kernel,
                               const struct ppu_launch *launch, struct ppu_event *event)
{
    struct ppu_block *block = NULL;

    ppu_block_begin(stream->channel, &block);
    ppu_block_launch(block, stream, kernel, launch);
    return ppu_block_submit(block, event);
}

void block_fail(struct ppu_block *block, enum ppu_err error)
{
    block->error = block->error != PPU_OK ? block->error : error;
}

/* What the block would copy. */
void block_launch_inline(struct ppu_block *block, const struct ppu_tmd *tmd, const void *params, uint32_t stream)
{
    uint8_t copy[PPU_MAX_PARAM];

    (void)stream;
    if (tmd->param_bytes > PPU_MAX_PARAM) {
        fuzz_found("a launch has %u bytes of parameters", tmd->param_bytes);
    }
    if (tmd->param_bytes > 0) {
        memcpy(copy, params, tmd->param_bytes);
    }
    if (tmd->entry >= tmd->code_bytes || tmd->cta[0] == 0 || tmd->cta[1] == 0 || tmd->cta[2] == 0) {
        fuzz_found("a launch begins at %u of %u bytes, with %u threads", tmd->entry, tmd->code_bytes, tmd->cta[0]);
    }
    block->launches++;
}

void ppu_block_copy(struct ppu_block *block, ppu_va_t dst, ppu_va_t src, uint64_t bytes)
{
    (void)block;
    (void)dst;
    (void)src;
    (void)bytes;
}

void ppu_block_release(struct ppu_block *block, ppu_va_t sem, uint32_t value, bool with_time)
{
    (void)block;
    (void)sem;
    (void)value;
    (void)with_time;
}

void ppu_block_wait_idle(struct ppu_block *block)
{
    (void)block;
}

void ppu_block_round(struct ppu_block *block, struct ppu_workq *queue)
{
    (void)block;
    (void)queue;
}

enum ppu_err ppu_event_error(const struct ppu_event *event, struct ppu_error *error)
{
    enum ppu_err err = ppu_event_wait(event, 0);

    *error = (struct ppu_error){ .code = err };
    return err;
}

enum ppu_err ppu_event_wait(const struct ppu_event *event, uint64_t timeout_ns)
{
    (void)event;
    (void)timeout_ns;
    return PPU_OK;
}

/* ---- work queues: there are none ---- */

enum ppu_err ppu_workq_create(struct ppu_channel *channel, const struct ppu_workq_options *options,
                              struct ppu_workq **out)
{
    (void)channel;
    (void)options;
    *out = NULL;
    return PPU_ERR_NO_RESOURCE;
}

enum ppu_err ppu_workq_destroy(struct ppu_workq *queue)
{
    (void)queue;
    return PPU_OK;
}

enum ppu_err ppu_workq_reset(struct ppu_workq *queue)
{
    (void)queue;
    return PPU_OK;
}

ppu_va_t ppu_workq_va(const struct ppu_workq *queue)
{
    (void)queue;
    return (ppu_va_t){ FIRST_VA };
}

/* ---- task queues: there are none ---- */

enum ppu_err ppu_taskq_create(struct ppu_context *context, const struct ppu_taskq_options *options,
                              struct ppu_taskq **out)
{
    (void)context;
    (void)options;
    *out = NULL;
    return PPU_ERR_NO_RESOURCE;
}

enum ppu_err ppu_taskq_destroy(struct ppu_taskq *queue)
{
    (void)queue;
    return PPU_OK;
}

enum ppu_err ppu_taskq_reopen(struct ppu_taskq *queue)
{
    (void)queue;
    return PPU_OK;
}

ppu_va_t ppu_taskq_va(const struct ppu_taskq *queue)
{
    (void)queue;
    return (ppu_va_t){ FIRST_VA };
}

enum ppu_err ppu_taskq_push(struct ppu_taskq *queue, struct ppu_channel *channel, const void *data, uint32_t bytes)
{
    (void)queue;
    (void)channel;
    (void)data;
    (void)bytes;
    return PPU_OK;
}

enum ppu_err ppu_taskq_close(struct ppu_taskq *queue, struct ppu_channel *channel)
{
    (void)queue;
    (void)channel;
    return PPU_OK;
}
