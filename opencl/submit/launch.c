/* SPDX-License-Identifier: MIT */
/* From an index space and the arguments set so far to a launch. */
#include <stdlib.h>
#include <string.h>

#include "opencl/api/buffer.h"
#include "opencl/api/queue.h"
#include "opencl/submit/device_queue.h"
#include "opencl/submit/launch.h"
#include "opencl/submit/sanitizer.h"
#include "opencl/submit/task_queue.h"
#include "opencl/submit/work_group.h"
#include "opencl/variants/variant.h"
#include "opencl/variants/variant_choose.h"
#include "ppu/macros.h"

/* A range that no larger work-groups divide has some that are not full, where the kernel allows it. */
#define FEW_THREADS (2u * PPU_LANES)
#define NS_PER_MS 1000000u

enum ppu_err launch_write_block(struct launch *launch, struct ppu_context *context)
{
    const size_t bytes = launch->param_bytes > PPU_MAX_PARAM ? launch->param_bytes - PPU_MAX_PARAM : 0;

    if (bytes == 0) {
        return PPU_OK;
    }
    enum ppu_err err = ppu_memory_create(context, PPU_MEMORY_VRAM, bytes, &launch->block);
    if (err == PPU_OK) {
        memcpy(ppu_memory_host(launch->block), launch->params + PPU_MAX_PARAM, bytes);
        launch->launch.arguments_va = ppu_memory_va(launch->block, context).va;
    }
    return err;
}

void launch_enter(cl_event event)
{
    struct launch *launch = event->work.owned;
    const struct _cl_kernel *kernel = event->work.needs[0];

    if ((kernel->entry->flags & PPU_TMD_NEST) != 0) {
        launch->entered = event->queue;
        device_queues_enter(event->queue->context, event->queue->ppu_index);
    }
}

static void leave_device_queues(struct launch *launch)
{
    if (launch->entered) {
        device_queues_leave(launch->entered->context, launch->entered->ppu_index);
    }
}

static enum ppu_err prepare_launch(cl_event event, struct ppu_context *context)
{
    launch_enter(event);
    return launch_write_block(event->work.owned, context);
}

static void build_launch(cl_event event, struct ppu_block *block, struct ppu_stream *stream)
{
    struct launch *launch = event->work.owned;

    launch->event = event;
    launch->launch.params = launch->params;
    launch->launch.implicit.printf_va = event->work.printf_va;
    launch->launch.implicit.tables = event->work.prints.tables;
    ppu_block_launch(block, stream, launch->kernel, &launch->launch);
    if (launch->workq) {
        ppu_block_round(block, launch->workq->workq);
    }
}

/* Notes what the launch has taken, when it has ended well. */
static void note_time(const struct work *work)
{
    const struct launch *launch = work->owned;
    const struct _cl_event *event = launch->event;
    const struct _cl_kernel *kernel = work->needs[0];

    if (!event || !launch->variants || event->took_ns == 0) {
        return;
    }
    const struct variant_time time = { event->took_ns, launch_items(launch) };
    variant_note(launch->variants, kernel->program, launch->index, launch->variant, time);
}

static void leave_tasks(struct launch *launch)
{
    if (launch->tasks) {
        task_queue_leave(launch->tasks, !!launch->event);
    }
    launch->tasks = NULL;
}

/* A program that is told of the end can enqueue for the same task queue. */
static void end_launch(struct work *work)
{
    leave_tasks(work->owned);
}

static void drop_launch(struct work *work)
{
    struct launch *launch = work->owned;

    note_time(work);
    leave_device_queues(launch);
    leave_tasks(launch);
    if (launch->variant) {
        variant_drop(launch->variant);
    }
    for (uint32_t i = 0; i < launch->memories; i++) {
        object_drop(launch->memory[i].memory);
    }
    for (uint32_t i = 0; i < launch->queues; i++) {
        object_drop(launch->queue[i]);
    }
    ppu_memory_free(launch->block);
    free(launch->memory);
    free(launch->queue);
    free(launch->params);
    free(launch);
}

static void *copy_bytes(const void *from, size_t bytes)
{
    void *to = malloc(bytes);

    return to ? memcpy(to, from, bytes) : NULL;
}

