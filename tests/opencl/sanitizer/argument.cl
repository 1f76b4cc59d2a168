/* SPDX-License-Identifier: MIT */
/*
 * Holds kernels that give built-in functions wrong arguments, each with its corrected twin behind it. The comment
 * `wrong` marks the line of the report. There are 64 work-items in groups of 32; a has n = 64 numbers, b 100, l 32.
 */
#define ARGUMENTS global int *a, global int *b, constant int *c, local int *l, global int *none, uint n
#define GID (uint)get_global_id(0)
#define LID (uint)get_local_id(0)
#define GROUP (uint)get_group_id(0)

int within(int x, int low, int high)
{
    return clamp(x, low, high); // wrong, for helper_bad
}

/* ---- ranges ---- */

kernel void clamp_int_bad(ARGUMENTS)
{
    a[GID] = clamp((int)GID, 20, (int)LID); // wrong
}

kernel void clamp_int_good(ARGUMENTS)
{
    a[GID] = clamp((int)GID, 20, 20 + (int)LID);
}

kernel void clamp_signed_bad(ARGUMENTS)
{
    a[GID] = clamp((char)GID, (char)1, (char)(-c[0] - 1)); // wrong
}

kernel void clamp_signed_good(ARGUMENTS)
{
    a[GID] = clamp((char)GID, (char)(-c[0] - 1), (char)1);
}

kernel void clamp_unsigned_bad(ARGUMENTS)
{
    a[GID] = clamp((uint)GID, (uint)-1 - c[0], 1u); // wrong
}

kernel void clamp_unsigned_good(ARGUMENTS)
{
    a[GID] = clamp((uint)GID, 1u, (uint)-1 - c[0]);
}

kernel void clamp_float_bad(ARGUMENTS)
{
    a[GID] = (int)clamp((float)GID, 1.0f, 0.5f * LID); // wrong
}

kernel void clamp_float_good(ARGUMENTS)
{
    a[GID] = (int)clamp((float)GID, 0.0f, 0.5f * LID);
}

kernel void clamp_vector_bad(ARGUMENTS)
{
    int4 low = (int4)(0, 0, LID == 7 ? 9 : 0, 0);
    a[GID] = clamp((int4)GID, low, (int4)8).z; // wrong
}

kernel void clamp_vector_good(ARGUMENTS)
{
    int4 low = (int4)(0, 0, LID == 7 ? 8 : 0, 0);
    a[GID] = clamp((int4)GID, low, (int4)8).z;
}

kernel void clamp_all_bad(ARGUMENTS)
{
    a[GID] = clamp((long3)GID, (long)LID, 30l).y; // wrong
}

kernel void clamp_all_good(ARGUMENTS)
{
    a[GID] = clamp((long3)GID, (long)LID, 31l).y;
}

kernel void helper_bad(ARGUMENTS)
{
    a[GID] = within(GID, 3, LID);
}

kernel void helper_good(ARGUMENTS)
{
    a[GID] = within(GID, 0, LID);
}

kernel void smoothstep_same_bad(ARGUMENTS)
{
    a[GID] = (int)smoothstep((float)LID, 31.0f, 2.0f); // wrong
}

kernel void smoothstep_same_good(ARGUMENTS)
{
    a[GID] = (int)smoothstep((float)LID, 32.0f, 2.0f);
}

kernel void smoothstep_vector_bad(ARGUMENTS)
{
    a[GID] = (int)smoothstep((float2)(0, LID), (float2)(1, 8), (float2)(2)).y; // wrong
}

kernel void smoothstep_vector_good(ARGUMENTS)
{
    a[GID] = (int)smoothstep((float2)(0, LID), (float2)(1, 32), (float2)(2)).y;
}

/* ---- fields of bits ---- */

kernel void extract_bad(ARGUMENTS)
{
    a[GID] = bitfield_extract_unsigned(a[GID], LID, 8); // wrong
}

kernel void extract_good(ARGUMENTS)
{
    a[GID] = bitfield_extract_unsigned(a[GID], LID % 25, 8);
}

