/* SPDX-License-Identifier: MIT */
/*
 * Compares forms of built-in functions element by element. These forms differ from those in builtins.def and
 * test_integers.c by their types alone. It also checks functions that have no numbers to compare with. checks[n]
 * becomes 1 when check n holds, else 2.
 */

#define CHECK(condition) (checks[at] = (condition) ? 1 : 2, at++)

/* ---- relational and mathematical functions of vectors ---- */

#define SAME(a, b) (as_uint(a) == as_uint(b) || (isnan(a) && isnan(b)))

#define EACH(n, test)              \
    {                              \
        bool all_same = true;      \
        for (int e = 0; e < n; e++) { \
            all_same &= (test);    \
        }                          \
        CHECK(all_same);           \
    }

#define RELATION(name, n)                      \
    {                                          \
        int##n r = name(v##n, w##n);           \
        EACH(n, r[e] == -name(v##n[e], w##n[e])) \
    }
#define CLASS(name, n)                  \
    {                                   \
        int##n r = name(v##n);          \
        EACH(n, r[e] == -name(v##n[e])) \
    }
#define SECOND(name, other, n)                                           \
    {                                                                    \
        other##n second;                                                 \
        float##n r = name(v##n, &second);                                \
        other one;                                                       \
        EACH(n, SAME(name(v##n[e], &one), r[e]) && (isnan(r[e]) || isinf(v##n[e]) || one == second[e])) \
    }

#define OF_WIDTH(n)                                                              \
    RELATION(isequal, n)                                                         \
    RELATION(isnotequal, n)                                                      \
    RELATION(isgreater, n)                                                       \
    RELATION(isgreaterequal, n)                                                  \
    RELATION(isless, n)                                                          \
    RELATION(islessequal, n)                                                     \
    RELATION(islessgreater, n)                                                   \
    RELATION(isordered, n)                                                       \
    RELATION(isunordered, n)                                                     \
    CLASS(isfinite, n)                                                           \
    CLASS(isinf, n)                                                              \
    CLASS(isnan, n)                                                              \
    CLASS(isnormal, n)                                                           \
    CLASS(signbit, n)                                                            \
    SECOND(fract, float, n)                                                      \
    SECOND(frexp, int, n)                                                        \
    SECOND(modf, float, n)                                                       \
    {                                                                            \
        int##n r = ilogb(v##n);                                                  \
        EACH(n, r[e] == ilogb(v##n[e]))                                          \
    }                                                                            \
    {                                                                            \
        float##n r = nextafter(v##n, w##n);                                      \
        EACH(n, SAME(r[e], nextafter(v##n[e], w##n[e])))                         \
    }                                                                            \
    {                                                                            \
        float##n r = ldexp(v##n, 3), s = ldexp(v##n, (int##n)-2);                \
        EACH(n, SAME(r[e], ldexp(v##n[e], 3)) && SAME(s[e], ldexp(v##n[e], -2))) \
    }                                                                            \
    {                                                                            \
        float##n r = clamp(v##n, -1.0f, 2.0f), s = fmin(v##n, 1.5f), t = step(0.5f, v##n); \
        EACH(n, (isnan(v##n[e]) || r[e] == clamp(v##n[e], -1.0f, 2.0f)) && SAME(s[e], fmin(v##n[e], 1.5f)) && \
                    t[e] == step(0.5f, v##n[e]))                                 \
    }                                                                            \
    {                                                                            \
        float##n r = mix(v##n, w##n, 0.25f), s = smoothstep(-2.0f, 3.0f, v##n);  \
        EACH(n, SAME(r[e], mix(v##n[e], w##n[e], 0.25f)) && SAME(s[e], smoothstep(-2.0f, 3.0f, v##n[e]))) \
    }                                                                            \
    {                                                                            \
        int##n m = as_int##n(w##n);                                              \
        float##n r = select(v##n, w##n, m), s = bitselect(v##n, w##n, as_float##n(m)); \
        EACH(n, SAME(r[e], m[e] < 0 ? w##n[e] : v##n[e]) &&                      \
                    as_int(s[e]) == ((as_int(v##n[e]) & ~m[e]) | (as_int(w##n[e]) & m[e]))) \
        bool some = false, every = true;                                         \
        for (int e = 0; e < n; e++) {                                            \
            some |= m[e] < 0;                                                    \
            every &= m[e] < 0;                                                   \
        }                                                                        \
        CHECK(any(m) == some && all(m) == every);                                \
    }

kernel void vectors(global const float *in, global int *checks)
{
    float16 v16 = vload16(0, in), w16 = vload16(1, in);
    float8 v8 = v16.odd, w8 = w16.hi;
    float4 v4 = v16.s37bf, w4 = w16.s0123;
    float3 v3 = v16.s159, w3 = w16.s240;
    float2 v2 = v16.s3d, w2 = w16.s01;
    int at = 0;

    OF_WIDTH(2)
    OF_WIDTH(3)
    OF_WIDTH(4)
    OF_WIDTH(8)
    OF_WIDTH(16)
}

/* Those that are large: one or two widths. */
kernel void large_vectors(global const float *in, global int *checks)
{
    float3 v3 = vload3(0, in), w3 = vload3(1, in) + 0.5f;
    float2 v2 = vload2(2, in);
    int at = 0;

    SECOND(sincos, float, 3)
    SECOND(lgamma_r, int, 2)
    {
        int3 bits;
        float3 r = remquo(v3, w3, &bits);
        int one;
        EACH(3, SAME(remquo(v3[e], w3[e], &one), r[e]) && (isnan(r[e]) || one == bits[e]))
    }
    CHECK(all(isnan(nan((uint2)(0, 5)))) && all(isnan(nan((ulong3)(0, 1, 1ul << 63)))));
    {
        double2 a = (double2)(1.5, -0.0), b = (double2)(2.5, NAN);
        long2 r = isless(a, b), s = isunordered(a, b), t = signbit(a);
        CHECK(r.x == -1 && r.y == 0 && s.x == 0 && s.y == -1 && t.x == 0 && t.y == -1);
        double2 whole, part = modf(a, &whole);
        CHECK(part.x == 0.5 && whole.x == 1.0 && ldexp(a, 4).x == 24.0 && nextafter(a, b).x == 0x1.8000000000001p+0);
    }
}

/* ---- geometry: against the same in double ---- */

#define NEAR(a, b, units) (fabs((double)(a) - (b)) <= (units)*0x1p-23 * fabs(b))

#define GEOMETRY(n)                                                                          \
    {                                                                                        \
        double dots = 0, lengths = 0, distances = 0;                                         \
        for (int e = 0; e < n; e++) {                                                        \
            dots += (double)v##n[e] * w##n[e];                                               \
            lengths += (double)v##n[e] * v##n[e];                                            \
            distances += ((double)v##n[e] - w##n[e]) * ((double)v##n[e] - w##n[e]);          \
        }                                                                                    \
        lengths = sqrt(lengths);                                                             \
        distances = sqrt(distances);                                                         \
        CHECK(fabs(dot(v##n, w##n) - dots) <= (2 * n - 1) * 0x1p-23 * 9 * 9);                \
        CHECK(NEAR(length(v##n), lengths, 2.75 + 0.5 * n));                                  \
        CHECK(NEAR(distance(v##n, w##n), distances, 2.5 + 2 * n));                           \
        CHECK(NEAR(fast_length(v##n), lengths, 8192 + n));                                   \
        CHECK(NEAR(fast_distance(v##n, w##n), distances, 8192 + n));                         \
        float##n u = normalize(v##n), f = fast_normalize(v##n);                              \
        double##n d = convert_double##n(v##n);                                               \
        EACH(n, NEAR(u[e], d[e] / lengths, 2 + n) && NEAR(f[e], d[e] / lengths, 8192 + n))   \
        CHECK(NEAR(length(v##n * 1e30f), lengths * 1e30f, 4 + 0.5 * n));                     \
        CHECK(NEAR(length(v##n * 0x1p-100f), lengths * 0x1p-100, 4 + 0.5 * n));              \
        CHECK(fabs(length(d) - lengths) <= 8 * DBL_EPSILON * lengths &&                      \
              fabs(dot(d, d) - lengths * lengths) <= 32 * DBL_EPSILON * lengths * lengths);  \
        double##n m = normalize(d), l = normalize(d * 0x1p800), s = normalize(d * 0x1p-1000);\
        float##n k = normalize(v##n * 0x1p-130f);                                            \
        EACH(n, fabs(m[e] - d[e] / lengths) <= 8 * DBL_EPSILON && l[e] == m[e] && s[e] == m[e] && \
                    NEAR(k[e], d[e] / lengths, 1 << 9))                                      \
        CHECK(length(d * 0x1p800) == length(d) * 0x1p800 && length(d * 0x1p-1000) == length(d) * 0x1p-1000); \
        l = (double##n)(0x1p-430 * (1 + 0x1p-40));                                           \
        l.y = 0x1p590 * (1 + 0x1p-40);                                                       \
        CHECK(fabs(normalize(l).x * 0x1p1000 - 0x1p-20) <= 8 * DBL_EPSILON * 0x1p-20);       \
        float##n i = v##n * 1e37f;                                                           \
        i.y = -INFINITY;                                                                     \
        d = convert_double##n(i) * 0x1p100;                                                  \
        u = normalize(i);                                                                    \
        m = normalize(d);                                                                    \
        EACH(n, u[e] == (e == 1 ? -1 : 0) && m[e] == u[e] && isinf(length(i)) && isinf(length(d))) \
        i.x = d.x = INFINITY;                                                                \
        CHECK(NEAR(normalize(i).x, M_SQRT1_2, 2) && normalize(d).y == -normalize(d).x && normalize(d).x < 0.7072); \
        i.y = NAN;                                                                           \
        d.y = NAN;                                                                           \
        EACH(n, isnan(normalize(i)[e]) && isnan(normalize(d)[e]) && isnan(length(i)) && isnan(length(d))) \
    }

kernel void geometry(global const float *in, global int *checks)
{
    float4 v4 = vload4(0, in), w4 = vload4(1, in);
    float3 v3 = v4.xyz, w3 = w4.xyz;
    float2 v2 = v4.xy, w2 = w4.xy;
    int at = 0;

    GEOMETRY(2)
    GEOMETRY(3)
    GEOMETRY(4)
    float3 c = cross(v3, w3);
    float4 c4 = cross(v4, w4);
    for (int e = 0; e < 3; e++) {
        int f = (e + 1) % 3, g = (e + 2) % 3;
        double wanted = (double)v3[f] * w3[g] - (double)v3[g] * w3[f];
        CHECK(fabs(c[e] - wanted) <= 3 * 0x1p-23 * 9 * 9 && c4[e] == c[e]);
    }
    CHECK(c4.w == 0 && length(v4.x) == fabs(v4.x) && distance(v4.x, w4.x) == fabs(v4.x - w4.x) &&
          normalize(v4.x) == sign(v4.x) && dot(v4.x, w4.x) == v4.x * w4.x && all(normalize((float2)0) == 0) &&
          all(normalize((double3)0) == 0) && length((float4)0) == 0);
}

/* ---- integers ---- */

kernel void integers(global const int *in, global int *checks)
{
    int at = 0;

    for (int i = 0; i < 7; i++) {
        int x = in[i] << 8 >> 8, y = in[i + 1] << 8 >> 8;
        uint u = in[i] & 0xffffff, v = in[i + 1] & 0xffffff;
        CHECK(mul24(x, y) == x * y && mad24(x, y, 77) == x * y + 77 && mul24(u, v) == u * v && mad24(u, v, 5u) == u * v + 5u);
        CHECK(all(mul24((int2)(x, y), (int2)(y, x)) == x * y) && all(mad24((uint3)u, (uint3)v, (uint3)9) == u * v + 9));
        CHECK(ctz((uint)in[i] | 256u) == popcount(~((uint)in[i] | 256u) & (((uint)in[i] | 256u) - 1)) &&
              ctz(0x100000000ul) == 32 && ctz((uchar)8) == 3 && ctz((short2)(4, 1)).x == 2);
    }
    uint4 indices = (uint4)(3, 1, 6, 0);
    int4 s = vload4(0, in), t = vload4(1, in), u = shuffle2(s, t, indices);
    CHECK(u.x == s.w && u.y == s.y && u.z == t.z && u.w == s.x);
    u = shuffle(s, indices & 3u);
    CHECK(u.x == s.w && u.y == s.y && u.z == s.z && u.w == s.x);
}

/* ---- loads and stores of vectors ---- */

#define MOVES(type, n)                                                    \
    {                                                                     \
        type##n a = vload##n(1, (global type *)(in + 4));                 \
        private type own[48];                                             \
        vstore##n(a, 1, own);                                             \
        vstore##n(a, 2, (local type *)space);                             \
        type##n b = vload##n(1, own), c = vload##n(2, (local type *)space); \
        EACH(n, a[e] == ((global type *)(in + 4))[n + e] && own[n + e] == a[e] && b[e] == a[e] && c[e] == a[e] && \
                    ((local type *)space)[2 * n + e] == a[e])             \
    }
#define ALL_MOVES(type) MOVES(type, 2) MOVES(type, 3) MOVES(type, 4) MOVES(type, 8) MOVES(type, 16)

kernel void moves(global const int *in, global int *checks)
{
    local ulong space[64];
    int at = 0;

    ALL_MOVES(char)
    ALL_MOVES(ushort)
    ALL_MOVES(int)
    ALL_MOVES(long)
}

#define HALF(n, room, mode)                                                            \
    {                                                                                  \
        local ushort *h = (local ushort *)space, *k = h + 64;                          \
        float##n a = vload##n(0, in);                                                  \
        vstore_half##n##mode(a, 1, (local half *)h);                                   \
        vstorea_half##n##mode(a, 1, (local half *)k);                                  \
        float##n b = vload_half##n(1, (local half *)h), c = vloada_half##n(1, (local half *)k); \
        bool same = true;                                                              \
        for (int e = 0; e < n; e++) {                                                  \
            local ushort *one = h + 120;                                               \
            vstore_half##mode(a[e], 0, (local half *)one);                             \
            same &= h[n + e] == *one && k[room + e] == *one && b[e] == vload_half(0, (local half *)one) && c[e] == b[e]; \
        }                                                                              \
        CHECK(same);                                                                   \
        vstore_half##n##mode(convert_double##n(a), 1, (local half *)k);                \
        EACH(n, k[n + e] == h[n + e])                                                  \
    }
#define HALVES(mode) HALF(2, 2, mode) HALF(3, 4, mode) HALF(4, 4, mode) HALF(8, 8, mode) HALF(16, 16, mode)

kernel void halves(global const float *in, global int *checks)
{
    local ulong space[64];
    local ushort *h = (local ushort *)space;
    int at = 0;

    HALVES()
    HALVES(_rte)
    HALVES(_rtz)
    HALVES(_rtp)
    HALVES(_rtn)
    const float third = 1.0f / 3;
    vstore_half(third, 0, (local half *)h);
    vstore_half_rte(third, 1, (local half *)h);
    vstore_half_rtz(third, 2, (local half *)h);
    vstore_half_rtp(third, 3, (local half *)h);
    vstore_half_rtn(-third, 4, (local half *)h);
    CHECK(h[0] == 0x3555 && h[1] == 0x3555 && h[2] == 0x3555 && h[3] == 0x3556 && h[4] == 0xb556);
}

/* ---- atomics ---- */

#define OLD_ATOMICS(space, type)                                                                   \
    {                                                                                              \
        volatile space type *p = (volatile space type *)words;                                     \
        *p = 10;                                                                                   \
        CHECK(atomic_add(p, 5) == 10 && atomic_sub(p, 3) == 15 && atomic_inc(p) == 12 && atomic_dec(p) == 13); \
        CHECK(atomic_and(p, 6) == 12 && atomic_or(p, 3) == 4 && atomic_xor(p, 5) == 7 && atomic_xchg(p, 9) == 2); \
        CHECK(atomic_min(p, 7) == 9 && atomic_max(p, 8) == 7 && atomic_cmpxchg(p, 8, 20) == 8);    \
        CHECK(atomic_cmpxchg(p, 8, 30) == 20 && *p == 20);                                         \
    }

#define NEW_ATOMICS(type, atomic)                                                                            \
    {                                                                                                        \
        volatile atomic *p = (volatile atomic *)words;                                                       \
        type expected = 3;                                                                                   \
        atomic_init(p, 10);                                                                                  \
        CHECK(atomic_fetch_add(p, (type)5) == 10 && atomic_fetch_sub(p, (type)3) == 15 && atomic_fetch_and(p, (type)6) == 12); \
        CHECK(atomic_fetch_or(p, (type)3) == 4 && atomic_fetch_xor(p, (type)5) == 7 && atomic_exchange(p, (type)9) == 2);      \
        CHECK(atomic_fetch_min(p, (type)7) == 9 && atomic_fetch_max(p, (type)8) == 7 && atomic_load(p) == 8);            \
        CHECK(!atomic_compare_exchange_strong(p, &expected, 1) && expected == 8);                            \
        CHECK(atomic_compare_exchange_weak(p, &expected, 12) && atomic_load(p) == 12);                       \
        atomic_store(p, 10);                                                                                 \
        CHECK(atomic_fetch_add_explicit(p, (type)5, memory_order_relaxed) == 10 &&                                 \
              atomic_fetch_sub_explicit(p, (type)3, memory_order_acquire) == 15 &&                                 \
              atomic_fetch_and_explicit(p, (type)6, memory_order_release, memory_scope_device) == 12 &&            \
              atomic_fetch_or_explicit(p, (type)3, memory_order_acq_rel, memory_scope_work_group) == 4 &&          \
              atomic_fetch_xor_explicit(p, (type)5, memory_order_seq_cst, memory_scope_device) == 7 &&             \
              atomic_exchange_explicit(p, (type)9, memory_order_relaxed) == 2 &&                                   \
              atomic_fetch_min_explicit(p, (type)7, memory_order_relaxed) == 9 &&                                  \
              atomic_fetch_max_explicit(p, (type)8, memory_order_relaxed) == 7);                                   \
        expected = 3;                                                                                        \
        CHECK(!atomic_compare_exchange_strong_explicit(p, &expected, 1, memory_order_acq_rel,                \
                                                       memory_order_acquire, memory_scope_device) && expected == 8); \
        CHECK(atomic_compare_exchange_weak_explicit(p, &expected, 12, memory_order_relaxed, memory_order_relaxed) && \
              atomic_load_explicit(p, memory_order_acquire) == 12);                                          \
        atomic_store_explicit(p, 13, memory_order_release, memory_scope_work_group);                         \
        CHECK(*(volatile type *)p == 13);                                                                    \
    }

#define FLAGS()                                                                                     \
    {                                                                                               \
        volatile atomic_flag *p = (volatile atomic_flag *)words;                                    \
        *(volatile int *)words = 0;                                                                 \
        CHECK(!atomic_flag_test_and_set(p) && atomic_flag_test_and_set_explicit(p, memory_order_acquire)); \
        atomic_flag_clear(p);                                                                       \
        CHECK(!atomic_flag_test_and_set(p));                                                        \
        atomic_flag_clear_explicit(p, memory_order_release, memory_scope_device);                   \
        CHECK(!atomic_flag_test_and_set_explicit(p, memory_order_acq_rel, memory_scope_device));    \
    }

kernel void global_atomics(global ulong *words, global int *checks)
{
    int at = 0;

    OLD_ATOMICS(global, int)
    OLD_ATOMICS(global, uint)
    NEW_ATOMICS(int, atomic_int)
    NEW_ATOMICS(uint, atomic_uint)
    NEW_ATOMICS(long, atomic_long)
    NEW_ATOMICS(ulong, atomic_ulong)
    FLAGS()
}

kernel void local_atomics(global ulong *unused, global int *checks)
{
    local ulong words[1];
    int at = 0;

    OLD_ATOMICS(local, int)
    OLD_ATOMICS(local, uint)
    NEW_ATOMICS(int, atomic_int)
    NEW_ATOMICS(uint, atomic_uint)
    NEW_ATOMICS(long, atomic_long)
    NEW_ATOMICS(ulong, atomic_ulong)
    FLAGS()
}

/* ---- fences ---- */

kernel void fences(global int *word, global int *checks)
{
    local int other;
    int own = 3, at = 0;

    word[0] = 7;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    CHECK(word[0] == 7);
    word[0] = 8;
    write_mem_fence(CLK_GLOBAL_MEM_FENCE);
    read_mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    CHECK(word[0] == 8);
    other = 9;
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    CHECK(other == 9);
    CHECK(get_fence(word) == CLK_GLOBAL_MEM_FENCE && get_fence(&other) == CLK_LOCAL_MEM_FENCE && get_fence(&own) == 0);
    CHECK(to_global((void *)word) == (global void *)word && to_local((void *)word) == 0 && to_local((void *)&other) != 0);
    CHECK(to_private((void *)&own) != 0 && to_private((void *)word) == 0 && to_global((void *)&own) == 0);
}

/* ---- signs of zeros and infinities ---- */

#define ZEROS(T)                                                                     \
    for (int i = 0; i < 8; i++) {                                                    \
        T n = in[i]; int odd = (int)n & 1;                                               \
        CHECK(sinpi(n) == 0 && !signbit(sinpi(n)) && signbit(sinpi(-n)));            \
        CHECK(cospi(n + (T)0.5) == 0 && !signbit(cospi(n + (T)0.5)));                \
        CHECK(cospi(-n - (T)0.5) == 0 && !signbit(cospi(-n - (T)0.5)));              \
        CHECK(tanpi(n) == 0 && signbit(tanpi(n)) == odd);                            \
        CHECK(tanpi(-n) == 0 && signbit(tanpi(-n)) == !odd);                         \
        CHECK(tanpi(n + (T)0.5) == (odd ? -INFINITY : INFINITY));                    \
        CHECK(tanpi(-n - (T)0.5) == (odd ? INFINITY : -INFINITY));                   \
    }                                                                                \
    CHECK(signbit(atanpi(-(T)in[0])) && !signbit(atanpi((T)in[0])));                 \
    CHECK(signbit(atan(-(T)in[0])));                                                 \
    CHECK(signbit(asin(-(T)in[0])));                                                 \
    CHECK(signbit(tan(-(T)in[0])));                                                  \
    CHECK(signbit(sinpi(-(T)in[0])) && signbit(tanpi(-(T)in[0])));                   \
    {                                                                                \
        const T least = nextafter((T)in[0], (T)in[1]);                               \
        const T##2 next = nextafter((T##2)(-least, least), (T##2)(in[1], -in[1]));   \
        CHECK(least > 0 && nextafter(-(T)in[0], (T)in[1]) == least && nextafter((T)in[0], -(T)in[1]) == -least); \
        CHECK(nextafter(-least, (T)in[1]) == 0 && signbit(nextafter(-least, (T)in[1]))); \
        CHECK(nextafter(least, -(T)in[1]) == 0 && !signbit(nextafter(least, -(T)in[1]))); \
        CHECK(next.x == 0 && signbit(next.x) && next.y == 0 && !signbit(next.y));    \
    }                                                                                \
    CHECK(isnan(sinpi((T)INFINITY)) && isnan(cospi((T)INFINITY)) && isnan(tanpi((T)-INFINITY)));

kernel void zeros(global const float *in, global int *checks)
{
    int at = 0;

    ZEROS(float)
    ZEROS(double)
}