/* For a command buffer, of which each enqueue has a launch of its own. */
static bool copy_launch(struct work *work)
{
    const struct launch *from = work->owned;
    struct launch *launch = copy_bytes(from, sizeof(*from));

    work->owned = launch;
    if (!launch) {
        return false;
    }
    launch->event = NULL;
    launch->entered = NULL;
    launch->block = NULL;
    launch->params = copy_bytes(from->params, from->param_bytes + 1u);
    launch->memory = copy_bytes(from->memory, (from->memories + 1u) * sizeof(from->memory[0]));
    launch->queue = copy_bytes(from->queue, (from->queues + 1u) * sizeof(from->queue[0]));
    if (!launch->params || !launch->memory || !launch->queue) {
        free(launch->params);
        free(launch->memory);
        free(launch->queue);
        free(launch);
        return false;
    }
    for (uint32_t i = 0; i < launch->memories; i++) {
        object_use(launch->memory[i].memory);
    }
    for (uint32_t i = 0; i < launch->queues; i++) {
        object_use(launch->queue[i]);
    }
    if (launch->variant) {
        variant_use(launch->variant);
    }
    return true;
}

/* ---- arguments ---- */

/* Buffers and queues are in use from now on. INVALID_KERNEL_ARGS: one has ended since it was set. */
static cl_int capture_object(struct launch *launch, cl_kernel kernel, uint32_t i)
{
    const struct ppu_argument_entry *entry = &kernel->descriptions[i];
    void *object = NULL;

    if (!weak_take(&kernel->arguments[i].named, &object)) {
        return CL_INVALID_KERNEL_ARGS;
    }
    if (!object) {
        return CL_SUCCESS;
    }
    if (entry->kind == PPU_ARGUMENT_QUEUE) {
        launch->queue[launch->queues++] = object;
    } else {
        bool constant = ppu_argument_is_image(entry->kind)
                            ? (entry->qualifiers & PPU_ARGUMENT_WRITES) == 0
                            : entry->kind == PPU_ARGUMENT_CONSTANT || (entry->qualifiers & PPU_ARGUMENT_CONST) != 0;
        launch->memory[launch->memories++] = (struct launch_memory){ object, entry->offset, constant };
    }
    return CL_SUCCESS;
}

/* Captures them as they are now. OUT_OF_RESOURCES: too much shared memory. */
static cl_int capture(struct launch *launch, cl_kernel kernel, const struct ppu_device_info *info)
{
    const struct ppu_kernel_entry *entry = kernel->entry;
    uint64_t shared = entry->shared_bytes;
    cl_int error = CL_SUCCESS;

    memcpy(launch->params, kernel->params, launch->param_bytes);
    for (uint32_t i = 0; i < entry->argument_count && error == CL_SUCCESS; i++) {
        const struct argument *argument = &kernel->arguments[i];
        error = capture_object(launch, kernel, i);
        if (argument->local_bytes > 0) {
            shared = kernel_local_at(shared);
            memcpy(launch->params + kernel->descriptions[i].offset, &shared, sizeof(shared));
            shared += argument->local_bytes;
        }
    }
    sanitizer_bound(launch, kernel, PPU_MIN((uint64_t)info->sm_shared, (uint64_t)PPU_MAX_SHARED), &shared);
    launch->launch.mode = kernel->mode;
    launch->launch.miss_rate = kernel->miss_rate;
    launch->launch.param_bytes = entry->param_bytes;
    launch->launch.shared_bytes = (uint32_t)(shared - entry->shared_bytes);
    if (error == CL_SUCCESS && (shared > info->sm_shared || shared > PPU_MAX_SHARED)) {
        error = CL_OUT_OF_RESOURCES;
    }
    return error;
}

/* A work queue's work is begun and waited for by commands of one queue; the command has one round. */
static cl_int find_work(struct launch *launch, cl_command_queue queue)
{
    for (uint32_t i = 0; i < launch->queues; i++) {
        cl_command_queue given = launch->queue[i];
        if (!given->workq || given == launch->workq) {
            continue;
        }
        if (given->maker != queue || launch->workq) {
            return CL_INVALID_COMMAND_QUEUE;
        }
        launch->workq = given;
    }
    return CL_SUCCESS;
}

/* A queue task in place of a grid (A6). */
static cl_int take_tasks(struct launch *launch, cl_command_queue tasks)
{
    cl_int error = task_queue_take(tasks);

    if (error == CL_SUCCESS) {
        launch->tasks = launch->queue[launch->queues++] = tasks;
        launch->launch.taskq = tasks->taskq;
        object_use(tasks);
    }
    return error;
}

