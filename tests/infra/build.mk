# SPDX-License-Identifier: MIT

$(eval $(call ppu_script_test,test-runner,tests/infra/test_run.py))

# It looks at our files inside QEMU with the flags QEMU's build uses. With an empty cache it takes minutes.
TIMEOUT_lint = 1800
$(eval $(call ppu_script_test,lint,tools/check/lint $(BUILD)/units.list,$(BUILD)/units.list $(QEMU)))

$(eval $(call ppu_script_test,bench-runner,tests/infra/test_bench.py))

$(eval $(call ppu_script_test,requirements-report,tests/infra/test_requirements.py))

# It takes files of QEMU from the cache.
$(eval $(call ppu_script_test,setup,tests/infra/test_setup.py,$(QEMU)))
