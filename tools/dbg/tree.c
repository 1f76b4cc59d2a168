/* SPDX-License-Identifier: MIT */
#include "tools/dbg/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/save.h"
#include "ppu/task.h"
#include "ppu/tmd.h"
#include "runtime/state/why.h"

/* ---- order ---- */

/* Rows as a tree: children of a row are in the order of their numbers. */
struct links {
    uint32_t parent, first, last, next;
    bool is_there, is_taken;
};

static bool is_task(uint64_t state)
{
    return state != PPU_TASK_STATE_FREE && state != PPU_TASK_STATE_LENT && state != PPU_TASK_STATE_LINKING &&
           state < PPU_TASK_STATES;
}

static void link_rows(const struct view *view, struct links *links, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        links[row] = (struct links){ TREE_NONE, TREE_NONE, TREE_NONE, TREE_NONE, false, false };
        links[row].is_there = is_task(view_get(view, PPU_STATE_TASK_STATE, row));
    }
    for (uint32_t row = 0; row < rows; row++) {
        const uint64_t pointer = view_get(view, PPU_STATE_TASK_PARENT, row);
        const uint32_t parent = pointer != 0 ? view_pointed(view, PPU_STATE_TABLE_TASK, pointer) : VIEW_NONE;
        if (!links[row].is_there || parent == VIEW_NONE || !links[parent].is_there) {
            continue;
        }
        links[row].parent = parent;
        if (links[parent].first == TREE_NONE) {
            links[parent].first = row;
        } else {
            links[links[parent].last].next = row;
        }
        links[parent].last = row;
    }
}

/* A walk from a root, deeper before farther. Each row has one parent, so that it is met once below a root. */
static void take_below(struct links *links, uint32_t root, struct tree_node *nodes, uint32_t *count)
{
    uint32_t row = root, level = 0, node = TREE_NONE; /* `node`: of the row's parent */

    while (row != TREE_NONE) {
        links[row].is_taken = true;
        nodes[*count] = (struct tree_node){ row, node, level };
        if (links[row].first != TREE_NONE) {
            node = (*count)++;
            row = links[row].first;
            level++;
            continue;
        }
        (*count)++;
        while (level != 0 && links[row].next == TREE_NONE) {
            row = links[row].parent;
            node = nodes[node].parent;
            level--;
        }
        row = level != 0 ? links[row].next : TREE_NONE;
    }
}

struct tree_node *tree_of(const struct view *view, uint32_t *count)
{
    const uint32_t rows = view_rows(view, PPU_STATE_TABLE_TASK);
    struct links *links = calloc((size_t)rows + 1, sizeof(*links));
    struct tree_node *nodes = calloc((size_t)rows + 1, sizeof(*nodes));

    *count = 0;
    if (!links || !nodes) {
        free(links);
        free(nodes);
        return NULL;
    }
    link_rows(view, links, rows);
    for (uint32_t row = 0; row < rows; row++) {
        if (links[row].is_there && links[row].parent == TREE_NONE) {
            take_below(links, row, nodes, count);
        }
    }
    for (uint32_t row = 0; row < rows; row++) { /* what is in a ring, or below one */
        if (links[row].is_there && !links[row].is_taken) {
            nodes[(*count)++] = (struct tree_node){ row, TREE_NONE, 0 };
        }
    }
    free(links);
    return nodes;
}

/* ---- tasks ---- */

static const struct ppu_debug_task *find_slot(const struct ppu_debug_task *tasks, uint32_t count, uint32_t handle)
{
    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i].task == handle) {
            return &tasks[i];
        }
    }
    return NULL;
}

static void describe_by_tmd(struct tree_task *task, const struct ppu_tmd *tmd)
{
    task->task.code_va = tmd->code_va;
    task->task.code_bytes = tmd->code_bytes;
    task->task.entry = tmd->entry;
    task->task.wave = tmd->wave;
    task->task.depth = tmd->depth;
    for (uint32_t i = 0; i < 3; i++) {
        task->task.cta[i] = tmd->cta[i];
        task->task.grid[i] = tmd->grid[i];
    }
    task->known = true;
}

/* The CTAs in the task's save area that wait. Of a task with a slot the device knows which do. */
static void read_waits(const struct view *view, struct tree_task *task, const struct ppu_tmd *tmd)
{
    for (uint32_t n = 0; n < tmd->save_count && n < PPU_SAVE_PLACES; n++) {
        struct ppu_save save;
        const bool is_read = view_read(view, tmd->save_vram + (uint64_t)n * tmd->save_bytes, &save, sizeof(save));
        const bool waits =
            task->has_slot ? (task->task.waiting >> n & 1u) != 0 : is_read && save.state == PPU_SAVE_WAITING;
        const uint64_t x = PPU_MAX(tmd->grid[0], 1u), y = PPU_MAX(tmd->grid[1], 1u);
        if (!is_read || !waits) {
            continue;
        }
        task->wait[task->waits++] = (struct tree_wait){
            .cta = { (uint32_t)(save.number % x), (uint32_t)(save.number / x % y), (uint32_t)(save.number / x / y) },
            .pc = save.pc,
        };
    }
}

static void describe(const struct view *view, const struct tree_node *node, const struct ppu_debug_task *slots,
                     uint32_t slot_count, struct tree_task *task)
{
    const uint32_t handle = (uint32_t)view_get(view, PPU_STATE_TASK_HANDLE, node->row);
    const struct ppu_debug_task *slot = find_slot(slots, slot_count, handle);
    struct ppu_tmd tmd;
    struct ppu_why why = { .text = "" };

    *task = (struct tree_task){
        .parent = node->parent,
        .level = node->level,
        .state = (uint32_t)view_get(view, PPU_STATE_TASK_STATE, node->row),
        .children = (uint32_t)view_get(view, PPU_STATE_TASK_CHILDREN, node->row),
        .has_slot = slot,
        .known = slot,
    };
    if (slot) {
        task->task = *slot;
    } else {
        task->task.task = handle;
        task->task.context = (uint32_t)view_get(view, PPU_STATE_TASK_SPACE, node->row);
    }
    /* A record may have been given to another task since the copy. */
    if (view_read(view, view_get(view, PPU_STATE_TASK_TMD, node->row), &tmd, sizeof(tmd)) && tmd.task == handle) {
        if (!slot) {
            describe_by_tmd(task, &tmd);
        }
        read_waits(view, task, &tmd);
    }
    why_task(view, handle, &why);
    snprintf(task->why, sizeof(task->why), "%s", why.text);
}

const char *session_tree(struct session *session, struct tree *tree)
{
    struct ppu_debug_task slots[PPU_MAX_SLOTS];
    struct view view;
    uint32_t count = 0;
    const char *why = box_view(&session->box, &view);

    *tree = (struct tree){ .tasks = 0 };
    if (why) {
        return why;
    }
    const uint32_t slot_count = session_tasks(session, slots, PPU_MAX_SLOTS);
    struct tree_node *nodes = tree_of(&view, &count);
    tree->task = nodes ? calloc((size_t)count + 1, sizeof(*tree->task)) : NULL;
    for (; tree->task && tree->tasks < count; tree->tasks++) {
        describe(&view, &nodes[tree->tasks], slots, slot_count, &tree->task[tree->tasks]);
    }
    free(nodes);
    view_free(&view);
    return tree->task ? NULL : "not enough memory";
}

void tree_free(struct tree *tree)
{
    free(tree->task);
    *tree = (struct tree){ .tasks = 0 };
}
