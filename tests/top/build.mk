# SPDX-License-Identifier: MIT
# The live view, beside a program whose work is known.
$(eval $(call ppu_program,plain,top-worker,tests/top/worker.c,-Iruntime/include,ppu -pthread,$(BUILD)/plain/tests/top-worker))
TIMEOUT_top-command := 240
$(eval $(call ppu_script_test,top-command,tests/top/test_top.py,$(QEMU) firmware $(BUILD)/plain/tools/ppu-top $(BUILD)/plain/tests/top-worker $(BUILD)/kernels/spin.ppu))
