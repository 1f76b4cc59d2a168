/* SPDX-License-Identifier: MIT */
/*
 * Tells how long the machine of a device has stood still: a debugger or its monitor has stopped it, and virtual time
 * with it. Limits that libppu sets by itself do not count that time.
 */
#ifndef RUNTIME_MACHINE_CLOCK_H
#define RUNTIME_MACHINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/transport.h"

struct machine_clock {
    struct ppu_transport *transport;
    uint64_t behind_ns; /* this process's clock less the device's, at the last look */
    bool told;          /* a person has been told of the present standstill */
};

uint64_t machine_clock_time_ns(struct ppu_transport *transport);

/* A wait begins. */
void machine_clock_init(struct machine_clock *clock, struct ppu_transport *transport);
/* True: the device answers, and its clock does not move. */
bool machine_clock_stands_still(struct ppu_transport *transport);
/*
 * A limit of `timeout_ns` is over. True: the machine stood still for a good part of the time since the last look, so
 * there is a new deadline; a person is told when it does so still.
 */
bool machine_clock_put_off(struct machine_clock *clock, uint64_t timeout_ns, uint64_t *deadline_ns);

#endif
