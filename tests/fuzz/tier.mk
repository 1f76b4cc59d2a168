# SPDX-License-Identifier: MIT
# The sources of ppu-tier.so, with coverage. LLVM's search for better code took half of the time, and is LLVM's.
FUZZ_OPTIONS_tier := -max_len=1024 -len_control=0
# LLVM 19 never ends with some code. A device ends what translates after 20 s; a run here goes on without that input.
FUZZ_LONG_tier := -fork=1 -ignore_timeouts=1 -timeout=20
# A run translates several programs, and takes 40 ms; those of other targets take 1 ms.
FUZZ_TEST_RUNS_tier := 100
FUZZ_TIER_SOURCES := tests/fuzz/tier.c tests/fuzz/tier_at_once.c tests/fuzz/tier_code.c tests/fuzz/attacker.c tests/fuzz/neighbour.c tests/fuzz/input.c tests/device-core/board.c tests/device-core/translator.c
$(eval $(call ppu_fuzz,tier,$(FUZZ_TIER_SOURCES) $(filter-out %/module.c,$(TIER_SOURCES)),$(TIER_CFLAGS) -DTIER_CODEGEN_LEVEL=LLVMCodeGenLevelNone,ppu-core ppuasm -lcmocka -lm $(TIER_LIBS)))
$(call ppu_objects,fuzz,fuzz-tier,qemu-device/tier/translate.c): $(TIER_KITS)
