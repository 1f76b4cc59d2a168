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

uint64_t data_float_bits(LLVMValueRef value)
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

static void put(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void write_constant(struct unit *unit, LLVMValueRef variable, LLVMValueRef value, uint8_t *at);

static void write_members(struct unit *unit, LLVMValueRef variable, LLVMValueRef value, uint8_t *at)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef member;

    for (uint32_t i = 0; (member = LLVMGetAggregateElement(value, i)) != NULL; i++) {
        uint64_t offset = LLVMGetTypeKind(type) == LLVMStructTypeKind
                              ? LLVMOffsetOfElement(unit->layout, type, i)
                              : i * LLVMABISizeOfType(unit->layout, LLVMTypeOf(member));
        if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
            offset = i * LLVMStoreSizeOfType(unit->layout, LLVMTypeOf(member));
        }
        write_constant(unit, variable, member, at + offset);
    }
}

static void write_constant(struct unit *unit, LLVMValueRef variable, LLVMValueRef value, uint8_t *at)
{
    size_t bytes = LLVMStoreSizeOfType(unit->layout, LLVMTypeOf(value));

    if (LLVMIsNull(value) || LLVMIsUndef(value)) {
        return;
    }
    switch (LLVMGetTypeKind(LLVMTypeOf(value))) {
    case LLVMIntegerTypeKind:
        if (LLVMIsAConstantInt(value) != NULL && bytes <= 8) {
            put(at, LLVMConstIntGetZExtValue(value), bytes);
            return;
        }
        break;
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
        put(at, data_float_bits(value), bytes);
        return;
    case LLVMArrayTypeKind:
    case LLVMStructTypeKind:
    case LLVMVectorTypeKind:
        write_members(unit, variable, value, at);
        return;
    default:
        break;
    }
    unit_fail_value(unit, "a constant variable holds what is not known before the program runs:", variable);
}

/* The variable's first value at the end of `bytes`; its offset there. */
static uint32_t append(struct unit *unit, LLVMValueRef variable, struct bytes *bytes, uint32_t limit, const char *what)
{
    LLVMValueRef value = LLVMGetInitializer(variable);
    uint64_t size;
    uint32_t offset;

    if (value == NULL) {
        unit_fail_value(unit, "a variable is declared but not defined:", variable);
    }
    size = LLVMABISizeOfType(unit->layout, LLVMTypeOf(value));
    if (bytes->len + size > limit) {
        unit_fail(unit, PPU_COMPILE_TOO_LARGE, "%s variables need more than %u bytes", what, limit);
    }
    bytes_align(bytes, LLVMGetAlignment(variable) > 16 ? LLVMGetAlignment(variable) : 16);
    offset = (uint32_t)bytes->len;
    bytes_add_zeros(bytes, size);
    if (bytes->lost) {
        longjmp(unit->no_memory, 1);
    }
    write_constant(unit, variable, value, bytes->at + offset);
    return offset;
}

uint32_t data_variable(struct unit *unit, LLVMValueRef variable)
{
    for (uint32_t i = 0; i < unit->variable_count; i++) {
        if (unit->variables[i].variable == variable) {
            return i;
        }
    }
    unit->variables = arena_grow(&unit->arena, unit->variables, sizeof(unit->variables[0]), unit->variable_count,
                                 &unit->variable_cap);
    unit->variables[unit->variable_count] =
        (struct unit_data){ variable, append(unit, variable, &unit->data, PPU_MAX_CODE, "constant") };
    return unit->variable_count++;
}

uint32_t data_written(struct unit *unit, LLVMValueRef variable)
{
    uint32_t offset;

    for (uint32_t i = 0; i < unit->written_count; i++) {
        if (unit->written[i].variable == variable) {
            return unit->written[i].offset;
        }
    }
    offset = append(unit, variable, &unit->written_data, PPU_MAX_VARIABLES, "program-scope");
    unit->written =
        arena_grow(&unit->arena, unit->written, sizeof(unit->written[0]), unit->written_count, &unit->written_cap);
    unit->written[unit->written_count++] = (struct unit_data){ variable, offset };
    return offset;
}
