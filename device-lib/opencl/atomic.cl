/* SPDX-License-Identifier: MIT */
/*
 * Implements C11 atomics (OpenCL C 6.15.12) on generic pointers. Order and scope do not change what the machine does.
 * Then those of 64 bits that came before them (cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics), which libclc
 * has not.
 */
#include "primitive.h"

#define ORDER memory_order_seq_cst

#define FETCH(name, atomic, type, operand)                                                                  \
    type BUILTIN atomic_fetch_##name##_explicit(volatile atomic *p, operand v, memory_order o, memory_scope s) \
    {                                                                                                       \
        return __opencl_atomic_fetch_##name(p, v, ORDER, memory_scope_device);                              \
    }                                                                                                       \
    type BUILTIN atomic_fetch_##name##_explicit(volatile atomic *p, operand v, memory_order o)              \
    {                                                                                                       \
        return __opencl_atomic_fetch_##name(p, v, ORDER, memory_scope_device);                              \
    }                                                                                                       \
    type BUILTIN atomic_fetch_##name(volatile atomic *p, operand v)                                         \
    {                                                                                                       \
        return __opencl_atomic_fetch_##name(p, v, ORDER, memory_scope_device);                              \
    }

#define INTEGER(atomic, type)      \
    FETCH(add, atomic, type, type) \
    FETCH(sub, atomic, type, type) \
    FETCH(and, atomic, type, type) \
    FETCH(or, atomic, type, type)  \
    FETCH(xor, atomic, type, type) \
    FETCH(min, atomic, type, type) \
    FETCH(max, atomic, type, type) \
    PLAIN(atomic, type)

#define COMPARE(name, atomic, type)                                                                                  \
    bool BUILTIN atomic_compare_exchange_##name##_explicit(volatile atomic *p, type *expected, type desired,         \
                                                           memory_order ok, memory_order no, memory_scope s)         \
    {                                                                                                                \
        return __opencl_atomic_compare_exchange_strong(p, expected, desired, ORDER, ORDER, memory_scope_device);     \
    }                                                                                                                \
    bool BUILTIN atomic_compare_exchange_##name##_explicit(volatile atomic *p, type *expected, type desired,         \
                                                           memory_order ok, memory_order no)                         \
    {                                                                                                                \
        return __opencl_atomic_compare_exchange_strong(p, expected, desired, ORDER, ORDER, memory_scope_device);     \
    }                                                                                                                \
    bool BUILTIN atomic_compare_exchange_##name(volatile atomic *p, type *expected, type desired)                    \
    {                                                                                                                \
        return __opencl_atomic_compare_exchange_strong(p, expected, desired, ORDER, ORDER, memory_scope_device);     \
    }

#define PLAIN(atomic, type)                                                                         \
    type BUILTIN atomic_load_explicit(volatile atomic *p, memory_order o, memory_scope s)           \
    {                                                                                               \
        return __opencl_atomic_load(p, ORDER, memory_scope_device);                                 \
    }                                                                                               \
    type BUILTIN atomic_load_explicit(volatile atomic *p, memory_order o)                           \
    {                                                                                               \
        return __opencl_atomic_load(p, ORDER, memory_scope_device);                                 \
    }                                                                                               \
    type BUILTIN atomic_load(volatile atomic *p)                                                    \
    {                                                                                               \
        return __opencl_atomic_load(p, ORDER, memory_scope_device);                                 \
    }                                                                                               \
    void BUILTIN atomic_store_explicit(volatile atomic *p, type v, memory_order o, memory_scope s)  \
    {                                                                                               \
        __opencl_atomic_store(p, v, ORDER, memory_scope_device);                                    \
    }                                                                                               \
    void BUILTIN atomic_store_explicit(volatile atomic *p, type v, memory_order o)                  \
    {                                                                                               \
        __opencl_atomic_store(p, v, ORDER, memory_scope_device);                                    \
    }                                                                                               \
    void BUILTIN atomic_store(volatile atomic *p, type v)                                           \
    {                                                                                               \
        __opencl_atomic_store(p, v, ORDER, memory_scope_device);                                    \
    }                                                                                               \
    void BUILTIN atomic_init(volatile atomic *p, type v)                                            \
    {                                                                                               \
        *(volatile type *)p = v;                                                                    \
    }                                                                                               \
    type BUILTIN atomic_exchange_explicit(volatile atomic *p, type v, memory_order o, memory_scope s) \
    {                                                                                               \
        return __opencl_atomic_exchange(p, v, ORDER, memory_scope_device);                          \
    }                                                                                               \
    type BUILTIN atomic_exchange_explicit(volatile atomic *p, type v, memory_order o)               \
    {                                                                                               \
        return __opencl_atomic_exchange(p, v, ORDER, memory_scope_device);                          \
    }                                                                                               \
    type BUILTIN atomic_exchange(volatile atomic *p, type v)                                        \
    {                                                                                               \
        return __opencl_atomic_exchange(p, v, ORDER, memory_scope_device);                          \
    }                                                                                               \
    COMPARE(strong, atomic, type)                                                                   \
    COMPARE(weak, atomic, type)

