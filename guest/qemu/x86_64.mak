# SPDX-License-Identifier: MIT
#
# The devices of a stock QEMU for the x86-64 guest that is a client of a served PPU.

CONFIG_Q35=y
CONFIG_VTD=y
CONFIG_VFIO_PCI=y
CONFIG_VFIO_USER=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_9P=y
