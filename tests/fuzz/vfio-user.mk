# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_vfio-user := -max_len=2048 -len_control=0
$(eval $(call ppu_fuzz,vfio-user,tests/fuzz/vfio-user.c tests/fuzz/input.c,-D_GNU_SOURCE,ppu-remote))
