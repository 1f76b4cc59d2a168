# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_debugger := -max_len=4096 -len_control=0
$(eval $(call ppu_fuzz,debugger,tests/fuzz/debugger.c tests/fuzz/neighbour.c tests/fuzz/input.c tests/device-core/board.c tests/device-core/translator.c,-D_GNU_SOURCE,ppu-core ppuasm -lcmocka -pthread -lm))
