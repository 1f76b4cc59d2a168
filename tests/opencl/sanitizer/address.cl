/* SPDX-License-Identifier: MIT */
/*
 * Holds wrong kernels, each with its corrected twin behind it. The comment `wrong` marks the line of the report. There are
 * 64 work-items in groups of 32, a has n = 64 numbers, b 100 amid 256, c 16, l 32, and none is a null pointer.
 */
#define ARGUMENTS global int *a, global int *b, constant int *c, local int *l, global int *none, uint n

struct pair {
    int first, second;
};
struct block {
    int word[16];
};
constant int table[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
constant int rows[3][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 } };
global int counters[8];

void put(global int *to, uint i)
{
    to[i] = 1; // wrong, for helper_bad
}

kernel void store_last_bad(ARGUMENTS)
{
    a[get_global_id(0) + 1] = 1; // wrong
}

kernel void store_last_good(ARGUMENTS)
{
    a[get_global_id(0)] = 1;
}

kernel void store_before_bad(ARGUMENTS)
{
    a[(int)get_global_id(0) - 1] = 1; // wrong
}

kernel void store_before_good(ARGUMENTS)
{
    a[max((int)get_global_id(0) - 1, 0)] = 1;
}

kernel void load_last_bad(ARGUMENTS)
{
    b[get_global_id(0)] = a[get_global_id(0) + 1]; // wrong
}

kernel void load_last_good(ARGUMENTS)
{
    b[get_global_id(0)] = a[get_global_id(0)];
}

kernel void load_far_bad(ARGUMENTS)
{
    b[get_global_id(0)] = a[get_global_id(0) * 1000]; // wrong
}

kernel void load_far_good(ARGUMENTS)
{
    b[get_global_id(0)] = a[get_global_id(0) * 1000 % n];
}

kernel void loop_off_by_one_bad(ARGUMENTS)
{
    int sum = 0;
    for (uint i = 0; i <= n; i++) {
        sum += a[i]; // wrong
    }
    b[get_global_id(0)] = sum;
}

kernel void loop_off_by_one_good(ARGUMENTS)
{
    int sum = 0;
    for (uint i = 0; i < n; i++) {
        sum += a[i];
    }
    b[get_global_id(0)] = sum;
}

kernel void pointer_walk_bad(ARGUMENTS)
{
    global int *p = a;
    for (uint i = 0; i < n + 1; i++) {
        *p++ = 0; // wrong
    }
}

kernel void pointer_walk_good(ARGUMENTS)
{
    global int *p = a;
    for (uint i = 0; i < n; i++) {
        *p++ = 0;
    }
}

kernel void pointer_walk_down_bad(ARGUMENTS)
{
    global int *p = a + n;
    for (uint i = 0; i < n + 1; i++) {
        *--p = 0; // wrong
    }
}

kernel void pointer_walk_down_good(ARGUMENTS)
{
    global int *p = a + n;
    for (uint i = 0; i < n; i++) {
        *--p = 0;
    }
}

kernel void search_bad(ARGUMENTS)
{
    uint i = 0;
    while (a[i] != 12345) { // wrong
        i++;
        if (i > 2 * n) {
            break;
        }
    }
    b[get_global_id(0)] = i;
}

kernel void search_good(ARGUMENTS)
{
    uint i = 0;
    while (i < n && a[i] != 12345) {
        i++;
    }
    b[get_global_id(0)] = i;
}

kernel void byte_store_bad(ARGUMENTS)
{
    ((global uchar *)a)[get_global_id(0) + n * 4 - 8] = 1; // wrong
}

kernel void byte_store_good(ARGUMENTS)
{
    ((global uchar *)a)[get_global_id(0) + n * 4 - n] = 1;
}

kernel void short_load_bad(ARGUMENTS)
{
    b[get_global_id(0)] = ((global short *)a)[get_global_id(0) * 3]; // wrong
}

kernel void short_load_good(ARGUMENTS)
{
    b[get_global_id(0)] = ((global short *)a)[get_global_id(0) * 2];
}

kernel void long_store_bad(ARGUMENTS)
{
    ((global long *)a)[get_global_id(0)] = 1; // wrong
}

kernel void long_store_good(ARGUMENTS)
{
    ((global long *)a)[get_global_id(0) / 2] = 1;
}

kernel void straddles_bad(ARGUMENTS)
{
    *(global int *)((global uchar *)a + get_global_id(0) * 4 + 4) = 1; // wrong
}

kernel void straddles_good(ARGUMENTS)
{
    *(global int *)((global uchar *)a + get_global_id(0) * 4) = 1;
}

kernel void vector_store_bad(ARGUMENTS)
{
    ((global int4 *)a)[get_global_id(0)] = (int4)(1); // wrong
}

kernel void vector_store_good(ARGUMENTS)
{
    ((global int4 *)a)[get_global_id(0) / 4] = (int4)(1);
}

