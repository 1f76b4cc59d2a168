/* SPDX-License-Identifier: MIT */
/*
 * Holds kernels with data races, each with its corrected twin behind it. The comment `wrong` marks the line of the
 * report, or of its other side. There are 64 work-items in groups of 32, a has n = 64 numbers, b 100, l 32.
 */
#define ARGUMENTS global int *a, global int *b, constant int *c, local int *l, global int *none, uint n
#define GID (uint)get_global_id(0)
#define LID (uint)get_local_id(0)
#define GROUP (uint)get_group_id(0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

struct pair {
    int first, second;
};
global int shared_number;
global int own_numbers[64];

void bump(global int *number)
{
    *number += 1; // wrong, for helper_bad
}

kernel void all_write_one_bad(ARGUMENTS)
{
    a[0] = GID; // wrong
}

kernel void all_write_one_good(ARGUMENTS)
{
    if (GID == 0) {
        a[0] = GID;
    }
}

kernel void counter_bad(ARGUMENTS)
{
    a[0] = a[0] + 1; // wrong
}

kernel void counter_good(ARGUMENTS)
{
    atomic_inc(&a[0]);
}

kernel void histogram_bad(ARGUMENTS)
{
    a[GID % 8]++; // wrong
}

kernel void histogram_good(ARGUMENTS)
{
    atomic_inc(&a[GID % 8]);
}

kernel void no_barrier_bad(ARGUMENTS)
{
    l[LID] = LID;
    a[GID] = l[(LID + 1) % 32]; // wrong
}

kernel void no_barrier_good(ARGUMENTS)
{
    l[LID] = LID;
    BARRIER;
    a[GID] = l[(LID + 1) % 32];
}

kernel void reduction_bad(ARGUMENTS)
{
    l[LID] = 1;
    BARRIER;
    for (uint s = 16; s > 0; s /= 2) {
        if (LID < s) {
            l[LID] += l[LID + s]; // wrong
        }
    }
    BARRIER;
    a[GID] = l[0];
}

kernel void reduction_good(ARGUMENTS)
{
    l[LID] = 1;
    BARRIER;
    for (uint s = 16; s > 0; s /= 2) {
        if (LID < s) {
            l[LID] += l[LID + s];
        }
        BARRIER;
    }
    a[GID] = l[0];
}

kernel void neighbour_bad(ARGUMENTS)
{
    a[GID] = a[(GID + 1) % n]; // wrong
}

kernel void neighbour_good(ARGUMENTS)
{
    b[GID] = a[(GID + 1) % n];
}

kernel void in_place_stencil_bad(ARGUMENTS)
{
    int left = GID > 0 ? a[GID - 1] : 0;
    a[GID] = left + 1; // wrong
}

kernel void in_place_stencil_good(ARGUMENTS)
{
    int left = GID > 0 ? a[GID - 1] : 0;
    b[GID] = left + 1;
}

kernel void write_after_read_bad(ARGUMENTS)
{
    l[LID] = LID;
    BARRIER;
    int v = l[(LID + 1) % 32];
    l[LID] = v + 1; // wrong
    BARRIER;
    a[GID] = l[LID];
}

kernel void write_after_read_good(ARGUMENTS)
{
    l[LID] = LID;
    BARRIER;
    int v = l[(LID + 1) % 32];
    BARRIER;
    l[LID] = v + 1;
    BARRIER;
    a[GID] = l[LID];
}

kernel void tile_reuse_bad(ARGUMENTS)
{
    int sum = 0;
    for (uint i = 0; i < 2; i++) {
        l[LID] = i; // wrong
        BARRIER;
        sum += l[31 - LID];
    }
    a[GID] = sum;
}

kernel void tile_reuse_good(ARGUMENTS)
{
    int sum = 0;
    for (uint i = 0; i < 2; i++) {
        l[LID] = i;
        BARRIER;
        sum += l[31 - LID];
        BARRIER;
    }
    a[GID] = sum;
}

kernel void flag_bad(ARGUMENTS)
{
    if (GID == 5) {
        a[1] = 1;
    }
    b[GID] = a[1]; // wrong
}

