/* SPDX-License-Identifier: MIT */
/*
 * Implements pipes: OpenCL C 6.15.14, by the names that clang gives the functions. Nobody waits: a reservation takes
 * cells that are all free, or all full, at that time, and a commit passes on its own cells alone.
 */
#include "lanes.h"
#include "ppu/pipe.h"

#define PIPE __attribute__((always_inline, convergent))
#define FAILED (-1)

typedef global struct ppu_pipe *pipe_t;

INLINE ulong place_load(volatile global ulong *at)
{
    return __opencl_atomic_load((volatile global atomic_ulong *)at, memory_order_seq_cst, memory_scope_device);
}

INLINE bool place_move(volatile global ulong *at, ulong from, ulong to)
{
    return __opencl_atomic_compare_exchange_strong((volatile global atomic_ulong *)at, &from, to, memory_order_seq_cst,
                                                   memory_order_seq_cst, memory_scope_device);
}

INLINE void count_add(volatile global uint *at, uint n)
{
    __opencl_atomic_fetch_add((volatile global atomic_uint *)at, n, memory_order_seq_cst, memory_scope_device);
}

INLINE volatile global uint *cell_state(pipe_t ring, uint cell)
{
    return (volatile global uint *)(ring + 1) + cell;
}

/* The n-th place behind another one; n is at most the number of cells. */
INLINE ulong place_behind(pipe_t ring, ulong place, uint n)
{
    const uint cell = (uint)place, left = ring->packets - cell;

    return n < left ? place + n : (place & 0xffffffff00000000ul) + (1ul << 32) + (n - left);
}

/* True when the cell is free, or full, in the turn of the place. */
INLINE bool is_ready(pipe_t ring, ulong place, bool full)
{
    volatile global atomic_uint *state = (volatile global atomic_uint *)cell_state(ring, (uint)place);
    const uint turn = (uint)(place >> 32);

    return __opencl_atomic_load(state, memory_order_seq_cst, memory_scope_device) ==
           (full ? PPU_PIPE_FULL(turn) : PPU_PIPE_FREE(turn));
}

INLINE bool are_ready(pipe_t ring, ulong place, uint n, bool full)
{
    bool ready = true;

    for (uint i = 0; i < n && ready; i++) {
        ready = is_ready(ring, place_behind(ring, place, i), full);
    }
    return ready;
}

/* Cells that others have taken since look as if they were not ready: only who sees the place unchanged gives up. */
INLINE ulong reserve(pipe_t ring, uint n, uint size, bool full)
{
    volatile global ulong *at = full ? &ring->read : &ring->write;

    if (n == 0 || n > ring->packets || size != ring->packet_bytes) {
        return PPU_PIPE_NO_RESERVATION;
    }
    for (;;) {
        const ulong place = place_load(at);
        if (are_ready(ring, place, n, full)) {
            if (place_move(at, place, place_behind(ring, place, n))) {
                if (full) {
                    count_add(&ring->filled, -n);
                }
                return (ulong)n << 32 | (uint)place;
            }
        } else if (place_load(at) == place) {
            return PPU_PIPE_NO_RESERVATION;
        }
    }
}

INLINE uint reserved_cell(pipe_t ring, ulong id, uint n)
{
    const uint cell = (uint)id, left = ring->packets - cell;

    return n < left ? cell + n : n - left;
}

/* From free to full, or from full to free for the next turn. */
INLINE void commit(pipe_t ring, ulong id, bool full)
{
    const uint n = id != PPU_PIPE_NO_RESERVATION ? (uint)(id >> 32) : 0;

    if (!full && n != 0) {
        count_add(&ring->filled, n);
    }
    for (uint i = 0; i < n; i++) {
        count_add(cell_state(ring, reserved_cell(ring, id, i)), 1);
    }
}

INLINE global uchar *packet(pipe_t ring, uint cell)
{
    return (global uchar *)ring + ppu_pipe_packets_at(ring->packets) + (ulong)cell * ring->packet_bytes;
}

INLINE void copy(uchar *to, const uchar *from, uint size)
{
    uint done = 0;

    if ((((ulong)to | (ulong)from) & 3) == 0) {
        for (; done + 4 <= size; done += 4) {
            *(uint *)(to + done) = *(const uint *)(from + done);
        }
    }
    for (; done < size; done++) {
        to[done] = from[done];
    }
}

