/* SPDX-License-Identifier: MIT */
#include "firmware/nest.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/crash.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/quota.h"
#include "firmware/shared.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/save.h"

#define NESTS 6u
#define CHUNK PPU_NEST_MIN_TASKS /* records are given to nests in pieces of so many */
#define NO_NEST TASK_NO_NEST

struct depth {
    struct list_node waiting; /* ADMITTED tasks, first come first */
    uint32_t sets_free;       /* bit n: set n */
};

struct nest {
    bool open;
    bool lost;
    struct nest_plan plan;
    uint32_t first;   /* index of its first record */
    uint32_t records; /* VRAM offset at which the record of index 0 would lie, modulo 2^32 */
    uint32_t live;    /* records that are tasks */
    uint32_t free_tail;
    struct depth depth[PPU_NEST_MAX_DEPTH]; /* of depth n + 1 */
};

static struct nest nests[NESTS];
static uint64_t chunks_free; /* bit n: records from n * CHUNK on */
static uint8_t nest_of_context[PPU_MAX_CONTEXTS];

_Static_assert(NEST_RECORDS_MAX / CHUNK <= 64, "a bit for each chunk");

void nest_init(void)
{
    uint32_t chunks = layout.nest_tasks / CHUNK;
    memset(nests, 0, sizeof(nests));
    memset(nest_of_context, NO_NEST, sizeof(nest_of_context));
    quota_total(PPU_RESOURCE_NEST_TASKS, layout.nest_tasks);
    chunks_free = chunks ? UINT64_MAX >> (64 - chunks) : 0;
}

uint32_t nest_of(uint32_t context)
{
    return nest_of_context[context];
}

uint32_t nest_depth(uint32_t nest)
{
    return nests[nest].plan.depth;
}

static struct ppu_nest *nest_shared(const struct nest *nest)
{
    return hal_vram(nest->plan.vram);
}

static uint32_t record_offset(const struct task *task)
{
    return nests[task->nest].records + task_index(task) * (uint32_t)sizeof(struct ppu_nest_task);
}

struct ppu_nest_task *nest_record(const struct task *task)
{
    return hal_vram((ppu_vram_t){ record_offset(task) });
}

ppu_va_t nest_record_va(const struct task *task)
{
    const struct nest_plan *plan = &nests[task->nest].plan;
    return (ppu_va_t){ plan->va.va + (record_offset(task) - plan->vram.off) };
}

/* ---- the ring of free records: the firmware appends, threads take ---- */

static ppu_task_t *free_ring(const struct nest *nest)
{
    return (ppu_task_t *)(void *)(nest_shared(nest) + 1);
}

static void lend(struct nest *nest, struct task *task)
{
    task_lend(task);
    shared_publish(&free_ring(nest)[nest->free_tail % nest->plan.tasks], task->handle);
    shared_publish(&nest_shared(nest)->free_tail, ++nest->free_tail);
}

/* Everything threads can see, as new; every record that is no task is free. */
static void fill_nest(struct nest *nest)
{
    struct ppu_nest *shared = nest_shared(nest);
    *shared = (struct ppu_nest){
        .head = { PPU_NEST_VERSION, sizeof(*shared) },
        .tasks = nest->plan.tasks,
        .first = nest->first,
        .depth = nest->plan.depth,
        .heap_va = shared->heap_va,
        .enqueue_va = shared->enqueue_va,
    };
    nest->free_tail = 0;
    nest->lost = false;
    for (uint32_t i = 0; i < nest->plan.tasks; i++) {
        struct task *task = task_at(nest->first + i);
        nest_record(task)->nest_va = nest->plan.va.va;
        lend(nest, task);
    }
}

/* ---- life ---- */

static uint64_t chunk_mask(uint32_t tasks, uint32_t first_chunk)
{
    return (UINT64_MAX >> (64 - tasks / CHUNK)) << first_chunk;
}

/* Index of the first of so many records in a row, counted from the first of any nest; UINT32_MAX: there are not so
 * many. */
static uint32_t take_chunks(uint32_t tasks)
{
    for (uint32_t chunk = 0; chunk + tasks / CHUNK <= layout.nest_tasks / CHUNK; chunk++) {
        uint64_t mask = chunk_mask(tasks, chunk);
        if ((chunks_free & mask) == mask) {
            chunks_free &= ~mask;
            return chunk * CHUNK;
        }
    }
    return UINT32_MAX;
}

static struct nest *unused(void)
{
    for (uint32_t i = 0; i < NESTS; i++) {
        if (!nests[i].open) {
            return &nests[i];
        }
    }
    return NULL;
}