static bool all_set(cl_kernel kernel)
{
    bool set = true;

    for (uint32_t i = 0; i < kernel->entry->argument_count; i++) {
        set &= kernel->arguments[i].set;
    }
    return set;
}

/* Shared virtual memory lies on the context's first device, at an address that no copy can have. */
static bool takes_shared(cl_kernel kernel)
{
    bool takes = false;

    for (uint32_t i = 0; i < kernel->entry->argument_count; i++) {
        takes |= kernel->arguments[i].shared;
    }
    return takes;
}

/* ---- index space ---- */

struct space {
    cl_uint dim;
    const size_t *offset, *global, *local; /* offset, local may be NULL */
    cl_command_queue tasks;                /* has an entry for each group, and there is no range; NULL: a grid */
};

static size_t global_size(const struct space *space, cl_uint i)
{
    return i < space->dim ? space->global[i] : 1;
}

/* As many work-items as a work-group can have: what begins and ends a work-group is paid less often. */
static void choose_work_group(cl_kernel kernel, const struct space *space, uint32_t cta[3])
{
    const size_t range[3] = { global_size(space, 0), global_size(space, 1), global_size(space, 2) };

    work_group_choose(range, kernel_max_work_group(kernel), cta);
}

static uint32_t largest_dimension(const struct space *space)
{
    uint32_t largest = 0;

    for (uint32_t i = 1; i < space->dim; i++) {
        largest = space->global[i] > space->global[largest] ? i : largest;
    }
    return largest;
}

static bool is_fixed(const struct ppu_kernel_entry *entry)
{
    return entry->cta[0] != 0;
}

static uint32_t fixed_size(const struct ppu_kernel_entry *entry, cl_uint i)
{
    return entry->cta[i] != 0 ? entry->cta[i] : 1;
}

/* In the range's largest dimension work-groups are as large as they can, also when they do not divide it. */
static void enlarge(cl_kernel kernel, const struct space *space, uint32_t cta[3])
{
    const uint32_t along = largest_dimension(space), threads = cta[0] * cta[1] * cta[2];
    const size_t most = kernel_max_work_group(kernel) / (threads / cta[along]);

    cta[along] = (uint32_t)PPU_MIN(space->global[along], most);
}

static bool has_few_threads(const uint32_t cta[3])
{
    return cta[0] * cta[1] * cta[2] < FEW_THREADS;
}

/* The last work-groups of a dimension may be smaller than the program asked for. */
static bool may_be_ragged(cl_kernel kernel)
{
    return (kernel->entry->allows & PPU_KERNEL_RAGGED) != 0;
}

/* No work-item sees its work-group: any is right, also smaller ones where the language has work-groups of one size. */
static bool hides_work_groups(cl_kernel kernel)
{
    return (kernel->entry->allows & PPU_KERNEL_ANY_CTA) != 0 && !is_fixed(kernel->entry);
}

/* As the program says. */
static cl_int take_work_group(cl_kernel kernel, const struct space *space, uint32_t cta[3])
{
    size_t threads = 1;

    for (cl_uint i = 0; i < 3; i++) {
        size_t n = i < space->dim ? space->local[i] : 1;
        if (n == 0) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        if (n > PPU_MAX_CTA_DIM) {
            return CL_INVALID_WORK_ITEM_SIZE;
        }
        if (is_fixed(kernel->entry) && n != fixed_size(kernel->entry, i)) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        cta[i] = (uint32_t)n;
        threads *= n;
    }
    return threads <= kernel_max_work_group(kernel) ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE;
}

/* `may`: some work-groups may be smaller. */
static cl_int set_grid(cl_kernel kernel, const struct space *space, bool may, struct launch *to)
{
    struct ppu_launch *launch = &to->launch;

    for (cl_uint i = 0; i < 3; i++) {
        size_t n = global_size(space, i);
        size_t offset = i < space->dim && space->offset ? space->offset[i] : 0;
        size_t left = n % launch->cta[i];
        const bool ragged = left > 0;
        if (ragged && !may) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        if (offset + n < n) {
            return CL_INVALID_GLOBAL_OFFSET;
        }
        if (n / launch->cta[i] + ragged > (i == 0 ? PPU_MAX_GRID_X : PPU_MAX_GRID_YZ) ||
            !ppu_kernel_takes_ids(kernel->entry, offset, n)) {
            return CL_OUT_OF_RESOURCES;
        }
        launch->grid[i] = (uint32_t)(n / launch->cta[i]) + ragged;
        launch->edge[i] = ragged ? (uint32_t)left : 0;
        launch->implicit.global_offset[i] = offset;
    }
    launch->implicit.work_dim = space->dim;
    return CL_SUCCESS;
}

