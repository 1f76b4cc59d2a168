/* SPDX-License-Identifier: MIT */
/*
 * Holds kernels that read what nobody wrote, each with its corrected twin behind it. The comment `wrong` marks the line
 * of the report. There are 64 work-items in groups of 32. a has n = 64 numbers and b 100, without values when a kernel
 * begins. c has 16 with values, l 32 in local memory.
 */
#define ARGUMENTS global int *a, global int *b, constant int *c, local int *l, global int *none, uint n
#define GID (uint)get_global_id(0)
#define LID (uint)get_local_id(0)
#define GROUP (uint)get_group_id(0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

struct pair {
    int first, second;
};

struct padded {
    char small;
    int large;
};

union word {
    uchar bytes[4];
    int all;
};

global int program_number;

int sum_of(struct pair p)
{
    return p.first + p.second; // wrong, for argument_bad
}

int first_of(struct pair p)
{
    return p.first;
}

void set_some(int *to, bool sets)
{
    if (sets) {
        *to = 1;
    }
}

void fill(int *t, uint count)
{
    for (uint i = 0; i < count; i++) {
        t[i] = (int)i;
    }
}

void __attribute__((noinline)) give(global int *to, int value)
{
    *to = value;
}

kernel void never_set_bad(ARGUMENTS)
{
    int x;
    a[GID] = x; // wrong
}

kernel void never_set_good(ARGUMENTS)
{
    int x = 0;
    a[GID] = x;
}

kernel void one_branch_bad(ARGUMENTS)
{
    int x;
    if (GID % 2 == 0) {
        x = 1;
    }
    a[GID] = x; // wrong
}

kernel void one_branch_good(ARGUMENTS)
{
    int x;
    if (GID % 2 == 0) {
        x = 1;
    } else {
        x = 2;
    }
    a[GID] = x;
}

kernel void switch_bad(ARGUMENTS)
{
    int x;
    switch (GID % 3) {
    case 0:
        x = 5;
        break;
    case 1:
        x = 6;
        break;
    }
    a[GID] = x; // wrong
}

kernel void switch_good(ARGUMENTS)
{
    int x;
    switch (GID % 3) {
    case 0:
        x = 5;
        break;
    case 1:
        x = 6;
        break;
    default:
        x = 7;
    }
    a[GID] = x;
}

kernel void empty_loop_bad(ARGUMENTS)
{
    int last;
    for (uint i = 64; i < n; i++) {
        last = (int)i;
    }
    a[GID] = last; // wrong
}

kernel void empty_loop_good(ARGUMENTS)
{
    int last = -1;
    for (uint i = 64; i < n; i++) {
        last = (int)i;
    }
    a[GID] = last;
}

kernel void accumulator_bad(ARGUMENTS)
{
    int sum;
    for (uint i = 0; i < 16; i++) {
        sum += c[i]; // wrong
    }
    a[GID] = sum;
}

kernel void accumulator_good(ARGUMENTS)
{
    int sum = 0;
    for (uint i = 0; i < 16; i++) {
        sum += c[i];
    }
    a[GID] = sum;
}

kernel void array_end_bad(ARGUMENTS)
{
    int t[4];
    for (uint i = 0; i < 3; i++) {
        t[i] = (int)i;
    }
    a[GID] = t[3]; // wrong
}

kernel void array_end_good(ARGUMENTS)
{
    int t[4];
    for (uint i = 0; i < 4; i++) {
        t[i] = (int)i;
    }
    a[GID] = t[3];
}

kernel void array_index_bad(ARGUMENTS)
{
    int t[4];
    for (uint i = 0; i < n % 61; i++) {
        t[i] = (int)i;
    }
    a[GID] = t[GID % 4]; // wrong
}

kernel void array_index_good(ARGUMENTS)
{
    int t[4];
    for (uint i = 0; i < n % 61; i++) {
        t[i] = (int)i;
    }
    a[GID] = t[GID % 3];
}

kernel void member_bad(ARGUMENTS)
{
    struct pair p;
    p.first = 1;
    a[GID] = p.first + p.second; // wrong
}

kernel void member_good(ARGUMENTS)
{
    struct pair p;
    p.first = 1;
    a[GID] = p.first;
}

kernel void copied_member_bad(ARGUMENTS)
{
    struct pair p, q;
    p.first = 1;
    q = p;
    a[GID] = q.first + q.second; // wrong
}

kernel void copied_member_good(ARGUMENTS)
{
    struct pair p, q;
    p.first = 1;
    q = p;
    a[GID] = q.first;
}

kernel void argument_bad(ARGUMENTS)
{
    struct pair p;
    p.first = (int)GID;
    a[GID] = sum_of(p);
}

