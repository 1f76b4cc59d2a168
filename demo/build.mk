# SPDX-License-Identifier: MIT
# The demo: a program for the guest (and, the same sources, one for a process beside QEMU), its kernels, and `make demo`.
DEMO_SOURCES := $(addprefix demo/,demo.c inventory.c user.c work.c mandelbrot.c queued.c commands.c lanes.c parts.c png.c sharing.c latency.c report.c)
DEMO_CFLAGS := -D_GNU_SOURCE -Iruntime/include
DEMO_KERNELS := $(BUILD)/demo/kernels.ppu

$(eval $(call ppu_tool,demo,$(DEMO_SOURCES),$(DEMO_CFLAGS),ppu -pthread))
$(eval $(call guest_program,demo,$(DEMO_SOURCES),$(DEMO_CFLAGS),ppu -pthread))

ALL_TARGETS += $(DEMO_KERNELS)
$(DEMO_KERNELS): demo/kernels.s demo/mandelbrot.s demo/queued.s demo/lanes.s demo/parts.s device-lib/asm/abi.s device-lib/asm/copy.s device-lib/asm/nest.s device-lib/asm/workq.s $(BUILD)/plain/tools/ppu-as
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)cat $(filter %.s,$^) >$@.s
	$(Q)$(BUILD)/plain/tools/ppu-as -o $@ $@.s

# What `make demo` starts, and what a test of it needs.
DEMO_READY = $(GUEST_READY) $(GUEST_DIR)/programs/demo $(DEMO_KERNELS) $(BUILD)/plain/tools/bench-firmware $(addprefix $(BUILD)/kernels/,counter.ppu pressure.ppu)

.PHONY: demo
demo: $(DEMO_READY) ## boot Linux with a PPU, let a program use it, check what it computes (DETERMINISTIC=1: the same each time)
	$(Q)demo/run $(if $(DETERMINISTIC),--deterministic)
