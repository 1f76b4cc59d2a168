# SPDX-License-Identifier: GPL-2.0-or-later
#
# The devices in our QEMU: the virt machine with the PPU, and what the guest, the tests and the debugger use.

CONFIG_ARM_VIRT=y
CONFIG_PPU=y

# PCIe topology: the PPU on the root bus and behind a port
CONFIG_PCIE_PORT=y
CONFIG_IOH3420=y

# the guest's disk, console, shared folders, network
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_NET=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_RNG=y
CONFIG_VIRTIO_9P=y

# a second bus master beside the PPU; output of the firmware in the debugger
CONFIG_EDU=y
CONFIG_TEST_DEVICES=y
CONFIG_SEMIHOSTING=y
CONFIG_ARM_COMPATIBLE_SEMIHOSTING=y