enum ppu_fault nest_open(const struct nest_plan *plan)
{
    if (nest_of_context[plan->context] != NO_NEST) {
        return PPU_FAULT_IN_USE;
    }
    struct nest *nest = unused();
    uint32_t first = nest && hooks_allow_allocation() ? take_chunks(plan->tasks) : UINT32_MAX;
    if (!nest || first == UINT32_MAX) {
        return PPU_FAULT_NO_RESOURCE;
    }
    if (!quota_take_many(PPU_RESOURCE_NEST_TASKS, plan->context, plan->tasks)) {
        chunks_free |= chunk_mask(plan->tasks, first / CHUNK);
        return PPU_FAULT_QUOTA;
    }
    *nest = (struct nest){ .open = true, .plan = *plan, .first = layout.tasks + first };
    nest->records =
        plan->vram.off + PPU_NEST_TASKS_AT(plan->tasks) - nest->first * (uint32_t)sizeof(struct ppu_nest_task);
    for (uint32_t i = 0; i < PPU_NEST_MAX_DEPTH; i++) {
        list_init(&nest->depth[i].waiting);
        nest->depth[i].sets_free = plan->sets ? UINT32_MAX >> (PPU_NEST_MAX_SETS - plan->sets) : 0;
    }
    nest_of_context[plan->context] = (uint8_t)(nest - nests);
    for (uint32_t i = 0; i < plan->tasks; i++) {
        task_at(nest->first + i)->nest = (uint8_t)(nest - nests);
    }
    nest_shared(nest)->heap_va = 0;
    nest_shared(nest)->enqueue_va = 0;
    fill_nest(nest);
    return PPU_FAULT_NONE;
}

void nest_close(uint32_t context)
{
    if (nest_of_context[context] == NO_NEST) {
        return;
    }
    struct nest *nest = &nests[nest_of_context[context]];
    FW_ASSERT(nest->live == 0);
    for (uint32_t i = 0; i < nest->plan.tasks; i++) {
        struct task *task = task_at(nest->first + i);
        if (task->state == TASK_LINKING) {
            task_lend(task);
        }
        task_enter(task, TASK_FREE);
    }
    chunks_free |= chunk_mask(nest->plan.tasks, (nest->first - layout.tasks) / CHUNK);
    quota_give_many(PPU_RESOURCE_NEST_TASKS, context, nest->plan.tasks);
    nest->open = false;
    nest_of_context[context] = NO_NEST;
}

/* ---- records ---- */

/* The firmware takes a record as a thread would. What it finds is checked: threads write there too. */
struct task *nest_borrow(uint32_t nest)
{
    struct nest *owner = &nests[nest];
    struct ppu_nest *shared = nest_shared(owner);
    uint32_t head = shared_read(&shared->free_head);
    if (owner->free_tail - head - 1u >= owner->plan.tasks) {
        return NULL;
    }
    ppu_task_t handle = shared_read(&free_ring(owner)[head % owner->plan.tasks]);
    if (!shared_replace(&shared->free_head, head, head + 1)) {
        return NULL;
    }
    struct task *task = task_find_lent(handle);
    if (!task || task->nest != nest) {
        return NULL;
    }
    nest_adopt(task);
    return task;
}

void nest_adopt(struct task *task)
{
    task_adopt(task);
    nests[task->nest].live++;
}

void nest_return(struct task *task)
{
    struct nest *nest = &nests[task->nest];
    if (--nest->live == 0 && nest->lost) {
        fill_nest(nest);
    } else {
        lend(nest, task);
    }
}

void nest_linger(struct task *task)
{
    struct nest *nest = &nests[task->nest];
    task_enter(task, TASK_LINKING);
    if (--nest->live == 0 && nest->lost) {
        fill_nest(nest);
    }
}

void nest_linked(struct task *task)
{
    lend(&nests[task->nest], task);
}

void nest_lost(uint32_t nest)
{
    nests[nest].lost = true;
}

/* ---- thread-group contexts of CTAs: the device makes them, threads and the firmware count there ---- */

static uint32_t set_number(const struct task *task)
{
    return (task->depth - 1u) * nests[task->nest].plan.sets + task->set;
}

uint32_t nest_groups(const struct task *task)
{
    const struct nest_plan *plan = &nests[task->nest].plan;
    if (!(task_tmd(task)->flags & PPU_TMD_CTA_GROUPS) || task->set == TASK_NO_SET) {
        return 0;
    }
    return plan->vram.off + PPU_NEST_GROUPS_AT(plan->tasks) +
           set_number(task) * plan->places * (uint32_t)sizeof(struct ppu_cta_group);
}

