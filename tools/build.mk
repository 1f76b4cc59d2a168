# SPDX-License-Identifier: MIT

ASM_SOURCES := tools/asm/names.c tools/asm/parse.c tools/asm/dis.c tools/asm/assemble.c tools/asm/kernel.c
ASM_FLAGS := -Iinclude -Itools/asm

$(eval $(call ppu_lib,ppuasm,$(ASM_SOURCES),$(ASM_FLAGS)))
$(eval $(call ppu_tool,ppu-as,tools/asm/ppu-as.c tools/asm/file.c,$(ASM_FLAGS),ppuasm))
$(eval $(call ppu_tool,ppu-dis,tools/asm/ppu-dis.c tools/asm/file.c,$(ASM_FLAGS),ppuasm))
$(eval $(call ppu_tool,ppucc,tools/ppucc/ppucc.c tools/ppucc/facts.c tools/asm/file.c,$(ASM_FLAGS) -Icompiler,$(COMPILER_LIBS) ppuasm))
