/* SPDX-License-Identifier: MIT */
/*
 * Starts QEMU as a child process, with one or more PPUs and no guest. Registers go over a qtest socket; VRAM, system
 * memory and each PPU's mailbox (doorbells, vectors) are anonymous files that both processes map. QEMU ends when we do:
 * by a socket that closes, and by a signal at our death.
 */
#ifndef RUNTIME_NATIVE_MACHINE_H
#define RUNTIME_NATIVE_MACHINE_H

#include "runtime/native/mailbox.h"
#include "runtime/native/pci.h"
#include "runtime/native/process.h"
#include "runtime/native/qtest.h"
#include "runtime/range.h"
#include "runtime/transport.h"

#define MACHINE_MAX_PPUS 16u
#define MACHINE_RAM_BASE 0x40000000ull /* where QEMU's `virt` machine has its RAM; also its bus address */

struct native_ppu {
    struct ppu_transport transport;
    struct ppu_machine *machine;
    struct pci_function function;
    int vram_fd;
    int mailbox_fd;
    struct mailbox mailbox;
    bool attached; /* to a device, until the device closes it */
};

struct ppu_machine {
    struct process process;
    struct qtest qtest;
    struct pci_windows windows;
    int life; /* our end */
    int ram_fd;
    uint8_t *ram;
    uint64_t ram_bytes;
    bool owned;           /* by its only device: ends with it */
    bool restless;        /* a microcontroller that was waited for did not fall asleep; atomic */
    pthread_mutex_t lock; /* of bus_memory */
    struct range_pool bus_memory;
    uint32_t ppus;
    struct native_ppu ppu[MACHINE_MAX_PPUS];
};

/* transport.c: makes the transport of a PPU whose function was found. */
void native_transport_init(struct native_ppu *ppu);
/* A machine with one PPU, which ends when the device is closed. */
enum ppu_err native_open(const struct ppu_machine_options *machine_options,
                         const struct ppu_device_options *device_options, struct ppu_device **device,
                         struct ppu_error *error);

#endif
