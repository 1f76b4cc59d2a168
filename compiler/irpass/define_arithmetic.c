/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/define_arithmetic.h"

#include "compiler/base/compilation.h"
#include "ppu/macros.h"

#include <stdbool.h>
#include <string.h>

/* ---- constants ---- */

/* One, in every element. */
static LLVMValueRef one(LLVMTypeRef type)
{
    return LLVMConstSub(LLVMConstNull(type), LLVMConstAllOnes(type));
}

/* A divisor, or element of one, by which everything can be divided. */
static bool is_harmless(LLVMValueRef divisor, bool is_signed)
{
    return LLVMIsAConstantInt(divisor) && !LLVMIsNull(divisor) &&
           !(is_signed && divisor == LLVMConstAllOnes(LLVMTypeOf(divisor)));
}

static bool all_harmless(LLVMValueRef divisor, bool is_signed)
{
    LLVMTypeRef type = LLVMTypeOf(divisor);

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
        return is_harmless(divisor, is_signed);
    }
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        LLVMValueRef element = LLVMIsConstant(divisor) ? LLVMGetAggregateElement(divisor, i) : NULL;
        if (!element || !is_harmless(element, is_signed)) {
            return false;
        }
    }
    return true;
}

/* ---- division ---- */

static void replace_operation(LLVMValueRef insn, LLVMValueRef by)
{
    LLVMReplaceAllUsesWith(insn, by);
    LLVMInstructionEraseFromParent(insn);
}

/* By zero the quotient is the dividend and the remainder zero; by -1 both wrap. */
static void define_division(LLVMBuilderRef builder, LLVMValueRef insn)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(insn);
    bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
    LLVMValueRef dividend = LLVMGetOperand(insn, 0), divisor = LLVMGetOperand(insn, 1);
    LLVMTypeRef type = LLVMTypeOf(divisor);

    if (all_harmless(divisor, is_signed)) {
        return;
    }
    LLVMPositionBuilderBefore(builder, insn);
    if (!LLVMIsConstant(divisor)) { /* each look at one that was never written may see another value */
        divisor = LLVMBuildFreeze(builder, divisor, "");
    }
    LLVMValueRef unsafe = LLVMBuildICmp(builder, LLVMIntEQ, divisor, LLVMConstNull(type), ""), minus = NULL;
    if (is_signed) {
        minus = LLVMBuildICmp(builder, LLVMIntEQ, divisor, LLVMConstAllOnes(type), "");
        unsafe = LLVMBuildOr(builder, unsafe, minus, "");
    }
    divisor = LLVMBuildSelect(builder, unsafe, one(type), divisor, "");
    LLVMValueRef result = LLVMBuildBinOp(builder, opcode, dividend, divisor, "");
    if (opcode == LLVMSDiv) {
        result = LLVMBuildSelect(builder, minus, LLVMBuildNeg(builder, dividend, ""), result, "");
    }
    replace_operation(insn, result);
}

/* ---- differences of pointers ---- */

/* The pointer that this integer is the address of, or NULL. */
static LLVMValueRef addressed_pointer(LLVMValueRef address)
{
    bool is_address =
        LLVMIsAPtrToIntInst(address) || (LLVMIsAConstantExpr(address) && LLVMGetConstOpcode(address) == LLVMPtrToInt);

    return is_address ? LLVMGetOperand(address, 0) : NULL;
}

/* clang subtracts an offset in private or local memory from a generic address: both become generic addresses. */
static void define_difference(LLVMBuilderRef builder, LLVMValueRef insn)
{
    LLVMValueRef pointers[] = { addressed_pointer(LLVMGetOperand(insn, 0)),
                                addressed_pointer(LLVMGetOperand(insn, 1)) };

    if (!pointers[0] || !pointers[1]) {
        return;
    }
    LLVMTypeRef types[] = { LLVMTypeOf(pointers[0]), LLVMTypeOf(pointers[1]) };
    for (unsigned i = 0; i < 2; i++) {
        if (LLVMGetPointerAddressSpace(types[i]) == SPACE_GENERIC && types[0] != types[1]) {
            LLVMPositionBuilderBefore(builder, insn);
            LLVMValueRef generic = LLVMBuildAddrSpaceCast(builder, pointers[1 - i], types[i], "");
            LLVMSetOperand(insn, 1 - i, LLVMBuildPtrToInt(builder, generic, LLVMTypeOf(insn), ""));
        }
    }
}

/* ---- calls ---- */

static LLVMValueRef call_intrinsic(LLVMBuilderRef builder, LLVMValueRef insn, const char *name, LLVMValueRef operand)
{
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(insn)));
    LLVMTypeRef types[] = { LLVMTypeOf(insn), LLVMTypeOf(operand) };
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(module, id, types, 2);

    LLVMPositionBuilderBefore(builder, insn);
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, &operand, 1, "");
}

/* Conversions to integers saturate, as the machine's do; of no number they make zero. */
static void define_conversion(LLVMBuilderRef builder, LLVMValueRef insn)
{
    const char *name = LLVMGetInstructionOpcode(insn) == LLVMFPToSI ? "llvm.fptosi.sat" : "llvm.fptoui.sat";

    replace_operation(insn, call_intrinsic(builder, insn, name, LLVMGetOperand(insn, 0)));
}

/* These have a last argument that says for which number their result is none: for none. */
static void define_call(LLVMValueRef call)
{
    static const char *const names[] = { "llvm.abs.", "llvm.ctlz.", "llvm.cttz." };
    size_t len;
    const char *name =
        LLVMIsAFunction(LLVMGetCalledValue(call)) ? LLVMGetValueName2(LLVMGetCalledValue(call), &len) : "";

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            LLVMSetOperand(call, 1, LLVMConstNull(LLVMTypeOf(LLVMGetOperand(call, 1))));
        }
    }
}

/* ---- operands ---- */

/* Replaces poison, which clang makes of a division of constants. What vectors begin with stays: it is no result. */
static void define_operands(LLVMValueRef insn)
{
    if (LLVMIsAInsertElementInst(insn) || LLVMIsAShuffleVectorInst(insn) || LLVMIsAInsertValueInst(insn)) {
        return;
    }
    for (int i = 0; i < LLVMGetNumOperands(insn); i++) {
        LLVMValueRef operand = LLVMGetOperand(insn, (unsigned)i);
        if (LLVMIsPoison(operand)) {
            LLVMSetOperand(insn, (unsigned)i, LLVMConstNull(LLVMTypeOf(operand)));
        }
    }
}

static void define_instruction(LLVMBuilderRef builder, LLVMValueRef insn)
{
    define_operands(insn);
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        define_division(builder, insn);
        break;
    case LLVMSub:
        define_difference(builder, insn);
        break;
    case LLVMFPToSI:
    case LLVMFPToUI:
        define_conversion(builder, insn);
        break;
    case LLVMCall:
        define_call(insn);
        break;
    default:
        break;
    }
}

void define_arithmetic(LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            define_instruction(builder, i);
        }
    }
    LLVMDisposeBuilder(builder);
}
