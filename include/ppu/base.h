/* SPDX-License-Identifier: MIT */
/*
 * Defines what every ABI header of the PPU builds on: fixed-width types, layout assertions and address types.
 * Freestanding C11, little-endian.
 */
#ifndef PPU_BASE_H
#define PPU_BASE_H

#include <stddef.h>
#include <stdint.h>

#define PPU_ABI_MAJOR 1u
#define PPU_ABI_MINOR 0u
#define PPU_ISA_VERSION 1u

#define PPU_KIB 1024u
#define PPU_MIB (1024u * 1024u)

/* Asserts the size of a shared structure and the offset of one of its members. */
#define PPU_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type ": size is ABI")
#define PPU_ASSERT_OFFSET(type, member, bytes) \
    _Static_assert(offsetof(type, member) == (bytes), #type "." #member ": offset is ABI")

/* Three address spaces that must not be mixed up; all in bytes. */
typedef struct {
    uint64_t va; /* virtual address of one PPU context, 48 bits */
} ppu_va_t;

typedef struct {
    uint32_t off; /* offset into VRAM; what the firmware touches lies in the first GiB */
} ppu_vram_t;

typedef struct {
    uint64_t bus; /* address as the PCI function emits it (IOVA behind an SMMU) */
} ppu_bus_t;

/* Version and size, the first word of every versioned structure in memory. */
struct ppu_struct_header {
    uint16_t version;
    uint16_t size_bytes;
};
PPU_ASSERT_SIZE(struct ppu_struct_header, 4);

#endif
