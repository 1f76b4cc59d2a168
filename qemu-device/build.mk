# SPDX-License-Identifier: GPL-2.0-or-later
#
# The core of the device: no QEMU headers. QEMU (qemu-device/meson.build) and the unit tests link this same library.

# The engine, once for each level of the host's instruction set. Loops over lanes are for the vectorizer; flags and traps
# of floats are nobody's.
FLAGS_engine_v2.c := -march=x86-64-v2
FLAGS_engine_v3.c := -march=x86-64-v3
FLAGS_engine_v4.c := -march=x86-64-v4 -mprefer-vector-width=512
$(foreach level,plain v2 v3 v4,$(eval FLAGS_plain_engine_$(level).c := $(if $(filter v3 v4,$(level)),-O3,-fvect-cost-model=dynamic) -fno-math-errno -fno-trapping-math))

$(eval $(call ppu_lib,ppu-core,$(wildcard qemu-device/core/*.c),-Iinclude -Iqemu-device/core -ffp-contract=off))
