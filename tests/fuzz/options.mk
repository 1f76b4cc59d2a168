# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_options := -max_len=400 -dict=tests/fuzz/options.dict
$(eval $(call ppu_fuzz,options,tests/fuzz/options.c tests/fuzz/input.c tests/compiler/allowed.c compiler/frontend/options.c compiler/base/bytes.c,-D_GNU_SOURCE,))