kernel void flag_good(ARGUMENTS)
{
    if (GID == 5) {
        a[1] = 1;
        b[GID] = a[1];
    }
}

kernel void groups_write_same_bad(ARGUMENTS)
{
    a[LID] = GROUP; // wrong
}

kernel void groups_write_same_good(ARGUMENTS)
{
    a[GID] = GROUP;
}

kernel void group_sum_bad(ARGUMENTS)
{
    if (LID == 0) {
        a[0] += 1; // wrong
    }
}

kernel void group_sum_good(ARGUMENTS)
{
    if (LID == 0) {
        atomic_add(&a[0], 1);
    }
}

kernel void half_index_bad(ARGUMENTS)
{
    a[GID / 2] = GID; // wrong
}

kernel void half_index_good(ARGUMENTS)
{
    a[GID] = GID;
}

kernel void wrong_pitch_bad(ARGUMENTS)
{
    uint x = GID % 8, y = GID / 8;
    a[x * 7 + y] = 1; // wrong
}

kernel void wrong_pitch_good(ARGUMENTS)
{
    uint x = GID % 8, y = GID / 8;
    a[x * 8 + y] = 1;
}

kernel void maximum_bad(ARGUMENTS)
{
    if (a[40] < (int)GID) {
        a[40] = GID; // wrong
    }
}

kernel void maximum_good(ARGUMENTS)
{
    atomic_max(&a[40], (int)GID);
}

kernel void bytes_bad(ARGUMENTS)
{
    ((global uchar *)a)[GID / 2] = 1; // wrong
}

kernel void bytes_good(ARGUMENTS)
{
    ((global uchar *)a)[GID] = 1;
}

kernel void shorts_bad(ARGUMENTS)
{
    ((global short *)a)[GID / 2] = 1; // wrong
}

kernel void shorts_good(ARGUMENTS)
{
    ((global short *)a)[GID] = 1;
}

kernel void longs_bad(ARGUMENTS)
{
    ((global long *)a)[GID / 4] = GID; // wrong
}

kernel void longs_good(ARGUMENTS)
{
    if (GID < 32) {
        ((global long *)a)[GID] = GID;
    }
}

kernel void doubles_bad(ARGUMENTS)
{
    ((global double *)a)[GID / 4] = 1.0; // wrong
}

kernel void doubles_good(ARGUMENTS)
{
    if (GID < 32) {
        ((global double *)a)[GID] = 1.0;
    }
}

kernel void vectors_bad(ARGUMENTS)
{
    ((global int4 *)a)[GID / 8] = (int4)(1); // wrong
}

kernel void vectors_good(ARGUMENTS)
{
    if (GID < 16) {
        ((global int4 *)a)[GID] = (int4)(1);
    }
}

kernel void vstore_bad(ARGUMENTS)
{
    vstore4((int4)(1), GID / 8, a); // wrong
}

kernel void vstore_good(ARGUMENTS)
{
    if (GID < 16) {
        vstore4((int4)(1), GID, a);
    }
}

kernel void vload_bad(ARGUMENTS)
{
    a[GID] = vload4(GID / 4, a).x; // wrong
}

kernel void vload_good(ARGUMENTS)
{
    b[GID] = vload4(GID / 4, a).x;
}

kernel void members_bad(ARGUMENTS)
{
    ((global struct pair *)a)[GID / 4].second = 1; // wrong
}

kernel void members_good(ARGUMENTS)
{
    if (GID < 32) {
        ((global struct pair *)a)[GID].second = 1;
    }
}

kernel void transpose_bad(ARGUMENTS)
{
    local int t[4][8];
    t[LID / 8][LID % 8] = LID;
    a[GID] = t[LID % 4][LID / 4]; // wrong
}

kernel void transpose_good(ARGUMENTS)
{
    local int t[4][8];
    t[LID / 8][LID % 8] = LID;
    BARRIER;
    a[GID] = t[LID % 4][LID / 4];
}

kernel void one_initializes_bad(ARGUMENTS)
{
    local int total;
    if (LID == 0) {
        total = 5;
    }
    a[GID] = total; // wrong
}

kernel void one_initializes_good(ARGUMENTS)
{
    local int total;
    if (LID == 0) {
        total = 5;
    }
    BARRIER;
    a[GID] = total;
}

