# SPDX-License-Identifier: MIT
FUZZ_COMPILER_DEVICE := $(addprefix tests/compiler/,device.c kept.c) tests/engine/rig.c tests/engine/reference.c tests/engine/models.c tests/device-core/board.c tests/device-core/translator.c tools/asm/file.c
FUZZ_COMPILER_CFLAGS := $(addprefix -I,include compiler qemu-device/core tests/device-core tests/engine tests/compiler tools/asm tools) $(LLVM_CFLAGS)
FUZZ_OPTIONS_compiler := -max_len=512 -len_control=0
$(eval $(call ppu_fuzz,compiler,tests/fuzz/compiler.c tests/fuzz/program.c tests/fuzz/program_ir.c tests/fuzz/input.c $(FUZZ_COMPILER_DEVICE),$(FUZZ_COMPILER_CFLAGS),ppu-core ppuasm $(COMPILER_LIBS) -lm -ldl -lcmocka))
