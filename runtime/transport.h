/* SPDX-License-Identifier: MIT */
/*
 * Declares the transport: how libppu reaches a device. One implementation for each way: a process beside QEMU
 * (native/), a guest's vfio, a device core in the same process.
 *
 * Any thread may call any function at any time, except close(). A peer that has gone is
 * no error of a single call: reads give all ones, writes are dropped, wait() returns all
 * vectors at once; the device finds out by reading its identity.
 */
#ifndef RUNTIME_TRANSPORT_H
#define RUNTIME_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu.h"

/* System memory that the device reaches. */
struct ppu_system_memory {
    void *host;
    ppu_bus_t bus; /* aligned to 2 MiB when it has 2 MiB or more, else to 64 KiB */
    uint64_t bytes;
    const ppu_bus_t *pages; /* of each 2 MiB, where these do not follow one another; NULL: they do */
};

struct ppu_transport_ops {
    /* Registers of BAR0 (regs.def). A read sees the effect of every write before it. */
    uint32_t (*reg_read)(struct ppu_transport *transport, uint32_t offset);
    void (*reg_write)(struct ppu_transport *transport, uint32_t offset, uint32_t value);
    /*
     * BAR2. Stores to VRAM and system memory made before a doorbell write are seen by
     * whoever serves the doorbell.
     */
    uint32_t (*doorbell_read)(struct ppu_transport *transport, uint64_t offset);
    void (*doorbell_write)(struct ppu_transport *transport, uint64_t offset, uint32_t value);
    /* Windows onto the MCU's memories in BAR0 (PPU_BAR0_ITCM, PPU_BAR0_DTCM); multiples of 4 bytes. */
    void (*window_read)(struct ppu_transport *transport, uint32_t offset, void *buf, uint32_t len_bytes);
    void (*window_write)(struct ppu_transport *transport, uint32_t offset, const void *buf, uint32_t len_bytes);
    /* `bytes` is a multiple of 64 KiB. NO_MEMORY. */
    enum ppu_err (*system_alloc)(struct ppu_transport *transport, uint64_t bytes, struct ppu_system_memory *memory);
    void (*system_free)(struct ppu_transport *transport, const struct ppu_system_memory *memory);
    /*
     * Lets the device reach `bytes` at `offset` of another one's VRAM; both are multiples of 64 KiB. NULL, and
     * NO_RESOURCE: there is no way from one to the other. peer_unmap takes back what it has filled in.
     */
    enum ppu_err (*peer_map)(struct ppu_transport *transport, struct ppu_transport *peer, uint64_t offset,
                             uint64_t bytes, struct ppu_system_memory *memory);
    void (*peer_unmap)(struct ppu_transport *transport, const struct ppu_system_memory *memory);
    /*
     * Sleeps until a vector is raised; returns a mask of the vectors that may have been raised since the last
     * call, 0 after timeout_ns. One thread at a time.
     */
    uint32_t (*wait)(struct ppu_transport *transport, uint64_t timeout_ns);
    /* Bus mastering of the PCI function. */
    void (*set_bus_master)(struct ppu_transport *transport, bool on);
    void (*close)(struct ppu_transport *transport);
};

struct ppu_transport {
    const struct ppu_transport_ops *ops;
    uint8_t *vram; /* BAR4, mapped */
    uint64_t vram_bytes;
    struct ppu_pci_address pci;
    int vram_fd; /* a file that is VRAM from its start, for tools beside this process; -1: there is none */
};

#endif
