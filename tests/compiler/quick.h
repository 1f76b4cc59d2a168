/* SPDX-License-Identifier: MIT */
/* Computes what built-in functions give, in double and quickly: for billions of arguments. */
#ifndef TESTS_COMPILER_QUICK_H
#define TESTS_COMPILER_QUICK_H

#include <stdint.h>
#include <string.h>

/* A double and its bits. */
static inline uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Within a millionth of a float's last place, except where NaN, infinities and zeros are concerned. */
typedef void (*quick_model)(const double *restrict x, double *restrict result, uint32_t count);

/* NULL: there is none of that name. */
quick_model quick_find(const char *name);

#endif
