/* SPDX-License-Identifier: MIT */
/*
 * Defines what debug information in a program image (image.h) says beyond DWARF 5. It is an ELF file with sections
 * .debug_*. Addresses of code are byte offsets from where the code lies. A variable's location is one operation
 * DW_OP_addr, and its DW_AT_address_class names the memory that this offset is into; that of a pointer type names the
 * memory that it points to.
 */
#ifndef PPU_DEBUG_INFO_H
#define PPU_DEBUG_INFO_H

#define PPU_DEBUG_MACHINE 0x5050u /* e_machine of the ELF file */
#define PPU_DEBUG_RETURN_VREG 0u  /* has the address that a function returns to, when it begins */

/* Values of DW_AT_address_class; the first five are the numbers that clang gives OpenCL's address spaces. */
enum ppu_debug_space {
    PPU_DEBUG_PRIVATE = 0,   /* local memory of each lane */
    PPU_DEBUG_GLOBAL = 1,    /* an address of the task's address space */
    PPU_DEBUG_CONSTANT = 2,  /* of a variable: from the code's base; of a pointer: as global */
    PPU_DEBUG_SHARED = 3,    /* shared memory of each CTA */
    PPU_DEBUG_GENERIC = 4,   /* of pointers: whatever the address says */
    PPU_DEBUG_PARAMETER = 5, /* the task's parameters */
    PPU_DEBUG_VARIABLES = 6, /* the program's variables (ppu_implicit_args.variables_va) */
};

#endif
