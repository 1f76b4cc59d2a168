# SPDX-License-Identifier: MIT

# The snapshots of random states take longer than all others together.
CHECK_TESTS += $(addprefix device-core-,regs ring dist mmu dma telemetry)

# The core with SMs that only pretend: what the SMs call is tested from many threads, without an instruction set.
DEVICE_CORE_BOARD := tests/device-core/board.c tests/device-core/translator.c tests/device-core/fake_sm.c

device_core_test = $(call ppu_test,device-core-$(1),tests/device-core/test_$(1).c $(DEVICE_CORE_BOARD),,ppu-core-control -pthread -lm,$(2))

$(eval $(call device_core_test,regs))
$(eval $(call device_core_test,ring,asan tsan))
$(eval $(call device_core_test,dist,asan tsan))
$(eval $(call device_core_test,mmu))
$(eval $(call device_core_test,telemetry))
TIMEOUT_device-core-dma = 120
$(eval $(call device_core_test,dma,asan tsan))
TIMEOUT_device-core-snapshot = 120
$(eval $(call device_core_test,snapshot))