kernel void extract_signed_bad(ARGUMENTS)
{
    a[GID] = bitfield_extract_signed((short)a[GID], 4, 13 - c[0]); // wrong
}

kernel void extract_signed_good(ARGUMENTS)
{
    a[GID] = bitfield_extract_signed((short)a[GID], 4, 12 - c[0]);
}

kernel void insert_bad(ARGUMENTS)
{
    a[GID] = bitfield_insert((uchar4)0, (uchar4)1, LID, 1).x; // wrong
}

kernel void insert_good(ARGUMENTS)
{
    a[GID] = bitfield_insert((uchar4)0, (uchar4)1, LID % 8, 1).x;
}

/* ---- alignment ---- */

kernel void vload_bad(ARGUMENTS)
{
    global int *odd = (global int *)((global char *)b + LID % 2);
    a[GID] = vload4(1, odd).x; // wrong
}

kernel void vload_good(ARGUMENTS)
{
    global int *even = (global int *)((global char *)b + LID % 2 * 4);
    a[GID] = vload4(1, even).x;
}

kernel void vstore_bad(ARGUMENTS)
{
    global short *odd = (global short *)((global char *)a + GID * 4 + 1);
    if (GID < 63) {
        vstore2((short2)(1, 2), 0, odd); // wrong
    }
}

kernel void vstore_good(ARGUMENTS)
{
    global char *odd = (global char *)a + GID * 4 + 1;
    if (GID < 63) {
        vstore2((char2)(1, 2), 0, odd);
    }
}

kernel void vload_local_bad(ARGUMENTS)
{
    l[LID] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[GID] = (int)vload2(0, (local long *)(l + LID % 2)).x; // wrong
}

kernel void vload_local_good(ARGUMENTS)
{
    l[LID] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[GID] = vload2(0, l + LID % 2).x;
}

kernel void vload_private_bad(ARGUMENTS)
{
    char bytes[16] = { 1, 2, 3 };
    a[GID] = vload2(0, (ushort *)(bytes + LID % 4)).x; // wrong
}

kernel void vload_private_good(ARGUMENTS)
{
    char bytes[16] = { 1, 2, 3 };
    a[GID] = vload2(0, (uchar *)(bytes + LID % 4)).x;
}

kernel void vloada_half_bad(ARGUMENTS)
{
    a[GID] = (int)vloada_half3(1, (global half *)b + LID % 4).x; // wrong
}

kernel void vloada_half_good(ARGUMENTS)
{
    a[GID] = (int)vloada_half3(1, (global half *)b + LID % 4 * 4).x;
}

kernel void vstorea_half_bad(ARGUMENTS)
{
    if (GID < 32) {
        vstorea_half2_rtz((float2)1, GID, (global half *)b + 1 + c[0]); // wrong
    }
}

kernel void vstorea_half_good(ARGUMENTS)
{
    if (GID < 32) {
        vstore_half2_rtz((float2)1, GID, (global half *)b + 1 + c[0]);
    }
}

/* ---- copies ---- */

kernel void copy_source_bad(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, b + LID, 32, 0); // wrong
    wait_group_events(1, &e);
    a[GID] = l[LID];
}

kernel void copy_source_good(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, b + GROUP, 32, 0);
    wait_group_events(1, &e);
    a[GID] = l[LID];
}

kernel void copy_destination_bad(ARGUMENTS)
{
    event_t e = async_work_group_copy(LID == 9 ? l + 1 : l, b, 31, 0); // wrong
    wait_group_events(1, &e);
}

kernel void copy_destination_good(ARGUMENTS)
{
    event_t e = async_work_group_copy(GROUP == 1 ? l + 1 : l, b, 31, 0);
    wait_group_events(1, &e);
}

kernel void copy_count_bad(ARGUMENTS)
{
    event_t e = async_work_group_copy(l, b, LID < 16 ? 16 : 32, 0); // wrong
    wait_group_events(1, &e);
}

kernel void copy_count_good(ARGUMENTS)
{
    event_t e = 0;
    for (uint i = 0; i < 4; i++) {
        e = async_work_group_copy(l + 8 * i, b + i, i + 5, e);
    }
    wait_group_events(1, &e);
}

