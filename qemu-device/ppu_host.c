/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements what the device core needs from its host: system memory, interrupts, clock, text. */
#include "qemu/osdep.h"

#include "exec/cpu-common.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_device.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "system/cpu-timers.h"

#include "debugger.h"
#include "ppu.h"
#include "trace.h"

/*
 * The function must not reach its own registers by DMA or by an MSI-X message: the core
 * would be entered a second time. QEMU refuses such accesses while a handler of the device
 * runs; timers and work on the MCU's thread are no handlers, hence this.
 */
static bool outward_enter(PPUState *s)
{
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;
    bool before = guard->engaged_in_io;

    guard->engaged_in_io = true;
    return before;
}

static void outward_leave(PPUState *s, bool before)
{
    DEVICE(s)->mem_reentrancy_guard.engaged_in_io = before;
}

static bool host_dma(PPUState *s, uint64_t bus, void *buf, uint32_t len_bytes, DMADirection direction)
{
    if (s->remote) {
        bool done = ppu_remote_dma(s, bus, buf, len_bytes, direction == DMA_DIRECTION_FROM_DEVICE);
        trace_ppu_dma(s->config.instance, bus, len_bytes, direction == DMA_DIRECTION_FROM_DEVICE,
                      done ? MEMTX_OK : MEMTX_ERROR);
        return done;
    }
    bool before = outward_enter(s);
    MemTxResult result = pci_dma_rw(PCI_DEVICE(s), bus, buf, len_bytes, direction, MEMTXATTRS_UNSPECIFIED);

    outward_leave(s, before);
    trace_ppu_dma(s->config.instance, bus, len_bytes, direction == DMA_DIRECTION_FROM_DEVICE, result);
    return result == MEMTX_OK;
}

static bool host_dma_read(void *opaque, uint64_t bus, void *buf, uint32_t len_bytes)
{
    return host_dma(opaque, bus, buf, len_bytes, DMA_DIRECTION_TO_DEVICE);
}

static bool host_dma_write(void *opaque, uint64_t bus, const void *buf, uint32_t len_bytes)
{
    return host_dma(opaque, bus, (void *)buf, len_bytes, DMA_DIRECTION_FROM_DEVICE);
}

static void host_mcu_irq(void *opaque, uint32_t line, bool level)
{
    ppu_mcu_irq(opaque, line, level);
}

static void host_mcu_run(void *opaque, bool run)
{
    ppu_mcu_run(opaque, run);
}

static void *host_mcu_mem(void *opaque, uint32_t mcu_addr, uint32_t len_bytes)
{
    return ppu_mcu_mem(opaque, mcu_addr, len_bytes);
}

/*
 * A client that looks in the mailbox sees the vector there, and is not woken up.
 * The byte on `notify` may be lost when the client has hundreds unread: it means "at least
 * one vector was raised", which ones says VECTOR_PENDING.
 */
static void host_raise_vector(void *opaque, uint32_t vector)
{
    PPUState *s = opaque;
    uint8_t byte = vector;
    bool before;

    if (vector >= PPU_MAX_VECTORS) {
        return;
    }
    trace_ppu_vector(s->config.instance, vector);
    bool is_seen = s->mailbox && ppu_mailbox_raise(s->mailbox, 1u << vector);
    if (s->remote) {
        if (!is_seen) {
            ppu_remote_raise(s, vector);
        }
        return;
    }
    if (msix_enabled(PCI_DEVICE(s))) {
        before = outward_enter(s);
        msix_notify(PCI_DEVICE(s), vector);
        outward_leave(s, before);
    }
    if (!is_seen) {
        qemu_chr_fe_write(&s->notify, &byte, 1);
    }
}

static void host_function_reset(void *opaque)
{
    PPUState *s = opaque;

    trace_ppu_reset(s->config.instance, "register");
    core_reset(s->core);
}

static void host_log_char(void *opaque, char c)
{
    PPUState *s = opaque;

    qemu_chr_fe_write(&s->log, (const uint8_t *)&c, 1);
}

