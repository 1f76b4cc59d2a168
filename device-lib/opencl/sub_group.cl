/* SPDX-License-Identifier: MIT */
/*
 * Implements the functions of sub-groups: OpenCL C 6.15.19 and the cl_khr_subgroup extensions. A sub-group is a warp,
 * so its collective functions are shuffles and votes. Those of the core are for all of its work-items: the ones that
 * come first wait. Those that are called non-uniform, clustered or relative are for the work-items that come together.
 */
#include "lanes.h"

/* ---- numbers ---- */

uint COLLECTIVE get_sub_group_size(void)
{
    return warp_lanes();
}

uint COLLECTIVE get_max_sub_group_size(void)
{
    return min(wave(), (uint)(get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2)));
}

uint COLLECTIVE get_num_sub_groups(void)
{
    return group_warps();
}

uint COLLECTIVE get_enqueued_num_sub_groups(void)
{
    const uint threads =
        (uint)(get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2));

    return (threads + wave() - 1) / wave();
}

uint COLLECTIVE get_sub_group_id(void)
{
    return __ppu_sr(PPU_SR_WARP);
}

uint COLLECTIVE get_sub_group_local_id(void)
{
    return lane();
}

/* ---- barriers, votes ---- */

void COLLECTIVE sub_group_barrier(cl_mem_fence_flags flags)
{
    __ppu_meet();
    __ppu_fence(PPU_ORDER_ACQ_REL, PPU_SCOPE_OF_CTA);
}

void COLLECTIVE sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    __ppu_meet();
    if (scope == memory_scope_all_svm_devices) {
        __ppu_fence(PPU_ORDER_SEQ_CST, PPU_SCOPE_OF_SYSTEM);
    } else if (scope == memory_scope_device) {
        __ppu_fence(PPU_ORDER_ACQ_REL, PPU_SCOPE_OF_DEVICE);
    } else {
        __ppu_fence(PPU_ORDER_ACQ_REL, PPU_SCOPE_OF_CTA);
    }
}

int COLLECTIVE sub_group_all(int predicate)
{
    __ppu_meet();
    return __ppu_vote_all(predicate != 0);
}

int COLLECTIVE sub_group_any(int predicate)
{
    __ppu_meet();
    return __ppu_vote_any(predicate != 0);
}

int COLLECTIVE sub_group_elect(void)
{
    return lanes_first(active_lanes()) == lane();
}

int COLLECTIVE sub_group_non_uniform_all(int predicate)
{
    return __ppu_vote_all(predicate != 0);
}

int COLLECTIVE sub_group_non_uniform_any(int predicate)
{
    return __ppu_vote_any(predicate != 0);
}

#define ALL_EQUAL(type, least, most)                                        \
    int COLLECTIVE sub_group_non_uniform_all_equal(type value)              \
    {                                                                       \
        return __ppu_vote_all(move(value, lanes_first(active_lanes())) == value); \
    }

/* ---- sets of work-items ---- */

uint4 COLLECTIVE sub_group_ballot(int predicate)
{
    return lanes_that(predicate != 0);
}

int COLLECTIVE sub_group_inverse_ballot(uint4 value)
{
    return lanes_have(value, lane());
}

int COLLECTIVE sub_group_ballot_bit_extract(uint4 value, uint index)
{
    return lanes_have(value, index);
}

/* What lies beyond the sub-group does not count. */
static uint4 COLLECTIVE those_that_exist(uint4 value)
{
    return value & lanes_below(get_max_sub_group_size());
}

uint COLLECTIVE sub_group_ballot_bit_count(uint4 value)
{
    return lanes_count(those_that_exist(value));
}

uint COLLECTIVE sub_group_ballot_inclusive_scan(uint4 value)
{
    return lanes_count(those_that_exist(value) & lanes_below(lane() + 1));
}

uint COLLECTIVE sub_group_ballot_exclusive_scan(uint4 value)
{
    return lanes_count(those_that_exist(value) & lanes_below(lane()));
}

uint COLLECTIVE sub_group_ballot_find_lsb(uint4 value)
{
    return lanes_first(those_that_exist(value));
}

uint COLLECTIVE sub_group_ballot_find_msb(uint4 value)
{
    return lanes_last(those_that_exist(value));
}

uint4 COLLECTIVE get_sub_group_eq_mask(void)
{
    return lanes_below(lane() + 1) & ~lanes_below(lane());
}

