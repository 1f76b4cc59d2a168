/* SPDX-License-Identifier: MIT */
/* Uses constructs of the language, one a kernel (OpenCL C 3.0). */

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

/* Differences of a generic pointer and one whose memory is known. */
__kernel void differences(__global int *out, __global int *in)
{
    __local int tile[64];
    int own[8], t = get_global_id(0);
    int *p = own + t % 5, *q = tile + t % 7, *r = in + t;

    if (t % 2 != 0) {
        p = q + 1;
    }
    out[t] = (int)(t % 2 != 0 ? p - tile : p - own) * 10007 + (int)(tile - q) * 101 + (int)(r - in);
}

bool is_fence(cl_mem_fence_flags fence)
{
    return fence == 0 || fence == CLK_GLOBAL_MEM_FENCE || fence == CLK_LOCAL_MEM_FENCE;
}

__global int chosen_here = 1;

/* A generic pointer to a variable at program scope, or to local memory: where it points is asked of its address. */
__kernel void chosen_pointers(__global int *out)
{
    __local int near;
    uint t = get_global_id(0);

    near = 2;
    int *p = t % 2 != 0 ? &chosen_here : (int *)&near;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (t % 2 != 0) {
        out[t] = is_fence(get_fence(p)) && to_global(p) && *p == chosen_here;
    } else {
        out[t] = is_fence(get_fence(p)) && to_local(p) && *p == near;
    }
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

/* Atomic operations on memory that only this thread has. */
__kernel void private_atomics(__global int *out, __global ulong *wide)
{
    volatile __private int x[2];
    volatile __private ulong w = 5;
    int t = get_global_id(0), expected;

    x[0] = t;
    x[1] = 7;
    expected = t % 2 == 0 ? 7 : 8;
    int sum = __opencl_atomic_fetch_add((volatile __private atomic_int *)&x[0], 3, memory_order_seq_cst, memory_scope_device);
    sum = sum * 31 + __opencl_atomic_fetch_max((volatile __private atomic_int *)&x[0], 50, memory_order_relaxed, memory_scope_device);
    sum = sum * 31 + __opencl_atomic_compare_exchange_strong((volatile __private atomic_int *)&x[1], &expected, 100,
                                                             memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
    sum = sum * 31 + __opencl_atomic_exchange((volatile __private atomic_int *)&x[1], t, memory_order_seq_cst, memory_scope_device);
    __opencl_atomic_fetch_sub((volatile __private atomic_ulong *)&w, (ulong)t << 33, memory_order_seq_cst, memory_scope_device);
    out[t] = sum * 31 + x[0] * 7 + x[1] + expected;
    wide[t] = w;
}

/* Copies by the whole group: in, and out with gaps. */
__kernel void copies(__global const int *in, __global int *out, __global const short4 *four, __global short4 *back, __local int *tile)
{
    __local short4 fours[45];
    int n = get_local_size(0), l = get_local_id(0), first = get_group_id(0) * n;
    event_t e = async_work_group_copy(tile, in + first, (size_t)n, 0);

    e = async_work_group_copy(fours, four + first, (size_t)n, e);
    wait_group_events(1, &e);
    int v = tile[(l + 1) % n] * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t events[2];
    events[0] = async_work_group_strided_copy(out + 3 * first, tile, (size_t)n, (size_t)3, 0);
    events[1] = async_work_group_copy(back + first, fours, (size_t)n, 0);
    prefetch(in, 4);
    wait_group_events(2, events);
}

/* Where the thread is, with the launch's offsets. */
__kernel void address_spaces(__global ulong *out)
{
    size_t i = get_global_linear_id();

    out[8 * i] = get_global_id(0);
    out[8 * i + 1] = get_global_id(1);
    out[8 * i + 2] = get_global_offset(0) + 1000 * get_global_offset(1) + get_global_offset(2) + get_global_offset(3);
    out[8 * i + 3] = get_global_size(0) * 100 + get_global_size(1) * 10 + get_global_size(7);
    out[8 * i + 4] = get_group_id(0) * 10 + get_group_id(1);
    out[8 * i + 5] = get_local_id(0) * 10 + get_local_id(1);
    out[8 * i + 6] = get_work_dim() * 100 + get_num_groups(0) * 10 + get_enqueued_local_size(1);
    out[8 * i + 7] = get_local_linear_id();
}

struct with_three {
    char c;
    float3 f;
    short3 s;
};

/* Vectors of three: as large as those of four in memory, but for vload3 and vstore3. */
__kernel void threes(__global int *packed, __global const int3 *in, __global struct with_three *structs, __global double *wide)
{
    int t = get_global_id(0);
    int3 v = in[t].zxy + (int3)(1, 2, t);
    double3 d = convert_double3(v) / 4.0;
    struct with_three s;

    s.c = (char)t;
    s.f = convert_float3(v.yzx) * 0.5f;
    s.s = convert_short3_sat(v * 1000);
    structs[t] = s;
    vstore3(select(v, -v, v > (int3)t), t, packed);
    vstore3(d, t, wide);
}

/* Vectors of sixteen bytes and eight shorts. */
__kernel void wides(__global uchar16 *bytes, __global ushort8 *shorts, __global int *truths)
{
    int t = get_global_id(0);
    uchar16 b = bytes[t];
    ushort8 s = upsample(b.lo, b.hi);

    bytes[t] = add_sat(rotate(b, (uchar16)(uchar)(t & 7)), (uchar16)200).s048c159d26ae37bf;
    truths[t] = any(b > (uchar16)128) * 4 + all(b != (uchar16)0) * 2 + isequal((float)b.s0, (float)t);
    shorts[t] = shuffle(s, (ushort8)(7, 6, 5, 4, 3, 2, 1, 0));
}

/* Halves in memory: vectors of them, packed and aligned, rounded in each direction. */
__kernel void half_vectors(__global half *h, __global half *aligned, __global float *in)
{
    int t = get_global_id(0);
    float4 v = vload4(t, in);

    vstore_half4_rtz(v, 4 * t, h);
    vstore_half4_rtp(v, 4 * t + 1, h);
    vstore_half4_rtn(v, 4 * t + 2, h);
    vstore_half4_rte(v, 4 * t + 3, h);
    vstorea_half3(vload_half3(16 * t / 3, h), t, aligned);
    vstore4(vload_half4(4 * t + 3, h), t, in);
}

__kernel void print_more(__global int *out)
{
    int t = get_global_id(0);

    out[t] = printf("%s: %v4d %lx%c\n", t == 0 ? "first" : "other", (int4)(t, -1, 2, 3), 0x123456789abcdef0ul + t, 'z');
}

__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void required(__global int *out)
{
    out[get_global_linear_id()] = get_local_size(0) * 100 + get_local_size(1);
}

__kernel __attribute__((work_group_size_hint(16, 1, 1))) __attribute__((vec_type_hint(float4))) void hinted(__global int *out)
{
    out[get_global_id(0)] = get_local_size(0);
}

/* Variables of the program, which outlive launches. */
atomic_int launches = ATOMIC_VAR_INIT(3);
ulong2 last = (ulong2)(5, 1ul << 40);
int history[100];
__constant int by = 2;
static short hidden = -4;

__kernel void variables(__global int *out)
{
    int t = get_global_id(0), slot = atomic_fetch_add(&launches, by);

    history[t] += t + hidden;
    out[t] = history[t];
    if (t == 0) {
        out[1] = slot;
        last.x += last.y;
        hidden--;
        out[2] = (int)(last.x >> 40);
    }
}

/* ---- long copies ---- */

struct table {
    int entries[300];
};

/* 4096 bytes of each work-item: copies of structures, of unknown lengths, of places that overlap. */
__kernel void long_copies(__global uchar *all, __global const struct table *tables, int n)
{
    __global uchar *own = all + get_global_id(0) * 4096;
    int t = get_global_id(0);
    struct table copy = tables[t % 2];

    for (int i = 0; i < 300; i += 7) {
        copy.entries[(i * t) % 300] += i;
    }
    *(__global struct table *)own = copy;
    __builtin_memcpy(own + 1300, own + 1, n + t);
    __builtin_memset(own + 1600, t, n + t);
    __builtin_memset(own + 2000, 0x5a, 600);
    __builtin_memcpy(own + 2700, own, 700);
    __builtin_memmove(own + 2750, own + 2700, n * 2 + t);
    __builtin_memmove(own + 2690, own + 2700, 500 + t);
}

/* ---- pointers in memory ---- */

struct places {
    int *anywhere;
    __local int *shared;
    __private int *own;
};

__kernel void pointers(__global int *out)
{
    __local int shared[45];
    int values[4] = { 1, 2, 3, 4 }, t = get_global_id(0), l = get_local_id(0);
    __private int *table[3] = { (__private int *)&values[0], (__private int *)&values[2], 0 };
    struct places places[2];

    shared[l] = l;
    places[t & 1].anywhere = &out[t];
    places[t & 1].shared = &shared[l];
    places[t & 1].own = table[t % 2];
    places[~t & 1].own = table[2];
    *places[t & 1].shared += t;
    *places[t & 1].own += 10;
    *places[t & 1].anywhere = values[0] + 100 * values[2] + shared[l] * 10000 + (places[~t & 1].own == 0 ? 5 : 0);
}

/* ---- atomic operations on pointers that lead anywhere ---- */

__kernel void atomics_anywhere(__global ulong *words, __global int *out)
{
    __local ulong shared[45];
    __private ulong own = 40;
    int t = get_global_id(0), l = get_local_id(0), sum;

    words[t] = shared[l] = 40;
    ulong *place = t % 3 == 0 ? &own : t % 3 == 1 ? (ulong *)&shared[l] : (ulong *)&words[t];
    volatile atomic_int *p = (volatile atomic_int *)place;
    volatile atomic_ulong *q = (volatile atomic_ulong *)place;
    int expected = t % 2 == 0 ? 45 : 46;

    sum = atomic_fetch_add(p, 5);
    sum = sum * 7 + atomic_compare_exchange_strong(p, &expected, 100 + t);
    sum = sum * 7 + expected;
    atomic_fetch_max(p, 60);
    sum = sum * 7 + atomic_exchange(p, t);
    sum = sum * 7 + (int)atomic_fetch_sub(q, 1ul << 33);
    atomic_store(q, atomic_load(q) ^ 0xff00000000ul);
    sum = sum * 7 + (int)(*place >> 33);
    if (t % 4 == 0) {
        sum = sum * 7 + atomic_fetch_xor(p, 0x55);
    }
    out[t] = sum * 7 + (int)own + (int)words[t];
}

/* Null is null in every address space, whatever way it came there. */
__attribute__((noinline)) static int is_null(int *pointer)
{
    return pointer == 0;
}

__kernel void nulls(__global int *out)
{
    __local int shared[45];
    int t = get_global_id(0), own = t;
    __local int *there = t % 2 == 0 ? &shared[get_local_id(0)] : (__local int *)0;
    __private int *here = t % 3 == 0 ? &own : (__private int *)0;
    int *p = there, *q = here, *r = (__local int *)0;

    out[t] = is_null(p) + 2 * (p == 0) + 4 * is_null(q) + 8 * (q == 0) + 16 * is_null(r) + 32 * is_null(&own);
    if (p) {
        *p = t;
        out[t] += 64 * *there;
    }
    if (q) {
        *q += 1;
        out[t] += 1000 * own;
    }
}

/* ---- structures that kernels get by value ---- */

struct row {
    int a[16];
};

int row_sum(const struct row *row, int from, int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++) {
        sum += row->a[(from + i) & 15];
    }
    return sum;
}

/* Only reads them: where a pointer may lead to either, and where two branches read at places of their own. */
__kernel void by_value_read(__global int *out, struct row s, struct row u)
{
    int t = get_global_id(0), x;
    const struct row *chosen = t & 1 ? &s : &u;

    if (t % 3 == 0) {
        x = s.a[t & 15];
    } else {
        x = u.a[(t + 1) & 15];
    }
    out[3 * t] = chosen->a[t & 15];
    out[3 * t + 1] = x;
    out[3 * t + 2] = row_sum(chosen, t, t & 7);
}

/* Each work-item has its own. */
__kernel void by_value_written(__global int *out, struct row s, struct row u, int n)
{
    int t = get_global_id(0);
    struct row *chosen = t & 1 ? &s : &u;

    s.a[t & 15] = n;
    u.a[3] += t;
    chosen->a[5] *= 2;
    out[2 * t] = row_sum(&s, 0, 16);
    out[2 * t + 1] = row_sum(&u, 0, 16);
}

/* ---- more arguments than the parameters have room for ---- */

struct big {
    int n;
    struct row rows[100];
    char tag;
};

#define EIGHT(type, x) type x##0, type x##1, type x##2, type x##3, type x##4, type x##5, type x##6, type x##7
#define SUM(x) (x##0 + x##1 + x##2 + x##3 + x##4 + x##5 + x##6 + x##7)

/* Structures that are read alone, at places of each work-item's own, and all else in the parameters. */
__kernel void outside_structures(__global int *out, struct big s, char c, struct row small, __global const int *in)
{
    int t = get_global_id(0);
    const struct row *row = t & 1 ? &s.rows[t] : &small;

    out[t] = s.rows[t].a[t & 15] * c + s.n + s.tag + row->a[3] + in[t] + get_global_size(0);
}

/* One is written, and pointers lie behind the values that take all the room. */
__kernel void outside_values(__global int *out, EIGHT(double16, a), EIGHT(double16, b), EIGHT(double16, c), EIGHT(double16, d),
                           char e, short3 f, __global const int *in, ushort g, struct row s, __local int *l, long h, uchar3 i)
{
    int t = get_global_id(0);
    double16 sum = SUM(a) - SUM(b) + SUM(c) - SUM(d);

    s.a[t & 15] = in[t];
    l[get_local_id(0)] = e;
    for (int k = 0; k < (t & 3); k++) {
        l[get_local_id(0)] += h + f.y;
    }
    out[t] = l[get_local_id(0)] + (int)(sum.s1 + 2 * sum.sf) + s.a[t & 15] + s.a[(t + 1) & 15] + i.y + i.z + g;
}

/* ---- variables that hold addresses ---- */

struct link {
    constant struct link *next;
    int value;
};

constant int steps[4] = { 1, 2, 3, 4 };
constant int *constant into_steps[2] = { &steps[2], steps + 1 };
extern constant struct link third;
constant struct link first = { &third, 1 }, second = { &first, 20 }, third = { &second, 300 };
int counted = 50;
struct {
    char tag;
    int numbers[3];
} record = { 1, { 70, 80, 90 } };
int *counter = &counted;
global int *number = &record.numbers[1];
int *pair[2] = { &record.numbers[2], 0 };
constant int *last_step = &steps[3];

kernel void held_addresses(global int *out)
{
    constant struct link *at = &first;
    int sum = 0, turns = 0;

    out[0] = *into_steps[0] * 1000 + *into_steps[1];
    do {
        sum += at->value;
        at = at->next;
        turns++;
    } while (at != &first && turns < 10);
    out[1] = sum + (turns == 3) * 1000;
    out[2] = ++*counter;
    *number += 10;
    out[3] = *number + (pair[0] - number) * 40;
    out[4] = last_step[0] + last_step[-1];
    out[5] = pair[1] == 0;
}
