/* SPDX-License-Identifier: MIT */
/*
 * Defines, for clang on the host, the built-in functions that random programs call. They are clang's own operations
 * on elements, or written out.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef ulong size_t;

#define VECTORS(type)                                                                                     \
    typedef type type##2 __attribute__((ext_vector_type(2)));                                             \
    typedef type type##3 __attribute__((ext_vector_type(3)));                                             \
    typedef type type##4 __attribute__((ext_vector_type(4)));                                             \
    typedef type type##8 __attribute__((ext_vector_type(8)));                                             \
    typedef type type##16 __attribute__((ext_vector_type(16)));
VECTORS(char)
VECTORS(uchar)
VECTORS(short)
VECTORS(ushort)
VECTORS(int)
VECTORS(uint)
VECTORS(long)
VECTORS(ulong)
VECTORS(float)
VECTORS(double)

uint host_group(void);
uint host_item(uint dimension);
uint host_size(uint dimension);
uint host_groups(void);
void host_barrier(void);
#define barrier(fence) host_barrier()
#define mem_fence(fence)
#define get_group_id(d) ((size_t)host_group())
#define get_local_id(d) ((size_t)host_item(d))
#define get_local_size(d) ((size_t)host_size(d))
#define get_num_groups(d) ((size_t)host_groups())

#define OVER __attribute__((overloadable)) static
#define fabs(a) __builtin_elementwise_abs(a)
#define sqrt(a) __builtin_elementwise_sqrt(a)
#define floor(a) __builtin_elementwise_floor(a)
#define ceil(a) __builtin_elementwise_ceil(a)
#define trunc(a) __builtin_elementwise_trunc(a)
#define rint(a) __builtin_elementwise_rint(a)
#define select(a, b, c) ((c) ? (b) : (a))

#define INTEGER(type, utype, bits)                                                                        \
    OVER type rotate(type a, type b) { return (type)((utype)a << (b & (bits - 1)) | (utype)a >> (-b & (bits - 1))); } \
    OVER type hadd(type a, type b) { return (a >> 1) + (b >> 1) + (a & b & 1); }                         \
    OVER type rhadd(type a, type b) { return (a >> 1) + (b >> 1) + ((a | b) & 1); }                      \
    OVER utype abs_diff(type a, type b) { return a > b ? (utype)a - (utype)b : (utype)b - (utype)a; }     \
    OVER type clz(type a) { return a == 0 ? bits : __builtin_clzl((ulong)(utype)a) - (64 - bits); }      \
    OVER type min(type a, type b) { return a < b ? a : b; }                                               \
    OVER type max(type a, type b) { return a > b ? a : b; }                                               \
    OVER type clamp(type a, type b, type c) { return min(max(a, b), c); }                                 \
    OVER type highest(type a) { return (type)-1 > 0 ? (type)-1 : (type)(((utype)-1) >> 1); }              \
    OVER type lowest(type a) { return ~highest(a); }                                                      \
    OVER type add_sat(type a, type b)                                                                     \
    { type r; return !__builtin_add_overflow(a, b, &r) ? r : b < 0 ? lowest(a) : highest(a); }            \
    OVER type sub_sat(type a, type b)                                                                     \
    { type r; return !__builtin_sub_overflow(a, b, &r) ? r : b > 0 ? lowest(a) : highest(a); }            \
    OVER type popcount(type a) { return __builtin_popcountl((ulong)(utype)a); }
INTEGER(char, uchar, 8)
INTEGER(uchar, uchar, 8)
INTEGER(short, ushort, 16)
INTEGER(ushort, ushort, 16)
INTEGER(int, uint, 32)
INTEGER(uint, uint, 32)
INTEGER(long, ulong, 64)
INTEGER(ulong, ulong, 64)
#define VECTOR_LIMITS(type)                                                                               \
    OVER type min(type a, type b) { return __builtin_elementwise_min(a, b); }                             \
    OVER type max(type a, type b) { return __builtin_elementwise_max(a, b); }                             \
    OVER type add_sat(type a, type b) { return __builtin_elementwise_add_sat(a, b); }                     \
    OVER type sub_sat(type a, type b) { return __builtin_elementwise_sub_sat(a, b); }
#define ALL_VECTOR_LIMITS(type)                                                                           \
    VECTOR_LIMITS(type##2) VECTOR_LIMITS(type##3) VECTOR_LIMITS(type##4) VECTOR_LIMITS(type##8) VECTOR_LIMITS(type##16)
ALL_VECTOR_LIMITS(char)
ALL_VECTOR_LIMITS(uchar)
ALL_VECTOR_LIMITS(short)
ALL_VECTOR_LIMITS(ushort)
ALL_VECTOR_LIMITS(int)
ALL_VECTOR_LIMITS(uint)
ALL_VECTOR_LIMITS(long)
ALL_VECTOR_LIMITS(ulong)
OVER int mul_hi(int a, int b) { return (int)((long)a * b >> 32); }
OVER uint mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
OVER uint mul24(uint a, uint b) { return a * b; }

#define VECTOR_INTEGER(n)                                                                                 \
    OVER uint##n rotate(uint##n a, uint##n b) { return a << (b & 31u) | a >> (-b & 31u); }                \
    OVER int any(int##n a) { int r = 0; for (int i = 0; i < n; i++) { r |= a[i] < 0; } return r; }        \
    OVER int all(int##n a) { int r = 1; for (int i = 0; i < n; i++) { r &= a[i] < 0; } return r; }        \
    OVER uint##n vload##n(size_t at, const uint *p)                                                       \
    { uint##n r; for (int i = 0; i < n; i++) { r[i] = p[at * n + i]; } return r; }                        \
    OVER void vstore##n(uint##n v, size_t at, uint *p)                                                    \
    { for (int i = 0; i < n; i++) { p[at * n + i] = v[i]; } }
VECTOR_INTEGER(2)
VECTOR_INTEGER(3)
VECTOR_INTEGER(4)
VECTOR_INTEGER(8)
VECTOR_INTEGER(16)

#define FUSED(type) OVER type fma(type a, type b, type c) { return __builtin_elementwise_fma(a, b, c); }
#define ALL_FUSED(type) FUSED(type) FUSED(type##2) FUSED(type##3) FUSED(type##4) FUSED(type##8) FUSED(type##16)
ALL_FUSED(float)
ALL_FUSED(double)

#define convert(x, type) __builtin_convertvector(x, type)
#define as(x, type) __builtin_astype(x, type)

static uint atomic_add(volatile uint *p, uint v) { uint old = *p; *p = old + v; return old; }
static uint atomic_sub(volatile uint *p, uint v) { uint old = *p; *p = old - v; return old; }
static uint atomic_xor(volatile uint *p, uint v) { uint old = *p; *p = old ^ v; return old; }
static uint atomic_and(volatile uint *p, uint v) { uint old = *p; *p = old & v; return old; }
static uint atomic_or(volatile uint *p, uint v) { uint old = *p; *p = old | v; return old; }
static uint atomic_min(volatile uint *p, uint v) { uint old = *p; *p = old < v ? old : v; return old; }
static uint atomic_max(volatile uint *p, uint v) { uint old = *p; *p = old > v ? old : v; return old; }
static uint atomic_inc(volatile uint *p) { return (*p)++; }
static uint atomic_xchg(volatile uint *p, uint v) { uint old = *p; *p = v; return old; }
static uint atomic_cmpxchg(volatile uint *p, uint c, uint v) { uint old = *p; *p = old == c ? v : old; return old; }
#define convert_char2(x) convert(x, char2)
#define as_char2(x) as(x, char2)
#define convert_char3(x) convert(x, char3)
#define as_char3(x) as(x, char3)
#define convert_char4(x) convert(x, char4)
#define as_char4(x) as(x, char4)
#define convert_char8(x) convert(x, char8)
#define as_char8(x) as(x, char8)
#define convert_char16(x) convert(x, char16)
#define as_char16(x) as(x, char16)
#define convert_uchar2(x) convert(x, uchar2)
#define as_uchar2(x) as(x, uchar2)
#define convert_uchar3(x) convert(x, uchar3)
#define as_uchar3(x) as(x, uchar3)
#define convert_uchar4(x) convert(x, uchar4)
#define as_uchar4(x) as(x, uchar4)
#define convert_uchar8(x) convert(x, uchar8)
#define as_uchar8(x) as(x, uchar8)
#define convert_uchar16(x) convert(x, uchar16)
#define as_uchar16(x) as(x, uchar16)
#define convert_short2(x) convert(x, short2)
#define as_short2(x) as(x, short2)
#define convert_short3(x) convert(x, short3)
#define as_short3(x) as(x, short3)
#define convert_short4(x) convert(x, short4)
#define as_short4(x) as(x, short4)
#define convert_short8(x) convert(x, short8)
#define as_short8(x) as(x, short8)
#define convert_short16(x) convert(x, short16)
#define as_short16(x) as(x, short16)
#define convert_ushort2(x) convert(x, ushort2)
#define as_ushort2(x) as(x, ushort2)
#define convert_ushort3(x) convert(x, ushort3)
#define as_ushort3(x) as(x, ushort3)
#define convert_ushort4(x) convert(x, ushort4)
#define as_ushort4(x) as(x, ushort4)
#define convert_ushort8(x) convert(x, ushort8)
#define as_ushort8(x) as(x, ushort8)
#define convert_ushort16(x) convert(x, ushort16)
#define as_ushort16(x) as(x, ushort16)
#define convert_int2(x) convert(x, int2)
#define as_int2(x) as(x, int2)
#define convert_int3(x) convert(x, int3)
#define as_int3(x) as(x, int3)
#define convert_int4(x) convert(x, int4)
#define as_int4(x) as(x, int4)
#define convert_int8(x) convert(x, int8)
#define as_int8(x) as(x, int8)
#define convert_int16(x) convert(x, int16)
#define as_int16(x) as(x, int16)
#define convert_uint2(x) convert(x, uint2)
#define as_uint2(x) as(x, uint2)
#define convert_uint3(x) convert(x, uint3)
#define as_uint3(x) as(x, uint3)
#define convert_uint4(x) convert(x, uint4)
#define as_uint4(x) as(x, uint4)
#define convert_uint8(x) convert(x, uint8)
#define as_uint8(x) as(x, uint8)
#define convert_uint16(x) convert(x, uint16)
#define as_uint16(x) as(x, uint16)
#define convert_long2(x) convert(x, long2)
#define as_long2(x) as(x, long2)
#define convert_long3(x) convert(x, long3)
#define as_long3(x) as(x, long3)
#define convert_long4(x) convert(x, long4)
#define as_long4(x) as(x, long4)
#define convert_long8(x) convert(x, long8)
#define as_long8(x) as(x, long8)
#define convert_long16(x) convert(x, long16)
#define as_long16(x) as(x, long16)
#define convert_ulong2(x) convert(x, ulong2)
#define as_ulong2(x) as(x, ulong2)
#define convert_ulong3(x) convert(x, ulong3)
#define as_ulong3(x) as(x, ulong3)
#define convert_ulong4(x) convert(x, ulong4)
#define as_ulong4(x) as(x, ulong4)
#define convert_ulong8(x) convert(x, ulong8)
#define as_ulong8(x) as(x, ulong8)
#define convert_ulong16(x) convert(x, ulong16)
#define as_ulong16(x) as(x, ulong16)
#define convert_float2(x) convert(x, float2)
#define as_float2(x) as(x, float2)
#define convert_float3(x) convert(x, float3)
#define as_float3(x) as(x, float3)
#define convert_float4(x) convert(x, float4)
#define as_float4(x) as(x, float4)
#define convert_float8(x) convert(x, float8)
#define as_float8(x) as(x, float8)
#define convert_float16(x) convert(x, float16)
#define as_float16(x) as(x, float16)
#define convert_double2(x) convert(x, double2)
#define as_double2(x) as(x, double2)
#define convert_double3(x) convert(x, double3)
#define as_double3(x) as(x, double3)
#define convert_double4(x) convert(x, double4)
#define as_double4(x) as(x, double4)
#define convert_double8(x) convert(x, double8)
#define as_double8(x) as(x, double8)
#define convert_double16(x) convert(x, double16)
#define as_double16(x) as(x, double16)
#define as_uint(x) as(x, uint)
#define as_int(x) as(x, int)
#define as_ulong(x) as(x, ulong)
#define as_float(x) as(x, float)
#define as_double(x) as(x, double)