kernel void all_initialize_bad(ARGUMENTS)
{
    local int total;
    total = GID; // wrong
    BARRIER;
    a[GID] = total;
}

kernel void all_initialize_good(ARGUMENTS)
{
    local int total;
    if (LID == 0) {
        total = GID;
    }
    BARRIER;
    a[GID] = total;
}

kernel void broadcast_bad(ARGUMENTS)
{
    for (uint i = 0; i < 3; i++) {
        if (LID == i) {
            l[0] = i; // wrong
        }
        BARRIER;
        a[GID] = l[0];
    }
}

kernel void broadcast_good(ARGUMENTS)
{
    for (uint i = 0; i < 3; i++) {
        if (LID == i) {
            l[0] = i;
        }
        BARRIER;
        a[GID] = l[0];
        BARRIER;
    }
}

kernel void helper_bad(ARGUMENTS)
{
    bump(&a[0]);
}

kernel void helper_good(ARGUMENTS)
{
    bump(&a[GID]);
}

kernel void through_pointer_bad(ARGUMENTS)
{
    global int *p = a;
    p[GID % 32] = 1; // wrong
}

kernel void through_pointer_good(ARGUMENTS)
{
    global int *p = a;
    p[GID] = 1;
}

kernel void generic_bad(ARGUMENTS)
{
    int *p = a;
    p[0] = GID; // wrong
}

kernel void generic_good(ARGUMENTS)
{
    int *p = a;
    p[GID] = GID;
}

kernel void generic_local_bad(ARGUMENTS)
{
    int *p = l;
    p[0] = LID; // wrong
}

kernel void generic_local_good(ARGUMENTS)
{
    int *p = l;
    p[LID] = LID;
}

kernel void both_branches_bad(ARGUMENTS)
{
    if ((GID & 1) != 0) {
        a[2] = 1; // wrong
    } else {
        a[2] = 2;
    }
}

kernel void both_branches_good(ARGUMENTS)
{
    if ((GID & 1) != 0) {
        a[GID] = 1;
    } else {
        a[GID] = 2;
    }
}

kernel void rotating_bad(ARGUMENTS)
{
    for (uint i = 0; i < 4; i++) {
        a[(GID + i) % n] += 1; // wrong
    }
}

kernel void rotating_good(ARGUMENTS)
{
    for (uint i = 0; i < 4; i++) {
        atomic_add(&a[(GID + i) % n], 1);
    }
}

kernel void async_copy_bad(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, a + GROUP * 32, 32, 0);
    b[GID] = l[31 - LID]; // wrong
    wait_group_events(1, &e);
}

kernel void async_copy_good(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, a + GROUP * 32, 32, 0);
    wait_group_events(1, &e);
    b[GID] = l[31 - LID];
}

kernel void program_variable_bad(ARGUMENTS)
{
    shared_number = GID; // wrong
}

kernel void program_variable_good(ARGUMENTS)
{
    own_numbers[GID] = GID;
}

kernel void other_group_bad(ARGUMENTS)
{
    a[GID] = 1;
    BARRIER;
    b[GID] = a[(GID + 32) % n]; // wrong
}

kernel void other_group_good(ARGUMENTS)
{
    a[GID] = 1;
    BARRIER;
    b[GID] = a[GROUP * 32 + 31 - LID];
}

kernel void group_reads_first_bad(ARGUMENTS)
{
    if (GROUP == 0) {
        a[LID] = 1;
    }
    BARRIER;
    b[GID] = a[LID]; // wrong
}

kernel void group_reads_first_good(ARGUMENTS)
{
    if (GROUP == 0) {
        a[LID] = 1;
        b[GID] = a[LID];
    }
    BARRIER;
}

kernel void overlapping_strides_bad(ARGUMENTS)
{
    local int t[64];
    for (uint i = LID; i < 64; i += 16) {
        t[i] = LID; // wrong
    }
    BARRIER;
    a[GID] = t[LID];
}

kernel void overlapping_strides_good(ARGUMENTS)
{
    local int t[64];
    for (uint i = LID; i < 64; i += 32) {
        t[i] = LID;
    }
    BARRIER;
    a[GID] = t[LID];
}

