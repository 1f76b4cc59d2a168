/* SPDX-License-Identifier: MIT */
/*
 * Reads the launches that a file of random programs names, and makes their input. A line `// launch NAME GROUPS X Y
 * UNIFORM` stands before each kernel. All that run such a file (host.c, on_device.c, on_opencl.c) write the results of
 * all launches one behind the other, so that they can be compared as bytes.
 */
#ifndef TESTS_RANDOM_LAUNCH_H
#define TESTS_RANDOM_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#define LAUNCH_RESULTS 2u /* words that a work-item writes */
#define LAUNCH_SUMS 8u    /* words that work-items add to: behind those */

/* Kernels take: const uint *in, uint *out, uint *sums, uint uniform. */
struct launch {
    char name[32];
    uint32_t groups, x, y, uniform;
    uint32_t items; /* of all groups */
};

struct launches {
    struct launch *at;
    uint32_t count;
};

/* Text of a file, malloc()ed; ends the program when that fails. */
char *launch_read(const char *path);

struct launches launch_find(const char *source);

/* A word for each item. */
void launch_input(const struct launch *launch, uint32_t *in);

/* Words of out and sums together. */
size_t launch_words(const struct launch *launch);

/* Ends the program when the file cannot be written. */
void launch_write(const char *path, const uint32_t *words, size_t count);

#endif
