# SPDX-License-Identifier: MIT

# The debug adapter, on the same program as the debugger (tests/dbg).
TIMEOUT_dap := 240
$(eval $(call ppu_script_test,dap,tests/dap/test_dap.py,$(QEMU) firmware $(BUILD)/opencl/ppu.icd $(BUILD)/plain/tools/ppu-dap $(BUILD)/plain/tests/dbg-debuggee))
TIMEOUT_dap-emacs := 240
$(eval $(call ppu_script_test,dap-emacs,tests/dap/test_emacs.py,$(QEMU) firmware $(BUILD)/opencl/ppu.icd $(BUILD)/plain/tools/ppu-dap $(BUILD)/plain/tests/dbg-debuggee))
