/* SPDX-License-Identifier: MIT */
/*
 * Holds kernels with barriers that not all work-items reach, each with its corrected twin behind it. The comment
 * `wrong` marks the line of the report. There are 64 work-items in groups of 32.
 */
#define ARGUMENTS global int *a, global int *b, constant int *c, local int *l, global int *none, uint n
#define GID (uint)get_global_id(0)
#define LID (uint)get_local_id(0)
#define GROUP (uint)get_group_id(0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

void meet(void)
{
    BARRIER; // wrong, for helper_bad
}

kernel void some_skip_bad(ARGUMENTS)
{
    if (LID < 16) {
        BARRIER; // wrong
    }
}

kernel void some_skip_good(ARGUMENTS)
{
    BARRIER;
    if (LID < 16) {
        a[GID] = 1;
    }
}

kernel void early_return_bad(ARGUMENTS)
{
    if (LID == 0) {
        return;
    }
    BARRIER; // wrong
    a[GID] = 1;
}

kernel void early_return_good(ARGUMENTS)
{
    if (LID == 0) {
        a[GID] = 2;
    }
    BARRIER;
    a[GID] = 1;
}

kernel void two_places_bad(ARGUMENTS)
{
    if (LID % 2 != 0) {
        BARRIER; // wrong
    } else {
        BARRIER;
    }
}

kernel void two_places_good(ARGUMENTS)
{
    if (GROUP % 2 != 0) {
        BARRIER;
    } else {
        BARRIER;
    }
}

kernel void turns_bad(ARGUMENTS)
{
    for (uint i = 0; i < LID % 2 + 1; i++) {
        BARRIER; // wrong
    }
}

kernel void turns_good(ARGUMENTS)
{
    for (uint i = 0; i < GROUP % 2 + 1; i++) {
        BARRIER;
    }
}

kernel void range_bad(ARGUMENTS)
{
    if (GID < 40) {
        BARRIER; // wrong
    }
}

kernel void range_good(ARGUMENTS)
{
    if (GID < 32) {
        BARRIER;
    }
}

kernel void cases_bad(ARGUMENTS)
{
    switch (LID % 3) {
    case 0:
        BARRIER; // wrong
        break;
    case 1:
        BARRIER;
        break;
    default:
        BARRIER;
    }
}

kernel void cases_good(ARGUMENTS)
{
    switch (GROUP) {
    case 0:
        BARRIER;
        break;
    case 1:
        BARRIER;
        break;
    default:
        BARRIER;
    }
}

kernel void leaves_loop_bad(ARGUMENTS)
{
    for (uint i = 0; i < 4; i++) {
        if (LID == i) {
            break;
        }
        BARRIER; // wrong
    }
}

kernel void leaves_loop_good(ARGUMENTS)
{
    for (uint i = 0; i < 4; i++) {
        if (GROUP == i) {
            break;
        }
        BARRIER;
    }
}

kernel void data_decides_bad(ARGUMENTS)
{
    if (c[0] == 0 && LID != 3) {
        BARRIER; // wrong
    }
}

kernel void data_decides_good(ARGUMENTS)
{
    if (n == 64) {
        BARRIER;
    }
}

kernel void helper_bad(ARGUMENTS)
{
    if (LID > 7) {
        meet();
    }
}

kernel void helper_good(ARGUMENTS)
{
    meet();
    if (LID > 7) {
        a[GID] = 1;
    }
}

kernel void passes_over_bad(ARGUMENTS)
{
    for (uint i = 0; i < 2; i++) {
        if (LID == 5 && i == 0) {
            continue;
        }
        BARRIER; // wrong
    }
}

kernel void passes_over_good(ARGUMENTS)
{
    for (uint i = 0; i < 2; i++) {
        if (LID == 5 && i == 0) {
            a[GID] = 1;
        }
        BARRIER;
    }
}

kernel void last_group_item_bad(ARGUMENTS)
{
    if (LID != get_local_size(0) - 1) {
        l[LID] = 1;
        BARRIER; // wrong
    }
}

kernel void last_group_item_good(ARGUMENTS)
{
    if (LID != get_local_size(0) - 1) {
        l[LID] = 1;
    }
    BARRIER;
}

kernel void second_of_two_bad(ARGUMENTS)
{
    BARRIER;
    if (LID < 31) {
        BARRIER; // wrong
    }
}

kernel void second_of_two_good(ARGUMENTS)
{
    BARRIER;
    if (LID < 31) {
        a[GID] = 1;
    }
    BARRIER;
}

kernel void while_loop_bad(ARGUMENTS)
{
    uint i = LID;
    while (i < 40) {
        i += 32;
        BARRIER; // wrong
    }
}

kernel void while_loop_good(ARGUMENTS)
{
    uint i = 0;
    while (i < 40) {
        i += 32;
        BARRIER;
    }
}

kernel void wait_of_copy_bad(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, a, 32, 0);
    if (LID != 1) {
        wait_group_events(1, &e); // wrong
    }
}

kernel void wait_of_copy_good(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, a, 32, 0);
    wait_group_events(1, &e);
}

kernel void returns_in_loop_bad(ARGUMENTS)
{
    for (uint i = 0; i < 3; i++) {
        BARRIER; // wrong
        if (LID == i) {
            return;
        }
    }
}

kernel void returns_in_loop_good(ARGUMENTS)
{
    for (uint i = 0; i < 3; i++) {
        BARRIER;
        if (GROUP == i) {
            return;
        }
    }
}

kernel void conditional_value_bad(ARGUMENTS)
{
    int v = LID < 4 ? 1 : 0;
    if (v != 0) {
        work_group_barrier(CLK_LOCAL_MEM_FENCE); // wrong
    }
    a[GID] = v;
}

kernel void conditional_value_good(ARGUMENTS)
{
    int v = LID < 4 ? 1 : 0;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    a[GID] = v;
}

kernel void sub_group_some_skip_bad(ARGUMENTS)
{
    if (LID < 16) {
        sub_group_barrier(CLK_LOCAL_MEM_FENCE); // wrong
    }
}

kernel void sub_group_some_skip_good(ARGUMENTS)
{
    if (GROUP == 0) {
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    }
}

kernel void sub_group_early_return_bad(ARGUMENTS)
{
    if (LID == 31) {
        return;
    }
    a[GID] = sub_group_reduce_add(1); // wrong
}

kernel void sub_group_early_return_good(ARGUMENTS)
{
    a[GID] = sub_group_reduce_add(1);
    if (LID == 31) {
        return;
    }
    a[GID] += sub_group_non_uniform_reduce_add(1);
}

kernel void sub_group_turns_bad(ARGUMENTS)
{
    int all = 0;
    for (uint i = 0; i <= LID % 3; i++) {
        all += sub_group_any(LID == i); // wrong
    }
    a[GID] = all;
}

kernel void sub_group_turns_good(ARGUMENTS)
{
    int all = 0;
    for (uint i = 0; i < 3; i++) {
        all += sub_group_any(LID == i);
    }
    a[GID] = all;
}

kernel void sub_group_condition_bad(ARGUMENTS)
{
    a[GID] = LID == 2 || sub_group_all(LID < 40); // wrong
}

kernel void sub_group_condition_good(ARGUMENTS)
{
    const int all = sub_group_all(LID < 40);
    a[GID] = LID == 2 || all;
}