kernel void argument_good(ARGUMENTS)
{
    struct pair p;
    p.first = (int)GID;
    a[GID] = first_of(p);
}

kernel void padding_bad(ARGUMENTS)
{
    struct padded p;
    p.small = 1;
    struct padded q = p;
    a[GID] = q.large; // wrong
}

kernel void padding_good(ARGUMENTS)
{
    struct padded p;
    p.small = 1;
    p.large = 2;
    struct padded q = p;
    a[GID] = q.large + q.small;
}

kernel void vector_element_bad(ARGUMENTS)
{
    int4 v;
    v.x = 1;
    v.y = 2;
    v.z = 3;
    a[GID] = v.x + v.w; // wrong
}

kernel void vector_element_good(ARGUMENTS)
{
    int4 v;
    v.x = 1;
    v.y = 2;
    v.z = 3;
    a[GID] = v.x + v.z;
}

kernel void vector_of_three_bad(ARGUMENTS)
{
    int3 t[2];
    t[0] = (int3)(1, 2, 3);
    a[GID] = t[n % 63].y; // wrong
}

kernel void vector_of_three_good(ARGUMENTS)
{
    int3 t[2];
    t[0] = (int3)(1, 2, 3);
    t[1] = t[0];
    a[GID] = t[n % 63].z;
}

kernel void swizzle_bad(ARGUMENTS)
{
    int4 v;
    v.xz = (int2)(1, 2);
    a[GID] = v.x + v.y; // wrong
}

kernel void swizzle_good(ARGUMENTS)
{
    int4 v;
    v.xz = (int2)(1, 2);
    v.yw = v.zx;
    a[GID] = v.x + v.y + v.w;
}

kernel void each_turn_bad(ARGUMENTS)
{
    int sum = 0;
    for (uint i = 0; i < 2; i++) {
        int x;
        if (i == 0) {
            x = 1;
        }
        sum += x; // wrong
    }
    a[GID] = sum;
}

kernel void each_turn_good(ARGUMENTS)
{
    int sum = 0;
    for (uint i = 0; i < 2; i++) {
        int x;
        if (i == 0) {
            x = 1;
        } else {
            x = 2;
        }
        sum += x;
    }
    a[GID] = sum;
}

kernel void out_parameter_bad(ARGUMENTS)
{
    int x;
    set_some(&x, GID % 2 == 0);
    a[GID] = x; // wrong
}

kernel void out_parameter_good(ARGUMENTS)
{
    int x;
    set_some(&x, true);
    a[GID] = x;
}

kernel void bits_bad(ARGUMENTS)
{
    int x;
    x |= 1; // wrong
    a[GID] = x & 1;
}

kernel void bits_good(ARGUMENTS)
{
    int x;
    x = (x & ~7) | 1; // what compilers make of a bit field
    a[GID] = x & 7;
}

kernel void search_bad(ARGUMENTS)
{
    int index;
    for (int i = 0; i < 16; i++) {
        if (c[i] == 5) {
            index = i;
            break;
        }
    }
    a[GID] = index; // wrong
}

kernel void search_good(ARGUMENTS)
{
    int index = -1;
    for (int i = 0; i < 16; i++) {
        if (c[i] == 5) {
            index = i;
            break;
        }
    }
    a[GID] = index;
}

kernel void filled_by_function_bad(ARGUMENTS)
{
    int t[4];
    fill(t, 3);
    a[GID] = t[3]; // wrong
}

kernel void filled_by_function_good(ARGUMENTS)
{
    int t[4];
    fill(t, 4);
    a[GID] = t[3];
}

kernel void union_bad(ARGUMENTS)
{
    union word w;
    w.bytes[0] = 1;
    w.bytes[1] = 2;
    a[GID] = w.all; // wrong
}

kernel void union_good(ARGUMENTS)
{
    union word w;
    for (uint i = 0; i < 4; i++) {
        w.bytes[i] = (uchar)i;
    }
    a[GID] = w.all;
}

kernel void half_of_long_bad(ARGUMENTS)
{
    long x;
    ((int *)&x)[0] = 1;
    a[GID] = (int)(x >> 32); // wrong
}

kernel void half_of_long_good(ARGUMENTS)
{
    long x;
    ((int *)&x)[0] = 1;
    ((int *)&x)[1] = 2;
    a[GID] = (int)(x >> 32);
}

kernel void row_bad(ARGUMENTS)
{
    int t[2][3];
    for (uint i = 0; i < 3; i++) {
        t[0][i] = (int)i;
    }
    a[GID] = t[1][GID % 3]; // wrong
}

kernel void row_good(ARGUMENTS)
{
    int t[2][3];
    for (uint i = 0; i < 6; i++) {
        t[i / 3][i % 3] = (int)i;
    }
    a[GID] = t[1][GID % 3];
}

