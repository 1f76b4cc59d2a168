# SPDX-License-Identifier: MIT
#
# Tests that run in the Linux guest, all in one boot: those of libppu's interface (tests/api), and those of the vfio
# transport.

GUEST_TEST_FLAGS := $(API_CFLAGS)
# One machine serves all tests of the guest, and its PPU has sub-vector mode.
GUEST_TESTS := vfio $(addprefix api-,$(filter-out subvector,$(API_TESTS)))

$(eval $(call guest_lib,ppu,$(PPU_RUNTIME_SOURCES),$(PPU_RUNTIME_CFLAGS)))
$(eval $(call guest_program,vfio,tests/guest/test_vfio.c,$(GUEST_TEST_FLAGS),ppu -lcmocka -pthread))
$(foreach t,$(API_TESTS),$(eval $(call guest_program,api-$(t),$(call api_sources,$(t),guest),$(GUEST_TEST_FLAGS),ppu -lcmocka -pthread)))

$(eval $(call guest_program,echo,tests/guest/echo.c,))
$(eval $(call guest_program,echo-static,tests/guest/echo.c,,-static))

TIMEOUT_guest-run := 180
$(eval $(call ppu_script_test,guest-run,tests/guest/test_guest_run.py,$(GUEST_READY) $(addprefix $(GUEST_DIR)/programs/,echo echo-static)))
TIMEOUT_guest := 900
$(eval $(call ppu_script_test,guest,tests/guest/run $(GUEST_TESTS),$(GUEST_READY) $(API_KERNELS) $(addprefix $(GUEST_DIR)/programs/,$(GUEST_TESTS))))

# The tools that look inside, in one boot.
$(eval $(call guest_program,top-worker,tests/top/worker.c,-Iruntime/include,ppu -pthread))
GUEST_TOOLS := ppu-trace ppu-prof ppu-top saxpy bfs top-worker
TIMEOUT_guest-tools := 300
$(eval $(call ppu_script_test,guest-tools,tests/guest/test_tools.py,$(GUEST_READY) $(addprefix $(GUEST_DIR)/programs/,$(GUEST_TOOLS)) $(addprefix $(BUILD)/kernels/,saxpy.ppu bfs.ppu spin.ppu)))

TIMEOUT_demo := 300
$(eval $(call ppu_script_test,demo,tests/guest/test_demo.py,$(DEMO_READY) $(BUILD)/plain/tools/demo $(BUILD)/opencl/ppu.icd $(addprefix $(BUILD)/plain/tools/,variants waves locks)))
TIMEOUT_deterministic := 360
$(eval $(call ppu_script_test,deterministic,tests/guest/test_deterministic.py,$(DEMO_READY)))

# In a guest whose PPU is served. Building its QEMU takes too long for `make test`, which tests with it where it is there.
TIMEOUT_client-x86 := 600
$(eval $(call ppu_script_test,client-x86,tests/guest/client,$(QEMU) $(BUILD)/firmware/picolibc/ppufw.elf $(API_KERNELS)))
.PHONY: test-x86
test-x86: ## all tests of the guest in the x86 guest, whose PPU is served (builds a stock QEMU the first time)
	$(Q)$(MAKE) test GUEST=x86 T=guest
	$(Q)$(MAKE) test GUEST=x86 T=demo
