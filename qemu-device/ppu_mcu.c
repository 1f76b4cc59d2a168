/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the microcontroller: a Cortex-M33 with its private memories, in a CPU cluster of its own, so that the debugger
 * shows it as a process of its own.
 */
#include "qemu/osdep.h"

#include "exec/translation-block.h"
#include "hw/boards.h"
#include "hw/clock.h"
#include "hw/irq.h"
#include "hw/qdev-clock.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "qemu/units.h"
#include "system/cpu-timers.h"
#include "target/arm/cpu.h"

#include "ppu.h"
#include "trace.h"

#define MCU_HZ (100 * 1000 * 1000)
#define MCU_IRQ_LINES PPU_IRQ_COUNT /* what the core looks through each time one goes up or down */
#define MCU_REGS_BYTES (128 * KiB)
#define MCU_VRAM_LIMIT (1 * GiB)
#define MCU_AFFINITY \
    0xff00000000ull /* Aff3 no CPU of the machine has: numbers stay unique. PSCI skips M-profile cores */

static CPUState *mcu_cpu(PPUState *s)
{
    return CPU(s->mcu.armv7m.cpu);
}

/* ---- what the MCU can address ---- */

/*
 * Once the MCU is to be held, its stores must not disturb what was reset in the meantime,
 * although its thread may still be busy with the instructions it has begun.
 */
static uint64_t regs_read(void *opaque, hwaddr offset, unsigned size)
{
    PPUState *s = opaque;

    if (offset == PPU_REG_MCU_IDLE && s->mcu.live) {
        ppu_idle_begin(s);
    } else {
        ppu_idle_access(s);
    }
    uint32_t value = s->mcu.live ? core_reg_read(s->core, CORE_MCU, offset) : 0;
    trace_ppu_mcu_read(s->config.instance, offset, value);
    return value;
}

static void regs_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    PPUState *s = opaque;

    ppu_idle_access(s);
    trace_ppu_mcu_write(s->config.instance, offset, value);
    if (s->mcu.live) {
        core_reg_write(s->core, CORE_MCU, offset, value);
    }
}

