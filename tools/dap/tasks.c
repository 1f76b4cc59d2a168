/* SPDX-License-Identifier: MIT */
/* Tells an editor the tree of tasks: the protocol has no request for it, so it is one of this adapter. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/dap/adapter.h"
#include "tools/dbg/tree.h"

static json_t *name_json(const char *name)
{
    return wire_text(name, strlen(name));
}

static json_t *three(const uint32_t number[3])
{
    return json_pack("[I, I, I]", (json_int_t)number[0], (json_int_t)number[1], (json_int_t)number[2]);
}

static json_t *wait_json(const struct adapter *adapter, const struct tree_task *task, const struct tree_wait *wait)
{
    const struct loaded *loaded = session_loaded_of(&adapter->session, &task->task);
    const char *file = NULL;
    uint32_t line = loaded && loaded->info ? info_line(loaded->info, wait->pc, &file) : 0;
    json_t *one = json_pack("{s:o}", "cta", three(wait->cta));
    char reference[32];

    if (task->known) {
        snprintf(reference, sizeof(reference), "0x%" PRIx64, task->task.code_va + (uint64_t)wait->pc * PPU_INSN_BYTES);
        json_object_set_new(one, "instructionReference", json_string(reference));
    }
    if (line != 0) {
        json_object_set_new(one, "source", sources_of_line(adapter, loaded, file, &line));
        json_object_set_new(one, "line", json_integer(adapter_line(adapter, line)));
    }
    return one;
}

static json_t *task_json(const struct adapter *adapter, const struct tree *tree, const struct tree_task *task)
{
    const char *name = task->known ? session_kernel(&adapter->session, &task->task) : "??";
    json_t *waits = json_array();
    json_t *one = json_pack("{s:I, s:o, s:i, s:i, s:o, s:b}", "task", (json_int_t)task->task.task, "kernel",
                            name_json(name), "depth", (int)task->level + 1, "children", (int)task->children, "state",
                            name_json(task->why), "stopped", (int)(task->task.halted != 0));

    if (task->parent != TREE_NONE) {
        json_object_set_new(one, "parent", json_integer((json_int_t)tree->task[task->parent].task.task));
    }
    if (task->has_slot) {
        json_object_set_new(one, "slot", json_integer((json_int_t)task->task.slot));
    }
    if (task->known) {
        json_object_set_new(one, "grid", three(task->task.grid));
    }
    for (uint32_t i = 0; i < task->waits; i++) {
        json_array_append_new(waits, wait_json(adapter, task, &task->wait[i]));
    }
    json_object_set_new(one, "waiting", waits);
    return one;
}

json_t *request_tasks(struct adapter *adapter, const json_t *arguments)
{
    json_t *list = json_array();
    struct tree tree;
    const char *why = session_tree(&adapter->session, &tree);

    (void)arguments;
    if (why) {
        json_decref(list);
        return adapter_refuse(adapter, "%s", why);
    }
    for (uint32_t i = 0; i < tree.tasks; i++) {
        json_array_append_new(list, task_json(adapter, &tree, &tree.task[i]));
    }
    tree_free(&tree);
    return json_pack("{s:o}", "tasks", list);
}
