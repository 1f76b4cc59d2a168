/* SPDX-License-Identifier: MIT */
/*
 * Reads SPIR-V from elsewhere as far as a program asks about it: its header, its specialization constants, and what the
 * translator cannot read. All else is left to the translator, in a process of its own (foreign.h).
 */
#ifndef OPENCL_BUILD_SPIRV_H
#define OPENCL_BUILD_SPIRV_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The versions that the translator takes: 1.0 to this one. */
#define SPIRV_MINOR_MOST 4u
/* The versions of which it takes everything: 1.0 to this one. */
#define SPIRV_MINOR_WHOLE 3u

/* NULL: the bytes can be a module; or why they cannot. */
const char *spirv_wrong(const void *il, size_t bytes);

/* A specialization constant: where it is in the module. */
struct spirv_constant {
    size_t word; /* of its instruction */
    uint32_t bytes;
    bool is_bool;
};

/* False: the module, which is not wrong, has no constant of that id. */
bool spirv_find_constant(const void *il, size_t bytes, uint32_t id, struct spirv_constant *constant);
/* Makes `value`, constant->bytes of them, the constant's own, in place. */
void spirv_set_constant(void *il, const struct spirv_constant *constant, const void *value);

/*
 * The module, which is not wrong, in the words that the translator takes; to be freed, and its bytes. NULL: no memory.
 *
 * The translator asserts that nulls are of no number's type and not bool, that a shuffle's vectors are of one type, and
 * that a composite is made of constants. None of it is so in SPIR-V. Such nulls become constants, the shorter of two
 * vectors is made longer, and composites are made part by part.
 */
void *spirv_respell(const void *il, size_t bytes, size_t *new_bytes);

/* The translator's path; false: this system has none. PPU_SPIRV names one. */
bool spirv_translator(char path[PATH_MAX]);

#endif
