# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_snapshot := -max_len=256 -len_control=0
FUZZ_SNAPSHOT_SOURCES := tests/engine/liar.c tests/engine/rig.c tests/device-core/board.c tests/device-core/translator.c tools/asm/file.c
$(eval $(call ppu_fuzz,snapshot,tests/fuzz/snapshot.c tests/fuzz/input.c $(FUZZ_SNAPSHOT_SOURCES),,ppu-core ppuasm -pthread -lm -lcmocka))
