# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_cache := -max_len=512 -len_control=0
$(eval $(call ppu_fuzz,cache,tests/fuzz/cache.c tests/fuzz/input.c $(addprefix opencl/,cache.c folder.c origin.c),$(FUZZ_CFLAGS) -D_GNU_SOURCE -Iopencl -Icompiler -Iinclude,-lnettle -pthread))
