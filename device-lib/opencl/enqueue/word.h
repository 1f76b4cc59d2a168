/* SPDX-License-Identifier: MIT */
/* Accesses words of memory that threads of the whole device change. */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_WORD_H
#define DEVICE_LIB_OPENCL_ENQUEUE_WORD_H

#define INLINE static inline __attribute__((always_inline))
#define LIBRARY __attribute__((always_inline))

#define ATOM(p) ((volatile global atomic_uint *)(p))
#define ATOM64(p) ((volatile global atomic_ulong *)(p))

INLINE uint add(global uint *p, uint n)
{
    return __opencl_atomic_fetch_add(ATOM(p), n, memory_order_seq_cst, memory_scope_device);
}

INLINE uint load(global uint *p)
{
    return __opencl_atomic_load(ATOM(p), memory_order_acquire, memory_scope_device);
}

INLINE ulong load64(global ulong *p)
{
    return __opencl_atomic_load(ATOM64(p), memory_order_acquire, memory_scope_device);
}

INLINE uint exchange(global uint *p, uint n)
{
    return __opencl_atomic_exchange(ATOM(p), n, memory_order_seq_cst, memory_scope_device);
}

INLINE ulong exchange64(global ulong *p, ulong n)
{
    return __opencl_atomic_exchange(ATOM64(p), n, memory_order_seq_cst, memory_scope_device);
}

INLINE bool replace(global uint *p, uint from, uint to)
{
    return __opencl_atomic_compare_exchange_strong(ATOM(p), &from, to, memory_order_seq_cst, memory_order_seq_cst,
                                                   memory_scope_device);
}

INLINE bool replace64(global ulong *p, ulong from, ulong to)
{
    return __opencl_atomic_compare_exchange_strong(ATOM64(p), &from, to, memory_order_seq_cst, memory_order_seq_cst,
                                                   memory_scope_device);
}

#endif
