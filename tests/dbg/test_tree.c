/* SPDX-License-Identifier: MIT */
/* Tests the tree of tasks: its order, and that records which contradict one another end every walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tools/dbg/tree.h"

#define ROWS 8u
#define BASE 0x1000u
#define CHANNEL UINT32_MAX

/* Members that the tree reads, a word each. */
struct row {
    uint32_t state;
    uint32_t parent;
};

static struct view view_of_rows(const uint32_t state[ROWS], const uint32_t parent[ROWS])
{
    struct view view = { calloc(1, sizeof(struct ppu_state) + ROWS * sizeof(struct row)), 0, NULL, 0 };

    assert_non_null(view.area);
    view.area->table[PPU_STATE_TABLE_TASK] =
        (struct ppu_state_table){ BASE, 1, sizeof(struct ppu_state), ROWS, sizeof(struct row) };
    view.area->span[PPU_STATE_TASK_STATE] = (struct ppu_state_span){ offsetof(struct row, state), 4 };
    view.area->span[PPU_STATE_TASK_PARENT] = (struct ppu_state_span){ offsetof(struct row, parent), 4 };
    struct row *rows = (void *)(view.area + 1);
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = (struct row){ state[i], parent[i] == CHANNEL ? 0 : BASE + parent[i] * (uint32_t)sizeof(*rows) };
    }
    return view;
}

static void expect_tree(const uint32_t state[ROWS], const uint32_t parent[ROWS], const struct tree_node *wanted,
                        uint32_t wanted_count)
{
    struct view view = view_of_rows(state, parent);
    uint32_t count = 0;
    struct tree_node *nodes = tree_of(&view, &count);

    assert_non_null(nodes);
    assert_int_equal(count, wanted_count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(nodes[i].row, wanted[i].row);
        assert_int_equal(nodes[i].parent, wanted[i].parent);
        assert_int_equal(nodes[i].level, wanted[i].level);
    }
    free(nodes);
    view_free(&view);
}

#define R PPU_TASK_STATE_RUNNING
#define P PPU_TASK_STATE_PARKED

/* Two of channels; the first has launched 5 and 1, and 5 has launched 0 and 3. */
static void parents_come_first(void **state)
{
    const uint32_t states[ROWS] = { R, R, P, R, R, P, PPU_TASK_STATE_FREE, PPU_TASK_STATE_LENT };
    const uint32_t parents[ROWS] = { 5, 2, CHANNEL, 5, CHANNEL, 2, 2, 2 };
    const struct tree_node wanted[] = {
        { 2, TREE_NONE, 0 }, { 1, 0, 1 }, { 5, 0, 1 }, { 0, 2, 2 }, { 3, 2, 2 }, { 4, TREE_NONE, 0 },
    };

    (void)state;
    expect_tree(states, parents, wanted, PPU_ARRAY_SIZE(wanted));
}

static void a_chain(void **state)
{
    const uint32_t states[ROWS] = { R, R, R, R, R, R, R, R };
    const uint32_t parents[ROWS] = { 1, 2, 3, 4, 5, 6, 7, CHANNEL };
    struct tree_node wanted[ROWS];

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        wanted[i] = (struct tree_node){ ROWS - 1 - i, i != 0 ? i - 1 : TREE_NONE, i };
    }
    expect_tree(states, parents, wanted, ROWS);
}

/* 0 and 1 are each other's parents, 2 is below them and 3 its own; 5's parent is free, and 6's is no record. */
static void rings_are_no_trees(void **state)
{
    const uint32_t states[ROWS] = { R, R, R, R, PPU_TASK_STATE_FREE, R, R, UINT32_MAX };
    const uint32_t parents[ROWS] = { 1, 0, 0, 3, CHANNEL, 4, ROWS, CHANNEL };
    const struct tree_node wanted[] = {
        { 5, TREE_NONE, 0 }, { 6, TREE_NONE, 0 }, { 0, TREE_NONE, 0 },
        { 1, TREE_NONE, 0 }, { 2, TREE_NONE, 0 }, { 3, TREE_NONE, 0 },
    };

    (void)state;
    expect_tree(states, parents, wanted, PPU_ARRAY_SIZE(wanted));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parents_come_first),
        cmocka_unit_test(a_chain),
        cmocka_unit_test(rings_are_no_trees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
