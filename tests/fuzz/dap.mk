# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_dap := -max_len=2048 -len_control=0

# The program that is debugged, with debug information.
$(BUILD)/fuzz/dap.image: tests/fuzz/dap.cl $(BUILD)/plain/tools/ppucc | $(OPENCL_COMPILER)
	$(call say,PPUCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BUILD)/plain/tools/ppucc -g -cl-opt-disable -o $@.$(pid) $<
	$(Q)mv $@.$(pid) $@
$(BUILD)/fuzz/dap.image.o: $(BUILD)/fuzz/dap.image
	$(call say,LD,$@)
	$(Q)(cd $(@D) && ld -r -b binary -z noexecstack -o $(@F).$(pid) $(<F))
	$(Q)mv $@.$(pid) $@
PREREQS_fuzz-dap := $(BUILD)/fuzz/dap.image.o
FUZZ_DAP_WRAPPED := $(foreach f,start_program waitpid kill door_open door_serve door_close box_open box_close box_ask box_done box_events box_view,-Wl,--wrap=$(f))
$(eval $(call ppu_fuzz,dap,tests/fuzz/dap.c tests/fuzz/input.c $(DAP_SOURCES),$(TRACE_FLAGS),$(DAP_LIBS) $(FUZZ_DAP_WRAPPED)))
