/* SPDX-License-Identifier: MIT */
#include "runtime/native/pci.h"

#include "ppu/macros.h"
#include "ppu/regs.h"

/* QEMU's `virt` machine: ECAM with its highmem option, and the two memory windows of its root complex. */
#define ECAM_BASE 0x4010000000ull
#define ECAM_SLOT_SHIFT 15u
#define WINDOW_LOW_BASE 0x10000000ull
#define WINDOW_HIGH_BASE 0x8000000000ull

#define SLOTS 32u
#define CONFIG_ID 0x00u
#define CONFIG_COMMAND 0x04u
#define CONFIG_BAR(n) (0x10u + 4u * (n))
#define COMMAND_MEMORY (1u << 1)
#define COMMAND_MASTER (1u << 2)
#define BARS 6u
#define BAR_IS_IO 1u
#define BAR_TYPE_MASK 6u
#define BAR_TYPE_64 4u
#define BAR_FLAGS 15u

void pci_windows_init(struct pci_windows *windows)
{
    *windows = (struct pci_windows){ WINDOW_LOW_BASE, WINDOW_HIGH_BASE };
}

bool pci_find(struct qtest *qtest, uint32_t index, struct pci_function *function)
{
    const uint32_t wanted = PPU_PCI_DEVICE << 16 | PPU_PCI_VENDOR;

    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t config = ECAM_BASE + ((uint64_t)slot << ECAM_SLOT_SHIFT);
        if (qtest_read32(qtest, config + CONFIG_ID) == wanted && index-- == 0) {
            *function = (struct pci_function){ .config = config };
            return true;
        }
    }
    return false;
}

struct ppu_pci_address pci_address(const struct pci_function *function)
{
    return (struct ppu_pci_address){ .device = (uint32_t)((function->config - ECAM_BASE) >> ECAM_SLOT_SHIFT) };
}

/* 0: there is no such BAR. */
static uint64_t probe_size(struct qtest *qtest, const struct pci_function *function, uint32_t n, bool is_64)
{
    uint64_t config = function->config + CONFIG_BAR(n);

    qtest_write32(qtest, config, ~0u);
    uint64_t mask = qtest_read32(qtest, config) & ~BAR_FLAGS;
    if (!is_64) {
        return mask == 0 ? 0 : (uint32_t)-mask;
    }
    qtest_write32(qtest, config + 4, ~0u);
    mask |= (uint64_t)qtest_read32(qtest, config + 4) << 32;
    return -mask;
}

static uint64_t take_address(uint64_t *window, uint64_t bytes)
{
    uint64_t address = ppu_align_up64(*window, bytes);

    *window = address + bytes;
    return address;
}

static void assign_bar(struct qtest *qtest, struct pci_windows *windows, struct pci_function *function, uint32_t n,
                       bool is_64)
{
    uint64_t config = function->config + CONFIG_BAR(n);
    uint64_t bytes = probe_size(qtest, function, n, is_64);

    if (bytes == 0) {
        return;
    }
    function->bar[n] = take_address(is_64 ? &windows->high : &windows->low, bytes);
    qtest_write32(qtest, config, (uint32_t)function->bar[n]);
    if (is_64) {
        qtest_write32(qtest, config + 4, (uint32_t)(function->bar[n] >> 32));
    }
}

void pci_set_bus_master(struct qtest *qtest, const struct pci_function *function, bool on)
{
    qtest_write32(qtest, function->config + CONFIG_COMMAND, COMMAND_MEMORY | (on ? COMMAND_MASTER : 0));
    qtest_sync(qtest);
}

void pci_assign(struct qtest *qtest, struct pci_windows *windows, struct pci_function *function)
{
    for (uint32_t n = 0; n < BARS; n++) {
        uint32_t low = qtest_read32(qtest, function->config + CONFIG_BAR(n));
        bool is_64 = (low & (BAR_IS_IO | BAR_TYPE_MASK)) == BAR_TYPE_64;
        if ((low & BAR_IS_IO) == 0) {
            assign_bar(qtest, windows, function, n, is_64);
        }
        n += is_64 ? 1 : 0;
    }
    pci_set_bus_master(qtest, function, false);
}
