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

# A user of the PPU for machines that come and go; the same as a program of this computer.
USER_CFLAGS := -D_GNU_SOURCE -Iruntime/include
$(eval $(call guest_program,user,tests/guest/user.c,$(USER_CFLAGS),ppu -pthread))
$(eval $(call ppu_program,plain,user,tests/guest/user.c,$(USER_CFLAGS),ppu -pthread,$(BUILD)/plain/tests/user))
$(eval $(call ppu_unit,user,tests/guest/user.c,$(USER_CFLAGS)))

$(eval $(call guest_program,peer,tests/guest/peer.c,$(USER_CFLAGS),ppu -pthread))
$(eval $(call ppu_unit,peer,tests/guest/peer.c,$(USER_CFLAGS)))
TIMEOUT_guest-peer := 180
$(eval $(call ppu_script_test,guest-peer,tests/guest/test_peer.py $(GUEST_DIR)/programs/peer,$(GUEST_READY) $(GUEST_DIR)/programs/peer))

TIMEOUT_guest-run := 180
$(eval $(call ppu_script_test,guest-run,tests/guest/test_guest_run.py,$(GUEST_READY) $(addprefix $(GUEST_DIR)/programs/,echo echo-static)))
TIMEOUT_guest := 900
$(eval $(call ppu_script_test,guest,tests/guest/run $(GUEST_TESTS),$(GUEST_READY) $(API_KERNELS) $(addprefix $(GUEST_DIR)/programs/,$(GUEST_TESTS))))

# The tools that look inside, in one boot. The kernel of one has debug information.
$(BUILD)/kernels/spin-debug.ppu: tests/guest/spin-debug.cl $(BUILD)/plain/tools/ppucc | $(OPENCL_COMPILER)
	$(call say,PPUCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BUILD)/plain/tools/ppucc -g -cl-opt-disable -o $@.$(pid) $<
	$(Q)mv $@.$(pid) $@
$(eval $(call guest_program,top-worker,tests/top/worker.c,-Iruntime/include,ppu -pthread))
GUEST_TOOLS := ppu-trace ppu-prof ppu-top ppu-dbg ppu-dap saxpy bfs top-worker
TIMEOUT_guest-tools := 300
$(eval $(call ppu_script_test,guest-tools,tests/guest/test_tools.py,$(GUEST_READY) $(addprefix $(GUEST_DIR)/programs/,$(GUEST_TOOLS)) $(addprefix $(BUILD)/kernels/,saxpy.ppu bfs.ppu spin.ppu spin-debug.ppu)))

TIMEOUT_guest-record := 300
$(eval $(call ppu_script_test,guest-record,tests/guest/test_record.py,$(GUEST_READY) $(addprefix $(GUEST_DIR)/programs/,ppu-dbg top-worker) $(BUILD)/kernels/spin-debug.ppu))

TIMEOUT_guest-gdb := 300
$(eval $(call ppu_script_test,guest-gdb,tests/guest/test_gdb.py,$(GUEST_READY) $(GUEST_DEBUGGER) $(addprefix $(GUEST_DIR)/programs/,ppu-dbg top-worker) $(BUILD)/kernels/spin-debug.ppu))

TIMEOUT_demo := 300
$(eval $(call ppu_script_test,demo,tests/guest/test_demo.py,$(DEMO_READY) $(BUILD)/plain/tools/demo $(BUILD)/opencl/ppu.icd $(addprefix $(BUILD)/plain/tools/,variants waves locks)))
TIMEOUT_deterministic := 360
$(eval $(call ppu_script_test,deterministic,tests/guest/test_deterministic.py,$(DEMO_READY)))

# In guests whose PPUs are served. Building their QEMU takes too long for `make test`, which tests with it where it is there.
# $(call client_test,NAME,GUEST,IOMMU,TESTS)
define client_test
TIMEOUT_client-$(1) := 600
$$(eval $$(call ppu_script_test,client-$(1),tests/guest/client $(2) $(3) $(4),$(QEMU) $(BUILD)/firmware/picolibc/ppufw.elf $(API_KERNELS)))
endef
$(eval $(call client_test,x86,x86,on,vfio api-device api-memory))
$(eval $(call client_test,x86-bare,x86,off,vfio))
$(eval $(call client_test,arm64,arm64-client,off,vfio))
$(eval $(call client_test,vm,x86,on,vm))

.PHONY: test-clients
test-clients: ## all tests of guests whose PPUs are served: x86 and arm64, with and without an IOMMU (builds a stock QEMU the first time)
	$(Q)$(MAKE) test GUEST=x86 T=guest
	$(Q)$(MAKE) test GUEST=x86 IOMMU=off T=guest
	$(Q)$(MAKE) test GUEST=arm64-client T=guest
	$(Q)$(MAKE) test GUEST=x86 T=demo
	$(Q)tests/guest/client x86 on vm
	$(Q)tests/guest/client arm64-client off vm
