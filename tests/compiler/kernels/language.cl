/* SPDX-License-Identifier: MIT */
/* Constructs of the language, one a kernel; OpenCL C 3.0. */

struct pair {
    int a;
    char b;
    long c[3];
    short d;
};

__kernel void structures(__global struct pair *out, struct pair s, __global const struct pair *in)
{
    int t = get_global_id(0);
    struct pair p = in[t];

    p.a += s.a;
    p.b = s.b - t;
    p.c[t % 3] = s.c[(t + 1) % 3];
    p.d = s.d;
    out[t] = p;
}

__constant int table[5] = { 7, -3, 11, 1 << 20, 5 };

__kernel void constants(__global int *out, __constant int *more)
{
    int t = get_global_id(0);
    int4 v = vload4(0, more);

    out[t] = table[t % 5] + table[(t + 3) % 5] * v.y + more[t % 4];
}

__kernel void vectors(__global float4 *out, __global const uchar4 *in, __global float *three)
{
    int t = get_global_id(0);
    float4 v = convert_float4(in[t]) * 0.5f;
    float3 w = vload3(t, three);

    v.xy = v.yx + w.xz;
    vstore3(w * 2.0f, t, three);
    out[t] = (float4)(v.w, dot(v, v), v.s01);
}

/* Pointers whose memory is not known when the program is compiled. */
int sum_of(int *p, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        sum += p[i];
    }
    return sum;
}

__kernel void generics(__global int *out, __global int *in)
{
    __local int tile[64];
    int own[4], t = get_global_id(0), l = get_local_id(0);
    int *p;

    for (int i = 0; i < 4; i++) {
        own[i] = t * i;
    }
    tile[l] = 1000 + l;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    p = t % 3 == 0 ? (int *)own : t % 3 == 1 ? (int *)&tile[l / 4 * 4] : (int *)&in[t / 4 * 4];
    out[t] = sum_of(p, 4);
}

__kernel void atomics(__global atomic_int *count, __global atomic_ulong *wide, __global int *old)
{
    __local atomic_int shared;
    int t = get_global_id(0), expected = 0;

    if (get_local_id(0) == 0) {
        atomic_init(&shared, 0);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&shared, t, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_max(&wide[0], (ulong)t << 33);
    while (!atomic_compare_exchange_weak(&count[0], &expected, expected + 2)) {
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    old[t] = atomic_load(&shared);
}

__kernel void prints(int n)
{
    int t = get_global_id(0);

    if (t % 2 == 0) {
        printf("%d of %d is %f\n", t, n, t * 0.5);
    }
}

__kernel void halves(__global half *h, __global float *out)
{
    int t = get_global_id(0);

    vstore_half(vload_half(t, h) * 2.0f, t, h);
    out[t] = vload_half(t, h) + 0.25f;
}

__kernel void normals(__global double4 *out)
{
    int t = get_global_id(0);

    out[t] = normalize((double4)(t, t + 1, 2, -3));
}