kernel void copy_second_bad(ARGUMENTS)
{
    event_t e = 0;
    for (uint i = 0; i < 4; i++) {
        e = async_work_group_copy(a + GROUP * 32, l, i == 2 && LID == 31 ? 1 : 2, e); // wrong
    }
    wait_group_events(1, &e);
}

kernel void copy_second_good(ARGUMENTS)
{
    event_t e = 0;
    for (uint i = 0; i < 4; i++) {
        e = async_work_group_copy(a + GROUP * 32, l, i == 2 ? 1 : 2, e);
    }
    wait_group_events(1, &e);
}

kernel void stride_zero_bad(ARGUMENTS)
{
    event_t e = async_work_group_strided_copy(l, b, 32, c[0], 0); // wrong
    wait_group_events(1, &e);
}

kernel void stride_zero_good(ARGUMENTS)
{
    event_t e = async_work_group_strided_copy(l, b, 32, c[0] + 1, 0);
    wait_group_events(1, &e);
}

kernel void stride_differs_bad(ARGUMENTS)
{
    event_t e = async_work_group_strided_copy(l, b, 32, LID % 2 + 1, 0); // wrong
    wait_group_events(1, &e);
}

kernel void stride_differs_good(ARGUMENTS)
{
    event_t e = async_work_group_strided_copy(l, b, 32, GROUP % 2 + 1, 0);
    wait_group_events(1, &e);
}

kernel void never_begun_bad(ARGUMENTS)
{
    event_t e = 0;
    wait_group_events(1, &e); // wrong
}

kernel void never_begun_good(ARGUMENTS)
{
    event_t e = 0;
    wait_group_events(0, &e);
}

kernel void too_many_events_bad(ARGUMENTS)
{
    event_t e[2];
    e[0] = async_work_group_copy(l, b, 32, 0);
    wait_group_events(2, e); // wrong
}

kernel void too_many_events_good(ARGUMENTS)
{
    event_t e[2];
    e[0] = async_work_group_copy(l, b, 16, 0);
    e[1] = async_work_group_copy(l + 16, b, 16, 0);
    wait_group_events(2, e);
}

/* ---- values of one work-item ---- */

kernel void broadcast_outside_bad(ARGUMENTS)
{
    a[GID] = work_group_broadcast((int)LID, 32); // wrong
}

kernel void broadcast_outside_good(ARGUMENTS)
{
    a[GID] = work_group_broadcast((int)LID, 31);
}

kernel void broadcast_differs_bad(ARGUMENTS)
{
    a[GID] = work_group_broadcast((int)LID, LID / 16); // wrong
}

kernel void broadcast_differs_good(ARGUMENTS)
{
    a[GID] = work_group_broadcast((int)LID, GROUP);
}

kernel void broadcast_plane_bad(ARGUMENTS)
{
    a[GID] = work_group_broadcast((int)LID, 3, 1); // wrong
}

kernel void broadcast_plane_good(ARGUMENTS)
{
    a[GID] = work_group_broadcast((int)LID, 3, 0);
}

kernel void lane_outside_bad(ARGUMENTS)
{
    a[GID] = sub_group_broadcast((int)LID, get_sub_group_size()); // wrong
}

kernel void lane_outside_good(ARGUMENTS)
{
    a[GID] = sub_group_broadcast((int)LID, get_sub_group_size() - 1);
}

kernel void lane_differs_bad(ARGUMENTS)
{
    a[GID] = sub_group_broadcast((int)LID, LID % 2); // wrong
}

kernel void lane_differs_good(ARGUMENTS)
{
    a[GID] = sub_group_shuffle((int)LID, LID % 2);
}

kernel void cluster_bad(ARGUMENTS)
{
    a[GID] = sub_group_clustered_reduce_add((int)LID, 3 + c[0]); // wrong
}

kernel void cluster_good(ARGUMENTS)
{
    a[GID] = sub_group_clustered_reduce_add((int)LID, 4 + c[0]);
}
