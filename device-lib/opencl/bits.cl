/* SPDX-License-Identifier: MIT */
/* Implements cl_khr_extended_bit_ops: fields of bits, and their order reversed. */
#include "primitive.h"

/* A count of no bits makes an empty mask; a count of all bits makes a full one. */
#define MASK(unsigned_type, bits, count) \
    ((count) < (bits) ? (unsigned_type)((((unsigned_type)1) << ((count) % (bits))) - (unsigned_type)1) : (unsigned_type)~(unsigned_type)0)

#define SCALARS(type, stype, utype, bits)                                                               \
    type BUILTIN bitfield_insert(type base, type insert, uint offset, uint count)                       \
    {                                                                                                   \
        utype mask = (utype)(MASK(utype, bits, count) << (offset % bits));                              \
        return (type)(((utype)base & (utype)~mask) | ((utype)((utype)insert << (offset % bits)) & mask)); \
    }                                                                                                   \
    stype BUILTIN bitfield_extract_signed(type base, uint offset, uint count)                           \
    {                                                                                                   \
        stype top = (stype)((utype)base << ((bits - offset - count) % bits));                           \
        return count == 0 ? (stype)0 : (stype)(top >> ((bits - count) % bits));                         \
    }                                                                                                   \
    utype BUILTIN bitfield_extract_unsigned(type base, uint offset, uint count)                         \
    {                                                                                                   \
        return (utype)((utype)((utype)base >> (offset % bits)) & MASK(utype, bits, count));             \
    }

#define REVERSE(type, utype, width)                          \
    type BUILTIN bit_reverse(type x)                         \
    {                                                        \
        return (type)__builtin_bitreverse##width((utype)x);  \
    }

#define VECTOR(type, stype, utype, n)                                                              \
    type##n BUILTIN bitfield_insert(type##n base, type##n insert, uint offset, uint count)         \
    {                                                                                              \
        type##n result;                                                                            \
        for (uint i = 0; i < n; i++) {                                                             \
            result[i] = bitfield_insert(base[i], insert[i], offset, count);                        \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    stype##n BUILTIN bitfield_extract_signed(type##n base, uint offset, uint count)                \
    {                                                                                              \
        stype##n result;                                                                           \
        for (uint i = 0; i < n; i++) {                                                             \
            result[i] = bitfield_extract_signed(base[i], offset, count);                           \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    utype##n BUILTIN bitfield_extract_unsigned(type##n base, uint offset, uint count)              \
    {                                                                                              \
        utype##n result;                                                                           \
        for (uint i = 0; i < n; i++) {                                                             \
            result[i] = bitfield_extract_unsigned(base[i], offset, count);                         \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    type##n BUILTIN bit_reverse(type##n x)                                                         \
    {                                                                                              \
        type##n result;                                                                            \
        for (uint i = 0; i < n; i++) {                                                             \
            result[i] = bit_reverse(x[i]);                                                         \
        }                                                                                          \
        return result;                                                                             \
    }

#define ALL(type, stype, utype, width)    \
    SCALARS(type, stype, utype, width##u) \
    REVERSE(type, utype, width)           \
    VECTOR(type, stype, utype, 2)         \
    VECTOR(type, stype, utype, 3)         \
    VECTOR(type, stype, utype, 4)         \
    VECTOR(type, stype, utype, 8)         \
    VECTOR(type, stype, utype, 16)

ALL(char, char, uchar, 8)
ALL(uchar, char, uchar, 8)
ALL(short, short, ushort, 16)
ALL(ushort, short, ushort, 16)
ALL(int, int, uint, 32)
ALL(uint, int, uint, 32)
ALL(long, long, ulong, 64)
ALL(ulong, long, ulong, 64)
