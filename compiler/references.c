/* SPDX-License-Identifier: MIT */
#include "references.h"

#include "ir.h"
#include "ppu/image.h"

#include <string.h>

/* Pointers made from the argument, found so far. */
struct pointers {
    struct unit *unit;
    LLVMValueRef *list;
    uint32_t count;
    unsigned cap;
};

static void add(struct pointers *p, LLVMValueRef pointer)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->list[i] == pointer) {
            return;
        }
    }
    p->list = arena_grow(&p->unit->arena, p->list, sizeof(LLVMValueRef), p->count, &p->cap);
    p->list[p->count++] = pointer;
}

#define BOTH (PPU_REFERENCE_READ | PPU_REFERENCE_WRITE)

static uint8_t call_access(LLVMValueRef call, LLVMValueRef pointer)
{
    const char *name = ir_callee(call);
    bool copy = strncmp(name, "llvm.memcpy.", 12) == 0, fill = strncmp(name, "llvm.memset.", 12) == 0;

    if (copy || fill) {
        return (uint8_t)((LLVMGetOperand(call, 0) == pointer ? PPU_REFERENCE_WRITE : 0) |
                         (copy && LLVMGetOperand(call, 1) == pointer ? PPU_REFERENCE_READ : 0));
    }
    if (strncmp(name, "llvm.lifetime.", 14) == 0 || strncmp(name, "llvm.assume", 11) == 0) {
        return 0;
    }
    return BOTH | PPU_REFERENCE_ESCAPES;
}

/* What one use of a pointer does; pointers that it makes are followed. */
static uint8_t use_access(struct pointers *p, LLVMValueRef user, LLVMValueRef pointer)
{
    if (LLVMIsAInstruction(user) == NULL) {
        return BOTH | PPU_REFERENCE_ESCAPES;
    }
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
        return PPU_REFERENCE_READ;
    case LLVMStore:
        return LLVMGetOperand(user, 0) == pointer ? BOTH | PPU_REFERENCE_ESCAPES : PPU_REFERENCE_WRITE;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return LLVMGetOperand(user, 0) == pointer ? BOTH : BOTH | PPU_REFERENCE_ESCAPES;
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
        add(p, user);
        return 0;
    case LLVMICmp:
        return 0;
    case LLVMCall:
        return call_access(user, pointer);
    default:
        return BOTH | PPU_REFERENCE_ESCAPES;
    }
}

uint8_t references_of(struct unit *unit, LLVMValueRef argument)
{
    struct pointers p = { .unit = unit };
    uint8_t access = 0;

    add(&p, argument);
    for (uint32_t i = 0; i < p.count; i++) {
        LLVMValueRef pointer = p.list[i];
        for (LLVMUseRef use = LLVMGetFirstUse(pointer); use != NULL; use = LLVMGetNextUse(use)) {
            access |= use_access(&p, LLVMGetUser(use), pointer);
        }
    }
    return access;
}
