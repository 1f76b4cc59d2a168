/* SPDX-License-Identifier: MIT */
#include "firmware/nest.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/crash.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/places.h"
#include "firmware/quota.h"
#include "firmware/shared.h"
#include "firmware/state.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/save.h"

#define CHUNK PPU_NEST_MIN_TASKS         /* records are given to nests in pieces of so many */
#define NESTS (NEST_RECORDS_MAX / CHUNK) /* more cannot have records */
#define NO_NEST TASK_NO_NEST
#define DEPTH_WORDS ((PPU_NEST_MAX_DEPTH + 31u) / 32u)

struct nest {
    bool open;
    bool lost;
    struct nest_plan plan;
    uint32_t first;   /* index of its first record */
    uint32_t records; /* VRAM offset at which the record of index 0 would lie, modulo 2^32 */
    uint32_t live;    /* records that are tasks */
    uint32_t free_tail;
    uint32_t unit_bytes; /* of the save area */
    struct places places;
    uint32_t kept_taken[DEPTH_WORDS]; /* bit n: a task of depth n + 1 has the place that is kept for its depth */
    uint32_t waiting[DEPTH_WORDS];    /* bit n: tasks of depth n + 1 are ADMITTED */
};

static FW_DMA struct nest nests[NESTS];

static const struct ppu_state_span nest_spans[] = {
#define PPU_STATE_NEST(name, member, doc) STATE_SPAN(struct nest, member),
#include "ppu/state.def"
};

const struct state_rows nest_state_rows = {
    .rows = nests,
    .most = NESTS,
    .stride = sizeof(nests[0]),
    .first = PPU_STATE_NEST_OPEN,
    .spans = PPU_ARRAY_SIZE(nest_spans),
    .span = nest_spans,
};
static uint64_t chunks_free; /* bit n: records from n * CHUNK on */
static uint8_t nest_of_context[PPU_MAX_CONTEXTS];

/* Index of the task that waits longest for places, for each depth of each nest: at the nest's first record plus depth -
 * 1, as no nest is deeper than it has records. The others are behind it in a ring. */
static uint16_t first_waiting[NEST_RECORDS_MAX];

_Static_assert(NEST_RECORDS_MAX / CHUNK <= 64, "a bit for each chunk");
_Static_assert(NESTS <= NO_NEST, "a task's nest has 8 bits");
_Static_assert(PPU_NEST_UNITS <= TASK_KEPT_PLACE, "a task's first unit has 8 bits");

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
    uint32_t shared_bytes = plan->places ? plan->save_bytes - plan->depth * plan->state_bytes : 0;
    nest->unit_bytes = PPU_MAX(shared_bytes / PPU_NEST_UNITS & ~(PPU_SAVE_ALIGN - 1u), PPU_SAVE_ALIGN);
    places_init(&nest->places, PPU_MIN(shared_bytes / nest->unit_bytes, PPU_NEST_UNITS));
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

/* Number of the first place of a task, among the groups of the nest. */
static uint32_t first_group(const struct task *task)
{
    uint32_t depth = nests[task->nest].plan.depth;
    return task->places == TASK_KEPT_PLACE ? task_depth(task) - 1u : depth + task->places * PPU_NEST_UNIT_PLACES;
}

uint32_t nest_groups(const struct task *task)
{
    const struct nest_plan *plan = &nests[task->nest].plan;
    if (!(task_tmd(task)->flags & PPU_TMD_CTA_GROUPS) || task->places == TASK_NO_PLACES) {
        return 0;
    }
    return plan->vram.off + PPU_NEST_GROUPS_AT(plan->tasks) +
           first_group(task) * (uint32_t)sizeof(struct ppu_cta_group);
}

/* How many places a task has, which has groups. */
static uint32_t count_places(const struct task *task)
{
    uint32_t count = task_tmd(task)->save_count;
    return PPU_MIN(count, PPU_SAVE_PLACES);
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
    if (!nest_groups(parent) || place >= PPU_SAVE_PLACES) {
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
    for (uint32_t i = 0; nest_groups(task) && i < count_places(task); i++) {
        shared_clear(&group_at(task, i)->work, PPU_CTA_WORK_ENTRIES);
    }
}

bool nest_has_idle_cta(const struct task *task)
{
    const struct ppu_tmd *tmd = task_tmd(task);
    for (uint32_t i = 0; nest_groups(task) && i < count_places(task); i++) {
        const struct ppu_save *save = hal_vram((ppu_vram_t){ tmd->save_vram + i * tmd->save_bytes });
        if (save->state == PPU_SAVE_WAITING && !(shared_read(&group_at(task, i)->work) & PPU_CTA_WORK_ANY)) {
            return true;
        }
    }
    return false;
}

/* ---- places to be saved in ---- */

static uint64_t place_bytes(const struct ppu_tmd *tmd)
{
    uint32_t threads = ppu_tmd_threads(tmd);
    return ppu_save_bytes((threads + tmd->wave - 1u) / tmd->wave, tmd->wave,
                          ppu_tmd_warp_vregs(tmd, ppu_tmd_may_be_wide(tmd)), tmd->token_count, tmd->shared_bytes);
}

bool nest_can_save(uint32_t nest, const struct ppu_tmd *tmd)
{
    const struct nest_plan *plan = &nests[nest].plan;
    return plan->places && place_bytes(tmd) <= plan->state_bytes;
}

/* One for each CTA, as far as the nest allows. Nobody knows how many a queue task will have. */
static uint32_t places_wanted(const struct nest *nest, const struct ppu_tmd *tmd)
{
    uint32_t most = nest->plan.places;
    if (tmd->kind == PPU_TMD_TASKQ) {
        return most;
    }
    uint32_t ctas = PPU_MIN(tmd->grid[0], most) * PPU_MIN(tmd->grid[1], most) * PPU_MIN(tmd->grid[2], most);
    return PPU_MIN(ctas, most);
}

static uint32_t units_of(const struct nest *nest, uint32_t places, uint32_t bytes)
{
    uint32_t for_states = (places * bytes + nest->unit_bytes - 1u) / nest->unit_bytes;
    uint32_t for_groups = (places + PPU_NEST_UNIT_PLACES - 1u) / PPU_NEST_UNIT_PLACES;
    return PPU_MAX(for_states, for_groups);
}

/* The TMD copy names the places; nothing is saved in them yet. */
static void give_places(struct task *task, uint32_t first, ppu_vram_t save, uint32_t bytes, uint32_t count)
{
    struct ppu_tmd *tmd = task_tmd(task);
    task->places = (uint8_t)first;
    tmd->save_vram = save.off;
    tmd->save_bytes = bytes;
    tmd->save_count = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++) {
        struct ppu_save *place = hal_vram((ppu_vram_t){ save.off + i * bytes });
        place->state = PPU_SAVE_FREE;
    }
    tmd->groups_vram = nest_groups(task);
    nest_record(task)->groups_va = nest_groups_va(task).va;
}

