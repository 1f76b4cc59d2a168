# SPDX-License-Identifier: MIT

.PHONY: docs
docs: ## write the tables of docs/spec and docs/files.md from their sources
	$(Q)tools/docs/gen

$(eval $(call ppu_script_test,docs-tables,tools/docs/gen --check,))

# Pictures of what the tools show, of the demo beside QEMU; docs/ has the latest.
PICTURES := $(BUILD)/pictures
.PHONY: pictures
pictures: $(QEMU) firmware $(MCU_MODULE) $(DEMO_KERNELS) $(addprefix $(BUILD)/plain/tools/,demo ppu-trace ppu-report) ## record the demo and draw docs/timeline.svg and docs/flame.svg of it
	$(Q)mkdir -p $(PICTURES)
	$(Q)PPU_DEVICE=native $(BUILD)/plain/tools/ppu-trace --firmware -o $(PICTURES)/demo.trace -- $(BUILD)/plain/tools/demo $(DEMO_KERNELS) /bin/bash $(PICTURES)/mandelbrot.png
	$(Q)$(BUILD)/plain/tools/ppu-report --svg --lanes 3 -o docs/timeline.svg $(PICTURES)/demo.trace
	$(Q)$(BUILD)/plain/tools/ppu-report --flame -o docs/flame.svg $(PICTURES)/demo.trace
	$(Q)sed -i '1a <!-- SPDX-License-Identifier: MIT -->' docs/timeline.svg docs/flame.svg
	$(Q)$(BUILD)/plain/tools/ppu-report -o $(PICTURES)/demo.html $(PICTURES)/demo.trace
