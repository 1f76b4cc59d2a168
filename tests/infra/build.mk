# SPDX-License-Identifier: MIT

$(eval $(call ppu_script_test,test-runner,tests/infra/test_run.py))

TIMEOUT_lint = 300
$(eval $(call ppu_script_test,lint,tools/check/lint $(BUILD)/units.list,$(LINT_INPUTS)))
