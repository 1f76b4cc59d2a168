/* SPDX-License-Identifier: MIT */
/*
 * Implements barriers and fences: OpenCL C 6.15.8 and 6.15.12. The barrier of the machine orders all memory of the
 * work-group.
 */
#include "primitive.h"

void BUILTIN barrier(cl_mem_fence_flags flags)
{
    __ppu_barrier();
}

void BUILTIN work_group_barrier(cl_mem_fence_flags flags)
{
    __ppu_barrier();
}

void BUILTIN work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    __ppu_barrier();
}

void BUILTIN mem_fence(cl_mem_fence_flags flags)
{
    __ppu_fence(PPU_ORDER_ACQ_REL, PPU_SCOPE_OF_CTA);
}

void BUILTIN read_mem_fence(cl_mem_fence_flags flags)
{
    __ppu_fence(PPU_ORDER_ACQUIRE, PPU_SCOPE_OF_CTA);
}

void BUILTIN write_mem_fence(cl_mem_fence_flags flags)
{
    __ppu_fence(PPU_ORDER_RELEASE, PPU_SCOPE_OF_CTA);
}

/* Waits for what threads of this grid have launched (B7): docs/spec/opencl.md. */
void __attribute__((always_inline)) ppu_wait_children(void)
{
    __ppu_wait_children();
}

/* The strongest fence serves every order and scope: on this machine they all cost the same. */
void BUILTIN atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope)
{
    if (order != memory_order_relaxed) {
        __ppu_fence(PPU_ORDER_SEQ_CST, PPU_SCOPE_OF_SYSTEM);
    }
}
