/* SPDX-License-Identifier: MIT */
/* Walks the words of a SPIR-V module: instructions, each with its opcode and its length before its operands. */
#ifndef OPENCL_BUILD_SPIRV_MODULE_H
#define OPENCL_BUILD_SPIRV_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEADER_WORDS 5u
#define BOUND_WORD 3u /* of the header: above all ids */
#define WORD sizeof(uint32_t)

/* Instructions of SPIR-V, by their numbers there. */
#define OP_UNDEF 1u
#define OP_TYPE_BOOL 20u
#define OP_TYPE_INT 21u
#define OP_TYPE_FLOAT 22u
#define OP_TYPE_VECTOR 23u
#define OP_FALSE 42u
#define OP_NUMBER 43u
#define OP_NULL 46u
#define OP_SPEC_TRUE 48u
#define OP_SPEC_FALSE 49u
#define OP_SPEC_NUMBER 50u
#define OP_DECORATE 71u
#define OP_VECTOR_SHUFFLE 79u
#define OP_COMPOSITE_CONSTRUCT 80u
#define OP_COMPOSITE_EXTRACT 81u
#define OP_COMPOSITE_INSERT 82u

struct module {
    const uint8_t *at;
    size_t words;
};

static inline struct module module_of(const void *il, size_t bytes)
{
    return (struct module){ il, bytes / WORD };
}

static inline uint32_t word_at(const struct module *module, size_t i)
{
    uint32_t word;

    memcpy(&word, module->at + i * WORD, WORD);
    return word;
}

static inline uint32_t opcode_at(const struct module *module, size_t i)
{
    return word_at(module, i) & 0xffffu;
}

static inline uint32_t length_at(const struct module *module, size_t i)
{
    return word_at(module, i) >> 16;
}

/* True when there is a whole instruction. */
static inline bool is_instruction(const struct module *module, size_t i)
{
    return i < module->words && length_at(module, i) > 0 && length_at(module, i) <= module->words - i;
}

#endif
