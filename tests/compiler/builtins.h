/* SPDX-License-Identifier: MIT */
/* Lists built-in functions, what the host computes for them in long double, and how far a result may be from it. */
#ifndef TESTS_COMPILER_BUILTINS_H
#define TESTS_COMPILER_BUILTINS_H

#include <stdbool.h>
#include <stdint.h>

#define BUILTIN_ARGUMENTS 3u

struct builtin {
    const char *name;
    long double (*one)(long double); /* one of the three */
    long double (*two)(long double, long double);
    long double (*three)(long double, long double, long double);
    float ulp, wide_ulp; /* limits of the specification for float and double; infinite: it has none */
    bool integer;        /* the last of two arguments is an int */
    bool positive;       /* the first argument must not be negative */
    bool narrow;         /* there is none of double */
    bool via;            /* through of_NAME of builtins.cl */
};

extern const struct builtin builtins[]; /* builtins.def */
extern const uint32_t builtin_count;

uint32_t builtin_arguments(const struct builtin *f);
/*
 * How far `got`, a float or, when wide, a double, is from the exact result: units of the last place, 0 when it is the
 * exact one rounded, infinite when one of them is a NaN, or infinite, and the other is not.
 */
double builtin_error(const struct builtin *f, const double x[BUILTIN_ARGUMENTS], double got, bool wide);

#endif