uint4 COLLECTIVE get_sub_group_ge_mask(void)
{
    return those_that_exist(~lanes_below(lane()));
}

uint4 COLLECTIVE get_sub_group_gt_mask(void)
{
    return those_that_exist(~lanes_below(lane() + 1));
}

uint4 COLLECTIVE get_sub_group_le_mask(void)
{
    return lanes_below(lane() + 1);
}

uint4 COLLECTIVE get_sub_group_lt_mask(void)
{
    return lanes_below(lane());
}

/* ---- values of one work-item ---- */

#define BROADCASTS(type, least, most)                                       \
    type COLLECTIVE sub_group_broadcast(type value, uint index)             \
    {                                                                       \
        __ppu_meet();                                                       \
        return move(value, index);                                          \
    }                                                                       \
    type COLLECTIVE sub_group_non_uniform_broadcast(type value, uint index) \
    {                                                                       \
        return move(value, index);                                          \
    }                                                                       \
    type COLLECTIVE sub_group_broadcast_first(type value)                   \
    {                                                                       \
        return move(value, lanes_first(active_lanes()));                    \
    }
#define SHUFFLES(type, least, most)                                                 \
    type COLLECTIVE sub_group_shuffle(type value, uint index)                       \
    {                                                                               \
        return move(value, index);                                                  \
    }                                                                               \
    type COLLECTIVE sub_group_shuffle_xor(type value, uint by)                      \
    {                                                                               \
        return move_xor(value, by);                                                 \
    }                                                                               \
    type COLLECTIVE sub_group_shuffle_up(type value, uint by)                       \
    {                                                                               \
        return move_up(value, by);                                                  \
    }                                                                               \
    type COLLECTIVE sub_group_shuffle_down(type value, uint by)                     \
    {                                                                               \
        return move_down(value, by);                                                \
    }                                                                               \
    type COLLECTIVE sub_group_rotate(type value, int by)                            \
    {                                                                               \
        return move(value, (lane() + (uint)by) % get_max_sub_group_size());         \
    }                                                                               \
    type COLLECTIVE sub_group_clustered_rotate(type value, int by, uint size)       \
    {                                                                               \
        return move(value, (lane() & ~(size - 1)) | ((lane() + (uint)by) & (size - 1))); \
    }

#define PLAIN(type, least, most) BROADCASTS(type, least, most) SHUFFLES(type, least, most) ALL_EQUAL(type, least, most)
NARROW_INTEGERS(PLAIN)
INTEGERS(PLAIN)
FLOATS(PLAIN)

