/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides who serves doorbells in the mailbox and kicks of SM threads: QEMU's main loop, or the MCU's thread. The MCU
 * looks for work for a while before it sleeps (ppu/poll.h). From its first look on it takes them itself, while it looks
 * and at each access to the function while it has work, until it looks in vain. So neither a doorbell nor the end of a
 * CTA takes a turn of QEMU's main loop.
 *
 * A MCU that works for long without a look takes them as well: the main loop would wait for the big lock at each of
 * them, which a MCU that accesses the function all the time hardly leaves to others. The main loop watches meanwhile,
 * and takes all of it back where the MCU computes without an access.
 */
#include "qemu/osdep.h"

#include "hw/core/cpu.h"
#include "qemu/main-loop.h"
#include "system/cpu-timers.h"

#include "ppu.h"
#include "rest.h"
#include "trace.h"

#define HOLD_LOOK_US 20
#define BUSY_ACCESSES 64u                          /* of the MCU: it has worked for long */
#define SYSTEM_ACCESSES 32u                        /* of the MCU, about what a launch and its end take */
#define WATCH_NS 1000000                           /* of the host */
#define HOLD_ARMED_NS (2 * NANOSECONDS_PER_SECOND) /* of the host */

static int64_t now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_REALTIME);
}

/* This and the next two need no lock. */
static bool is_asked(const PPUState *s)
{
    return qatomic_read(&s->idle.kicked) || (s->mailbox && ppu_mailbox_is_rung(s->mailbox));
}

/* An interrupt that the MCU will take, or that ends its sleep. */
static bool has_interrupt(const CPUState *cpu)
{
    return qatomic_read(&cpu->interrupt_request);
}

static bool has_work(const PPUState *s, const CPUState *cpu)
{
    return has_interrupt(cpu) || qatomic_read(&cpu->exit_request) || is_asked(s);
}

/* Without the big lock. False: somebody else wanted the processor. */
static bool look_for_work(const PPUState *s, const CPUState *cpu, int64_t until_ns)
{
    int64_t before_ns = now_ns(), after_ns;

    for (; !has_work(s, cpu) && before_ns < until_ns; before_ns = after_ns) {
        sched_yield();
        after_ns = now_ns();
        if (after_ns - before_ns >= PPU_POLL_CROWDED_NS) {
            return false;
        }
    }
    return true;
}

static void set_looks(PPUState *s, bool looks)
{
    qatomic_set(&s->idle.looks, looks);
    if (s->mailbox) {
        ppu_mailbox_look(&s->mailbox->device_looks, looks);
    }
    if (looks && !timer_pending(s->idle.watch)) {
        timer_mod_ns(s->idle.watch, now_ns() + WATCH_NS);
    }
    smp_mb();
}

/*
 * A stopped machine's memory must not change (it may be in the middle of being saved): the work waits until
 * core_resume() kicks again.
 */
static void serve_kick(PPUState *s)
{
    if (qatomic_xchg(&s->idle.kicked, false) && s->running) {
        core_bottom_half(s->core);
    }
}

/* Leaves accesses of SMs to system memory, and the kick for them. */
static void answer_kick(PPUState *s)
{
    if (qatomic_xchg(&s->idle.kicked, false) && s->running && core_answer_events(s->core)) {
        qatomic_set(&s->idle.kicked, true);
    }
}

static void serve_events(PPUState *s)
{
    ppu_mailbox_serve(s);
    serve_kick(s);
}

/*
 * Called in the handler of a register. Others reach the function meanwhile, which QEMU would take for the function
 * reaching itself.
 */
static void look_unlocked(PPUState *s, CPUState *cpu, uint32_t window_ns)
{
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;

    guard->engaged_in_io = false;
    bql_unlock();
    bool alone = look_for_work(s, cpu, s->idle.since_ns + window_ns);
    bql_lock();
    guard->engaged_in_io = true;
    if (!alone) {
        ppu_poll_crowded(&s->idle.poll, now_ns());
    }
}

/*
 * Where instructions are counted, the clock jumps to the next timer while all processors sleep. The MCU looks after a
 * queue each millisecond, so how often it did so beside a client that computes would depend on the host. So the clock
 * stands still until somebody asks for something, when the MCU is the only processor and nothing else can happen. Who
 * waits for a semaphore may wait for what the host has stored without a doorbell, so that the clock runs again after a
 * while.
 */
