/* SPDX-License-Identifier: MIT */
/*
 * Ends a firmware that went wrong: writes a crash record where the host finds it, sets BOOT_STATUS to CRASHED, and
 * raises the error interrupt. Nothing of the firmware's state is trusted here, its stack least of all.
 */
#include <string.h>

#include "boot/image.h"
#include "boot/scb.h"
#include "firmware/hal.h"
#include "firmware/hal_mcu.h"
#include "ppu/macros.h"

#define FRAME_WORDS 8u /* r0-r3, r12, lr, pc, xpsr */

static __attribute__((used)) uint32_t callee_saved[8]; /* r4-r11 at the fault; written by crash_entry() */

__attribute__((used)) _Noreturn void crash_write(const uint32_t *stack, uint32_t exc_return);

/* Leaves the stack, which may be what is broken, for one of its own. */
__attribute__((naked)) void crash_entry(void)
{
    __asm__ volatile("cpsid i\n\t"
                     "mrs r0, msp\n\t"
                     "mov r1, lr\n\t"
                     "ldr r2, =callee_saved\n\t"
                     "stmia r2!, {r4-r11}\n\t"
                     "ldr r3, =__stack_top\n\t"
                     "msr msplim, r3\n\t"
                     "ldr r3, =__crash_stack_top\n\t"
                     "msr msp, r3\n\t"
                     "b crash_write");
}

static const char *const exception_names[] = {
    [2] = "NMI",         [3] = "HardFault", [4] = "MemManage",     [5] = "BusFault", [6] = "UsageFault",
    [7] = "SecureFault", [11] = "SVCall",   [12] = "DebugMonitor", [14] = "PendSV",  [15] = "SysTick",
};

static const char *exception_name(void)
{
    uint32_t number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    bool known = number < PPU_ARRAY_SIZE(exception_names) && exception_names[number];
    return known ? exception_names[number] : "exception";
}

/* Where the stack can hold `words` from `at`. */
static bool on_stack(const uint32_t *at, uint32_t words)
{
    uintptr_t low = (uintptr_t)__stack_limit;
    uintptr_t high = (uintptr_t)__stack_top;
    return (uintptr_t)at >= low && (uintptr_t)at <= high && words * 4 <= high - (uintptr_t)at;
}

static void record_registers(struct ppu_crash_record *record, const uint32_t *stack)
{
    memcpy(&record->r[4], callee_saved, sizeof(callee_saved));
    if (!on_stack(stack, FRAME_WORDS)) {
        record->r[13] = (uint32_t)stack;
        return;
    }
    memcpy(&record->r[0], stack, 4 * sizeof(uint32_t));
    record->r[12] = stack[4];
    record->r[13] = (uint32_t)(stack + FRAME_WORDS);
    record->r[14] = stack[5];
    record->r[15] = stack[6];
    record->xpsr = stack[7];
    for (uint32_t i = 0; i < PPU_CRASH_STACK_WORDS && on_stack(stack + FRAME_WORDS + i, 1); i++) {
        record->stack[i] = stack[FRAME_WORDS + i];
    }
}

_Noreturn void crash_write(const uint32_t *stack, uint32_t exc_return)
{
    MPU_CTRL = 0;
    struct ppu_crash_record *record = &__crash_record;
    memset(record, 0, sizeof(*record));
    record->head = (struct ppu_struct_header){ 1, sizeof(*record) };
    record->exc_return = exc_return;
    record->cfsr = SCB_CFSR;
    record->hfsr = SCB_HFSR;
    record->mmfar = SCB_MMFAR;
    record->bfar = SCB_BFAR;
    record_registers(record, stack);
    record->line = hal_crash_line;
    strncpy(record->file, hal_crash_line ? hal_crash_file : exception_name(), PPU_CRASH_FILE_BYTES - 1);
    record->magic = PPU_CRASH_MAGIC;
    hal_write(PPU_REG_BOOT_DETAIL, (uint32_t)record);
    hal_write(PPU_REG_BOOT_STATUS, PPU_BOOT_CRASHED);
    hal_write(PPU_REG_VECTOR_RAISE, PPU_VECTOR_ERROR);
    for (;;) {
        __asm__ volatile("wfi");
    }
}

_Static_assert(sizeof(struct ppu_crash_record) == 304, "linker/memory.ld reserves this");