/* From what the depths share. */
static bool take_units(struct nest *nest, struct task *task)
{
    const struct ppu_tmd *tmd = task_tmd(task);
    uint32_t bytes = (uint32_t)place_bytes(tmd);
    uint32_t wanted = places_wanted(nest, tmd);
    struct places_run run = places_find(&nest->places, units_of(nest, wanted, bytes));
    uint32_t room = PPU_MIN(run.units * nest->unit_bytes / bytes, run.units * PPU_NEST_UNIT_PLACES);
    uint32_t count = PPU_MIN(wanted, room);
    if (!count) {
        return false;
    }
    run.units = units_of(nest, count, bytes);
    places_take(&nest->places, run);
    uint32_t distance = nest->plan.depth * nest->plan.state_bytes + run.first * nest->unit_bytes;
    give_places(task, run.first, (ppu_vram_t){ nest->plan.save.off + distance }, bytes, count);
    return true;
}

static bool has_bit(const uint32_t *words, uint32_t n)
{
    return words[n / 32] >> n % 32 & 1u;
}

/* The place that is kept for the task's depth. */
static bool take_kept(struct nest *nest, struct task *task)
{
    uint32_t n = task_depth(task) - 1u;
    if (has_bit(nest->kept_taken, n)) {
        return false;
    }
    nest->kept_taken[n / 32] |= 1u << n % 32;
    ppu_vram_t save = { nest->plan.save.off + n * nest->plan.state_bytes };
    give_places(task, TASK_KEPT_PLACE, save, nest->plan.state_bytes, 1);
    return true;
}

/* ---- tasks that wait for places: a ring of each depth ---- */

static uint16_t *first_of_depth(const struct nest *nest, uint32_t n)
{
    return &first_waiting[nest->first - layout.tasks + n];
}

static void wait_for_places(struct nest *nest, struct task *task)
{
    uint32_t n = task_depth(task) - 1u;
    uint16_t *first = first_of_depth(nest, n);
    task_enter(task, TASK_ADMITTED);
    list_init(&task->node);
    if (has_bit(nest->waiting, n)) {
        list_push_back(&task_at(*first)->node, &task->node);
    } else {
        *first = (uint16_t)task_index(task);
        nest->waiting[n / 32] |= 1u << n % 32;
    }
}

void nest_withdraw(struct task *task)
{
    struct nest *nest = &nests[task->nest];
    uint32_t n = task_depth(task) - 1u;
    uint16_t *first = first_of_depth(nest, n);
    if (list_empty(&task->node)) {
        nest->waiting[n / 32] &= ~(1u << n % 32);
    } else if (*first == task_index(task)) {
        *first = (uint16_t)task_index(PPU_CONTAINER_OF(task->node.next, struct task, node));
    }
    list_remove(&task->node);
}

bool nest_admit(struct task *task)
{
    struct nest *nest = &nests[task->nest];
    if (!has_bit(nest->waiting, task_depth(task) - 1u) && (take_units(nest, task) || take_kept(nest, task))) {
        return true;
    }
    wait_for_places(nest, task);
    return false;
}

/* The deepest first: what it waits for can end without it. Who waits at another depth has the place kept there. */
struct task *nest_admit_waiting(uint32_t number)
{
    struct nest *nest = &nests[number];
    uint32_t word = DEPTH_WORDS;
    while (word && !nest->waiting[word - 1]) {
        word--;
    }
    if (!word) {
        return NULL;
    }
    uint32_t n = 32u * word - 1u - (uint32_t)__builtin_clz(nest->waiting[word - 1]);
    struct task *task = task_at(*first_of_depth(nest, n));
    if (!take_units(nest, task)) {
        return NULL;
    }
    nest_withdraw(task);
    return task;
}

static struct task *give_back_kept(struct nest *nest, uint32_t n)
{
    nest->kept_taken[n / 32] &= ~(1u << n % 32);
    if (!has_bit(nest->waiting, n)) {
        return NULL;
    }
    struct task *next = task_at(*first_of_depth(nest, n));
    nest_withdraw(next);
    take_kept(nest, next);
    return next;
}

struct task *nest_release(struct task *task)
{
    uint32_t first = task->places;
    struct nest *nest = &nests[task->nest];
    task->places = TASK_NO_PLACES;
    if (first == TASK_KEPT_PLACE) {
        return give_back_kept(nest, task_depth(task) - 1u);
    }
    places_give(&nest->places, first);
    return nest_admit_waiting(task->nest);
}