static void hold_clock(PPUState *s, CPUState *cpu)
{
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;

    guard->engaged_in_io = false;
    qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL); /* what the MCU has executed counts for all threads from now on */
    const int64_t until_ns = core_has_armed(s->core) ? now_ns() + HOLD_ARMED_NS : INT64_MAX;
    bql_unlock();
    while (!has_work(s, cpu) && now_ns() < until_ns) {
        g_usleep(HOLD_LOOK_US);
    }
    bql_lock();
    guard->engaged_in_io = true;
    s->idle.clock_runs = !has_work(s, cpu);
    serve_events(s);
}

void ppu_idle_asked(PPUState *s)
{
    s->idle.clock_runs = false;
}

/* A debugger reads registers, too, on another thread. */
void ppu_idle_begin(PPUState *s)
{
    CPUState *cpu = CPU(s->mcu.armv7m.cpu);

    if (current_cpu != cpu) {
        return;
    }
    s->idle.accesses++;
    if (has_interrupt(cpu)) {
        return;
    }
    if (icount_enabled()) {
        ppu_mailbox_say_quiet(s, true);
        if (s->mailbox && !s->idle.clock_runs && ppu_mcu_is_alone(s) && core_at_rest(s->core)) {
            hold_clock(s, cpu);
        }
        return;
    }
    int64_t now = now_ns();
    s->idle.does = PPU_MCU_RESTS;
    s->idle.since_ns = s->idle.since_ns ?: now;
    uint32_t window_ns = ppu_poll_begin(&s->idle.poll, now);
    if (window_ns) {
        if (!s->idle.looks) {
            set_looks(s, true);
        }
        look_unlocked(s, cpu, window_ns);
        serve_events(s);
    }
    if (!has_interrupt(cpu)) {
        ppu_idle_stop(s);
    }
}

void ppu_idle_end(PPUState *s)
{
    if (s->idle.since_ns) {
        ppu_poll_end(&s->idle.poll, now_ns() - s->idle.since_ns);
        s->idle.since_ns = 0;
        s->idle.does = PPU_MCU_WORKS;
        s->idle.works_from = s->idle.accesses;
    }
}

/* The main loop serves everything. */
static void hand_back(PPUState *s, enum ppu_mcu_does does)
{
    s->idle.does = does;
    if (s->idle.looks) {
        set_looks(s, false);
        serve_events(s);
    }
}

void ppu_idle_stop(PPUState *s)
{
    hand_back(s, PPU_MCU_RESTS);
}

/*
 * The MCU works, for any of the contexts. What SMs want of system memory, which one context can want all the time, has
 * a turn now and then, and more when the MCU waits again.
 */
void ppu_idle_access(PPUState *s)
{
    const uint32_t access = ++s->idle.accesses;

    if (s->idle.does == PPU_MCU_COMPUTES) {
        s->idle.does = PPU_MCU_WORKS;
        s->idle.works_from = access;
    }
    if (!s->idle.looks) {
        if (s->idle.does != PPU_MCU_WORKS || access - s->idle.works_from < BUSY_ACCESSES) {
            return;
        }
        set_looks(s, true);
    }
    if (!is_asked(s)) {
        return;
    }
    ppu_mailbox_serve(s);
    if (access % SYSTEM_ACCESSES == 0) {
        serve_kick(s);
    } else {
        answer_kick(s);
    }
}

bool ppu_idle_kick(PPUState *s)
{
    qatomic_set(&s->idle.kicked, true);
    smp_mb();
    return qatomic_read(&s->idle.looks);
}

/*
 * The main loop would hold the big lock nearly all the time while it does what SMs want without end. So it leaves that
 * to a MCU that works.
 */
void ppu_idle_serve_kick(PPUState *s)
{
    if (s->idle.does != PPU_MCU_WORKS) {
        serve_kick(s);
        return;
    }
    answer_kick(s);
    if (qatomic_read(&s->idle.kicked)) {
        set_looks(s, true);
    }
}

/* In the main loop, while the MCU looks. */
static void watch(void *opaque)
{
    PPUState *s = opaque;

    if (s->idle.accesses == s->idle.watched) {
        hand_back(s, s->idle.does == PPU_MCU_WORKS ? PPU_MCU_COMPUTES : PPU_MCU_RESTS);
    }
    s->idle.watched = s->idle.accesses;
    if (s->idle.looks) {
        timer_mod_ns(s->idle.watch, now_ns() + WATCH_NS);
    }
}

void ppu_idle_init(PPUState *s)
{
    s->idle.watch = timer_new_ns(QEMU_CLOCK_REALTIME, watch, s);
}