static const MemoryRegionOps regs_ops = {
    .read = regs_read,
    .write = regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

static MemTxResult window_read(void *opaque, hwaddr offset, uint64_t *value, unsigned size, MemTxAttrs attrs)
{
    PPUState *s = opaque;
    uint8_t bytes[8] = { 0 };

    if (!s->mcu.live || !ppu_host_ops.dma_read(s, core_window_base(s->core) + offset, bytes, size)) {
        return MEMTX_DECODE_ERROR;
    }
    *value = ldn_le_p(bytes, size);
    return MEMTX_OK;
}

static MemTxResult window_write(void *opaque, hwaddr offset, uint64_t value, unsigned size, MemTxAttrs attrs)
{
    PPUState *s = opaque;
    uint8_t bytes[8];

    stn_le_p(bytes, size, value);
    if (!s->mcu.live || !ppu_host_ops.dma_write(s, core_window_base(s->core) + offset, bytes, size)) {
        return MEMTX_DECODE_ERROR;
    }
    return MEMTX_OK;
}

/* Not an alias of the bus: the translation of an SMMU would have to be asked for on each change. */
static const MemoryRegionOps window_ops = {
    .read_with_attrs = window_read,
    .write_with_attrs = window_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

bool ppu_mcu_memory_init(PPUState *s, Error **errp)
{
    struct ppu_mcu *mcu = &s->mcu;
    Object *owner = OBJECT(s);
    uint64_t vram_bytes = MIN(s->config.vram_bytes, MCU_VRAM_LIMIT);

    if (!memory_region_init_ram(&mcu->itcm, owner, "ppu-itcm", PPU_MCU_ITCM_BYTES, errp) ||
        !memory_region_init_ram(&mcu->dtcm, owner, "ppu-dtcm", PPU_MCU_DTCM_BYTES, errp)) {
        return false;
    }
    memory_region_init(&mcu->space, owner, "ppu-mcu-space", UINT64_MAX);
    memory_region_init_io(&mcu->regs, owner, &regs_ops, s, "ppu-mcu-regs", MCU_REGS_BYTES);
    memory_region_init_alias(&mcu->vram, owner, "ppu-mcu-vram", s->vram, 0, vram_bytes);
    memory_region_init_io(&mcu->window, owner, &window_ops, s, "ppu-mcu-window", PPU_MCU_WINDOW_BYTES);
    memory_region_add_subregion(&mcu->space, PPU_MCU_ITCM, &mcu->itcm);
    memory_region_add_subregion(&mcu->space, PPU_MCU_DTCM, &mcu->dtcm);
    memory_region_add_subregion(&mcu->space, PPU_MCU_REGS, &mcu->regs);
    memory_region_add_subregion(&mcu->space, PPU_MCU_VRAM, &mcu->vram);
    memory_region_add_subregion(&mcu->space, PPU_MCU_WINDOW, &mcu->window);
    return true;
}

void *ppu_mcu_mem(PPUState *s, uint32_t addr, uint32_t len_bytes)
{
    uint32_t offset = addr - PPU_MCU_DTCM;

    if (offset > PPU_MCU_DTCM_BYTES || len_bytes > PPU_MCU_DTCM_BYTES - offset) {
        return NULL;
    }
    return (uint8_t *)memory_region_get_ram_ptr(&s->mcu.dtcm) + offset;
}

/* ---- held and released ---- */

static void switch_off(PPUState *s)
{
    s->mcu.armv7m.cpu->power_state = PSCI_OFF;
    mcu_cpu(s)->halted = 1;
    mcu_cpu(s)->exception_index = EXCP_HLT;
}

static void mcu_hold(PPUState *s)
{
    ppu_idle_stop(s);
    s->mcu.live = false;
    switch_off(s);
    ppu_mailbox_say_quiet(s, true);
    ppu_pci_protect_tcm(s, false);
    trace_ppu_mcu_state(s->config.instance, "held");
    core_mcu_state(s->core, PPU_MCU_HELD);
}

/* cpu_reset() leaves the interrupt controller and the system timers as they are. */
static void mcu_reset(PPUState *s)
{
    ARMv7MState *armv7m = &s->mcu.armv7m;

    device_cold_reset(DEVICE(&armv7m->nvic));
    device_cold_reset(DEVICE(&armv7m->systick[M_REG_NS]));
    if (arm_feature(&armv7m->cpu->env, ARM_FEATURE_M_SECURITY)) {
        device_cold_reset(DEVICE(&armv7m->systick[M_REG_S]));
    }
    cpu_reset(mcu_cpu(s));
}

/* The reset of the interrupt controller has forgotten the lines that are high. */
static void mcu_drive_lines(PPUState *s)
{
    uint32_t pending = core_reg_read(s->core, CORE_MCU, PPU_REG_IRQ_PENDING);

    for (uint32_t line = 0; line < PPU_IRQ_COUNT; line++) {
        ppu_mcu_irq(s, line, pending >> line & 1);
    }
}

static void mcu_release(PPUState *s)
{
    ppu_pci_protect_tcm(s, true);
    if (s->firmware) {
        address_space_write(mcu_cpu(s)->as, PPU_MCU_ITCM, MEMTXATTRS_UNSPECIFIED, s->firmware, s->firmware_bytes);
    }
    mcu_reset(s);
    s->mcu.armv7m.cpu->power_state = PSCI_ON;
    mcu_cpu(s)->halted = 0;
    mcu_cpu(s)->exception_index = -1;
    s->mcu.live = true;
    ppu_mailbox_say_quiet(s, false);
    trace_ppu_mcu_state(s->config.instance, "released");
    core_mcu_state(s->core, PPU_MCU_RUNNING);
    mcu_drive_lines(s);
}

/* On the MCU's thread, or on any while the CPUs stand still. Several requests may have become one: the last counts. */
static void mcu_apply(CPUState *cpu, run_on_cpu_data data)
{
    PPUState *s = data.host_ptr;

    s->mcu.queued = false;
    mcu_hold(s);
    if (s->mcu.wanted) {
        mcu_release(s);
    }
}

void ppu_mcu_run(PPUState *s, bool run)
{
    CPUState *cpu = mcu_cpu(s);

    s->mcu.wanted = run;
    s->mcu.live = false;
    ppu_mailbox_say_quiet(s, !run);
    if (cpu->stopped) {
        /* A reset before loading a snapshot must be over when the load begins. */
        mcu_apply(cpu, RUN_ON_CPU_HOST_PTR(s));
    } else if (!s->mcu.queued) {
        s->mcu.queued = true;
        async_run_on_cpu(cpu, mcu_apply, RUN_ON_CPU_HOST_PTR(s));
    }
}

void ppu_mcu_loaded(PPUState *s)
{
    s->mcu.live = core_reg_read(s->core, CORE_HOST, PPU_REG_MCU_STATE) == PPU_MCU_RUNNING;
    s->mcu.wanted = s->mcu.live;
    ppu_pci_protect_tcm(s, s->mcu.live);
}

/* A snapshot has the state of the core apart from what the device says of it. */
void ppu_mcu_resumed(PPUState *s)
{
    if (!s->mcu.live) {
        switch_off(s);
    }
}

void ppu_mcu_irq(PPUState *s, uint32_t line, bool level)
{
    if (line < PPU_IRQ_COUNT) {
        trace_ppu_mcu_irq(s->config.instance, line, level);
        if (level) {
            ppu_mailbox_say_quiet(s, false);
            ppu_idle_end(s);
            if (line == PPU_IRQ_DOORBELL || line == PPU_IRQ_ADMIN) {
                ppu_idle_asked(s);
            }
        }
        qemu_set_irq(qdev_get_gpio_in(DEVICE(&s->mcu.armv7m), line), level);
    }
}

/* AIRCR.SYSRESETREQ restarts the MCU alone; the device goes on. */
static void mcu_reset_requested(void *opaque, int n, int level)
{
    PPUState *s = opaque;

    if (level && s->mcu.live) {
        ppu_mcu_run(s, true);
    }
}

/* The interrupt controller has switched the core off already. */
static void mcu_locked_up(void *opaque, int n, int level)
{
    PPUState *s = opaque;
    BQL_LOCK_GUARD();

    if (level && s->mcu.live) {
        ppu_idle_stop(s);
        s->mcu.live = false;
        trace_ppu_mcu_state(s->config.instance, "locked up");
        core_mcu_state(s->core, PPU_MCU_LOCKUP);
    }
}

/* ---- making it ---- */

static DeviceState *mcu_create(PPUState *s)
{
    struct ppu_mcu *mcu = &s->mcu;
    g_autofree char *name = g_strdup_printf("ppu-cluster%u", s->config.instance);
    DeviceState *armv7m;

    object_initialize_child(OBJECT(qdev_get_machine()), name, &mcu->cluster, TYPE_CPU_CLUSTER);
    object_initialize_child(OBJECT(&mcu->cluster), "mcu", &mcu->armv7m, TYPE_ARMV7M);
    mcu->clock = clock_new(OBJECT(s), "mcu-clock");
    clock_set_hz(mcu->clock, MCU_HZ);

    armv7m = DEVICE(&mcu->armv7m);
    qdev_connect_clock_in(armv7m, "cpuclk", mcu->clock);
    qdev_prop_set_uint32(armv7m, "num-irq", MCU_IRQ_LINES);
    qdev_prop_set_string(armv7m, "cpu-type", ARM_CPU_TYPE_NAME("cortex-m33"));
    qdev_prop_set_bit(armv7m, "start-powered-off", true);
    object_property_set_link(OBJECT(armv7m), "memory", OBJECT(&mcu->space), &error_abort);
    qdev_prop_set_uint32(DEVICE(&mcu->cluster), "cluster-id", s->config.instance);
    return armv7m;
}

/*
 * The thread of the core was started before it belonged to its cluster: tell the translator,
 * which keeps the translations of different clusters apart.
 */
static void mcu_join_cluster(PPUState *s)
{
    CPUState *cpu = mcu_cpu(s);

    cpu->tcg_cflags = (cpu->tcg_cflags & ~CF_CLUSTER_MASK) | ((uint32_t)cpu->cluster_index << CF_CLUSTER_SHIFT);
}

bool ppu_mcu_realize(PPUState *s, Error **errp)
{
    DeviceState *armv7m = mcu_create(s);

    if (!sysbus_realize(SYS_BUS_DEVICE(armv7m), errp)) {
        return false;
    }
    s->mcu.armv7m.cpu->mp_affinity = MCU_AFFINITY | s->config.instance;
    qdev_connect_gpio_out_named(armv7m, "SYSRESETREQ", 0, qemu_allocate_irq(mcu_reset_requested, s, 0));
    qdev_connect_gpio_out_named(armv7m, "LOCKUP", 0, qemu_allocate_irq(mcu_locked_up, s, 0));
    if (!qdev_realize(DEVICE(&s->mcu.cluster), NULL, errp)) {
        return false;
    }
    mcu_join_cluster(s);
    return true;
}

char *ppu_mcu_text(PPUState *s)
{
    const CPUARMState *env = &s->mcu.armv7m.cpu->env;

    return g_strdup_printf("mcu: %s, halted %u, pc 0x%08x, sp 0x%08x, exception %d; looks for work for %u us\n",
                           s->mcu.armv7m.cpu->power_state == PSCI_ON ? "on" : "off", mcu_cpu(s)->halted, env->regs[15],
                           env->regs[13], env->v7m.exception, s->idle.poll.window_ns / 1000);
}

bool ppu_mcu_is_alone(PPUState *s)
{
    CPUState *mcu = mcu_cpu(s), *other;

    CPU_FOREACH(other)
    {
        if (other != mcu && ARM_CPU(other)->power_state != PSCI_OFF) {
            return false;
        }
    }
    return true;
}

/* QEMU counts the instructions of all processors together: those of a host without a guest never run. */
static uint64_t counted_ns(PPUState *s)
{
    return ppu_mcu_is_alone(s) ? icount_to_ns(icount_get_raw()) : 0;
}

uint64_t ppu_mcu_cpu_ns(PPUState *s)
{
    CPUState *mcu = mcu_cpu(s), *other;
    struct timespec time;
    clockid_t clock;

    if (icount_enabled()) {
        return counted_ns(s);
    }
    CPU_FOREACH(other)
    {
        if (other != mcu && other->thread == mcu->thread) {
            return 0;
        }
    }
    if (!mcu->thread || pthread_getcpuclockid(mcu->thread->thread, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return 0;
    }
    return (uint64_t)time.tv_sec * NANOSECONDS_PER_SECOND + (uint64_t)time.tv_nsec;
}
