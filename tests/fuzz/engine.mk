# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_engine := -max_len=1024 -len_control=0
$(eval $(call ppu_fuzz,engine,tests/fuzz/engine.c tests/fuzz/attacker.c tests/fuzz/neighbour.c tests/fuzz/input.c tests/device-core/board.c tests/device-core/translator.c,-D_GNU_SOURCE,ppu-core ppuasm -lcmocka -pthread -lm))
