/* SPDX-License-Identifier: MIT */
/*
 * Finds the tree of tasks: which task's threads launched which, and what each does or waits for. The firmware's records
 * say it, which threads cannot write; rows may have changed while they were copied, so that each walk is bounded.
 */
#ifndef TOOLS_DBG_TREE_H
#define TOOLS_DBG_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/debug.h"
#include "runtime/state/view.h"
#include "tools/dbg/session.h"

#define TREE_NONE UINT32_MAX
#define TREE_WHY_BYTES 320u

/* A task that is there. */
struct tree_node {
    uint32_t row;    /* of the firmware's table of tasks */
    uint32_t parent; /* the node of the task that launched it; TREE_NONE: a channel did */
    uint32_t level;  /* 0: a channel launched it */
};

/*
 * The tasks of a view: each behind its parent and before its parent's next child. NULL: there is none, or no memory; to
 * be given to free(). A record whose parents end in no task of a channel stands alone, at level 0.
 */
struct tree_node *tree_of(const struct view *view, uint32_t *count);

/* A CTA that waits for children and has left its SM. */
struct tree_wait {
    uint32_t cta[3];
    uint32_t pc; /* instruction from the code's base */
};

struct tree_task {
    uint32_t parent; /* index, or TREE_NONE */
    uint32_t level;
    uint32_t state; /* enum ppu_task_state */
    uint32_t children;
    bool has_slot;
    bool known;                 /* `task` says more than its context and handle */
    struct ppu_debug_task task; /* of one that has no slot: as its TMD says */
    uint32_t waits;
    struct tree_wait wait[PPU_SAVE_PLACES];
    char why[TREE_WHY_BYTES]; /* a sentence without its subject: what it waits for, or that it runs */
};

struct tree {
    uint32_t tasks;
    struct tree_task *task; /* owned */
};

/* NULL: done; else why not, and there is nothing to free. */
const char *session_tree(struct session *session, struct tree *tree);
void tree_free(struct tree *tree);

#endif
