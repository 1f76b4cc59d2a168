/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/address_reuse.h"

#include "compiler/analysis/affine.h"
#include "compiler/analysis/ir.h"

#define MOST_KNOWN 256u       /* accesses that one is compared with */
#define MOST_STEP (1ll << 17) /* bytes: leaves room in the field for what is added later */

/* ---- or ---- */

static void write_sum(LLVMBuilderRef builder, LLVMValueRef or)
{
    LLVMPositionBuilderBefore(builder, or);
    LLVMValueRef sum = LLVMBuildAdd(builder, LLVMGetOperand(or, 0), LLVMGetOperand(or, 1), "");

    if (LLVMIsAInstruction(sum)) { /* no bit is carried, into the sign neither */
        LLVMSetNUW(sum, true);
        LLVMSetNSW(sum, true);
    }
    LLVMReplaceAllUsesWith(or, sum);
    LLVMInstructionEraseFromParent(or);
}

/* Not the halves that a longer number is put together from. */
static bool is_sum(LLVMValueRef value)
{
    return ir_is_instruction(value, LLVMOr) && LLVMGetIsDisjoint(value) &&
           (ir_bits_of_integer(value) == 32 ||
            (ir_bits_of_integer(value) == 64 && LLVMIsAConstantInt(LLVMGetOperand(value, 1))));
}

void address_reuse(struct compilation *compilation, LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (is_sum(i)) {
                write_sum(builder, i);
            }
        }
    }
    LLVMDisposeBuilder(builder);
}

/* ---- constants between addresses ---- */

/* An access whose address is no constant step from another's. */
struct known {
    LLVMValueRef pointer;
    uint32_t block;
    struct affine address;
};

struct near {
    struct compilation *compilation;
    struct ir *ir;
    LLVMBuilderRef builder;
    struct known known[MOST_KNOWN]; /* a ring: the latest of them */
    uint32_t count;
};

static bool is_near(int64_t step)
{
    return step <= MOST_STEP && step >= -MOST_STEP;
}

/* The last access before this one, in the same loop, that it is a constant step from. */
static const struct known *find_near(const struct near *n, const struct affine *address, uint32_t block, int64_t *step)
{
    const struct flow *flow = n->ir->flow;

    for (uint32_t k = n->count; k-- != 0 && n->count - k <= MOST_KNOWN;) {
        const struct known *known = &n->known[k % MOST_KNOWN];
        *step = (int64_t)((uint64_t)address->offset - (uint64_t)known->address.offset);
        if (is_near(*step) && flow->blocks[known->block].loop == flow->blocks[block].loop &&
            flow_dominates(flow, known->block, block) && affine_is_parallel(&known->address, address)) {
            return known;
        }
    }
    return NULL;
}

/*
 * The first of them is accessed whenever the second is, so that its sum has not wrapped where it must not; and both
 * lie in one object.
 */
static void step_from(const struct near *n, const struct known *known, LLVMValueRef insn, int64_t step)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(n->compilation->llvm);
    LLVMValueRef by = LLVMConstInt(LLVMInt64TypeInContext(n->compilation->llvm), (uint64_t)step, true);
    LLVMValueRef pointer = known->pointer;

    if (step != 0) {
        LLVMPositionBuilderBefore(n->builder, insn);
        pointer = LLVMBuildInBoundsGEP2(n->builder, i8, known->pointer, &by, 1, "");
    }
    LLVMSetOperand(insn, ir_is_instruction(insn, LLVMLoad) ? 0 : 1, pointer);
}

static void look_at(struct near *n, LLVMValueRef insn, uint32_t block)
{
    LLVMValueRef pointer = ir_pointer_of(insn);
    int64_t step;

    if (!pointer || !ir_is_instruction(pointer, LLVMGetElementPtr)) {
        return;
    }
    struct affine address = affine_of(n->compilation, pointer);
    if (address.count == 0) { /* the root and a constant already */
        return;
    }
    const struct known *known = find_near(n, &address, block, &step);
    if (!known) {
        n->known[n->count++ % MOST_KNOWN] = (struct known){ pointer, block, address };
    } else if (known->pointer != pointer) {
        step_from(n, known, insn, step);
    }
}

void address_reuse_near(struct compilation *compilation, LLVMValueRef function)
{
    struct near *n = arena_new(&compilation->arena, struct near, 1);

    n->compilation = compilation;
    n->ir = ir_new(compilation, function);
    n->builder = LLVMCreateBuilderInContext(compilation->llvm);
    for (uint32_t v = n->ir->argument_count; v < n->ir->value_count; v++) {
        look_at(n, n->ir->values[v], n->ir->block_of[v]);
    }
    LLVMDisposeBuilder(n->builder);
}
