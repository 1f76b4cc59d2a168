/* SPDX-License-Identifier: MIT */
#include "compiler/base/const_data.h"

#include "ppu/image.h"

#include <string.h>

/* To half, to nearest even. `value` is exact in half when it comes from a constant of that type. */
static uint16_t half_bits(double value)
{
    uint64_t bits;
    int exponent;
    uint16_t sign;

    memcpy(&bits, &value, sizeof(bits));
    sign = (uint16_t)(bits >> 48 & 0x8000u);
    exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    bits &= (1ull << 52) - 1;
    if (exponent == 1024) {
        return (uint16_t)(sign | 0x7c00u | (bits != 0 ? 0x200u | bits >> 42 : 0));
    }
    if (exponent < -14) {
        uint32_t shift = exponent < -24 ? 53 : (uint32_t)(28 - exponent);
        return (uint16_t)(sign | (shift > 52 ? 0 : (bits | 1ull << 52) >> shift));
    }
    return (uint16_t)(sign | (uint32_t)(exponent + 15) << 10 | bits >> 42);
}

uint64_t const_data_float_bits(LLVMValueRef value)
{
    LLVMBool inexact;
    double number = LLVMConstRealGetDouble(value, &inexact);
    float narrow = (float)number;
    uint64_t bits = 0;

    switch (LLVMGetTypeKind(LLVMTypeOf(value))) {
    case LLVMHalfTypeKind:
        return half_bits(number);
    case LLVMFloatTypeKind:
        memcpy(&bits, &narrow, sizeof(narrow));
        return bits;
    default:
        memcpy(&bits, &number, sizeof(number));
        return bits;
    }
}

static void put_bytes(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void write_constant(struct compilation *compilation, LLVMValueRef variable, LLVMValueRef value, uint8_t *at);

static void write_members(struct compilation *compilation, LLVMValueRef variable, LLVMValueRef value, uint8_t *at)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef member;

    for (uint32_t i = 0; (member = LLVMGetAggregateElement(value, i)) != NULL; i++) {
        uint64_t offset = LLVMGetTypeKind(type) == LLVMStructTypeKind
                              ? LLVMOffsetOfElement(compilation->layout, type, i)
                              : i * LLVMABISizeOfType(compilation->layout, LLVMTypeOf(member));
        if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
            offset = i * LLVMStoreSizeOfType(compilation->layout, LLVMTypeOf(member));
        }
        write_constant(compilation, variable, member, at + offset);
    }
}

static void write_constant(struct compilation *compilation, LLVMValueRef variable, LLVMValueRef value, uint8_t *at)
{
    size_t bytes = LLVMStoreSizeOfType(compilation->layout, LLVMTypeOf(value));

    if (LLVMIsNull(value) || LLVMIsUndef(value)) {
        return;
    }
    switch (LLVMGetTypeKind(LLVMTypeOf(value))) {
    case LLVMIntegerTypeKind:
        if (LLVMIsAConstantInt(value) != NULL && bytes <= 8) {
            put_bytes(at, LLVMConstIntGetZExtValue(value), bytes);
            return;
        }
        break;
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
        put_bytes(at, const_data_float_bits(value), bytes);
        return;
    case LLVMArrayTypeKind:
    case LLVMStructTypeKind:
    case LLVMVectorTypeKind:
        write_members(compilation, variable, value, at);
        return;
    default:
        break;
    }
    compilation_fail_value(compilation,
                           "a constant variable holds what is not known before the program runs:", variable);
}

/* The variable's first value at the end of `bytes`; its offset there. */
static uint32_t append_variable(struct compilation *compilation, LLVMValueRef variable, struct bytes *bytes,
                                uint32_t limit, const char *what)
{
    LLVMValueRef value = LLVMGetInitializer(variable);
    uint64_t size;
    uint32_t offset;

    if (value == NULL) {
        compilation_fail_value(compilation, "a variable is declared but not defined:", variable);
    }
    size = LLVMABISizeOfType(compilation->layout, LLVMTypeOf(value));
    if (bytes->len + size > limit) {
        compilation_fail(compilation, PPU_COMPILE_TOO_LARGE, "%s variables need more than %u bytes", what, limit);
    }
    bytes_align(bytes, LLVMGetAlignment(variable) > 16 ? LLVMGetAlignment(variable) : 16);
    offset = (uint32_t)bytes->len;
    bytes_add_zeros(bytes, size);
    if (bytes->lost) {
        longjmp(compilation->no_memory, 1);
    }
    write_constant(compilation, variable, value, bytes->at + offset);
    return offset;
}

uint32_t const_data_variable(struct compilation *compilation, LLVMValueRef variable)
{
    for (uint32_t i = 0; i < compilation->variable_count; i++) {
        if (compilation->variables[i].variable == variable) {
            return i;
        }
    }
    compilation->variables = arena_grow(&compilation->arena, compilation->variables, sizeof(compilation->variables[0]),
                                        compilation->variable_count, &compilation->variable_cap);
    compilation->variables[compilation->variable_count] =
        (struct data_symbol){ variable,
                              append_variable(compilation, variable, &compilation->data, PPU_MAX_CODE, "constant") };
    return compilation->variable_count++;
}

uint32_t const_data_written(struct compilation *compilation, LLVMValueRef variable)
{
    uint32_t offset;

    for (uint32_t i = 0; i < compilation->written_count; i++) {
        if (compilation->written[i].variable == variable) {
            return compilation->written[i].offset;
        }
    }
    offset = append_variable(compilation, variable, &compilation->written_data, PPU_MAX_VARIABLES, "program-scope");
    compilation->written = arena_grow(&compilation->arena, compilation->written, sizeof(compilation->written[0]),
                                      compilation->written_count, &compilation->written_cap);
    compilation->written[compilation->written_count++] = (struct data_symbol){ variable, offset };
    return offset;
}
