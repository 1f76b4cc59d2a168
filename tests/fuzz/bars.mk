# SPDX-License-Identifier: MIT
include tests/fuzz/stepped.mk
FUZZ_OPTIONS_bars := -max_len=512 -len_control=0
$(eval $(call ppu_fuzz,bars,tests/fuzz/bars.c tests/fuzz/world.c $(STEPPED_SOURCES),$(STEPPED_CFLAGS),$(STEPPED_LIBS)))
