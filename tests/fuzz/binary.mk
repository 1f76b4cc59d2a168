# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_binary := -max_len=1024
$(eval $(call ppu_fuzz,binary,tests/fuzz/binary.c tests/fuzz/input.c opencl/build/binary.c cache/folder.c cache/origin.c opencl/build/spirv.c opencl/build/spirv_respell.c,-D_GNU_SOURCE,-lnettle -pthread))