INTEGER(atomic_int, int)
INTEGER(atomic_uint, uint)
INTEGER(atomic_long, long)
INTEGER(atomic_ulong, ulong)
FETCH(add, atomic_ulong, ulong, long) /* atomic_uintptr_t and ptrdiff_t */
FETCH(sub, atomic_ulong, ulong, long)
PLAIN(atomic_float, float)
PLAIN(atomic_double, double)

bool BUILTIN atomic_flag_test_and_set(volatile atomic_flag *p)
{
    return __opencl_atomic_exchange((volatile atomic_int *)p, 1, ORDER, memory_scope_device) != 0;
}

bool BUILTIN atomic_flag_test_and_set_explicit(volatile atomic_flag *p, memory_order o)
{
    return atomic_flag_test_and_set(p);
}

bool BUILTIN atomic_flag_test_and_set_explicit(volatile atomic_flag *p, memory_order o, memory_scope s)
{
    return atomic_flag_test_and_set(p);
}

void BUILTIN atomic_flag_clear(volatile atomic_flag *p)
{
    __opencl_atomic_store((volatile atomic_int *)p, 0, ORDER, memory_scope_device);
}

void BUILTIN atomic_flag_clear_explicit(volatile atomic_flag *p, memory_order o)
{
    atomic_flag_clear(p);
}

void BUILTIN atomic_flag_clear_explicit(volatile atomic_flag *p, memory_order o, memory_scope s)
{
    atomic_flag_clear(p);
}

#define OLD(name, space, type, operation)                                                                    \
    type BUILTIN atom_##name(volatile space type *p, type v)                                                 \
    {                                                                                                        \
        return __opencl_atomic_##operation((volatile space atomic_##type *)p, v, memory_order_relaxed,       \
                                           memory_scope_device);                                             \
    }

#define OLD_ALL(space, type)                                                                                 \
    OLD(add, space, type, fetch_add)                                                                         \
    OLD(sub, space, type, fetch_sub)                                                                         \
    OLD(xchg, space, type, exchange)                                                                         \
    OLD(min, space, type, fetch_min)                                                                         \
    OLD(max, space, type, fetch_max)                                                                         \
    OLD(and, space, type, fetch_and)                                                                         \
    OLD(or, space, type, fetch_or)                                                                           \
    OLD(xor, space, type, fetch_xor)                                                                         \
    type BUILTIN atom_inc(volatile space type *p)                                                            \
    {                                                                                                        \
        return atom_add(p, (type)1);                                                                         \
    }                                                                                                        \
    type BUILTIN atom_dec(volatile space type *p)                                                            \
    {                                                                                                        \
        return atom_sub(p, (type)1);                                                                         \
    }                                                                                                        \
    type BUILTIN atom_cmpxchg(volatile space type *p, type expected, type desired)                           \
    {                                                                                                        \
        __opencl_atomic_compare_exchange_strong((volatile space atomic_##type *)p, &expected, desired,       \
                                                memory_order_relaxed, memory_order_relaxed,                  \
                                                memory_scope_device);                                        \
        return expected;                                                                                     \
    }

OLD_ALL(__global, long)
OLD_ALL(__global, ulong)
OLD_ALL(__local, long)
OLD_ALL(__local, ulong)