/* A vector, by its elements. */
#define VECTOR(type, n, ...)                                                   \
    type##n COLLECTIVE sub_group_broadcast(type##n v, uint index)              \
    {                                                                          \
        __ppu_meet();                                                          \
        return (type##n)(__VA_ARGS__);                                         \
    }                                                                          \
    type##n COLLECTIVE sub_group_non_uniform_broadcast(type##n v, uint index)  \
    {                                                                          \
        return (type##n)(__VA_ARGS__);                                         \
    }
#define OF(e) move(v.s##e, index)
#define VECTORS(type, least, most)                                                                              \
    VECTOR(type, 2, OF(0), OF(1))                                                                               \
    VECTOR(type, 3, OF(0), OF(1), OF(2))                                                                        \
    VECTOR(type, 4, OF(0), OF(1), OF(2), OF(3))                                                                 \
    VECTOR(type, 8, OF(0), OF(1), OF(2), OF(3), OF(4), OF(5), OF(6), OF(7))                                     \
    VECTOR(type, 16, OF(0), OF(1), OF(2), OF(3), OF(4), OF(5), OF(6), OF(7), OF(8), OF(9), OF(a), OF(b), OF(c), \
           OF(d), OF(e), OF(f))
NARROW_INTEGERS(VECTORS)
INTEGERS(VECTORS)
FLOATS(VECTORS)

/* ---- reductions and scans ---- */

/* Of all lanes of the warp up to this one: each step doubles how many are in the sum. */
#define SCAN_ALL(type, value, OPERATION)                          \
    type sum = value;                                             \
    for (uint by = 1; by < wave(); by *= 2) {                     \
        const type other = move_up(sum, by);                      \
        sum = lane() >= by ? (type)OPERATION(other, sum) : sum;   \
    }

/*
 * Of the lanes of a set up to this one. Each knows the one before those that are in its sum: by that one's sum it
 * doubles how many they are, and learns who is before them.
 */
#define SCAN_SET(type, value, set, OPERATION)                       \
    type sum = value;                                               \
    uint before = lanes_last(set & lanes_below(lane()));            \
    for (uint by = 1; by < wave(); by *= 2) {                       \
        const type other = move(sum, before);                       \
        const uint next = move(before, before);                     \
        sum = before != NO_LANE ? (type)OPERATION(other, sum) : sum; \
        before = before != NO_LANE ? next : before;                 \
    }

#define CORE(type, name, OPERATION, identity)                          \
    type COLLECTIVE sub_group_reduce_##name(type value)                \
    {                                                                  \
        __ppu_meet();                                                  \
        SCAN_ALL(type, value, OPERATION)                               \
        return move(sum, warp_lanes() - 1);                            \
    }                                                                  \
    type COLLECTIVE sub_group_scan_inclusive_##name(type value)        \
    {                                                                  \
        __ppu_meet();                                                  \
        SCAN_ALL(type, value, OPERATION)                               \
        return sum;                                                    \
    }                                                                  \
    type COLLECTIVE sub_group_scan_exclusive_##name(type value)        \
    {                                                                  \
        __ppu_meet();                                                  \
        SCAN_ALL(type, value, OPERATION)                               \
        const type other = move_up(sum, 1);                            \
        return lane() == 0 ? (type)(identity) : other;                 \
    }

#define SOME(type, name, OPERATION, identity)                                        \
    type COLLECTIVE sub_group_non_uniform_reduce_##name(type value)                  \
    {                                                                                \
        const uint4 set = active_lanes();                                            \
        SCAN_SET(type, value, set, OPERATION)                                        \
        return move(sum, lanes_last(set));                                           \
    }                                                                                \
    type COLLECTIVE sub_group_non_uniform_scan_inclusive_##name(type value)          \
    {                                                                                \
        const uint4 set = active_lanes();                                            \
        SCAN_SET(type, value, set, OPERATION)                                        \
        return sum;                                                                  \
    }                                                                                \
    type COLLECTIVE sub_group_non_uniform_scan_exclusive_##name(type value)          \
    {                                                                                \
        const uint4 set = active_lanes();                                            \
        SCAN_SET(type, value, set, OPERATION)                                        \
        const uint one_before = lanes_last(set & lanes_below(lane()));               \
        const type other = move(sum, one_before);                                    \
        return one_before == NO_LANE ? (type)(identity) : other;                     \
    }                                                                                \
    type COLLECTIVE sub_group_clustered_reduce_##name(type value, uint size)         \
    {                                                                                \
        const uint4 set = cluster_lanes(size);                                       \
        SCAN_SET(type, value, set, OPERATION)                                        \
        return move(sum, lanes_last(set));                                           \
    }

#define CORE_INTEGER(type, least, most)  \
    CORE(type, add, SUM, 0)              \
    CORE(type, min, SMALLER, most)       \
    CORE(type, max, LARGER, least)
#define CORE_FLOAT(type, least, most)    \
    CORE(type, add, SUM, 0)              \
    CORE(type, min, SMALLER_FLOAT, most) \
    CORE(type, max, LARGER_FLOAT, least)
#define SOME_INTEGER(type, least, most)  \
    SOME(type, add, SUM, 0)              \
    SOME(type, mul, PRODUCT, 1)          \
    SOME(type, min, SMALLER, most)       \
    SOME(type, max, LARGER, least)       \
    SOME(type, and, BITS_AND, ~(type)0)  \
    SOME(type, or, BITS_OR, 0)           \
    SOME(type, xor, BITS_XOR, 0)
#define SOME_FLOAT(type, least, most)    \
    SOME(type, add, SUM, 0)              \
    SOME(type, mul, PRODUCT, 1)          \
    SOME(type, min, SMALLER_FLOAT, most) \
    SOME(type, max, LARGER_FLOAT, least)

NARROW_INTEGERS(CORE_INTEGER)
INTEGERS(CORE_INTEGER)
FLOATS(CORE_FLOAT)
NARROW_INTEGERS(SOME_INTEGER)
INTEGERS(SOME_INTEGER)
FLOATS(SOME_FLOAT)
SOME(int, logical_and, LOGICAL_AND, 1)
SOME(int, logical_or, LOGICAL_OR, 0)
SOME(int, logical_xor, LOGICAL_XOR, 0)
