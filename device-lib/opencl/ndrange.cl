/* SPDX-License-Identifier: MIT */
/* Builds index spaces, as clang's ndrange_t. */
#include "enqueue/launch.h"

#define RANGE(dimensions, name, parameters, o, g, l)          \
    void LIBRARY __ppu_range_##name parameters                \
    {                                                         \
        range->dim = dimensions;                              \
        for (uint i = 0; i < 3; i++) {                        \
            range->offset[i] = i < dimensions ? (o) : 0;      \
            range->global_size[i] = i < dimensions ? (g) : 1; \
            range->local_size[i] = i < dimensions ? (l) : 0;  \
        }                                                     \
    }

RANGE(1, 1g, (private struct range * range, size_t global_size), 0, global_size, 0)
RANGE(1, 1gl, (private struct range * range, size_t global_size, size_t local_size), 0, global_size, local_size)
RANGE(1, 1ogl, (private struct range * range, size_t offset, size_t global_size, size_t local_size), offset,
      global_size, local_size)
#define RANGES(n)                                                                                                    \
    RANGE(n, n##g, (private struct range * range, const private size_t *g), 0, g[i], 0)                              \
    RANGE(n, n##gl, (private struct range * range, const private size_t *g, const private size_t *l), 0, g[i], l[i]) \
    RANGE(n, n##ogl,                                                                                                 \
          (private struct range * range, const private size_t *o, const private size_t *g, const private size_t *l), \
          o[i], g[i], l[i])
RANGES(2)
RANGES(3)
