/* SPDX-License-Identifier: MIT */
#include "firmware/task.h"

#include "firmware/crash.h"
#include "firmware/hal.h"
#include "firmware/nest.h"
#include "firmware/quota.h"
#include "firmware/state.h"
#include "ppu/limits.h"
#include "ppu/macros.h"

static FW_DMA struct task tasks[TASK_RECORDS_ALL];

static const struct ppu_state_span task_spans[] = {
#define PPU_STATE_TASK(name, member, doc) STATE_SPAN(struct task, member),
#include "ppu/state.def"
};

const struct state_rows task_state_rows = {
    .rows = tasks,
    .count = &layout.records,
    .stride = sizeof(tasks[0]),
    .first = PPU_STATE_TASK_HANDLE,
    .spans = PPU_ARRAY_SIZE(task_spans),
    .span = task_spans,
};
static struct list_node pool; /* first freed is first used, so that a handle stays stale for long */
static uint32_t free_count;

_Static_assert(PPU_MAX_CONTEXTS - 1 <= UINT8_MAX, "a task's context has 8 bits");

#define CAN(state) (1u << TASK_##state)
#define ENDS (CAN(DRAINING) | CAN(LINKING) | CAN(FREE) | CAN(LENT))

/* States that may follow each. */
static const uint16_t follows[TASK_STATES] = {
    [TASK_FREE] = CAN(HELD) | CAN(LENT),
    [TASK_LENT] = CAN(HELD) | CAN(LENT) | CAN(FREE),
    [TASK_HELD] = CAN(READY) | CAN(PARKED) | CAN(ADMITTED) | CAN(ENDED) | CAN(FREE) | CAN(LENT),
    [TASK_ADMITTED] = CAN(READY) | CAN(PARKED) | CAN(ENDED),
    [TASK_READY] = CAN(RUNNING) | CAN(ENDED),
    [TASK_RUNNING] = CAN(STOPPING) | CAN(KILLING) | CAN(PARKED) | ENDS,
    [TASK_STOPPING] = CAN(READY) | CAN(KILLING) | CAN(PARKED) | ENDS,
    [TASK_KILLING] = ENDS,
    [TASK_PARKED] = CAN(READY) | CAN(PARKED) | CAN(ADMITTED) | CAN(ENDED),
    [TASK_DRAINING] = CAN(ENDED),
    [TASK_ENDED] = ENDS | CAN(PARKED),
    [TASK_LINKING] = CAN(FREE) | CAN(LENT),
};

void task_enter(struct task *task, enum task_state state)
{
    FW_ASSERT(follows[task->state] & (1u << state));
    task->state = (uint8_t)state;
}

static ppu_vram_t params_of(uint32_t index)
{
    return (ppu_vram_t){ index < layout.tasks ? layout.params.off + index * PPU_MAX_PARAM
                                              : layout.nest_params.off + (index - layout.tasks) * PPU_NEST_MAX_PARAM };
}

static void make_record(uint32_t index)
{
    tasks[index] = (struct task){
        .tmd = { layout.tmds.off + index * TMD_STRIDE },
        .params = params_of(index),
        .handle = PPU_TASK_HANDLE(index, 1),
        .state = TASK_FREE,
    };
    list_init(&tasks[index].owner);
    list_init(&tasks[index].node);
}

void task_init(void)
{
    list_init(&pool);
    free_count = layout.tasks;
    quota_total(PPU_RESOURCE_TASKS, layout.tasks);
    for (uint32_t i = 0; i < layout.records; i++) {
        make_record(i);
        if (i < layout.tasks) {
            list_push_back(&pool, &tasks[i].node);
        }
    }
}

static void begin_task(struct task *task)
{
    task_enter(task, TASK_HELD);
    task->channel = NULL;
    task->parent = NULL;
    task->follower = TASK_NO_FOLLOWER;
    task->children = 0;
    task->fault = 0;
    task->slot = TASK_NO_SLOT;
    task->places = TASK_NO_PLACES;
    task->taskq = TASK_NO_TASKQ;
    task->commands = false;
    task->listed = false;
    task->begun = false;
    task->waits = false;
    task->resume = false;
}

struct task *task_new(uint32_t context)
{
    if (!quota_take(PPU_RESOURCE_TASKS, context)) {
        return NULL;
    }
    struct task *task = PPU_CONTAINER_OF(list_take_front(&pool), struct task, node);
    free_count--;
    begin_task(task);
    task->nest = TASK_NO_NEST;
    task->context = (uint8_t)context;
    return task;
}

/* Generation 0 is never given out: a null handle names nothing. */
static ppu_task_t next_generation(ppu_task_t handle)
{
    uint32_t generation = (PPU_TASK_GENERATION(handle) + 1) % PPU_TASK_GENERATIONS;
    return PPU_TASK_HANDLE(PPU_TASK_INDEX(handle), generation ? generation : 1);
}

void task_free(struct task *task)
{
    task_enter(task, TASK_FREE);
    task->handle = next_generation(task->handle);
    list_push_back(&pool, &task->node);
    quota_give(PPU_RESOURCE_TASKS, task->context);
    free_count++;
}

void task_adopt(struct task *task)
{
    begin_task(task);
}

void task_lend(struct task *task)
{
    task_enter(task, TASK_LENT);
    task->handle = next_generation(task->handle);
}

static struct task *find_task(ppu_task_t handle)
{
    uint32_t index = PPU_TASK_INDEX(handle);
    return index < layout.records && tasks[index].handle == handle ? &tasks[index] : NULL;
}

struct task *task_find(ppu_task_t handle)
{
    struct task *task = find_task(handle);
    return task && task->state != TASK_FREE && task->state != TASK_LENT ? task : NULL;
}

struct task *task_find_lent(ppu_task_t handle)
{
    struct task *task = find_task(handle);
    return task && task->state == TASK_LENT ? task : NULL;
}

struct task *task_of_tmd(uint32_t vram_offset)
{
    uint32_t distance = vram_offset - layout.tmds.off;
    if (distance % TMD_STRIDE || distance / TMD_STRIDE >= layout.records) {
        return NULL;
    }
    struct task *task = &tasks[distance / TMD_STRIDE];
    return task->state == TASK_FREE || task->state == TASK_LENT ? NULL : task;
}

struct task *task_at(uint32_t index)
{
    return &tasks[index];
}

uint32_t task_index(const struct task *task)
{
    return PPU_TASK_INDEX(task->handle);
}

uint32_t task_count_free(void)
{
    return free_count;
}

struct ppu_tmd *task_tmd(const struct task *task)
{
    return hal_vram(task->tmd);
}

uint64_t *task_counts(const struct task *task)
{
    struct ppu_tmd_copy *copy = hal_vram(task->tmd);
    return copy->count;
}

struct ppu_task_status *task_status(const struct task *task)
{
    return task_has_nest(task) ? &nest_record(task)->status
                               : (struct ppu_task_status *)hal_vram(layout.status) + task_index(task);
}
