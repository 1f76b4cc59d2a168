# SPDX-License-Identifier: MIT
FUZZ_SEEDS_assembler := $(wildcard tests/kernels/*.s)
FUZZ_OPTIONS_assembler := -max_len=4096
$(eval $(call ppu_fuzz,assembler,tests/fuzz/assembler.c tests/fuzz/input.c,,ppuasm))
