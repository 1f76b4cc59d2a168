# SPDX-License-Identifier: MIT

# Every tests/kernels/NAME.s becomes build/kernels/NAME.ppu.
KERNELS := $(patsubst tests/kernels/%.s,$(BUILD)/kernels/%.ppu,$(wildcard tests/kernels/*.s))
ALL_TARGETS += $(KERNELS)

$(BUILD)/kernels/%.ppu: tests/kernels/%.s $(BUILD)/plain/tools/ppu-as
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(BUILD)/plain/tools/ppu-as -o $@ $<
