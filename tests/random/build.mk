# SPDX-License-Identifier: MIT
# Random programs: what runs them, and a few in the gate. `make random` runs as many as it is told.
RANDOM_TOOLS := $(foreach t,random-host random-device random-opencl,$(BUILD)/plain/tools/$(t))

$(eval $(call ppu_tool,random-host,tests/random/host.c tests/random/launch.c,,-rdynamic -ldl))
$(eval $(call ppu_tool,random-device,tests/random/on_device.c tests/random/launch.c $(COMPILER_DEVICE),$(COMPILER_TEST_FLAGS),ppu-core ppuasm $(COMPILER_LIBS) -lm -lcmocka))
$(eval $(call ppu_tool,random-opencl,tests/random/on_opencl.c tests/random/launch.c,,-lOpenCL))

TIMEOUT_random-programs := 900
$(eval $(call ppu_script_test,random-programs,tests/random/programs --tap --count 200,$(RANDOM_TOOLS)))
$(eval $(call ppu_script_test,random-runner,tests/random/test_programs.py,$(BUILD)/plain/tools/random-device))

.PHONY: random random-report
random: $(RANDOM_TOOLS) $(BUILD)/opencl/ppu.icd $(QEMU) firmware ## random programs by the thousand (COUNT=, SEED=, OPTIONS='--each --pocl --oclgrind --ppu --record')
	$(Q)nice tests/random/programs --count $(or $(COUNT),1000) --seed $(or $(SEED),0) $(OPTIONS)
random-report: ## what long runs of random programs have done
	$(Q)tests/random/programs --report
