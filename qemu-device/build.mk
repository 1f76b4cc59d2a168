# SPDX-License-Identifier: GPL-2.0-or-later
#
# The core of the device: no QEMU headers. QEMU (qemu-device/meson.build) and the unit tests link this same library.

# The engine, once for each level of the host's instruction set. Loops over lanes are for the vectorizer; flags and traps
# of floats are nobody's.
ENGINE := qemu-device/core/engine/inner
FLAGS_$(ENGINE)/v2.c := -march=x86-64-v2
FLAGS_$(ENGINE)/v3.c := -march=x86-64-v3
FLAGS_$(ENGINE)/v4.c := -march=x86-64-v4 -mprefer-vector-width=512
# The address sanitizer looks by calls, which a level takes a quarter to a half less to compile with. What C leaves undefined is
# the same in all, so the plain one alone is asked for it.
ASAN_BY_CALLS := --param asan-instrumentation-with-call-threshold=0
FLAGS_asan_$(ENGINE)/plain.c := $(ASAN_BY_CALLS)
$(foreach level,v2 v3 v4,$(eval FLAGS_asan_$(ENGINE)/$(level).c := -fno-sanitize=undefined $(ASAN_BY_CALLS)))
$(foreach level,plain v2 v3 v4,$(eval FLAGS_plain_$(ENGINE)/$(level).c := $(if $(filter v3 v4,$(level)),-O3,-fvect-cost-model=dynamic) -fno-math-errno -fno-trapping-math))

# Clang takes minutes for a level with all sanitizers. Fuzz targets have the plain one alone (engine/levels.h), with coverage and the
# address sanitizer.
FLAGS_fuzz_$(ENGINE)/plain.c := -fno-sanitize=undefined -fno-slp-vectorize -fno-unroll-loops -mllvm -vectorize-loops=false -mllvm -asan-instrumentation-with-call-threshold=0
# The target `snapshot` lies in what is saved, flags too: loading takes nothing but 0 and 1 for one.
$(foreach file,dist/dist_snapshot dist/slot_snapshot sm/sm_snapshot snapshot regs,$(eval FLAGS_fuzz_qemu-device/core/$(file).c := -fno-sanitize=bool))

$(eval $(call ppu_lib,ppu-core,$(wildcard $(addprefix qemu-device/core/,*.c */*.c */*/*.c)),-ffp-contract=off))

# The core without the SMs and their engine, for tests that bring SMs of their own: after a change they are built in seconds.
$(eval $(call ppu_part,ppu-core-control,ppu-core,$(wildcard $(addprefix qemu-device/core/,*.c memory/*.c dist/*.c))))

# The server of vfio-user, without QEMU headers for the same reason.
$(eval $(call ppu_lib,ppu-remote,$(wildcard qemu-device/remote/*.c),))
