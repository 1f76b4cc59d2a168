# SPDX-License-Identifier: MIT
FUZZ_IMAGE_SOURCES := $(addprefix tests/fuzz/,image.c fake_ppu.c input.c) $(filter-out $(OPENCL_OWN),$(OPENCL_SOURCES)) $(addprefix runtime/,program.c launch.c error.c file.c sanitizer.c)
FUZZ_OPTIONS_image := -max_len=512 -len_control=0
$(eval $(call ppu_fuzz,image,$(FUZZ_IMAGE_SOURCES),$(OPENCL_CFLAGS),$(OPENCL_NEEDS) -pthread -lm))
$(call ppu_objects,fuzz,fuzz-image,$(OPENCL_CALLERS)): | $(OPENCL_CALLS)