ppu_va_t nest_groups_va(const struct task *task)
{
    const struct nest_plan *plan = &nests[task->nest].plan;
    uint32_t groups = nest_groups(task);
    return (ppu_va_t){ groups ? plan->va.va + (groups - plan->vram.off) : 0 };
}

static struct ppu_cta_group *group_at(const struct task *task, uint32_t place)
{
    return (struct ppu_cta_group *)hal_vram((ppu_vram_t){ nest_groups(task) }) + place;
}

/*
 * The device writes `cta` before `work` when another CTA begins there: with `work` read first, a number that still fits
 * says that `work` is of the same CTA, and the compare-and-swap fails when it is so no longer.
 */
bool nest_child_done(const struct task *parent, uint32_t place, uint32_t cta)
{
    if (!nest_groups(parent) || place >= nests[parent->nest].plan.places) {
        return false;
    }
    struct ppu_cta_group *group = group_at(parent, place);
    for (uint32_t tries = 0; tries < PPU_NEST_MAX_TASKS; tries++) {
        uint32_t work = shared_read(&group->work);
        if (shared_read(&group->cta) != cta || !(work & PPU_CTA_WORK_TASKS)) {
            return false;
        }
        if (shared_replace(&group->work, work, work - 1)) {
            return !((work - 1) & PPU_CTA_WORK_ANY);
        }
    }
    return false;
}

void nest_entries_came(const struct task *task)
{
    for (uint32_t i = 0; nest_groups(task) && i < nests[task->nest].plan.places; i++) {
        shared_clear(&group_at(task, i)->work, PPU_CTA_WORK_ENTRIES);
    }
}

bool nest_has_idle_cta(const struct task *task)
{
    const struct ppu_tmd *tmd = task_tmd(task);
    for (uint32_t i = 0; nest_groups(task) && i < tmd->save_count; i++) {
        const struct ppu_save *save = hal_vram((ppu_vram_t){ tmd->save_vram + i * tmd->save_bytes });
        if (save->state == PPU_SAVE_WAITING && !(shared_read(&group_at(task, i)->work) & PPU_CTA_WORK_ANY)) {
            return true;
        }
    }
    return false;
}

/* ---- places to be saved in ---- */

bool nest_can_save(uint32_t nest, const struct ppu_tmd *tmd)
{
    const struct nest_plan *plan = &nests[nest].plan;
    uint32_t threads = tmd->cta[0] * tmd->cta[1] * tmd->cta[2];
    return plan->places && ppu_save_bytes((threads + tmd->wave - 1u) / tmd->wave, tmd->wave,
                                          ppu_warp_vregs(tmd->wave, tmd->vregs, tmd->shared_vregs), tmd->token_count,
                                          tmd->shared_bytes) <= plan->save_bytes;
}

/* The TMD copy names the set; nothing is saved in it yet. */
static void give_set(struct task *task, uint32_t set)
{
    const struct nest_plan *plan = &nests[task->nest].plan;
    struct ppu_tmd *tmd = task_tmd(task);
    task->set = (uint8_t)set;
    tmd->save_vram = plan->save.off + set_number(task) * plan->places * plan->save_bytes;
    tmd->save_bytes = plan->save_bytes;
    tmd->save_count = (uint8_t)plan->places;
    for (uint32_t i = 0; i < plan->places; i++) {
        struct ppu_save *save = hal_vram((ppu_vram_t){ tmd->save_vram + i * plan->save_bytes });
        save->state = PPU_SAVE_FREE;
    }
    tmd->groups_vram = nest_groups(task);
    nest_record(task)->groups_va = nest_groups_va(task).va;
}

static struct depth *depth_of(const struct task *task)
{
    return &nests[task->nest].depth[task->depth - 1u];
}

bool nest_admit(struct task *task)
{
    struct depth *depth = depth_of(task);
    if (!depth->sets_free) {
        task_enter(task, TASK_ADMITTED);
        list_push_back(&depth->waiting, &task->node);
        return false;
    }
    uint32_t set = (uint32_t)__builtin_ctz(depth->sets_free);
    depth->sets_free &= depth->sets_free - 1;
    give_set(task, set);
    return true;
}

struct task *nest_release(struct task *task)
{
    if (task->set == TASK_NO_SET) {
        return NULL;
    }
    struct depth *depth = depth_of(task);
    uint32_t set = task->set;
    task->set = TASK_NO_SET;
    struct list_node *node = list_take_front(&depth->waiting);
    if (!node) {
        depth->sets_free |= 1u << set;
        return NULL;
    }
    struct task *next = PPU_CONTAINER_OF(node, struct task, node);
    give_set(next, set);
    return next;
}

void nest_withdraw(struct task *task)
{
    list_remove(&task->node);
}
