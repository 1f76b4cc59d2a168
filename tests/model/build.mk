# SPDX-License-Identifier: MIT

TIMEOUT_model = 300
$(eval $(call ppu_script_test,model,tests/model/check.py $(BUILD)/model))
