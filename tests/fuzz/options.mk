# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_options := -max_len=400 -dict=tests/fuzz/options.dict
$(eval $(call ppu_fuzz,options,tests/fuzz/options.c tests/fuzz/input.c tests/compiler/allowed.c compiler/options.c compiler/bytes.c,$(FUZZ_CFLAGS) -D_GNU_SOURCE -Icompiler -Itests/compiler,))
