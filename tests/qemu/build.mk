# SPDX-License-Identifier: MIT
#
# Tests of the device inside QEMU, without a guest: registers by qtest, the MCU runs a test firmware.

QEMU_PROBE := $(BUILD)/tests/qemu/probe

$(QEMU_PROBE).elf: tests/qemu/fw/probe.c tests/qemu/fw/probe.ld tests/qemu/fw/probe.h $(wildcard include/ppu/*)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)arm-none-eabi-gcc -std=c11 -mcpu=cortex-m33 -mthumb -Os -g -ffreestanding $(WARNINGS) -I. -Iinclude -nostdlib \
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

QEMU_TEST_FLAGS := -D_GNU_SOURCE -DPSCI_GUEST='"$(QEMU_PSCI).bin"' \
	-DPROBE_IMAGE='"$(QEMU_PROBE).bin"' -DPROBE_ELF='"$(QEMU_PROBE).elf"'

# $(call qemu_test,NAME,MORE SOURCES,LIBRARIES): tests/qemu/test_NAME.c
define qemu_test
RUNTIME_qemu-$(1) := $(QEMU) $(QEMU_PROBE).bin $(QEMU_PSCI).bin $(BUILD)/firmware/picolibc/ppufw.bin $(BUILD)/firmware/newlib/ppufw.bin
TIMEOUT_qemu-$(1) := 120
$$(eval $$(call ppu_test,qemu-$(1),tests/qemu/test_$(1).c tests/qemu/qemu.c $(2),$$(QEMU_TEST_FLAGS),$(3),plain))
endef

$(eval $(call qemu_test,function))
$(eval $(call qemu_test,requests))
$(eval $(call qemu_test,mcu,tests/qemu/client.c))
$(eval $(call qemu_test,idle,tests/qemu/client.c,ppuasm))
$(eval $(call qemu_test,life))
$(eval $(call qemu_test,snapshot))
$(eval $(call qemu_test,debug))
$(eval $(call qemu_test,boot))
$(eval $(call qemu_test,confined))