static void host_guest_error(void *opaque, const char *sentence)
{
    PPUState *s = opaque;

    qemu_log_mask(LOG_GUEST_ERROR, "ppu%u: %s\n", s->config.instance, sentence);
}

static void host_timer_set(void *opaque, uint64_t deadline_ns)
{
    PPUState *s = opaque;

    if (deadline_ns > INT64_MAX) {
        timer_del(s->timer);
    } else {
        timer_mod_ns(s->timer, deadline_ns);
    }
}

static void host_vram_clear(void *opaque, uint64_t off, uint64_t len_bytes)
{
    PPUState *s = opaque;

    if (!ppu_vram_discard(s, off, len_bytes)) {
        memset((uint8_t *)memory_region_get_ram_ptr(s->vram) + off, 0, len_bytes);
    }
    memory_region_set_dirty(s->vram, off, len_bytes);
}

static uint64_t host_vram_zeros(void *opaque, uint64_t off)
{
    return ppu_vram_zeros(opaque, off);
}

static void host_vram_hide(void *opaque, bool hide)
{
    PPUState *s = opaque;

    memory_region_set_enabled(s->vram, !hide);
}

/* Any thread. */
static uint64_t host_now_ns(void *opaque)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/*
 * Any thread. When QEMU counts instructions the answer comes by a timer that has expired:
 * unlike bottom halves, timers run at the same instruction each time.
 */
static void host_kick(void *opaque)
{
    PPUState *s = opaque;

    if (ppu_idle_kick(s)) {
        return;
    }
    if (icount_enabled()) {
        timer_mod_ns(s->kick_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
    } else {
        qemu_bh_schedule(s->kick);
    }
}

static uint64_t host_mcu_cpu_ns(void *opaque)
{
    return ppu_mcu_cpu_ns(opaque);
}

const struct core_host_ops ppu_host_ops = {
    .dma_read = host_dma_read,
    .dma_write = host_dma_write,
    .mcu_irq = host_mcu_irq,
    .mcu_run = host_mcu_run,
    .raise_vector = host_raise_vector,
    .function_reset = host_function_reset,
    .mcu_mem = host_mcu_mem,
    .log_char = host_log_char,
    .guest_error = host_guest_error,
    .timer_set = host_timer_set,
    .now_ns = host_now_ns,
    .mcu_cpu_ns = host_mcu_cpu_ns,
    .kick = host_kick,
    .vram_clear = host_vram_clear,
    .vram_zeros = host_vram_zeros,
    .vram_hide = host_vram_hide,
};

static void kicked(void *opaque)
{
    ppu_idle_serve_kick(opaque);
}

static void deadline_reached(void *opaque)
{
    PPUState *s = opaque;

    core_timer(s->core);
}

/*
 * Readers of the state area ask in VRAM, which tells nobody: it is looked at now and then, by the host's time, so that
 * a machine that stands still does not notice. One that counts instructions would: a wake-up of QEMU's main loop moves
 * the instants at which the MCU sees its interrupts. There STATE_UPDATE alone brings the area up to date.
 */
static void look_for_readers(void *opaque)
{
    PPUState *s = opaque;
    int64_t now_ns = qemu_clock_get_ns(QEMU_CLOCK_REALTIME);

    if (core_show(s->core)) {
        s->watched_until_ns = now_ns + PPU_STATE_AWAKE_NS;
    }
    timer_mod_ns(s->readers, now_ns + (core_debug(s->core, (uint64_t)now_ns) ? PPU_DEBUG_LOOK_NS
                                       : now_ns < s->watched_until_ns        ? PPU_STATE_WATCH_NS
                                                                             : PPU_STATE_LOOK_NS));
}

void ppu_host_watch(PPUState *s)
{
    if (!icount_enabled()) {
        s->readers = timer_new_ns(QEMU_CLOCK_REALTIME, look_for_readers, s);
        look_for_readers(s);
    }
}

void ppu_host_init(PPUState *s)
{
    s->kick = qemu_bh_new_guarded(kicked, s, &DEVICE(s)->mem_reentrancy_guard);
    s->kick_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, kicked, s);
    ppu_idle_init(s);
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, deadline_reached, s);
}
