/* SPDX-License-Identifier: MIT */
#include "compiler/base/const_data.h"

#include "ppu/image.h"
#include "ppu/macros.h"

#include <string.h>

/* To half, to nearest even. `value` is exact in half when it comes from a constant of that type. */
static uint16_t half_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000u);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
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

/* Where a variable's first value is written. */
struct writer {
    struct compilation *compilation;
    LLVMValueRef variable;
    struct bytes *bytes;
};

static void put_bytes(const struct writer *w, uint32_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        w->bytes->at[at + i] = (uint8_t)(value >> (8 * i));
    }
}

/* ---- addresses ---- */

/* Bytes that a step between addresses leads on, whose indices are constants. */
static uint64_t step_bytes(const struct compilation *compilation, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    uint64_t sum = 0;

    for (uint32_t i = 1; i < (uint32_t)LLVMGetNumOperands(gep); i++) {
        uint64_t index = (uint64_t)LLVMConstIntGetSExtValue(LLVMGetOperand(gep, i));
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            sum += LLVMOffsetOfElement(compilation->layout, type, (uint32_t)index);
            type = LLVMStructGetTypeAtIndex(type, (uint32_t)index);
            continue;
        }
        type = i > 1 ? LLVMGetElementType(type) : type;
        sum += index * LLVMABISizeOfType(compilation->layout, type);
    }
    return sum;
}

/*
 * The variable that a constant address lies in and what is added to it; NULL and the number that it is. False: it is
 * something else.
 */
static bool resolve(const struct compilation *compilation, LLVMValueRef address, LLVMValueRef *variable,
                    uint64_t *offset)
{
    *offset = 0;
    while (LLVMIsAConstantExpr(address)) {
        LLVMOpcode opcode = LLVMGetConstOpcode(address);
        if (opcode == LLVMGetElementPtr) {
            *offset += step_bytes(compilation, address);
        } else if (opcode != LLVMAddrSpaceCast && opcode != LLVMIntToPtr && opcode != LLVMPtrToInt) {
            return false;
        }
        address = LLVMGetOperand(address, 0);
    }
    *variable = LLVMIsAGlobalVariable(address);
    if (LLVMIsAConstantInt(address)) {
        *offset += LLVMConstIntGetZExtValue(address);
        return true;
    }
    return *variable && LLVMGetPointerAddressSpace(LLVMTypeOf(address)) != SPACE_LOCAL;
}

/* The address of a variable is known when the program is loaded: until then its place holds what is added to it. */
static bool write_address(const struct writer *w, LLVMValueRef address, uint32_t at)
{
    struct compilation *compilation = w->compilation;
    LLVMValueRef variable;
    uint64_t offset;

    if (!resolve(compilation, address, &variable, &offset)) {
        return false;
    }
    put_bytes(w, at, offset, sizeof(offset));
    if (variable) {
        compilation->addresses =
            arena_grow(&compilation->arena, compilation->addresses, sizeof(compilation->addresses[0]),
                       compilation->address_count, &compilation->address_cap);
        compilation->addresses[compilation->address_count++] =
            (struct data_address){ variable, at, w->bytes == &compilation->written_data };
    }
    return true;
}

/* ---- values ---- */

static void write_constant(const struct writer *w, LLVMValueRef value, uint32_t at);

static void write_members(const struct writer *w, LLVMValueRef value, uint32_t at)
{
    LLVMTargetDataRef layout = w->compilation->layout;
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef member;

    for (uint32_t i = 0; (member = LLVMGetAggregateElement(value, i)); i++) {
        uint64_t offset = LLVMGetTypeKind(type) == LLVMStructTypeKind
                              ? LLVMOffsetOfElement(layout, type, i)
                              : i * LLVMABISizeOfType(layout, LLVMTypeOf(member));
        if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
            offset = i * LLVMStoreSizeOfType(layout, LLVMTypeOf(member));
        }
        write_constant(w, member, at + (uint32_t)offset);
    }
}

static void write_constant(const struct writer *w, LLVMValueRef value, uint32_t at)
{
    size_t bytes = LLVMStoreSizeOfType(w->compilation->layout, LLVMTypeOf(value));

    if (LLVMIsNull(value) || LLVMIsUndef(value)) {
        return;
    }
    switch (LLVMGetTypeKind(LLVMTypeOf(value))) {
    case LLVMIntegerTypeKind:
        if (LLVMIsAConstantInt(value) && bytes <= 8) {
            put_bytes(w, at, LLVMConstIntGetZExtValue(value), bytes);
            return;
        }
        if (bytes == 8 && write_address(w, value, at)) {
            return;
        }
        break;
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
        put_bytes(w, at, const_data_float_bits(value), bytes);
        return;
    case LLVMPointerTypeKind:
        if (write_address(w, value, at)) {
            return;
        }
        break;
    case LLVMArrayTypeKind:
    case LLVMStructTypeKind:
    case LLVMVectorTypeKind:
        write_members(w, value, at);
        return;
    default:
        break;
    }
    compilation_fail_value(w->compilation,
                           "a constant variable holds what is not known before the program runs:", w->variable);
}

/* ---- variables ---- */

static uint32_t variable_alignment(LLVMValueRef variable)
{
    return LLVMGetAlignment(variable) > 16 ? LLVMGetAlignment(variable) : 16;
}

