# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_cache := -max_len=512 -len_control=0
$(eval $(call ppu_fuzz,cache,tests/fuzz/cache.c tests/fuzz/input.c tests/fuzz/scratch.c opencl/build/cache.c cache/entry.c cache/folder.c cache/room.c cache/origin.c,-D_GNU_SOURCE,-lnettle -pthread))