/* Without a local size of the program's. `may`: some may be smaller. */
static void settle_work_group(cl_kernel kernel, const struct space *space, bool may, uint32_t cta[3])
{
    if (!is_fixed(kernel->entry)) {
        choose_work_group(kernel, space, cta);
        if (may && has_few_threads(cta)) {
            enlarge(kernel, space, cta);
        }
        return;
    }
    for (cl_uint i = 0; i < 3; i++) {
        cta[i] = fixed_size(kernel->entry, i);
    }
}

/* Nobody is told of its work-groups either: what checks itself names them in its reports. */
static bool is_unseen(cl_kernel kernel, const struct space *space)
{
    const struct ppu_kernel_entry *entry = kernel->entry;
    const uint32_t checks = PPU_KERNEL_BOUNDED | PPU_KERNEL_CELLS | PPU_KERNEL_MARKS;

    return !kernel->program->context->as_asked && !space->tasks && hides_work_groups(kernel) &&
           (entry->assumes & checks) == 0;
}

/* How many threads groups of another shape have at most; 0: they are best as asked for. */
static size_t regrouped_threads(cl_kernel kernel, const uint32_t cta[3])
{
    const struct ppu_kernel_entry *entry = kernel->entry;
    const size_t most = kernel_max_work_group(kernel), asked = (size_t)cta[0] * cta[1] * cta[2];

    if ((entry->gains & PPU_KERNEL_GAINS_LARGE_CTAS) != 0) {
        return most;
    }
    const bool gains = (entry->gains & PPU_KERNEL_GAINS_ROWS) != 0 || asked < entry->wave; /* else lanes are idle */
    return gains ? PPU_MIN(PPU_MAX(asked, entry->wave), most) : 0;
}

/*
 * Work-groups that nobody sees have another shape than asked for, once it is known that those are accepted, where
 * the kernel has no loop, or all threads of a warp leave its loops together, or they would not fill one. Otherwise
 * threads that are near each other mostly leave together, and all others wait.
 */
static void regroup(cl_kernel kernel, const struct space *space, struct launch *launch)
{
    const size_t range[3] = { global_size(space, 0), global_size(space, 1), global_size(space, 2) };
    const struct ppu_launch before = launch->launch;
    const size_t most = is_unseen(kernel, space) ? regrouped_threads(kernel, before.cta) : 0;

    if (most != 0 &&
        work_group_reshape(range, most, kernel->entry->wave, kernel->program->context->device->info->sms,
                           launch->launch.cta) &&
        set_grid(kernel, space, true, launch) != CL_SUCCESS) {
        launch->launch = before; /* a dimension has too many */
    }
}

static cl_int set_space(cl_kernel kernel, const struct space *space, struct launch *launch)
{
    const bool may = may_be_ragged(kernel) || (!space->local && hides_work_groups(kernel));
    uint32_t *cta = launch->launch.cta;
    cl_int error = CL_SUCCESS;

    if (space->local) {
        error = take_work_group(kernel, space, cta);
    } else {
        settle_work_group(kernel, space, may, cta);
    }
    if (error == CL_SUCCESS) {
        error = set_grid(kernel, space, may, launch);
    }
    if (error == CL_SUCCESS) {
        regroup(kernel, space, launch);
    }
    return error;
}

static bool is_empty(const struct space *space)
{
    bool empty = !space->global;

    for (cl_uint i = 0; i < space->dim && !empty; i++) {
        empty = space->global[i] == 0;
    }
    return empty;
}

/* ---- enqueue ---- */

/* The buffer is found through the implicit arguments: who does not read them does not print, and finds no tables. */
static bool may_print(cl_kernel kernel)
{
    return kernel->entry->implicit_at != 0 &&
           (kernel->program->view.header->formats > 0 || (kernel->entry->assumes & PPU_KERNEL_MARKS) != 0);
}

/* It has one dimension. */
static bool is_flat(const struct launch *launch)
{
    const struct ppu_launch *what = &launch->launch;

    return what->grid[1] <= 1 && what->grid[2] <= 1 && what->cta[1] <= 1 && what->cta[2] <= 1;
}

