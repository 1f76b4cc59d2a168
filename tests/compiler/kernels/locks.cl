/* SPDX-License-Identifier: MIT */
/* Takes critical sections by every thread of a warp, in both idioms (E8). */

__kernel void lock_inside(__global volatile int *lock, __global volatile int *count)
{
    int done = 0;

    while (!done) {
        if (atomic_cmpxchg(lock, 0, 1) == 0) {
            *count += 1;
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            atomic_xchg(lock, 0);
            done = 1;
        }
    }
}

__kernel void lock_before(__global volatile int *lock, __global volatile int *count)
{
    while (atomic_cmpxchg(lock, 0, 1) != 0) {
    }
    *count += 1;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(lock, 0);
}

/* Each thread waits for the one before it. */
__kernel void chain(__global volatile int *turn, __global int *out)
{
    int t = get_global_id(0);

    while (*turn != t) {
    }
    out[t] = t * t;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *turn = t + 1;
}

/* Odd threads wait for what even threads of the same warp set. */
__kernel void pairs(__global volatile int *flag, __global int *out)
{
    int t = get_global_id(0);

    if (t % 2 == 1) {
        while (flag[t - 1] == 0) {
        }
        out[t] = flag[t - 1];
    } else {
        flag[t] = t + 5;
    }
}

/* A ticket lock whose holder does divergent work. */
__kernel void tickets(__global volatile uint *ticket, __global volatile uint *serving, __global volatile int *sum)
{
    uint t = get_global_id(0), mine = atomic_inc(ticket);

    while (atomic_or(serving, 0) != mine) {
    }
    for (uint i = 0; i < t % 4; i++) {
        *sum += i;
    }
    *sum += 100;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(serving);
}
