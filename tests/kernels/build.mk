# SPDX-License-Identifier: MIT

# Every tests/kernels/NAME.s becomes build/kernels/NAME.ppu. Those in NESTING launch tasks, those in WORKING put work into
# work queues: that part of the device library comes with them. To those in HELD it comes a second time, as held_nest_..., with its marks.
NESTING := tree sisters script fibonacci quicksort pressure taskq heap
WORKING := creator
HELD := script
# Programs that the assembler refuses, and libppu too.
REFUSED := wrong_loop
DEVLIB := device-lib/asm/abi.s device-lib/asm/copy.s device-lib/asm/nest.s device-lib/asm/taskq.s device-lib/asm/heap.s
KERNELS := $(patsubst tests/kernels/%.s,$(BUILD)/kernels/%.ppu,$(wildcard tests/kernels/*.s))
ALL_TARGETS += $(KERNELS)

$(BUILD)/kernels/%.ppu: tests/kernels/%.s $(BUILD)/plain/tools/ppu-as $(wildcard device-lib/asm/*.s)
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)cat $< $(if $(filter $(NESTING),$*),$(DEVLIB)) $(if $(filter $(WORKING),$*),device-lib/asm/abi.s device-lib/asm/copy.s device-lib/asm/workq.s) >$@.s
	$(Q)$(if $(filter $(HELD),$*),sed 's/^#@ //; s/\(^\|[ ,]\)nest_/\1held_nest_/g' device-lib/asm/nest.s >>$@.s,:)
	$(Q)$(BUILD)/plain/tools/ppu-as $(if $(filter $(REFUSED),$*),--unchecked) -o $@ $@.s

# One that the demo has too.
ALL_TARGETS += $(BUILD)/kernels/mandelbrot.ppu
$(BUILD)/kernels/mandelbrot.ppu: demo/mandelbrot.s device-lib/asm/abi.s device-lib/asm/copy.s device-lib/asm/nest.s $(BUILD)/plain/tools/ppu-as
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)cat demo/mandelbrot.s device-lib/asm/abi.s device-lib/asm/copy.s device-lib/asm/nest.s >$@.s
	$(Q)$(BUILD)/plain/tools/ppu-as -o $@ $@.s

# The same kernels from OpenCL C: tests/compiler/kernels/NAME.cl becomes build/kernels/cl-NAME.ppu.
CL_KERNELS := $(patsubst tests/compiler/kernels/%.cl,$(BUILD)/kernels/cl-%.ppu,$(wildcard tests/compiler/kernels/*.cl))
ALL_TARGETS += $(CL_KERNELS)

$(BUILD)/kernels/cl-%.ppu: tests/compiler/kernels/%.cl $(BUILD)/plain/tools/ppucc
	$(call say,PPUCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(BUILD)/plain/tools/ppucc -o $@ -cl-std=$(if $(filter language,$*),CL3.0,CL1.2) -ffp-contract=off $<