/* Arguments that it only reads, or of which work-items have places of their own, need not be noted then. */
static bool may_race_with_itself_alone(const struct launch *launch, cl_kernel kernel)
{
    return !context_is_parallel(kernel->program->context) && sanitizer_arguments_disjoint(launch, kernel);
}

/*
 * PPU_SANITIZER_HAS_*: what a kernel needs that checks itself, and what is known of the launch; 0: it does not. The
 * groups of a queue task may wait for each other by the queue, which cells know nothing of.
 */
static uint32_t checked_tables(cl_kernel kernel, const struct launch *launch)
{
    const uint32_t assumes = kernel->entry->assumes;
    const bool cells = (assumes & PPU_KERNEL_CELLS) != 0 && !launch->tasks;

    return ((assumes & PPU_KERNEL_BOUNDED) != 0 ? PPU_SANITIZER_HAS_RANGES : 0) |
           ((assumes & PPU_KERNEL_MARKS) != 0 ? PPU_SANITIZER_HAS_MARKED : 0) |
           (cells ? PPU_SANITIZER_HAS_CELLS | (is_flat(launch) ? PPU_SANITIZER_FLAT : 0) |
                        (may_race_with_itself_alone(launch, kernel) ? PPU_SANITIZER_DISJOINT : 0)
                  : 0);
}

struct print_source launch_choose(struct launch *launch, cl_kernel kernel, uint32_t ppu_index,
                                  char name[EVENT_VARIANT_BYTES])
{
    const struct _cl_program *program = kernel->program;
    const uint32_t tables = checked_tables(kernel, launch);

    if (!launch->tasks && tables == 0) { /* variants check nothing */
        variant_choose(kernel, launch, ppu_index, name);
    }
    if (!may_print(kernel)) {
        return (struct print_source){ .view = NULL };
    }
    const struct variant_code *code = launch->variant ? &launch->variant->code : NULL;
    const struct ppu_program *loaded = code ? code->on[ppu_index] : program->on[ppu_index];
    struct print_source source = { .view = code ? &code->view : &program->view,
                                   .code_va = ppu_program_code_va(loaded).va,
                                   .tables = tables,
                                   .context = program->context };

    memcpy(source.cta, launch->launch.cta, sizeof(source.cta));
    memcpy(source.edge, launch->launch.edge, sizeof(source.edge));
    memcpy(source.grid, launch->launch.grid, sizeof(source.grid));
    memcpy(source.offset, launch->launch.implicit.global_offset, sizeof(source.offset));
    return source;
}

/* The kernel as the queue's device has it. */
static cl_int find_kernel(cl_command_queue queue, cl_kernel kernel, struct launch *launch)
{
    const char *name = kernel_text(kernel, kernel->entry->name);

    return device_error(ppu_kernel_find(kernel->program->on[queue->ppu_index], name, &launch->kernel));
}

static cl_int launch_new(cl_command_queue queue, cl_kernel kernel, const struct space *space, struct work *work)
{
    struct launch *launch = calloc(1, sizeof(*launch));

    if (!launch) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    launch->launch.priority = queue_level(queue);
    launch->launch.watchdog_ns = (uint64_t)queue->limit_ms * NS_PER_MS;
    launch->memory = calloc(kernel->entry->argument_count + 1u, sizeof(launch->memory[0]));
    launch->queue = calloc(kernel->entry->argument_count + 1u, sizeof(launch->queue[0])); /* one more: of tasks */
    launch->param_bytes = kernel_param_bytes(kernel);
    launch->params = calloc(1, launch->param_bytes + 1u); /* touched where something is written */
    *work = (struct work){ .executor = WORK_ON_DEVICE,
                           .prepare = prepare_launch,
                           .build = build_launch,
                           .own = copy_launch,
                           .drop = drop_launch,
                           .ended = end_launch,
                           .needs = { kernel } };
    if (queue->ppu_index != 0) {
        work->executor = WORK_ON_HOST;
        work->run = launch_remote;
    }
    work->owned = launch;
    object_use(kernel);
    bool room = launch->memory && launch->queue && launch->params;
    cl_int error = room ? capture(launch, kernel, queue->device->info) : CL_OUT_OF_HOST_MEMORY;
    if (error == CL_SUCCESS) {
        error = find_kernel(queue, kernel, launch);
    }
    if (error == CL_SUCCESS) {
        error = find_work(launch, queue);
    }
    if (error == CL_SUCCESS && (kernel->entry->flags & PPU_TMD_NEST) != 0) {
        error = device_error(device_queues_need(queue->context, queue->ppu_index, 0));
    }
    if (error == CL_SUCCESS) {
        error = set_space(kernel, space, launch);
    }
    if (error == CL_SUCCESS && space->tasks) {
        error = take_tasks(launch, space->tasks);
    }
    if (error == CL_SUCCESS) {
        sanitizer_note_writes(launch, kernel, queue->ppu_index != 0);
    }
    if (error == CL_SUCCESS && queue->ppu_index == 0) { /* elsewhere it is not known yet where buffers will lie */
        work->prints = launch_choose(launch, kernel, queue->ppu_index, work->variant);
    }
    if (error != CL_SUCCESS) {
        work_drop(work);
    }
    return error;
}

