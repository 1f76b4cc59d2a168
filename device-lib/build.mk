# SPDX-License-Identifier: MIT

# The symbols of the assembler's device library. Whoever assembles a part of it assembles abi.s before.
$(eval $(call ppu_tool,device-lib-abi,device-lib/asm/abi.c))

.PHONY: device-lib
device-lib: $(BUILD)/plain/tools/device-lib-abi ## write the symbols of device-lib/asm from the ABI's headers
	$(Q)$< >device-lib/asm/abi.s

$(eval $(call ppu_script_test,device-lib-abi,$(BUILD)/plain/tools/device-lib-abi --check device-lib/asm/abi.s,$(BUILD)/plain/tools/device-lib-abi))