kernel void vector_load_bad(ARGUMENTS)
{
    b[get_global_id(0)] = ((global int4 *)(a + get_global_id(0) / 4 * 4 + 4))->y; // wrong
}

kernel void vector_load_good(ARGUMENTS)
{
    b[get_global_id(0)] = ((global int4 *)(a + get_global_id(0) / 4 * 4))->y;
}

kernel void vload_bad(ARGUMENTS)
{
    b[get_global_id(0)] = vload4(get_global_id(0), a).x; // wrong
}

kernel void vload_good(ARGUMENTS)
{
    b[get_global_id(0)] = vload4(get_global_id(0) / 4, a).x;
}

kernel void vload3_bad(ARGUMENTS)
{
    b[get_global_id(0)] = vload3(get_global_id(0) / 2, a).z; // wrong
}

kernel void vload3_good(ARGUMENTS)
{
    b[get_global_id(0)] = vload3(get_global_id(0) / 4, a).z;
}

kernel void vstore_bad(ARGUMENTS)
{
    vstore2((int2)(1), get_global_id(0), a); // wrong
}

kernel void vstore_good(ARGUMENTS)
{
    vstore2((int2)(1), get_global_id(0) / 2, a);
}

kernel void two_dimensions_bad(ARGUMENTS)
{
    uint x = get_global_id(0) % 8, y = get_global_id(0) / 8;
    a[(y + 1) * 8 + x] = 1; // wrong
}

kernel void two_dimensions_good(ARGUMENTS)
{
    uint x = get_global_id(0) % 8, y = get_global_id(0) / 8;
    a[y * 8 + x] = 1;
}

kernel void stencil_bad(ARGUMENTS)
{
    uint i = get_global_id(0);
    b[i] = a[i] + a[i + 1]; // wrong
}

kernel void stencil_good(ARGUMENTS)
{
    uint i = get_global_id(0);
    b[i] = a[i] + (i + 1 < n ? a[i + 1] : 0);
}

kernel void wrong_guard_bad(ARGUMENTS)
{
    uint i = get_global_id(0) + 1;
    if (i <= n) {
        a[i] = 1; // wrong
    }
}

kernel void wrong_guard_good(ARGUMENTS)
{
    uint i = get_global_id(0) + 1;
    if (i < n) {
        a[i] = 1;
    }
}

kernel void struct_member_bad(ARGUMENTS)
{
    ((global struct pair *)a)[get_global_id(0)].second = 1; // wrong
}

kernel void struct_member_good(ARGUMENTS)
{
    ((global struct pair *)a)[get_global_id(0) / 2].second = 1;
}

kernel void struct_copy_bad(ARGUMENTS)
{
    ((global struct block *)a)[get_global_id(0) / 8] = ((global struct block *)b)[0]; // wrong
}

kernel void struct_copy_good(ARGUMENTS)
{
    ((global struct block *)a)[get_global_id(0) / 16] = ((global struct block *)b)[0];
}

kernel void helper_bad(ARGUMENTS)
{
    put(a, get_global_id(0) + 1);
}

kernel void helper_good(ARGUMENTS)
{
    put(a, get_global_id(0));
}

kernel void index_from_memory_bad(ARGUMENTS)
{
    a[get_global_id(0)] = 70;
    a[a[get_global_id(0)]] = 1; // wrong
}

kernel void index_from_memory_good(ARGUMENTS)
{
    a[get_global_id(0)] = 7;
    a[a[get_global_id(0)] & 63] = 1;
}

kernel void unsigned_wrap_bad(ARGUMENTS)
{
    uint i = get_global_id(0);
    a[i - 1u] = 1; // wrong
}

kernel void unsigned_wrap_good(ARGUMENTS)
{
    uint i = get_global_id(0);
    a[i != 0 ? i - 1u : 0] = 1;
}

kernel void same_object_bad(ARGUMENTS)
{
    global int *p = get_global_id(0) % 2 != 0 ? a + 32 : a + 33;
    p[get_global_id(0) / 2] = 1; // wrong
}

kernel void same_object_good(ARGUMENTS)
{
    global int *p = get_global_id(0) % 2 != 0 ? a + 32 : a + 31;
    p[get_global_id(0) / 2] = 1;
}

kernel void sub_buffer_bad(ARGUMENTS)
{
    b[get_global_id(0) + 40] = 1; // wrong
}

kernel void sub_buffer_good(ARGUMENTS)
{
    b[get_global_id(0) + 36] = 1;
}

kernel void before_sub_buffer_bad(ARGUMENTS)
{
    b[(int)get_global_id(0) - 2] = 1; // wrong
}

kernel void before_sub_buffer_good(ARGUMENTS)
{
    b[get_global_id(0)] = 1;
}

