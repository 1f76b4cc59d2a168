/* SPDX-License-Identifier: MIT */
#include "runtime/machine_clock.h"

#include <stdio.h>

#include "ppu/macros.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"

#define TIME_TRIES 4u
#define LOOK_NS (20 * NS_PER_MS) /* a clock that runs moves meanwhile */
#define GOOD_PART 10u            /* of a limit: it is not worth while to look at less */

static uint32_t reg_read(struct ppu_transport *transport, uint32_t offset)
{
    return transport->ops->reg_read(transport, offset);
}

uint64_t machine_clock_time_ns(struct ppu_transport *transport)
{
    uint32_t high = reg_read(transport, PPU_REG_TIME_HI), low = 0;

    /* The low half wraps every 4 s: a second try is enough, unless this thread sleeps so long. */
    for (uint32_t tries = 0; tries < TIME_TRIES; tries++) {
        low = reg_read(transport, PPU_REG_TIME_LO);
        uint32_t again = reg_read(transport, PPU_REG_TIME_HI);
        if (again == high) {
            break;
        }
        high = again;
    }
    return (uint64_t)high << 32 | low;
}

static uint64_t behind_ns(struct ppu_transport *transport)
{
    return clock_ns() - machine_clock_time_ns(transport);
}

void machine_clock_init(struct machine_clock *clock, struct ppu_transport *transport)
{
    *clock = (struct machine_clock){ .transport = transport, .behind_ns = behind_ns(transport) };
}

static bool answers(struct ppu_transport *transport)
{
    return reg_read(transport, PPU_REG_MAGIC) == PPU_MAGIC;
}

/* Where time is counted in instructions it rests while nobody has anything to do: the MCU gets something. */
bool machine_clock_stands_still(struct ppu_transport *transport)
{
    const uint64_t before_ns = machine_clock_time_ns(transport);

    transport->ops->reg_write(transport, PPU_REG_ADMIN_DOORBELL, 1);
    sleep_ns(LOOK_NS);
    return before_ns == machine_clock_time_ns(transport) && answers(transport);
}

static void tell_standstill(struct machine_clock *clock)
{
    if (!clock->told) {
        fprintf(
            stderr,
            "libppu: wait for PPU %u: its machine stands still (a debugger or its monitor has stopped it); the wait "
            "goes on when the machine does\n",
            reg_read(clock->transport, PPU_REG_INSTANCE));
    }
    clock->told = true;
}

bool machine_clock_put_off(struct machine_clock *clock, uint64_t timeout_ns, uint64_t *deadline_ns)
{
    if (!answers(clock->transport)) {
        return false;
    }
    if (machine_clock_stands_still(clock->transport)) {
        tell_standstill(clock);
        *deadline_ns = deadline_after(timeout_ns);
        return true;
    }
    const uint64_t now_ns = behind_ns(clock->transport);
    const int64_t missed_ns = (int64_t)(now_ns - clock->behind_ns);
    clock->behind_ns = now_ns;
    clock->told = false;
    if (missed_ns <= 0 || (uint64_t)missed_ns < timeout_ns / GOOD_PART) {
        return false;
    }
    *deadline_ns = deadline_after(PPU_MIN((uint64_t)missed_ns, timeout_ns));
    return true;
}
