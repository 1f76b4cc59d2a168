# SPDX-License-Identifier: MIT
# Studies: their descriptions, cells, and the workflow engine where it is installed.
TIMEOUT_experiments-description := 240
$(eval $(call ppu_script_test,experiments-description,tests/experiments/test_description.py,$(STUDY_TOOLS) $(STUDY_NEEDS)))
TIMEOUT_experiments-cell := 400
$(eval $(call ppu_script_test,experiments-cell,tests/experiments/test_cell.py,$(STUDY_TOOLS) $(STUDY_NEEDS)))
TIMEOUT_experiments-workflow := 600
$(eval $(call ppu_script_test,experiments-workflow,tests/experiments/test_workflow.py,$(STUDY_TOOLS) $(STUDY_NEEDS)))