kernel void condition_bad(ARGUMENTS)
{
    int found;
    if (GID == 70) {
        found = 1;
    }
    if (found) { // wrong
        a[GID] = 1;
    }
}

kernel void condition_good(ARGUMENTS)
{
    int found = 0;
    if (GID == 70) {
        found = 1;
    }
    if (found) {
        a[GID] = 1;
    }
}

kernel void built_in_result_bad(ARGUMENTS)
{
    float whole;
    float part = GID < 64 ? 0.5f : fract(1.5f, &whole);
    a[GID] = (int)(part + whole); // wrong
}

kernel void built_in_result_good(ARGUMENTS)
{
    float whole;
    float part = fract(1.5f, &whole);
    a[GID] = (int)(part + whole);
}

kernel void local_argument_bad(ARGUMENTS)
{
    a[GID] = l[LID]; // wrong
}

kernel void local_argument_good(ARGUMENTS)
{
    l[LID] = 1;
    a[GID] = l[LID];
}

kernel void half_a_tile_bad(ARGUMENTS)
{
    if (LID < 16) {
        l[LID] = (int)LID;
    }
    BARRIER;
    a[GID] = l[LID]; // wrong
}

kernel void half_a_tile_good(ARGUMENTS)
{
    if (LID < 16) {
        l[LID] = (int)LID;
        l[LID + 16] = (int)LID;
    }
    BARRIER;
    a[GID] = l[LID];
}

kernel void halo_bad(ARGUMENTS)
{
    local int t[34];
    t[LID + 1] = (int)LID;
    BARRIER;
    a[GID] = t[LID] + t[LID + 2]; // wrong
}

kernel void halo_good(ARGUMENTS)
{
    local int t[34];
    t[LID + 1] = (int)LID;
    if (LID == 0) {
        t[0] = 0;
        t[33] = 0;
    }
    BARRIER;
    a[GID] = t[LID] + t[LID + 2];
}

kernel void local_member_bad(ARGUMENTS)
{
    local struct pair p;
    if (LID == 0) {
        p.first = 1;
    }
    BARRIER;
    a[GID] = p.second; // wrong
}

kernel void local_member_good(ARGUMENTS)
{
    local struct pair p;
    if (LID == 0) {
        p.first = 1;
    }
    BARRIER;
    a[GID] = p.first;
}

kernel void local_reduction_bad(ARGUMENTS)
{
    if (LID != 31) {
        l[LID] = 1;
    }
    BARRIER;
    for (uint s = 16; s > 0; s /= 2) {
        if (LID < s) {
            l[LID] += l[LID + s]; // wrong
        }
        BARRIER;
    }
    a[GID] = l[0];
}

kernel void local_reduction_good(ARGUMENTS)
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

kernel void group_copy_bad(ARGUMENTS)
{
    a[GID] = 1;
    BARRIER;
    event_t e = async_work_group_copy(l, &a[GID - LID], 16, 0);
    wait_group_events(1, &e);
    b[GID] = l[LID]; // wrong
}

kernel void group_copy_good(ARGUMENTS)
{
    a[GID] = 1;
    BARRIER;
    event_t e = async_work_group_copy(l, &a[GID - LID], 32, 0);
    wait_group_events(1, &e);
    b[GID] = l[LID];
}

kernel void local_counter_bad(ARGUMENTS)
{
    local int count;
    atomic_inc(&count); // wrong
    BARRIER;
    a[GID] = count;
}

kernel void local_counter_good(ARGUMENTS)
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

kernel void local_vector_bad(ARGUMENTS)
{
    if (LID < 7) {
        l[LID] = 1;
    }
    BARRIER;
    int4 v = vload4(1, l); // wrong
    a[GID] = v.x;
}

kernel void local_vector_good(ARGUMENTS)
{
    if (LID < 8) {
        l[LID] = 1;
    }
    BARRIER;
    int4 v = vload4(1, l);
    a[GID] = v.x;
}

kernel void next_group_bad(ARGUMENTS)
{
    local int t[32];
    if (GROUP == 0) {
        t[LID] = 1;
    }
    BARRIER;
    a[GID] = t[LID]; // wrong
}

kernel void next_group_good(ARGUMENTS)
{
    local int t[32];
    t[LID] = GROUP == 0 ? 1 : 2;
    BARRIER;
    a[GID] = t[LID];
}

kernel void local_float_bad(ARGUMENTS)
{
    local float3 t[32];
    if (LID != 5) {
        t[LID] = (float3)(1.0f, 2.0f, 3.0f);
    }
    BARRIER;
    a[GID] = (int)t[31 - LID].z; // wrong
}