kernel void constant_argument_bad(ARGUMENTS)
{
    a[get_global_id(0)] = c[get_global_id(0)]; // wrong
}

kernel void constant_argument_good(ARGUMENTS)
{
    a[get_global_id(0)] = c[get_global_id(0) % 16];
}

kernel void constant_variable_bad(ARGUMENTS)
{
    a[get_global_id(0)] = table[get_global_id(0)]; // wrong
}

kernel void constant_variable_good(ARGUMENTS)
{
    a[get_global_id(0)] = table[get_global_id(0) % 10];
}

kernel void constant_rows_bad(ARGUMENTS)
{
    a[get_global_id(0)] = rows[get_global_id(0) % 4][1]; // wrong
}

kernel void constant_rows_good(ARGUMENTS)
{
    a[get_global_id(0)] = rows[get_global_id(0) % 3][1];
}

kernel void program_variable_bad(ARGUMENTS)
{
    counters[get_global_id(0)] = 1; // wrong
}

kernel void program_variable_good(ARGUMENTS)
{
    counters[get_global_id(0) % 8] = 1;
}

kernel void local_argument_bad(ARGUMENTS)
{
    l[get_local_id(0) + 1] = 1; // wrong
    a[get_global_id(0)] = l[get_local_id(0)];
}

kernel void local_argument_good(ARGUMENTS)
{
    l[get_local_id(0)] = 1;
    a[get_global_id(0)] = l[get_local_id(0)];
}

kernel void local_argument_load_bad(ARGUMENTS)
{
    l[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = l[get_local_id(0) * 2]; // wrong
}

kernel void local_argument_load_good(ARGUMENTS)
{
    l[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = l[get_local_id(0) * 2 % 32];
}

kernel void local_array_bad(ARGUMENTS)
{
    local int tile[32];
    tile[get_local_id(0) + 1] = 1; // wrong
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[get_local_id(0)];
}

kernel void local_array_good(ARGUMENTS)
{
    local int tile[33];
    tile[get_local_id(0) + 1] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[get_local_id(0) + 1];
}

kernel void local_rows_bad(ARGUMENTS)
{
    local int tile[4][8];
    tile[get_local_id(0) / 7][get_local_id(0) % 8] = 1; // wrong
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[0][0];
}

kernel void local_rows_good(ARGUMENTS)
{
    local int tile[4][8];
    tile[get_local_id(0) / 8][get_local_id(0) % 8] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[0][0];
}

kernel void local_into_other_bad(ARGUMENTS)
{
    local int one[32];
    local int two[32];
    one[get_local_id(0)] = two[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = one[get_local_id(0) + 8] + two[get_local_id(0)]; // wrong
}

kernel void local_into_other_good(ARGUMENTS)
{
    local int one[32];
    local int two[32];
    one[get_local_id(0)] = two[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = one[get_local_id(0)] + two[get_local_id(0)];
}

kernel void local_atomic_bad(ARGUMENTS)
{
    local int bins[8];
    bins[get_local_id(0) % 8] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[get_local_id(0) % 9]); // wrong
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = bins[get_local_id(0) % 8];
}

kernel void local_atomic_good(ARGUMENTS)
{
    local int bins[8];
    bins[get_local_id(0) % 8] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[get_local_id(0) % 8]);
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = bins[get_local_id(0) % 8];
}

kernel void global_atomic_bad(ARGUMENTS)
{
    atomic_add(&a[get_global_id(0) * 2], 1); // wrong
}

kernel void global_atomic_good(ARGUMENTS)
{
    atomic_add(&a[get_global_id(0) * 2 % n], 1);
}

kernel void compare_exchange_bad(ARGUMENTS)
{
    atomic_cmpxchg(&a[get_global_id(0) + 60], 0, 1); // wrong
}

kernel void compare_exchange_good(ARGUMENTS)
{
    atomic_cmpxchg(&a[get_global_id(0) % 4 + 60], 0, 1);
}

kernel void private_array_bad(ARGUMENTS)
{
    int mine[4] = { 1, 2, 3, 4 };
    a[get_global_id(0)] = mine[get_global_id(0) % 5]; // wrong
}

kernel void private_array_good(ARGUMENTS)
{
    int mine[4] = { 1, 2, 3, 4 };
    a[get_global_id(0)] = mine[get_global_id(0) % 4];
}

kernel void private_store_bad(ARGUMENTS)
{
    int mine[4] = { 1, 2, 3, 4 };
    mine[get_global_id(0) / 8] = 5; // wrong
    a[get_global_id(0)] = mine[get_global_id(0) % 4];
}

kernel void private_store_good(ARGUMENTS)
{
    int mine[8] = { 1, 2, 3, 4 };
    mine[get_global_id(0) / 8] = 5;
    a[get_global_id(0)] = mine[get_global_id(0) % 4];
}

kernel void private_before_bad(ARGUMENTS)
{
    int mine[4] = { 1, 2, 3, 4 };
    a[get_global_id(0)] = mine[(int)(get_global_id(0) % 4) - 1]; // wrong
}

kernel void private_before_good(ARGUMENTS)
{
    int mine[4] = { 1, 2, 3, 4 };
    a[get_global_id(0)] = mine[get_global_id(0) % 4];
}

kernel void private_constant_index_bad(ARGUMENTS)
{
    int mine[4] = { 1, 2, 3, n };
    int *p = mine;
    a[get_global_id(0)] = p[4]; // wrong
}

kernel void private_constant_index_good(ARGUMENTS)
{
    int mine[4] = { 1, 2, 3, n };
    int *p = mine;
    a[get_global_id(0)] = p[3];
}

kernel void private_struct_bad(ARGUMENTS)
{
    struct block mine = { { 1 } };
    a[get_global_id(0)] = mine.word[get_global_id(0) % 17]; // wrong
}

kernel void private_struct_good(ARGUMENTS)
{
    struct block mine = { { 1 } };
    a[get_global_id(0)] = mine.word[get_global_id(0) % 16];
}

kernel void private_loop_bad(ARGUMENTS)
{
    int mine[8];
    for (uint i = 0; i <= 8; i++) {
        mine[i] = i; // wrong
    }
    a[get_global_id(0)] = mine[get_global_id(0) % 8];
}

kernel void private_loop_good(ARGUMENTS)
{
    int mine[8];
    for (uint i = 0; i < 8; i++) {
        mine[i] = i;
    }
    a[get_global_id(0)] = mine[get_global_id(0) % 8];
}

kernel void vector_element_bad(ARGUMENTS)
{
    int4 v = (int4)(n);
    int *p = (int *)&v;
    p[get_global_id(0) % 5] = 1; // wrong
    a[get_global_id(0)] = v.x + v.w;
}

kernel void vector_element_good(ARGUMENTS)
{
    int4 v = (int4)(n);
    int *p = (int *)&v;
    p[get_global_id(0) % 4] = 1;
    a[get_global_id(0)] = v.x + v.w;
}

kernel void generic_local_bad(ARGUMENTS)
{
    local int tile[32];
    int *p = tile;
    p[get_local_id(0) * 2] = 1; // wrong
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[0];
}

kernel void generic_local_good(ARGUMENTS)
{
    local int tile[64];
    int *p = tile;
    p[get_local_id(0) * 2] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[0];
}

kernel void generic_global_bad(ARGUMENTS)
{
    int *p = a;
    p[get_global_id(0) + 8] = 1; // wrong
}

kernel void generic_global_good(ARGUMENTS)
{
    int *p = a;
    p[get_global_id(0)] = 1;
}

kernel void async_copy_bad(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, a + 48, 32, 0); // wrong
    wait_group_events(1, &e);
}

kernel void async_copy_good(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, a + 32, 32, 0);
    wait_group_events(1, &e);
}

