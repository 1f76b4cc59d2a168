# SPDX-License-Identifier: MIT
#
# The devices of a stock QEMU for the arm64 guest that is a client of a served PPU. Its virtual IOMMU is virtio's, because
# QEMU's SMMU tells a vfio device nothing of its mappings.

CONFIG_ARM_VIRT=y
CONFIG_VIRTIO_IOMMU=y
CONFIG_VFIO_PCI=y
CONFIG_VFIO_USER=y
CONFIG_PCIE_PORT=y
CONFIG_IVSHMEM_DEVICE=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_9P=y