kernel void local_bytes_bad(ARGUMENTS)
{
    local uchar t[32];
    t[LID / 2] = 1; // wrong
    BARRIER;
    a[GID] = t[LID / 2];
}

kernel void local_bytes_good(ARGUMENTS)
{
    local uchar t[32];
    t[LID] = 1;
    BARRIER;
    a[GID] = t[LID / 2];
}

kernel void prefix_bad(ARGUMENTS)
{
    if (GID > 0) {
        a[GID] = a[GID - 1] + 1; // wrong
    }
}

kernel void prefix_good(ARGUMENTS)
{
    if (GID > 0) {
        b[GID] = a[GID - 1] + 1;
    }
}

kernel void one_launch_bad(ARGUMENTS)
{
    b[GID] = LID == 7 ? a[9] : 0;
    if (LID == 9) {
        a[9] = 1; // wrong
    }
}

kernel void one_launch_good(ARGUMENTS)
{
    b[GID] = LID == 7 ? a[9] : 0;
    if (LID == 9) {
        a[10 + GROUP] = 1;
    }
}

kernel void half_the_barriers_bad(ARGUMENTS)
{
    l[LID] = LID;
    if (GROUP == 0) {
        BARRIER;
    }
    a[GID] = l[31 - LID]; // wrong
}

kernel void half_the_barriers_good(ARGUMENTS)
{
    l[LID] = LID;
    if (GROUP < 2) {
        BARRIER;
    }
    a[GID] = l[31 - LID];
}

kernel void counted_and_read_bad(ARGUMENTS)
{
    atomic_inc(&a[0]);
    b[GID] = a[0]; // wrong
}

kernel void counted_and_read_good(ARGUMENTS)
{
    b[GID] = atomic_inc(&a[0]);
}

kernel void set_and_counted_bad(ARGUMENTS)
{
    local int count;
    if (LID == 0) {
        count = 0; // wrong
    }
    atomic_inc(&count);
    BARRIER;
    a[GID] = count;
}

kernel void set_and_counted_good(ARGUMENTS)
{
    local int count;
    if (LID == 0) {
        count = 0;
    }
    BARRIER;
    atomic_inc(&count);
    BARRIER;
    a[GID] = count;
}

kernel void bins_read_early_bad(ARGUMENTS)
{
    if (LID < 8) {
        l[LID] = 0;
    }
    BARRIER;
    atomic_add(&l[LID % 8], 1);
    a[GID] = l[LID % 8]; // wrong
}

kernel void bins_read_early_good(ARGUMENTS)
{
    if (LID < 8) {
        l[LID] = 0;
    }
    BARRIER;
    atomic_add(&l[LID % 8], 1);
    BARRIER;
    a[GID] = l[LID % 8];
}

kernel void reset_plainly_bad(ARGUMENTS)
{
    atomic_max(&a[GID % 4], (int)GID);
    if (GID < 4) {
        a[GID] = 0; // wrong
    }
}

kernel void reset_plainly_good(ARGUMENTS)
{
    atomic_max(&a[GID % 4], (int)GID);
    if (GID < 4) {
        atomic_xchg(&a[GID], 0);
    }
}

kernel void flag_stored_plainly_bad(ARGUMENTS)
{
    if (LID == 0) {
        l[0] = 1; // wrong
    }
    if (atomic_load((local atomic_int *)&l[0]) == 1) {
        a[GID] = 1;
    }
}

kernel void flag_stored_plainly_good(ARGUMENTS)
{
    if (LID == 0) {
        atomic_store((local atomic_int *)&l[0], 1);
    }
    if (atomic_load((local atomic_int *)&l[0]) == 1) {
        a[GID] = 1;
    }
}

kernel void exchanged_and_added_bad(ARGUMENTS)
{
    atomic_store((global atomic_int *)&a[GID / 2], 1);
    if (GID % 2 == 1) {
        a[GID / 2] += 1; // wrong
    }
}

kernel void exchanged_and_added_good(ARGUMENTS)
{
    atomic_store((global atomic_int *)&a[GID], 1);
    a[GID] += 1;
}
