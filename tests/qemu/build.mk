# SPDX-License-Identifier: MIT
#
# Tests of the device inside QEMU, without a guest: registers by qtest, the MCU runs a test firmware.

QEMU_PROBE := $(BUILD)/tests/qemu/probe

$(QEMU_PROBE).elf: tests/qemu/fw/probe.c tests/qemu/fw/probe.ld tests/qemu/fw/probe.h $(wildcard include/ppu/*)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)arm-none-eabi-gcc -std=c11 -mcpu=cortex-m33 -mthumb -Os -g -ffreestanding $(WARNINGS) -Iinclude -nostdlib \
		-T tests/qemu/fw/probe.ld tests/qemu/fw/probe.c -o $@

$(QEMU_PROBE).bin: $(QEMU_PROBE).elf
	$(Q)arm-none-eabi-objcopy -O binary $< $@

# A guest of a few instructions.
QEMU_PSCI := $(BUILD)/tests/qemu/psci
$(QEMU_PSCI).bin: tests/qemu/fw/psci.S | $(SETUP_STAMP)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)aarch64-linux-gnu-gcc -nostdlib -static -Wl,-Ttext=0x40080000 $< -o $(QEMU_PSCI).elf
	$(Q)aarch64-linux-gnu-objcopy -O binary -j .text $(QEMU_PSCI).elf $@

QEMU_TEST_FLAGS := -D_GNU_SOURCE -Iinclude -Itests/qemu -DPSCI_GUEST='"$(QEMU_PSCI).bin"' \
	-DPROBE_IMAGE='"$(QEMU_PROBE).bin"' -DPROBE_ELF='"$(QEMU_PROBE).elf"'

# $(call qemu_test,NAME): tests/qemu/NAME.c
define qemu_test
RUNTIME_$(1) := $(QEMU) $(QEMU_PROBE).bin $(QEMU_PSCI).bin $(BUILD)/firmware/picolibc/ppufw.bin $(BUILD)/firmware/newlib/ppufw.bin
TIMEOUT_$(1) := 120
$$(eval $$(call ppu_test,$(1),tests/qemu/$(1).c tests/qemu/machine.c,$$(QEMU_TEST_FLAGS),,plain))
endef

$(eval $(call qemu_test,qemu-function))
$(eval $(call qemu_test,qemu-mcu))
$(eval $(call qemu_test,qemu-life))
$(eval $(call qemu_test,qemu-snapshot))
$(eval $(call qemu_test,qemu-debug))
$(eval $(call qemu_test,qemu-boot))
$(eval $(call qemu_test,qemu-confined))
