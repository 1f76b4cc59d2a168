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
# Each function of the engine stays one, which halves that time once more, and what is compiled.
IN_FUNCTIONS := -DENGINE_IN_FUNCTIONS
ASAN_BY_CALLS := $(IN_FUNCTIONS) --param asan-instrumentation-with-call-threshold=0
FLAGS_asan_$(ENGINE)/plain.c := $(ASAN_BY_CALLS)
FLAGS_asan_$(ENGINE)/v2.c := -fno-sanitize=undefined $(ASAN_BY_CALLS)
# The levels that hosts have as their best run in nearly all tests: those take half as long without calls.
$(foreach level,v3 v4,$(eval FLAGS_asan_$(ENGINE)/$(level).c := -fno-sanitize=undefined $(IN_FUNCTIONS)))
$(foreach level,plain v2 v3 v4,$(eval FLAGS_tsan_$(ENGINE)/$(level).c := $(IN_FUNCTIONS)))
$(foreach level,plain v2 v3 v4,$(eval FLAGS_coverage_$(ENGINE)/$(level).c := $(IN_FUNCTIONS)))
# What a debugger needs to know of variables would take a fifth of the time in which a level is compiled.
$(foreach level,plain v2 v3 v4,$(eval FLAGS_plain_$(ENGINE)/$(level).c := $(if $(filter v3 v4,$(level)),-O3,-fvect-cost-model=dynamic) -fno-math-errno -fno-trapping-math $(DEBUG_INFO)))

# Clang takes minutes for a level with all sanitizers. Fuzz targets have the plain one alone (engine/levels.h), with coverage and the
# address sanitizer.
FLAGS_fuzz_$(ENGINE)/plain.c := $(IN_FUNCTIONS) -fno-sanitize=undefined -fno-slp-vectorize -fno-unroll-loops -mllvm -vectorize-loops=false -mllvm -asan-instrumentation-with-call-threshold=0
# The target `snapshot` lies in what is saved, flags too: loading takes nothing but 0 and 1 for one.
$(foreach file,dist/dist_snapshot dist/slot_snapshot sm/sm_snapshot snapshot regs,$(eval FLAGS_fuzz_qemu-device/core/$(file).c := -fno-sanitize=bool))

$(eval $(call ppu_lib,ppu-core,$(wildcard $(addprefix qemu-device/core/,*.c */*.c */*/*.c)),-ffp-contract=off))

# The core without the SMs and their engine, for tests that bring SMs of their own: after a change they are built in seconds.
$(eval $(call ppu_part,ppu-core-control,ppu-core,$(wildcard $(addprefix qemu-device/core/,*.c memory/*.c dist/*.c))))

# The server of vfio-user, without QEMU headers for the same reason.
$(eval $(call ppu_lib,ppu-remote,$(wildcard qemu-device/remote/*.c),))

# The tier above the interpreter: a module that the device loads when a loop is hot. Its kit is the engine's arithmetic as bitcode.
TIER_MODULE := $(BUILD)/plain/ppu-tier.so
TIER_SOURCES := $(filter-out qemu-device/tier/kit.c,$(sort $(wildcard qemu-device/tier/*.c)))
TIER_KITS := $(foreach level,v3 v4,$(BUILD)/tier/kit-$(level).bc)
TIER_CFLAGS := -isystem /usr/lib/llvm-19/include -D_GNU_SOURCE -fPIC -DKIT_V3_FILE='"$(BUILD)/tier/kit-v3.bc"' -DKIT_V4_FILE='"$(BUILD)/tier/kit-v4.bc"'
TIER_LIBS := -L/usr/lib/llvm-19/lib -lLLVM-19 -pthread
$(BUILD)/tier/kit-%.bc: qemu-device/tier/kit.c $(wildcard qemu-device/tier/kit_*.c.inc) qemu-device/tier/place.h $(wildcard qemu-device/core/*/*.h) qemu-device/core/engine/alu.def qemu-device/core/engine/conversions.def qemu-device/core/engine/inner/arithmetic.c.inc qemu-device/core/engine/inner/functions.c.inc include/ppu/isa.def include/ppu/isa.h qemu-device/build.mk
	$(call say,CC,$< ($*))
	$(Q)mkdir -p $(@D)
	$(Q)clang-19 -std=c11 -O3 -march=x86-64-$* -mprefer-vector-width=512 -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing \
		-fno-slp-vectorize -fno-unroll-loops -Wall -Wextra -Werror -Wno-pass-failed -Iinclude -I. -emit-llvm -c -o $@.$(pid) $<
	$(Q)mv $@.$(pid) $@
$(eval $(call ppu_unit,ppu-tier,$(TIER_SOURCES),$(TIER_CFLAGS)))
$(eval $(call ppu_compile,plain,ppu-tier,$(TIER_SOURCES),$(TIER_CFLAGS)))
TIER_OBJECTS := $(call ppu_objects,plain,ppu-tier,$(TIER_SOURCES))
$(call ppu_objects,plain,ppu-tier,qemu-device/tier/translate.c): $(TIER_KITS)
$(TIER_MODULE): $(TIER_OBJECTS)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -g -o $@.$(pid) $(TIER_OBJECTS) -Wl,--no-undefined $(TIER_LIBS)
	$(Q)mv $@.$(pid) $@
ALL_TARGETS += $(TIER_MODULE)
