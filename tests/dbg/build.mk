# SPDX-License-Identifier: MIT

# The debugger of kernels, on an OpenCL program that knows nothing of it.
$(eval $(call ppu_program,plain,dbg-debuggee,tests/dbg/debuggee.c,,-lOpenCL,$(BUILD)/plain/tests/dbg-debuggee))
TIMEOUT_dbg-command := 240
$(eval $(call ppu_test,dbg-tree,tests/dbg/test_tree.c,$(TRACE_FLAGS),$(DBG_LIBS),asan))
$(eval $(call ppu_script_test,dbg-command,tests/dbg/test_dbg.py,$(QEMU) firmware $(BUILD)/opencl/ppu.icd $(BUILD)/plain/tools/ppu-dbg $(BUILD)/plain/tests/dbg-debuggee))
TIMEOUT_dbg-gdb := 240
$(eval $(call ppu_script_test,dbg-gdb,tests/dbg/test_gdb.py,$(QEMU) firmware $(BUILD)/opencl/ppu.icd $(BUILD)/plain/tools/ppu-dbg $(BUILD)/plain/tests/dbg-debuggee))
