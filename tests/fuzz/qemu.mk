# SPDX-License-Identifier: MIT
#
# `make fuzz` runs the target with a QEMU that counts where it comes by, `make test` with the one that users have.
FUZZ_QEMU := $(BUILD)/fuzz/qemu-system-aarch64
FUZZ_OPTIONS_qemu := -max_len=1024 -len_control=0
FUZZ_TEST_RUNS_qemu := 100
FUZZ_RUNTIME_qemu := $(FUZZ_QEMU) $(QEMU_PROBE).bin
RUNTIME_fuzz-qemu := $(QEMU) $(QEMU_PROBE).bin
fuzz fuzz-corpus: export PPU_FUZZ_QEMU := $(FUZZ_QEMU)
$(FUZZ_QEMU): $(QEMU) $(BUILD)/asan/libppu-core.a $(BUILD)/asan/libppu-remote.a tests/fuzz/qemu_coverage.c tests/fuzz/qemu_coverage.h qemu-device/overlay/build
	$(call say,QEMU,$@)
	$(Q)qemu-device/overlay/build counted
$(eval $(call ppu_unit,fuzz-qemu-coverage,tests/fuzz/qemu_coverage.c,))
$(eval $(call ppu_fuzz,qemu,tests/fuzz/qemu.c tests/fuzz/input.c tests/qemu/qemu.c,$(QEMU_TEST_FLAGS),-lcmocka))
