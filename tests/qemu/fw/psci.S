/* SPDX-License-Identifier: MIT */
/*
 * Asks PSCI, as a guest of a few instructions, to switch the PPU's microcontroller on, whose number it knows, and how
 * it is. The answers are left in memory: CPU_ON, AFFINITY_INFO, then a word that says that both are there.
 */
#define CPU_ON 0xc4000003
#define AFFINITY_INFO 0xc4000004
#define MCU 0xff00000000 /* of the first PPU */
#define ENTRY 0x20000000
#define ANSWERS 0x40100000
#define ANSWERED 0x600d600d

    .global _start
_start:
    ldr x19, =ANSWERS
    ldr x0, =CPU_ON
    ldr x1, =MCU
    ldr x2, =ENTRY
    mov x3, #0
    hvc #0
    str w0, [x19]
    ldr x0, =AFFINITY_INFO
    ldr x1, =MCU
    mov x2, #0
    hvc #0
    str w0, [x19, #4]
    ldr w0, =ANSWERED
    str w0, [x19, #8]
rest:
    wfe
    b rest
