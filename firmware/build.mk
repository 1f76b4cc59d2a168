# SPDX-License-Identifier: MIT
#
# The firmware as a host library: all of it but hal_mcu.c. Whoever links it provides the functions of hal.h.
#
#   build/<variant>/libppu-firmware.a         every symbol, for unit tests
#   build/<variant>/libppu-firmware-joined.a  firmware_main alone, for programs that also link the device core or libppu

FIRMWARE_SOURCES := $(filter-out firmware/hal_mcu.c,$(wildcard firmware/*.c))

$(eval $(call ppu_lib,ppu-firmware,$(FIRMWARE_SOURCES),))

define ppu_firmware_joined
$(BUILD)/$(1)/libppu-firmware-joined.a: $(call ppu_objects,$(1),ppu-firmware,$(FIRMWARE_SOURCES))
	$$(call say,AR,$$@)
	$(Q)ld -r -o $$(@:.a=.o.$$(pid)) $$^
	$(Q)objcopy --keep-global-symbol=firmware_main $$(@:.a=.o.$$(pid)) $$(@:.a=.o)
	$(Q)rm -f $$(@:.a=.o.$$(pid)) $$@
	$(Q)$(AR) rcs $$@ $$(@:.a=.o)
endef
$(foreach v,$(VARIANTS),$(eval $(call ppu_firmware_joined,$(v))))
