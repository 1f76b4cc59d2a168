/* SPDX-License-Identifier: MIT */
/* Makes a task descriptor (A11) of a kernel and its launch. */
#include "ppu/macros.h"
#include "runtime/block.h"
#include "runtime/program.h"
#include "runtime/stream.h"
#include "runtime/taskq.h"

#include <string.h>

static uint32_t at_least_one(uint32_t n)
{
    return n > 0 ? n : 1;
}

static bool is_zero(const uint32_t n[3])
{
    return n[0] == 0 && n[1] == 0 && n[2] == 0;
}

/* What the TMD has no room for stays too large, which is the firmware's to refuse. */
static uint16_t size_of(uint32_t threads)
{
    return (uint16_t)PPU_MIN(threads, UINT16_MAX);
}

/* Threads a CTA; false: the kernel was made for another one. */
static bool choose_cta(const struct ppu_kernel_entry *kernel, const struct ppu_launch *launch, struct ppu_tmd *tmd)
{
    const uint32_t *wanted = is_zero(launch->cta) ? kernel->cta : launch->cta;

    for (uint32_t i = 0; i < 3; i++) {
        tmd->cta[i] = size_of(i == 0 ? wanted[i] : at_least_one(wanted[i]));
        tmd->edge[i] = size_of(launch->edge[i]);
    }
    return is_zero(kernel->cta) || (tmd->cta[0] == kernel->cta[0] && tmd->cta[1] == at_least_one(kernel->cta[1]) &&
                                    tmd->cta[2] == at_least_one(kernel->cta[2]));
}

static enum ppu_err choose_local(struct ppu_stream *stream, struct ppu_tmd *tmd)
{
    const struct ppu_device_info *info = ppu_device_info(stream->channel->context->device);
    struct ppu_memory *memory = NULL;
    uint64_t resident = (uint64_t)info->sms * info->sm_ctas;
    uint64_t grid = (uint64_t)tmd->grid[0] * tmd->grid[1] * tmd->grid[2];
    uint64_t ctas = tmd->kind == PPU_TMD_TASKQ ? resident : grid;
    uint64_t threads = (uint64_t)tmd->cta[0] * tmd->cta[1] * tmd->cta[2];
    uint64_t cta_bytes = (threads + tmd->wave - 1) / tmd->wave * tmd->wave * tmd->local_bytes; /* whole warps have it */

    /* Sizes that make no sense are the firmware's to refuse; here they must only not overflow. */
    if (tmd->local_bytes == 0 || cta_bytes > (uint64_t)PPU_MAX_CTA_THREADS * PPU_MAX_LOCAL) {
        return PPU_OK;
    }
    enum ppu_err err = stream_local_memory(stream, cta_bytes * PPU_MIN(ctas, resident), &memory);
    if (err == PPU_OK) {
        tmd->local_va = ppu_memory_va(memory, stream->channel->context).va;
        tmd->local_size = ppu_memory_bytes(memory);
    }
    return err;
}

/* The kernel's code was made for ids up to a limit. */
static bool takes_ids(const struct ppu_kernel_entry *kernel, const struct ppu_launch *launch, const struct ppu_tmd *tmd)
{
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t offset = kernel->implicit_at != 0 ? launch->implicit.global_offset[i] : 0;
        uint64_t whole = tmd->grid[i] > 0 ? tmd->grid[i] - 1 : 0;
        if (!ppu_kernel_takes_ids(kernel, offset, whole * tmd->cta[i] + ppu_tmd_last(tmd, i))) {
            return false;
        }
    }
    return true;
}

/* Counts the bytes that the launcher gives: its arguments, without the implicit arguments behind them. */
static uint32_t bytes_needed(const struct ppu_kernel *kernel)
{
    const struct ppu_kernel_entry *entry = kernel->entry;

    const struct ppu_argument_entry *argument = &kernel->program->view.arguments[entry->argument_first];
    uint32_t bytes = 0;

    if (entry->implicit_at == 0) {
        return entry->param_bytes;
    }
    for (uint32_t i = 0; i < entry->argument_count; i++) {
        bytes = argument[i].offset < PPU_MAX_PARAM ? argument[i].offset + argument[i].bytes : bytes;
    }
    return bytes;
}

static bool has_block(const struct ppu_kernel *kernel)
{
    const struct ppu_kernel_entry *entry = kernel->entry;

    return ppu_arguments_outside(&kernel->program->view.arguments[entry->argument_first], entry->argument_count) != 0;
}

/* A kernel that has a block of arguments needs one. */
static bool block_ok(const struct ppu_kernel *kernel, const struct ppu_launch *launch)
{
    return has_block(kernel) ? launch->arguments_va != 0 && launch->arguments_va % PPU_BLOCK_ALIGN == 0
                             : launch->arguments_va == 0;
}

