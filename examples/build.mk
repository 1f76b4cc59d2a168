# SPDX-License-Identifier: MIT
# Programs to begin with: the smallest, and one whose threads make work. They run beside QEMU, and in the guest.
EXAMPLE_CFLAGS := -D_GNU_SOURCE -Iruntime/include
$(eval $(call ppu_tool,saxpy,examples/libppu/saxpy.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call ppu_tool,bfs,examples/libppu/bfs.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call ppu_tool,limits,examples/libppu/limits.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call ppu_tool,quicksort,examples/opencl/quicksort.c,,-lOpenCL))
$(eval $(call guest_program,saxpy,examples/libppu/saxpy.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call guest_program,bfs,examples/libppu/bfs.c,$(EXAMPLE_CFLAGS),ppu -pthread))

ALL_TARGETS += $(BUILD)/kernels/bfs.ppu
$(BUILD)/kernels/bfs.ppu: examples/libppu/bfs.s device-lib/asm/abi.s device-lib/asm/copy.s device-lib/asm/nest.s device-lib/asm/workq.s $(BUILD)/plain/tools/ppu-as
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)cat $(filter %.s,$^) >$@.s
	$(Q)$(BUILD)/plain/tools/ppu-as -o $@ $@.s

ALL_TARGETS += $(BUILD)/kernels/limits.ppu
$(BUILD)/kernels/limits.ppu: examples/libppu/limits.s $(BUILD)/plain/tools/ppu-as
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(BUILD)/plain/tools/ppu-as -o $@ $<

.PHONY: quicksort
quicksort: $(BUILD)/plain/tools/quicksort $(BUILD)/opencl/ppu.icd $(QEMU) firmware ## quicksort in OpenCL: a kernel that enqueues itself
	$(Q)OCL_ICD_VENDORS=$(BUILD)/opencl/ppu.icd $(BUILD)/plain/tools/quicksort

.PHONY: bfs
bfs: $(BUILD)/plain/tools/bfs $(BUILD)/kernels/bfs.ppu $(QEMU) firmware ## breadth-first search: grids launched by the CPU, through a work queue, by a waiting thread
	$(Q)$(BUILD)/plain/tools/bfs