kernel void local_float_good(ARGUMENTS)
{
    local float3 t[32];
    t[LID] = (float3)(1.0f, 2.0f, 3.0f);
    BARRIER;
    a[GID] = (int)t[31 - LID].z;
}

kernel void buffer_bad(ARGUMENTS)
{
    b[GID] = a[GID]; // wrong
}

kernel void buffer_good(ARGUMENTS)
{
    b[GID] = c[GID % 16];
}

kernel void buffer_sum_bad(ARGUMENTS)
{
    a[GID] += 1; // wrong
}

kernel void buffer_sum_good(ARGUMENTS)
{
    a[GID] = 0;
    a[GID] += 1;
}

kernel void buffer_counter_bad(ARGUMENTS)
{
    atomic_inc(&a[0]); // wrong
}

kernel void buffer_counter_good(ARGUMENTS)
{
    atomic_xchg(&a[GID], 0);
    atomic_inc(&a[GID]);
}

kernel void part_of_buffer_bad(ARGUMENTS)
{
    a[GID] = b[99]; // wrong
}

kernel void part_of_buffer_good(ARGUMENTS)
{
    b[GID] = 1;
    a[GID] = b[GID];
}

kernel void every_second_bad(ARGUMENTS)
{
    if (GID == 0) {
        for (uint i = 0; i < n; i += 2) {
            a[i] = 1;
        }
        b[0] = a[2] + a[3]; // wrong
    }
}

kernel void every_second_good(ARGUMENTS)
{
    if (GID == 0) {
        for (uint i = 0; i < n; i += 2) {
            a[i] = 1;
        }
        b[0] = a[2] + a[4];
    }
}

kernel void chosen_bad(ARGUMENTS)
{
    a[GID] = 1;
    global int *p = GID % 2 == 0 ? a : b;
    a[GID] = p[GID]; // wrong
}

kernel void chosen_good(ARGUMENTS)
{
    a[GID] = 1;
    b[GID] = 1;
    global int *p = GID % 2 == 0 ? a : b;
    a[GID] = p[GID];
}

kernel void stored_by_called_bad(ARGUMENTS)
{
    give(a + GID, 1);
    b[GID] = a[GID] + b[GID]; // wrong
}

kernel void stored_by_called_good(ARGUMENTS)
{
    give(a + GID, 1);
    give(b + GID, 1);
    b[GID] = a[GID] + b[GID];
}

kernel void global_member_bad(ARGUMENTS)
{
    global struct pair *p = (global struct pair *)b + GID % 50;
    p->first = 1;
    a[GID] = p->second; // wrong
}

kernel void global_member_good(ARGUMENTS)
{
    global struct pair *p = (global struct pair *)b + GID % 50;
    p->first = 1;
    a[GID] = p->first;
}

kernel void global_structure_bad(ARGUMENTS)
{
    struct pair q = ((global struct pair *)b)[GID % 50];
    a[GID] = q.first; // wrong
}

kernel void global_structure_good(ARGUMENTS)
{
    if (GID < 32) {
        ((global struct pair *)a)[GID] = (struct pair){ 1, 2 };
        struct pair q = ((global struct pair *)a)[GID];
        b[GID] = q.first;
    }
}

kernel void global_vector_bad(ARGUMENTS)
{
    vstore3((int3)(1, 2, 3), GID % 16, a);
    if (GID == 0) {
        a[0] = vload4(0, a + 60).x; // wrong
    }
}

kernel void global_vector_good(ARGUMENTS)
{
    vstore4((int4)(1, 2, 3, 4), GID % 16, a);
    if (GID == 0) {
        a[0] = vload4(0, a).x;
    }
}

kernel void exchange_bad(ARGUMENTS)
{
    atomic_cmpxchg(&a[GID], 0, 1); // wrong
}

kernel void exchange_good(ARGUMENTS)
{
    a[GID] = 0;
    atomic_cmpxchg(&a[GID], 0, 1);
}

kernel void atomic_load_bad(ARGUMENTS)
{
    b[GID] = atomic_load((global atomic_int *)&a[GID]); // wrong
}

kernel void atomic_load_good(ARGUMENTS)
{
    atomic_store((global atomic_int *)&a[GID], 1);
    b[GID] = atomic_load((global atomic_int *)&a[GID]);
}

kernel void one_byte_bad(ARGUMENTS)
{
    ((global char *)a)[4 * GID] = 1;
    b[GID] = a[GID]; // wrong
}

kernel void one_byte_good(ARGUMENTS)
{
    ((global char *)a)[4 * GID] = 1;
    b[GID] = ((global char *)a)[4 * GID];
}

kernel void only_private_bad(ARGUMENTS)
{
    int x;
    int y = x; // wrong
    a[GID] = y + 1;
}

kernel void only_private_good(ARGUMENTS)
{
    b[GID] = program_number + c[0];
}
