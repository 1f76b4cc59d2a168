/* SPDX-License-Identifier: MIT */
/* Implements firmware/hal.h on the joined machine: the MCU's thread alone calls it. */
#include "firmware/hal.h"

#include <string.h>

#include "tests/joined/joined_state.h"

static struct joined *machine;

void hal_attach(struct joined *joined)
{
    machine = joined;
}

static void write_crash(const char *file, uint32_t line)
{
    struct ppu_crash_record crash = {
        .magic = PPU_CRASH_MAGIC,
        .head = { 1, sizeof(crash) },
        .line = line,
    };
    uint8_t *record = machine->dtcm + sizeof(machine->dtcm) - sizeof(crash);

    strncpy(crash.file, file, sizeof(crash.file) - 1);
    memcpy(record, &crash, sizeof(crash));
    core_reg_write(machine->core, CORE_MCU, PPU_REG_BOOT_STATUS, PPU_BOOT_CRASHED);
    core_reg_write(machine->core, CORE_MCU, PPU_REG_VECTOR_RAISE, PPU_VECTOR_ERROR);
}

/* With the host lock: leaves the firmware for good when it is to be held, or by order of a test. */
static void leave_if_told(void)
{
    enum mcu_order order = machine->order;

    machine->order = MCU_GO_ON;
    if (order == MCU_CRASH) {
        write_crash("ordered by a test", 1);
    } else if (order == MCU_LOCK_UP) {
        core_mcu_state(machine->core, PPU_MCU_LOCKUP);
    }
    if (order != MCU_GO_ON || machine->mcu_now != machine->mcu_wanted) {
        pthread_mutex_unlock(&machine->lock);
        longjmp(machine->mcu_exit, 1);
    }
}

static void enter(void)
{
    pthread_mutex_lock(&machine->lock);
    while (machine->paused && !machine->ending) {
        pthread_cond_wait(&machine->changed, &machine->lock);
    }
    leave_if_told();
}

static void leave(void)
{
    pthread_mutex_unlock(&machine->lock);
}

uint32_t hal_read(uint32_t reg)
{
    enter();
    uint32_t value = core_reg_read(machine->core, CORE_MCU, reg);
    leave();
    return value;
}

void hal_write(uint32_t reg, uint32_t value)
{
    enter();
    core_reg_write(machine->core, CORE_MCU, reg, value);
    leave();
}

void *hal_vram(ppu_vram_t vram)
{
    return machine->vram + vram.off;
}

uint64_t hal_time(void)
{
    return joined_now(machine);
}

uint32_t hal_take_events(void)
{
    enter();
    uint32_t events = core_reg_read(machine->core, CORE_MCU, PPU_REG_IRQ_PENDING);
    core_reg_write(machine->core, CORE_MCU, PPU_REG_IRQ_PENDING, events);
    leave();
    return events;
}

bool hal_wait(uint32_t *events)
{
    enter();
    while (machine->irq_level == 0) {
        pthread_cond_wait(&machine->changed, &machine->lock);
        leave_if_told();
    }
    leave();
    *events = hal_take_events();
    return true;
}

_Noreturn void hal_crash(const char *file, uint32_t line)
{
    pthread_mutex_lock(&machine->lock);
    write_crash(file, line);
    pthread_mutex_unlock(&machine->lock);
    longjmp(machine->mcu_exit, 1);
}
