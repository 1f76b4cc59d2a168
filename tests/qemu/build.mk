# SPDX-License-Identifier: MIT
#
# Tests of the device inside QEMU, without a guest: registers by qtest, the MCU runs a test firmware.

QEMU_PROBE := $(BUILD)/tests/qemu/probe

$(QEMU_PROBE).elf: tests/qemu/fw/probe.c tests/qemu/fw/probe.ld tests/qemu/fw/probe.h $(wildcard include/ppu/*) | $(SETUP_STAMP)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)arm-none-eabi-gcc -std=c11 -mcpu=cortex-m33 -mthumb -Os -g -ffreestanding $(WARNINGS) -Iinclude -nostdlib \
		-T tests/qemu/fw/probe.ld tests/qemu/fw/probe.c -o $@

$(QEMU_PROBE).bin: $(QEMU_PROBE).elf
	$(Q)arm-none-eabi-objcopy -O binary $< $@

QEMU_TEST_FLAGS := -D_GNU_SOURCE -Iinclude -Itests/qemu \
	-DPROBE_IMAGE='"$(QEMU_PROBE).bin"' -DPROBE_ELF='"$(QEMU_PROBE).elf"'

# $(call qemu_test,NAME): tests/qemu/NAME.c
define qemu_test
RUNTIME_$(1) := $(QEMU) $(QEMU_PROBE).bin $(BUILD)/firmware/picolibc/ppufw.bin $(BUILD)/firmware/newlib/ppufw.bin
TIMEOUT_$(1) := 120
$$(eval $$(call ppu_test,$(1),tests/qemu/$(1).c tests/qemu/machine.c,$$(QEMU_TEST_FLAGS),,plain))
endef

$(eval $(call qemu_test,qemu-function))
$(eval $(call qemu_test,qemu-mcu))
$(eval $(call qemu_test,qemu-life))
$(eval $(call qemu_test,qemu-snapshot))
$(eval $(call qemu_test,qemu-debug))
$(eval $(call qemu_test,qemu-boot))
