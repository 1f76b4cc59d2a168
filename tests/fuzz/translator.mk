# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_translator := -max_len=768 -len_control=0
# The target stands for the process that makes code, and for the module that it loads.
FUZZ_TRANSLATOR_FLAGS := -D_GNU_SOURCE $(foreach f,pipe2 fork dlopen dlsym syscall,-D$f=fake_$f)
FUZZ_TRANSLATOR_SOURCES := tests/fuzz/translator.c tests/fuzz/input.c tests/fuzz/scratch.c qemu-device/core/tier/translator.c $(addprefix tools/translator/,serve.c store.c make.c) $(addprefix cache/,entry.c folder.c room.c origin.c)
$(eval $(call ppu_fuzz,translator,$(FUZZ_TRANSLATOR_SOURCES),$(FUZZ_TRANSLATOR_FLAGS),ppuconfine -lseccomp -lnettle -pthread))
