# SPDX-License-Identifier: MIT
# Studies: programs over many machines (docs/studies.md). The workflow engine is large, so it is installed on demand.
STUDY_PROGRAMS := occupancy grain urgency
STUDY_NEEDS := $(BUILD)/opencl/ppu.icd $(QEMU) firmware
$(foreach p,$(STUDY_PROGRAMS),$(eval $(call ppu_tool,study-$(p),experiments/programs/$(p).c experiments/programs/device.c,-D_GNU_SOURCE,-lOpenCL)))
STUDY_TOOLS := $(addprefix $(BUILD)/plain/tools/study-,$(STUDY_PROGRAMS))

STUDY ?= experiments/occupancy.yaml
.PHONY: study
study: $(STUDY_TOOLS) $(STUDY_NEEDS) ## run the study of a YAML file (STUDY=file; AT='--cluster sbatch ...': where its cells run)
	$(Q)tools/setup/install extra/study
	$(Q)snakemake -s experiments/Snakefile $(or $(AT),--cores $(shell nproc)) --keep-going --rerun-incomplete --config study=$(STUDY)
