/* SPDX-License-Identifier: MIT */
/*
 * Copies what is too long to be written out, or whose length is not known: the compiler calls these in place of
 * llvm.memcpy, memmove and memset (compiler/irpass/lower_memcpy.c). Names end with the numbers of the address spaces;
 * `align` is a constant.
 */
#include "primitive.h"

#define INLINE __attribute__((always_inline))

typedef uint words __attribute__((ext_vector_type(4), aligned(4)));

#define COPY(name, to, from)                                                          \
    void INLINE __ppu_copy_##name(to uchar *d, const from uchar *s, ulong n, uint align) \
    {                                                                                 \
        ulong i = 0;                                                                  \
        if (align >= 4) {                                                             \
            for (; i + 16 <= n; i += 16) {                                            \
                *(to words *)(d + i) = *(const from words *)(s + i);                  \
            }                                                                         \
            for (; i + 4 <= n; i += 4) {                                              \
                *(to uint *)(d + i) = *(const from uint *)(s + i);                    \
            }                                                                         \
        }                                                                             \
        for (; i < n; i++) {                                                          \
            d[i] = s[i];                                                              \
        }                                                                             \
    }

/* The places may overlap: from the end when the destination lies behind the source. */
#define MOVE(name, to, from)                                                          \
    void INLINE __ppu_move_##name(to uchar *d, const from uchar *s, ulong n, uint align) \
    {                                                                                 \
        if ((ulong)(uchar *)d <= (ulong)(const uchar *)s) {                           \
            for (ulong i = 0; i < n; i++) {                                           \
                d[i] = s[i];                                                          \
            }                                                                         \
        } else {                                                                      \
            for (ulong i = n; i > 0; i--) {                                           \
                d[i - 1] = s[i - 1];                                                  \
            }                                                                         \
        }                                                                             \
    }

#define FILL(name, to)                                                   \
    void INLINE __ppu_fill_##name(to uchar *d, uchar byte, ulong n, uint align) \
    {                                                                    \
        uint word = byte * 0x01010101u;                                  \
        ulong i = 0;                                                     \
        if (align >= 4) {                                                \
            for (; i + 16 <= n; i += 16) {                               \
                *(to words *)(d + i) = (words)word;                      \
            }                                                            \
            for (; i + 4 <= n; i += 4) {                                 \
                *(to uint *)(d + i) = word;                              \
            }                                                            \
        }                                                                \
        for (; i < n; i++) {                                             \
            d[i] = byte;                                                 \
        }                                                                \
    }

#define FROM(to, number)                \
    COPY(number##0, to, __private)      \
    COPY(number##1, to, __global)       \
    COPY(number##2, to, __constant)     \
    COPY(number##3, to, __local)        \
    COPY(number##4, to, __generic)      \
    MOVE(number##0, to, __private)      \
    MOVE(number##1, to, __global)       \
    MOVE(number##3, to, __local)        \
    MOVE(number##4, to, __generic)      \
    FILL(number, to)

FROM(__private, 0)
FROM(__global, 1)
FROM(__local, 3)
FROM(__generic, 4)
