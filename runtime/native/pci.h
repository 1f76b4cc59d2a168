/* SPDX-License-Identifier: MIT */
/*
 * Sets up PCI in a machine without a guest, as firmware and kernel would. Finds the PPUs on bus 0, gives their BARs
 * addresses, switches them on.
 */
#ifndef RUNTIME_NATIVE_PCI_H
#define RUNTIME_NATIVE_PCI_H

#include "ppu.h"
#include "runtime/native/qtest.h"

struct pci_function {
    uint64_t config; /* physical address of its configuration space */
    uint64_t bar[6]; /* physical addresses; 0: no such BAR */
};

/* Where the next BAR may go. */
struct pci_windows {
    uint64_t low;  /* 32-bit */
    uint64_t high; /* 64-bit */
};

void pci_windows_init(struct pci_windows *windows);
/* The PPU number `index` of bus 0, by slot. False: there are not so many. */
bool pci_find(struct qtest *qtest, uint32_t index, struct pci_function *function);
struct ppu_pci_address pci_address(const struct pci_function *function);
/* Sizes the BARs, gives them addresses, enables memory accesses. */
void pci_assign(struct qtest *qtest, struct pci_windows *windows, struct pci_function *function);
void pci_set_bus_master(struct qtest *qtest, const struct pci_function *function, bool on);

#endif
