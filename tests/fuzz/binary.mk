# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_binary := -max_len=1024
$(eval $(call ppu_fuzz,binary,tests/fuzz/binary.c tests/fuzz/input.c $(addprefix opencl/,binary.c folder.c origin.c),$(FUZZ_CFLAGS) -D_GNU_SOURCE -Iopencl -Icompiler -Iinclude,-lnettle -pthread))