/* `used`: bytes of those before it. */
static uint64_t variable_size(struct compilation *compilation, LLVMValueRef variable, uint64_t used, uint32_t limit,
                              const char *what)
{
    LLVMValueRef value = LLVMGetInitializer(variable);

    if (!value) {
        compilation_fail_value(compilation, "a variable is declared but not defined:", variable);
    }
    uint64_t size = LLVMABISizeOfType(compilation->layout, LLVMTypeOf(value));
    if (size > limit || used + size > limit) {
        compilation_fail(compilation, PPU_COMPILE_TOO_LARGE, "%s variables need more than %u bytes", what, limit);
    }
    return size;
}

/* Room for the variable's first value at the end of `bytes`; its offset there. */
static uint32_t lay_out_variable(struct compilation *compilation, LLVMValueRef variable, struct bytes *bytes,
                                 uint32_t limit, const char *what)
{
    uint64_t size = variable_size(compilation, variable, bytes->len, limit, what);

    bytes_align(bytes, variable_alignment(variable));
    uint32_t offset = (uint32_t)bytes->len;
    bytes_add_zeros(bytes, size);
    if (bytes->lost) {
        longjmp(compilation->no_memory, 1);
    }
    return offset;
}

/* Writes its first value, and places the variables whose addresses that holds: some may hold its own. */
static void fill_variable(struct compilation *compilation, LLVMValueRef variable, struct bytes *bytes, uint32_t offset)
{
    const struct writer writer = { compilation, variable, bytes };
    uint32_t first = compilation->address_count;

    write_constant(&writer, LLVMGetInitializer(variable), offset);
    for (uint32_t end = compilation->address_count; first < end; first++) {
        const_data_offset(compilation, compilation->addresses[first].of);
    }
}

uint32_t const_data_variable(struct compilation *compilation, LLVMValueRef variable)
{
    uint32_t index = compilation->variable_count;

    for (uint32_t i = 0; i < index; i++) {
        if (compilation->variables[i].variable == variable) {
            return i;
        }
    }
    compilation->variables = arena_grow(&compilation->arena, compilation->variables, sizeof(compilation->variables[0]),
                                        compilation->variable_count, &compilation->variable_cap);
    uint32_t offset = lay_out_variable(compilation, variable, &compilation->data, PPU_MAX_CODE, "constant");
    compilation->data_alignment = PPU_MAX(compilation->data_alignment, variable_alignment(variable));
    compilation->variables[compilation->variable_count++] = (struct data_symbol){ variable, offset };
    fill_variable(compilation, variable, &compilation->data, offset);
    return index;
}

/* ---- variables that kernels write ---- */

#define WRITTEN "program-scope"
#define MOST_HELD 0x40000000u /* bytes: those of an image have 32 bits, and it has code as well */

static uint32_t note_written(struct compilation *compilation, LLVMValueRef variable, uint32_t offset)
{
    compilation->written = arena_grow(&compilation->arena, compilation->written, sizeof(compilation->written[0]),
                                      compilation->written_count, &compilation->written_cap);
    compilation->written[compilation->written_count++] = (struct data_symbol){ variable, offset };
    return offset;
}

/* True when its first value is not zero, and so part of the image. */
static bool is_held(LLVMValueRef variable)
{
    LLVMValueRef value = LLVMGetInitializer(variable);

    return value && LLVMGetFirstUse(variable) && !LLVMIsNull(value) && !LLVMIsUndef(value) &&
           !LLVMIsGlobalConstant(variable) && LLVMGetPointerAddressSpace(LLVMTypeOf(variable)) != SPACE_LOCAL;
}

/* All of them get their places before any that holds zeros does, which lie behind them. */
static void lay_out_held(struct compilation *compilation)
{
    struct bytes *bytes = &compilation->written_data;

    for (LLVMValueRef g = LLVMGetFirstGlobal(compilation->module); g; g = LLVMGetNextGlobal(g)) {
        if (is_held(g)) {
            note_written(compilation, g, lay_out_variable(compilation, g, bytes, MOST_HELD, WRITTEN));
        }
    }
    bytes_align(bytes, sizeof(uint64_t));
    compilation->written_laid_out = true;
    for (uint32_t i = 0, count = compilation->written_count; i < count; i++) {
        const struct data_symbol held = compilation->written[i];
        fill_variable(compilation, held.variable, bytes, held.offset);
    }
}

/* The image does not hold it, but has its size. */
static uint32_t lay_out_zeros(struct compilation *compilation, LLVMValueRef variable)
{
    const uint64_t held = compilation->written_data.len;
    const uint64_t at = ppu_align_up64(held + compilation->zero_bytes, variable_alignment(variable));
    const uint64_t size = variable_size(compilation, variable, at, PPU_MAX_VARIABLES, WRITTEN);

    compilation->zero_bytes = (uint32_t)(ppu_align_up64(at + size, sizeof(uint64_t)) - held);
    return note_written(compilation, variable, (uint32_t)at);
}

uint32_t const_data_written(struct compilation *compilation, LLVMValueRef variable)
{
    if (!compilation->written_laid_out) {
        lay_out_held(compilation);
    }
    for (uint32_t i = 0; i < compilation->written_count; i++) {
        if (compilation->written[i].variable == variable) {
            return compilation->written[i].offset;
        }
    }
    return lay_out_zeros(compilation, variable);
}

uint32_t const_data_offset(struct compilation *compilation, LLVMValueRef variable)
{
    if (!LLVMIsGlobalConstant(variable)) {
        return const_data_written(compilation, variable);
    }
    uint32_t index = const_data_variable(compilation, variable);
    return compilation->variables[index].offset;
}