static cl_int check_launch(cl_command_queue queue, cl_kernel kernel, const struct space *space, cl_uint count,
                           const cl_event *events)
{
    if (!queue_is_for_host(queue)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (!object_is(kernel, OBJECT_kernel)) {
        return CL_INVALID_KERNEL;
    }
    if (kernel->program->context != queue->context) {
        return CL_INVALID_CONTEXT;
    }
    if (space->tasks && (!object_is(space->tasks, OBJECT_queue) || !space->tasks->taskq ||
                         space->tasks->context != queue->context || space->tasks->device != queue->device)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (space->dim < 1 || space->dim > 3) {
        return CL_INVALID_WORK_DIMENSION;
    }
    if (kernel_param_bytes(kernel) > PPU_MAX_PARAM + device_max_alloc(queue->device)) {
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    if (!all_set(kernel)) {
        return CL_INVALID_KERNEL_ARGS;
    }
    if (queue->ppu_index != 0 && takes_shared(kernel)) {
        return CL_INVALID_OPERATION;
    }
    return wait_list_check(queue->context, count, events);
}

static cl_int take_launch(cl_command_queue queue, cl_kernel kernel, const struct space *space,
                          const struct command *command)
{
    struct work work = { .executor = WORK_NOWHERE };
    cl_int error = check_launch(queue, kernel, space, command->count, command->events);

    /* A launch without work-items has an event all the same. */
    if (error == CL_SUCCESS && (space->tasks || !is_empty(space))) {
        error = launch_new(queue, kernel, space, &work);
    }
    return error == CL_SUCCESS ? queue_take(queue, command, &work) : error;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *events,
                              cl_event *out)
{
    const struct command command = { CL_COMMAND_NDRANGE_KERNEL, ORDER_AS_QUEUE, false, count, events, out };
    const struct space space = { dim, offset, global, local, NULL };

    return take_launch(queue, kernel, &space, &command);
}

/* What an enqueue without a local size takes, unless no work-item sees it: an enqueue with this one is accepted. */
cl_int clGetKernelSuggestedLocalWorkSizeKHR(cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t *offset,
                                            const size_t *global, size_t *suggested)
{
    const struct space space = { dim, offset, global, NULL, NULL };
    struct launch launch = { .index = 0 };
    cl_int error = check_launch(queue, kernel, &space, 0, NULL);

    if (error == CL_SUCCESS && !suggested) {
        error = CL_INVALID_VALUE;
    }
    if (error == CL_SUCCESS && is_empty(&space)) {
        error = CL_INVALID_GLOBAL_WORK_SIZE;
    }
    if (error == CL_SUCCESS) {
        settle_work_group(kernel, &space, may_be_ragged(kernel), launch.launch.cta);
        error = set_grid(kernel, &space, may_be_ragged(kernel), &launch);
    }
    for (cl_uint i = 0; i < dim && error == CL_SUCCESS; i++) {
        suggested[i] = launch.launch.cta[i];
    }
    return error;
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_TASK, ORDER_AS_QUEUE, false, count, events, out };
    const size_t one = 1;
    const struct space space = { 1, NULL, &one, &one, NULL };

    return take_launch(queue, kernel, &space, &command);
}

cl_int CL_API_CALL clEnqueueTaskQueuePPU(cl_command_queue queue, cl_command_queue tasks, cl_kernel kernel, cl_uint dim,
                                         const size_t *local, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_NDRANGE_KERNEL, ORDER_AS_QUEUE, false, count, events, out };
    const struct space space = { dim, NULL, local, local, tasks };

    if (!tasks) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    return local ? take_launch(queue, kernel, &space, &command) : CL_INVALID_WORK_GROUP_SIZE;
}
