# SPDX-License-Identifier: MIT
#
# The firmware images, one for each C library: build/firmware/<libc>/ppufw.elf (for a debugger) and ppufw.bin (to load).
# `make firmware` builds both, `make firmware LIBC=newlib` that one.

FW_CC := arm-none-eabi-gcc
FW_OBJCOPY := arm-none-eabi-objcopy
FW_LIBCS := picolibc newlib
LIBC ?= $(FW_LIBCS)

FW_CFLAGS := -std=c11 $(WARNINGS) -mcpu=cortex-m33 -mthumb -mfloat-abi=soft -O2 -flto=1 -flto-partition=one -g -fno-common -ffunction-sections -fdata-sections -fno-tree-loop-distribute-patterns
FW_CFLAGS += -I. -Iinclude -fmacro-prefix-map=./=
FW_CFLAGS_picolibc := --specs=picolibc.specs -DPICOLIBC_INTEGER_PRINTF_SCANF
FW_CFLAGS_newlib := --specs=nano.specs
FW_LDFLAGS := -nostartfiles -Llinker -Tfirmware.ld -Wl,--gc-sections -Wl,--fatal-warnings -Wl,--no-warn-rwx-segments
FW_LDFLAGS_picolibc := -Wl,--defsym=vfprintf=__i_vfprintf

FW_SOURCES := $(wildcard firmware/*.c) $(filter-out boot/newlib.c,$(wildcard boot/*.c))
FW_SOURCES_picolibc := $(FW_SOURCES)
FW_SOURCES_newlib := $(FW_SOURCES) boot/newlib.c

# What checks the image is optimised by itself: the linker script puts it first, by the names of its files. So is
# memory.c: the compiler copies small structures better than by what is written there.
FW_ALONE := boot/start.c boot/image.c boot/memory.c

# $(call fw_image,LIBC)
define fw_image
$(call ppu_record,$(BUILD)/firmware/$(1)/flags,$(FW_CFLAGS) $(FW_ALONE) $(FW_CFLAGS_$(1)) $(FW_LDFLAGS) $(FW_LDFLAGS_$(1)) $(FW_SOURCES_$(1)))
FW_OBJECTS_$(1) := $(patsubst %,$(BUILD)/firmware/$(1)/obj/%.o,$(FW_SOURCES_$(1)))
$(patsubst %,$(BUILD)/firmware/$(1)/obj/%.o,$(FW_ALONE)): FW_UNIT_CFLAGS := -fno-lto
$$(FW_OBJECTS_$(1)): $(BUILD)/firmware/$(1)/obj/%.o: % $(BUILD)/firmware/$(1)/flags
	$$(call say,FW CC,$$< ($(1)))
	$(Q)mkdir -p $$(@D)
	$(Q)$(FW_CC) $(FW_CFLAGS) $(FW_CFLAGS_$(1)) $$(FW_UNIT_CFLAGS) -MMD -MP -MT $$@ -MF $$@.d -c $$< -o $$@.$$(pid)
	$(Q)mv $$@.$$(pid) $$@
-include $$(addsuffix .d,$$(FW_OBJECTS_$(1)))
$(BUILD)/firmware/$(1)/linked.elf: $$(FW_OBJECTS_$(1)) $(wildcard linker/*.ld) $(BUILD)/firmware/$(1)/flags
	$$(call say,FW LD,$$@)
	$(Q)$(FW_CC) $(FW_CFLAGS) $(FW_CFLAGS_$(1)) $(FW_LDFLAGS) $(FW_LDFLAGS_$(1)) -Wl,-Map=$$(@:.elf=.map) -o $$@.$$(pid) $$(FW_OBJECTS_$(1))
	$(Q)mv $$@.$$(pid) $$@
$(BUILD)/firmware/$(1)/ppufw.bin: $(BUILD)/firmware/$(1)/linked.elf boot/mkimage
	$$(call say,IMAGE,$$@)
	$(Q)$(FW_OBJCOPY) -O binary $$< $$@.raw
	$(Q)boot/mkimage $$@.raw $$@.$$(pid) $$(@D)/header
	$(Q)mv $$@.$$(pid) $$@
$(BUILD)/firmware/$(1)/ppufw.elf: $(BUILD)/firmware/$(1)/ppufw.bin
	$(Q)$(FW_OBJCOPY) --update-section .header=$$(@D)/header $$(@D)/linked.elf $$@.$$(pid)
	$(Q)mv $$@.$$(pid) $$@
endef
$(foreach l,$(FW_LIBCS),$(eval $(call fw_image,$(l))))

firmware: $(foreach l,$(LIBC),$(BUILD)/firmware/$(l)/ppufw.elf)