/* Returns the mask of the parameters that the image says are addresses. */
static uint64_t declared_addresses(const struct ppu_kernel *kernel)
{
    const struct ppu_argument_entry *argument = kernel->program->view.arguments + kernel->entry->argument_first;
    uint64_t addresses = 0;

    for (uint32_t i = 0; i < kernel->entry->argument_count; i++) {
        bool is_address = argument[i].kind == PPU_ARGUMENT_GLOBAL || argument[i].kind == PPU_ARGUMENT_CONSTANT;
        if (is_address && argument[i].offset / 8u < 64) {
            addresses |= 1ull << argument[i].offset / 8u;
        }
    }
    return addresses;
}

static uint16_t choose_flags(const struct ppu_kernel_entry *kernel, const struct ppu_launch *launch)
{
    uint32_t flags = kernel->flags | (launch->coresident ? PPU_TMD_CORESIDENT : 0) | (launch->head ? PPU_TMD_HEAD : 0);

    if (launch->group == PPU_LAUNCH_GROUP_GRID) {
        flags &= ~PPU_TMD_CTA_GROUPS;
    } else if (launch->group == PPU_LAUNCH_GROUP_CTA) {
        flags |= PPU_TMD_CTA_GROUPS;
    }
    return (uint16_t)flags;
}

static struct ppu_tmd describe_tmd(const struct ppu_kernel *kernel, const struct ppu_launch *launch)
{
    const struct ppu_kernel_entry *entry = kernel->entry;
    const struct ppu_taskq *queue = launch->taskq;

    return (struct ppu_tmd){
        .head = { PPU_TMD_VERSION, sizeof(struct ppu_tmd) },
        .kind = queue ? PPU_TMD_TASKQ : PPU_TMD_GRID,
        .priority = (uint8_t)launch->priority,
        .flags = choose_flags(entry, launch),
        .code_va = kernel->program->code_va.va,
        .code_bytes = kernel->program->view.header->code_bytes,
        .entry = entry->entry,
        .vregs = entry->vregs,
        .wave = entry->wave,
        .mode = (uint8_t)launch->mode,
        .token_count = entry->token_count,
        .shared_vregs = entry->shared_vregs,
        .shared_bytes = entry->shared_bytes + launch->shared_bytes,
        .local_bytes = entry->local_bytes,
        .grid = { queue ? 1 : launch->grid[0], queue ? 1 : at_least_one(launch->grid[1]),
                  queue ? 1 : at_least_one(launch->grid[2]) },
        .param_bytes = entry->implicit_at != 0 && launch->param_bytes < entry->param_bytes ? entry->param_bytes
                                                                                           : launch->param_bytes,
        .watchdog_ns = launch->watchdog_ns,
        .taskq = queue ? queue->number : 0,
        .miss_rate = (uint16_t)launch->miss_rate,
        .addresses = launch->addresses | declared_addresses(kernel),
    };
}

static uint32_t dimensions(const struct ppu_tmd *tmd)
{
    if (tmd->grid[2] > 1 || tmd->cta[2] > 1) {
        return 3;
    }
    return tmd->grid[1] > 1 || tmd->cta[1] > 1 ? 2 : 1;
}

/* Who does not say where the objects of arguments lie gets no reports about them. */
static void leave_unbounded(const struct ppu_kernel_entry *kernel, uint8_t params[PPU_MAX_PARAM])
{
    const struct ppu_sanitizer_bounds any = { 0, PPU_SANITIZER_ANY, 0 };

    for (uint32_t at = ppu_kernel_bounds_at(kernel); at + sizeof(any) <= kernel->param_bytes; at += sizeof(any)) {
        memcpy(params + at, &any, sizeof(any));
    }
}

/* The launcher's parameters with what a compiled kernel asks about its launch, where its entry says so. */
static const void *add_implicit_args(const struct ppu_kernel *kernel, const struct ppu_launch *launch,
                                     const struct ppu_tmd *tmd, uint8_t params[PPU_MAX_PARAM])
{
    struct ppu_implicit_args implicit = launch->implicit;

    if (kernel->entry->implicit_at == 0) {
        return launch->params;
    }
    implicit.code_va = tmd->code_va;
    implicit.variables_va = kernel->program->variables_va.va;
    implicit.work_dim = implicit.work_dim != 0 ? implicit.work_dim : dimensions(tmd);
    if (launch->param_bytes != 0) {
        memcpy(params, launch->params, launch->param_bytes);
    }
    memcpy(params + kernel->entry->implicit_at, &implicit, sizeof(implicit));
    if (launch->arguments_va != 0) {
        memcpy(params + ppu_kernel_block_at(kernel->entry), &launch->arguments_va, sizeof(launch->arguments_va));
    }
    if ((kernel->entry->assumes & PPU_KERNEL_BOUNDED) && launch->param_bytes < kernel->entry->param_bytes) {
        leave_unbounded(kernel->entry, params);
    }
    return params;
}

