/* SPDX-License-Identifier: MIT */
/*
 * A variable has a place in private memory for all of its life where the source is compiled without optimising. Where
 * it is optimised, only what has one value for all of its life is told: a constant, or an argument of the kernel. LLVM
 * says of all others from where to where a register has them; that is not followed through selection.
 */
#include "compiler/isel/select_debug.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* The value that a debug intrinsic is about; NULL: there is none, or it is not one alone. */
static LLVMValueRef described(LLVMValueRef call)
{
    LLVMValueRef operand = LLVMGetOperand(call, 0), value = NULL;
    LLVMMetadataKind kind = LLVMGetMetadataKind(LLVMValueAsMetadata(operand));

    if (kind == LLVMLocalAsMetadataMetadataKind || kind == LLVMConstantAsMetadataMetadataKind) {
        LLVMGetMDNodeOperands(operand, &value);
    }
    return value;
}

/* True when the variable is just the value, not a part of it or something computed of it. */
static bool is_plain(LLVMValueRef call)
{
    static const char *const plain[] = { "!DIExpression()",
                                         "!DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef)" };
    char *text = LLVMPrintValueToString(LLVMGetOperand(call, 2));
    bool is = strstr(text, plain[0]) || strstr(text, plain[1]);

    LLVMDisposeMessage(text);
    return is;
}

static bool number_of(LLVMValueRef value, uint64_t *number)
{
    LLVMBool lost;

    if (LLVMIsAConstantInt(value) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64) {
        *number = LLVMConstIntGetZExtValue(value);
        return true;
    }
    if (!LLVMIsAConstantFP(value)) {
        return false;
    }
    const double real = LLVMConstRealGetDouble(value, &lost);
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMDoubleTypeKind) {
        memcpy(number, &real, sizeof(real));
    } else if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMFloatTypeKind) {
        float single = (float)real;
        *number = 0;
        memcpy(number, &single, sizeof(single));
    } else {
        return false;
    }
    return true;
}

/* True when the value is an argument of the kernel that lies in the parameters. */
static bool parameter_of(const struct isel *s, LLVMValueRef value, uint64_t *offset)
{
    uint32_t number = LLVMIsAArgument(value) ? ir_value(s->ir, value) : IR_NO_VALUE;

    if (s->function || number >= s->ir->argument_count || s->kernel->arguments[number].offset >= PPU_MAX_PARAM) {
        return false;
    }
    *offset = s->kernel->arguments[number].offset;
    return true;
}

/* `at`: what the variable is in. */
static void find_memory(struct isel *s, LLVMValueRef at, struct debug_variable *variable)
{
    bool is_argument = LLVMIsAArgument(at);

    if (is_argument && ir_is_byval(at) && parameter_of(s, at, &variable->value)) {
        variable->where = DEBUG_MEMORY;
        variable->space = PPU_DEBUG_PARAMETER;
    } else if (compilation_keeps_variables(s->compilation) && ir_is_instruction(at, LLVMAlloca)) {
        struct element element = select_element(s, at, 0);
        if (element.kind == ELEMENT_CONSTANT) {
            variable->where = DEBUG_MEMORY;
            variable->space = PPU_DEBUG_PRIVATE;
            variable->value = element.add;
        }
    }
}

/* `value`: what the variable has. */
static void find_value(const struct isel *s, LLVMValueRef value, struct debug_variable *variable)
{
    if (number_of(value, &variable->value)) {
        variable->where = DEBUG_CONSTANT;
    } else if (!(LLVMIsAArgument(value) && ir_is_byval(value)) && parameter_of(s, value, &variable->value)) {
        variable->where = DEBUG_MEMORY;
        variable->space = PPU_DEBUG_PARAMETER;
    }
}

bool select_debug(struct isel *s, LLVMValueRef call, const char *name)
{
    bool declares = strcmp(name, "llvm.dbg.declare") == 0;

    if (strncmp(name, "llvm.dbg.", 9) != 0) {
        return false;
    }
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(call);
    if ((!declares && strcmp(name, "llvm.dbg.value") != 0) || !location) {
        return true;
    }
    LLVMValueRef value = described(call);
    struct debug_variable variable = {
        .variable = LLVMValueAsMetadata(LLVMGetOperand(call, 1)),
        .inlined_at = LLVMDILocationGetInlinedAt(location),
        .where = DEBUG_NOWHERE,
    };
    if (value && declares && is_plain(call)) {
        find_memory(s, value, &variable);
    } else if (value && is_plain(call)) {
        find_value(s, value, &variable);
    }
    debug_variable_note(s->compilation, &s->mir->variables, &variable);
    return true;
}
