# SPDX-License-Identifier: MIT

$(eval $(call ppu_script_test,test-runner,tests/infra/test_run.py))