/* Checks what does not depend on the wave size and the shape. */
static bool numbers_ok(const struct ppu_kernel_entry *kernel, const struct ppu_launch *launch)
{
    if (launch->group > PPU_LAUNCH_GROUP_CTA ||
        (launch->group == PPU_LAUNCH_GROUP_CTA && !(kernel->flags & PPU_TMD_MAY_WAIT))) {
        return false;
    }
    return launch->priority < PPU_PRIORITIES && launch->shared_bytes <= PPU_MAX_SHARED && launch->mode < PPU_MODES &&
           ppu_miss_rate_ok(launch->miss_rate);
}

enum ppu_err ppu_kernel_describe(const struct ppu_kernel *kernel, const struct ppu_launch *launch, struct ppu_tmd *out)
{
    *out = describe_tmd(kernel, launch);
    bool good = numbers_ok(kernel->entry, launch) && kernel->entry->local_bytes == 0 &&
                choose_cta(kernel->entry, launch, out) && takes_ids(kernel->entry, launch, out);
    out->param_bytes = 0;
    return good ? PPU_OK : PPU_ERR_BAD_ARG;
}

static uint32_t at_most(uint32_t count, uint64_t room, uint64_t need)
{
    return need != 0 && room / need < count ? (uint32_t)(room / need) : count;
}

static uint32_t resident(const struct ppu_device_info *info, const struct ppu_tmd *tmd, bool wide)
{
    uint64_t warps = (ppu_tmd_threads(tmd) + tmd->wave - 1u) / tmd->wave;
    uint32_t count = at_most(info->sm_ctas, info->sm_warps, warps * (tmd->wave / PPU_LANES));

    count = at_most(count, info->sm_vregs, warps * ppu_tmd_warp_vregs(tmd, wide));
    return at_most(count, info->sm_shared, tmd->shared_bytes) * info->sms;
}

uint32_t ppu_kernel_resident(const struct ppu_kernel *kernel, const struct ppu_launch *launch)
{
    const struct ppu_device_info *info = ppu_device_info(kernel->program->context->device);
    struct ppu_tmd tmd = describe_tmd(kernel, launch);

    if (!numbers_ok(kernel->entry, launch) || !choose_cta(kernel->entry, launch, &tmd) || ppu_tmd_threads(&tmd) == 0 ||
        ppu_tmd_threads(&tmd) > PPU_MAX_CTA_THREADS) {
        return 0;
    }
    uint32_t count = resident(info, &tmd, ppu_tmd_may_be_wide(&tmd));
    return count == 0 && !ppu_tmd_is_wide(&tmd) ? resident(info, &tmd, false) : count;
}

static uint32_t low_product(const uint32_t n[3])
{
    return n[0] * n[1] * n[2];
}

static void record_launch(const struct ppu_block *block, const struct ppu_kernel *kernel, const struct ppu_tmd *tmd)
{
    uint32_t device = block->channel->context->device->recorded;

    ppu_record(PPU_TRACE_KERNEL, block->correlation, kernel->recorded_name, low_product(tmd->grid), device);
    ppu_record(PPU_TRACE_KERNEL_SHAPE, block->correlation, ppu_tmd_threads(tmd),
               (uint32_t)tmd->vregs | (uint32_t)tmd->wave << 16, tmd->shared_bytes);
}

void ppu_block_launch(struct ppu_block *block, struct ppu_stream *stream, const struct ppu_kernel *kernel,
                      const struct ppu_launch *launch)
{
    struct ppu_tmd tmd = describe_tmd(kernel, launch);

    if (stream->channel->context != kernel->program->context || block->channel->context != stream->channel->context ||
        launch->param_bytes < bytes_needed(kernel) || launch->param_bytes > PPU_MAX_PARAM ||
        !block_ok(kernel, launch) || !numbers_ok(kernel->entry, launch) || !choose_cta(kernel->entry, launch, &tmd) ||
        !takes_ids(kernel->entry, launch, &tmd)) {
        block_fail(block, PPU_ERR_BAD_ARG);
        return;
    }
    enum ppu_err err = choose_local(stream, &tmd);
    if (err != PPU_OK) {
        block_fail(block, err);
        return;
    }
    record_launch(block, kernel, &tmd);
    uint8_t params[PPU_MAX_PARAM] = { 0 };
    block_launch_inline(block, &tmd, add_implicit_args(kernel, launch, &tmd, params), stream->index);
}
