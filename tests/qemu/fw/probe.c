/* SPDX-License-Identifier: MIT */
#include "tests/qemu/fw/probe.h"

#include "ppu/regs.h"

#define SCB_SHCSR (*(volatile uint32_t *)0xe000ed24u)
#define SCB_CFSR (*(volatile uint32_t *)0xe000ed28u)
#define SCB_AIRCR (*(volatile uint32_t *)0xe000ed0cu)
#define NVIC_ISER (*(volatile uint32_t *)0xe000e100u)
#define AIRCR_RESET 0x05fa0004u
#define SHCSR_BUSFAULT (1u << 17)
#define STACK_TOP (PPU_MCU_DTCM + 0x10000u)
#define EXCEPTIONS 16

void start(void);

static volatile struct probe_mailbox *const mailbox = (volatile void *)(PPU_MCU_VRAM + PROBE_MAILBOX);

static volatile uint32_t *word(uint32_t address)
{
    return (volatile uint32_t *)address;
}

static volatile uint32_t *reg(uint32_t offset)
{
    return word(PPU_MCU_REGS + offset);
}

static uint32_t next_random(uint32_t state)
{
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ state << 5;
}

/* Random words and small ones into random registers. */
static void storm(uint32_t count, uint32_t state)
{
    for (uint32_t i = 0; i < count; i++) {
        state = next_random(state);
        uint32_t offset = state % PPU_REG_SPACE & ~3u;
        state = next_random(state);
        *reg(offset) = state & 1 ? state : state & 0xff;
    }
}

/*
 * Waits as a firmware of the PPU does until it has taken so many interrupts. It sleeps where it has said so: the last
 * of them may come between the comparison and the read, and then the device takes it for one that rests until the next.
 */
static void wait_for_beats(uint32_t beats)
{
    const uint32_t first = mailbox->beats;

    while (mailbox->beats - first < beats) {
        (void)*reg(PPU_REG_MCU_IDLE);
        __asm__ volatile("wfi");
    }
}

/* As one that serves many events. */
static void access_often(void)
{
    for (uint32_t i = 0; i < 200; i++) {
        (void)*reg(PPU_REG_MAGIC);
    }
}

/* Without an access to the function. */
static void count_while(enum probe_op op)
{
    while (mailbox->op == op) {
        mailbox->result[0]++;
    }
}

static void serve(void)
{
    uint32_t op = mailbox->op;

    switch (op) {
    case PROBE_READ:
        mailbox->result[0] = *word(mailbox->arg[0]);
        break;
    case PROBE_WRITE:
        *word(mailbox->arg[0]) = mailbox->arg[1];
        break;
    case PROBE_COUNT:
        count_while(PROBE_COUNT);
        return; /* what ended it is the next request */
    case PROBE_COMPUTE:
        wait_for_beats(mailbox->arg[0]);
        if (mailbox->arg[1]) {
            *reg(PPU_REG_SLOT_START) = mailbox->arg[1];
        }
        access_often();
        count_while(PROBE_COMPUTE);
        return;
    case PROBE_ACCESS:
        wait_for_beats(mailbox->arg[0]);
        while (mailbox->op == PROBE_ACCESS) {
            (void)*reg(PPU_REG_MAGIC);
            mailbox->result[0]++;
        }
        return;
    case PROBE_LOCK_UP:
        __asm__ volatile("udf #0");
        break;
    case PROBE_RESET:
        mailbox->op = PROBE_IDLE;
        SCB_AIRCR = AIRCR_RESET;
        for (;;) {
        }
    case PROBE_STORM:
        storm(mailbox->arg[0], mailbox->arg[1]);
        break;
    default:
        return;
    }
    mailbox->op = PROBE_IDLE;
}

static void on_interrupt(void)
{
    *reg(PPU_REG_IRQ_PENDING) = ~0u;
    mailbox->beats++;
}

/* Steps over the instruction that was refused. */
__attribute__((naked)) static void on_bus_fault(void)
{
    __asm__ volatile("mov r0, sp\n"
                     "b bus_fault_survived\n");
}

__attribute__((used)) static void bus_fault_survived(uint32_t *frame)
{
    uint16_t insn = *(uint16_t *)frame[6];

    SCB_CFSR = SCB_CFSR;
    mailbox->faults++;
    frame[6] += (insn >> 11) >= 0x1d ? 4 : 2;
}

static void on_fault(void)
{
    __asm__ volatile("udf #1");
}

__attribute__((noreturn)) void start(void)
{
    SCB_SHCSR |= SHCSR_BUSFAULT;
    NVIC_ISER = (1u << PPU_IRQ_COUNT) - 1;
    mailbox->boots++;
    *reg(PPU_REG_BOOT_STATUS) = PROBE_STARTED;
    for (;;) {
        serve();
        __asm__ volatile("cpsid i");
        if (mailbox->op == PROBE_IDLE) {
            __asm__ volatile("wfi");
        }
        __asm__ volatile("cpsie i");
    }
}

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[EXCEPTIONS + PPU_IRQ_COUNT] = {
    STACK_TOP,
    (uintptr_t)start,
    (uintptr_t)on_fault,
    (uintptr_t)on_fault,
    (uintptr_t)on_fault,
    (uintptr_t)on_bus_fault,
    [EXCEPTIONS + PPU_IRQ_DOORBELL] = (uintptr_t)on_interrupt,
    [EXCEPTIONS + PPU_IRQ_EVENT] = (uintptr_t)on_interrupt,
    [EXCEPTIONS + PPU_IRQ_ADMIN] = (uintptr_t)on_interrupt,
    [EXCEPTIONS + PPU_IRQ_TIMER] = (uintptr_t)on_interrupt,
    [EXCEPTIONS + PPU_IRQ_ERROR] = (uintptr_t)on_interrupt,
};
