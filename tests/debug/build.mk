# SPDX-License-Identifier: MIT
# `make debug`, and its test, which is also `make debug-check`.
$(eval $(call guest_program,debuggee,tests/debug/debuggee.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread))
$(eval $(call ppu_unit,debuggee,tests/debug/debuggee.c,-D_GNU_SOURCE -Iruntime/include))

DEBUG_CHECK_READY = $(GUEST_READY) $(GUEST_DIR)/programs/debuggee $(BUILD)/kernels/spin.ppu $(BUILD)/plain/tools/ppu-top

.PHONY: debug debug-check
debug: $(DEMO_READY) ## gdb on the microcontroller and the host's processor while the demo runs
	$(Q)tools/debug/debug
debug-check: $(DEBUG_CHECK_READY) ## check that the debugger stops the machine where and as it must
	$(Q)tests/debug/test_debug.py

TIMEOUT_debug := 240
$(eval $(call ppu_script_test,debug,tests/debug/test_debug.py,$(DEBUG_CHECK_READY)))

# The same commands without a guest, beside the live view's worker.
TIMEOUT_debug-why := 240
$(eval $(call ppu_script_test,debug-why,tests/debug/test_why.py,$(QEMU) firmware $(BUILD)/plain/tools/ppu-top $(BUILD)/plain/tests/top-worker $(BUILD)/kernels/spin.ppu))
