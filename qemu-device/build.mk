# SPDX-License-Identifier: GPL-2.0-or-later
#
# The core of the device: no QEMU headers. QEMU (qemu-device/meson.build) and the unit tests link this same library.

$(eval $(call ppu_lib,ppu-core,$(wildcard qemu-device/core/*.c),-Iinclude -Iqemu-device/core -ffp-contract=off))