kernel void one_work_item_bad(ARGUMENTS)
{
    if (get_global_id(0) == 17) {
        a[n] = 1; // wrong
    }
}

kernel void one_work_item_good(ARGUMENTS)
{
    if (get_global_id(0) == 17) {
        a[n - 1] = 1;
    }
}

kernel void negative_step_bad(ARGUMENTS)
{
    for (int i = (int)n - 1; i >= -1; i--) {
        a[i] = i; // wrong
    }
}

kernel void negative_step_good(ARGUMENTS)
{
    for (int i = (int)n - 1; i >= 0; i--) {
        a[i] = i;
    }
}

kernel void null_argument_bad(ARGUMENTS)
{
    if (n == 64) {
        none[get_global_id(0)] = 1; // wrong
    }
}

kernel void null_argument_good(ARGUMENTS)
{
    if (none != 0) {
        none[get_global_id(0)] = 1;
    }
}

kernel void size_in_bytes_bad(ARGUMENTS)
{
    for (uint i = 0; i < n * sizeof(int); i++) {
        a[i] = 0; // wrong
    }
}

kernel void size_in_bytes_good(ARGUMENTS)
{
    for (uint i = 0; i < n; i++) {
        a[i] = 0;
    }
}

kernel void double_store_bad(ARGUMENTS)
{
    ((global double *)a)[get_global_id(0) / 2 + 1] = 1.0; // wrong
}

kernel void double_store_good(ARGUMENTS)
{
    ((global double *)a)[get_global_id(0) / 2] = 1.0;
}

kernel void half_load_bad(ARGUMENTS)
{
    b[get_global_id(0)] = (int)vload_half(get_global_id(0) * 3, (global half *)a); // wrong
}

kernel void half_load_good(ARGUMENTS)
{
    b[get_global_id(0)] = (int)vload_half(get_global_id(0), (global half *)a);
}