INLINE int move_packet(pipe_t ring, ulong id, uint index, uchar *other, uint size, bool full)
{
    if (id == PPU_PIPE_NO_RESERVATION || index >= (uint)(id >> 32) || size != ring->packet_bytes) {
        return FAILED;
    }
    uchar *const own = (uchar *)packet(ring, reserved_cell(ring, id, index));
    copy(full ? other : own, full ? own : other, size);
    return 0;
}

INLINE int move_one(pipe_t ring, uchar *other, uint size, bool full)
{
    const ulong id = reserve(ring, 1, size, full);
    const int error = move_packet(ring, id, 0, other, size, full);

    commit(ring, id, full);
    return error;
}

/* ---- for a whole work-group or sub-group: one work-item does it ---- */

INLINE ulong reserve_for_group(pipe_t ring, uint n, uint size, bool full)
{
    local ulong *id = __ppu_group_scratch();

    __ppu_barrier();
    if (__ppu_sr(PPU_SR_TID) == 0) {
        *id = reserve(ring, n, size, full);
    }
    __ppu_barrier();
    return *id;
}

INLINE void commit_for_group(pipe_t ring, ulong id, bool full)
{
    __ppu_barrier();
    if (__ppu_sr(PPU_SR_TID) == 0) {
        commit(ring, id, full);
    }
}

INLINE ulong reserve_for_warp(pipe_t ring, uint n, uint size, bool full)
{
    ulong id = 0;

    __ppu_meet();
    if (lane() == 0) {
        id = reserve(ring, n, size, full);
    }
    __ppu_meet();
    return move(id, 0);
}

INLINE void commit_for_warp(pipe_t ring, ulong id, bool full)
{
    __ppu_meet();
    if (lane() == 0) {
        __ppu_fence(PPU_ORDER_SEQ_CST, PPU_SCOPE_OF_DEVICE);
        commit(ring, id, full);
    }
}

/* ---- names ---- */

#define DIRECTION(way, rw, full)                                                                              \
    int PIPE __##way##_pipe_2(pipe_t ring, void *packet, uint size, uint align)                               \
    {                                                                                                         \
        return move_one(ring, packet, size, full);                                                            \
    }                                                                                                         \
    int PIPE __##way##_pipe_4(pipe_t ring, ulong id, uint index, void *packet, uint size, uint align)         \
    {                                                                                                         \
        return move_packet(ring, id, index, packet, size, full);                                              \
    }                                                                                                         \
    ulong PIPE __reserve_##way##_pipe(pipe_t ring, uint n, uint size, uint align)                             \
    {                                                                                                         \
        return reserve(ring, n, size, full);                                                                  \
    }                                                                                                         \
    void PIPE __commit_##way##_pipe(pipe_t ring, ulong id, uint size, uint align)                             \
    {                                                                                                         \
        commit(ring, id, full);                                                                               \
    }                                                                                                         \
    ulong PIPE __work_group_reserve_##way##_pipe(pipe_t ring, uint n, uint size, uint align)                  \
    {                                                                                                         \
        return reserve_for_group(ring, n, size, full);                                                        \
    }                                                                                                         \
    void PIPE __work_group_commit_##way##_pipe(pipe_t ring, ulong id, uint size, uint align)                  \
    {                                                                                                         \
        commit_for_group(ring, id, full);                                                                     \
    }                                                                                                         \
    ulong PIPE __sub_group_reserve_##way##_pipe(pipe_t ring, uint n, uint size, uint align)                   \
    {                                                                                                         \
        return reserve_for_warp(ring, n, size, full);                                                         \
    }                                                                                                         \
    void PIPE __sub_group_commit_##way##_pipe(pipe_t ring, ulong id, uint size, uint align)                   \
    {                                                                                                         \
        commit_for_warp(ring, id, full);                                                                      \
    }                                                                                                         \
    uint PIPE __get_pipe_num_packets_##rw(pipe_t ring, uint size, uint align)                                 \
    {                                                                                                         \
        return *(volatile global uint *)&ring->filled;                                                        \
    }                                                                                                         \
    uint PIPE __get_pipe_max_packets_##rw(pipe_t ring, uint size, uint align)                                 \
    {                                                                                                         \
        return ring->packets;                                                                                 \
    }

DIRECTION(read, ro, true)
DIRECTION(write, wo, false)

/* is_valid_reserve_id(): its parameter's type is lowered to a number. */
bool PIPE _Z19is_valid_reserve_id13ocl_reserveid(ulong id)
{
    return id != PPU_PIPE_NO_RESERVATION;
}
