/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Polls for work for a while before the MCU's thread sleeps (ppu/poll.h).
 *
 * From its first look on, and until it looks in vain, nobody needs to wake it up: it sees its
 * interrupts, doorbells in the mailbox and kicks, all of them while it looks, the last two at
 * each access to the function while it has work. So neither a doorbell nor the end of a CTA
 * takes a turn of QEMU's main loop.
 */
#include "qemu/osdep.h"

#include "hw/core/cpu.h"
#include "qemu/main-loop.h"
#include "system/cpu-timers.h"

#include "ppu.h"
#include "rest.h"
#include "trace.h"

#define HOLD_LOOK_US 20
#define SKIPPED_ACCESSES 32u                       /* of the MCU, about what a launch and its end take */
#define LATE_NS 200000                             /* of the host */
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
    smp_mb();
}

/*
 * A stopped machine's memory must not change (it may be in the middle of being saved): the work waits until
 * core_resume() kicks again.
 */
static void serve_kick(PPUState *s)
{
    s->idle.left = false;
    if (qatomic_xchg(&s->idle.kicked, false) && s->running) {
        core_bottom_half(s->core);
    }
}

/* Leaves accesses of SMs to system memory, and the kick for them. */
static void answer_kick(PPUState *s)
{
    if (qatomic_xchg(&s->idle.kicked, false) && s->running && core_answer_events(s->core)) {
        qatomic_set(&s->idle.kicked, true);
        s->idle.left = true;
    }
}

static void serve_events(PPUState *s)
{
    s->idle.skipped = 0;
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

    if (current_cpu != cpu || has_interrupt(cpu)) {
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
    s->idle.works = false;
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
        s->idle.works = true;
    }
}

void ppu_idle_stop(PPUState *s)
{
    const bool looked = s->idle.looks;

    s->idle.works = false;
    if (looked) {
        set_looks(s, false);
    }
    if (looked || s->idle.left) {
        serve_events(s);
    }
}

/*
 * The MCU works, for any of the contexts. What SMs want of system memory, which one context can want all the time, has
 * a turn now and then, and more when the MCU waits again.
 */
void ppu_idle_access(PPUState *s)
{
    if (s->idle.looks ? !is_asked(s) : !s->idle.left) {
        return;
    }
    if (++s->idle.skipped >= SKIPPED_ACCESSES) {
        serve_events(s);
        return;
    }
    ppu_mailbox_serve(s);
    answer_kick(s);
}

bool ppu_idle_kick(PPUState *s)
{
    qatomic_set(&s->idle.kicked, true);
    smp_mb();
    return qatomic_read(&s->idle.looks);
}

/*
 * The main loop holds the big lock nearly all the time while it does what SMs want without end. A MCU that works would
 * wait for the lock at each of its accesses; so it does that on its own thread, unless it computes for long.
 */
void ppu_idle_serve_kick(PPUState *s)
{
    if (!s->idle.works) {
        serve_kick(s);
        return;
    }
    answer_kick(s);
    if (qatomic_read(&s->idle.kicked) && !timer_pending(s->late_kick)) {
        timer_mod_ns(s->late_kick, now_ns() + LATE_NS);
    }
}

void ppu_idle_serve_late(PPUState *s)
{
    serve_kick(s);
}
