# SPDX-License-Identifier: MIT

$(eval $(call ppu_script_test,test-runner,tests/infra/test_run.py))

TIMEOUT_lint = 300
$(eval $(call ppu_script_test,lint,tools/check/lint $(BUILD)/units.list,$(LINT_INPUTS)))

$(eval $(call ppu_script_test,bench-runner,tests/infra/test_bench.py))

$(eval $(call ppu_script_test,requirements-report,tests/infra/test_requirements.py))
