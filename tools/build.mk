# SPDX-License-Identifier: MIT

ASM_SOURCES := tools/asm/names.c tools/asm/parse.c tools/asm/dis.c tools/asm/assemble.c tools/asm/kernel.c
ASM_FLAGS := -D_GNU_SOURCE
PROGRESS_SOURCES := tools/progress/progress.c
COMMAND_SOURCES := tools/asm/command.c tools/asm/response.c tools/asm/file.c $(PROGRESS_SOURCES)

$(eval $(call ppu_lib,ppuasm,$(ASM_SOURCES),$(ASM_FLAGS)))
$(eval $(call ppu_tool,ppu-as,tools/asm/ppu-as.c $(COMMAND_SOURCES),$(ASM_FLAGS),ppuasm -pthread))
$(eval $(call ppu_tool,ppu-dis,tools/asm/ppu-dis.c $(COMMAND_SOURCES),$(ASM_FLAGS),ppuasm -pthread))
$(eval $(call ppu_lib,ppuconfine,$(addprefix tools/confine/,files.c rights.c calls.c)))
$(eval $(call ppu_tool,ppu-confine,tools/confine/ppu-confine.c tools/confine/guard.c,,ppuconfine -lseccomp))
# Translates hot loops beside QEMU: LLVM is in the module, which is loaded for the first loop that is not kept.
$(eval $(call ppu_tool,ppu-translator,$(addprefix tools/translator/,ppu-translator.c serve.c store.c make.c) $(addprefix cache/,entry.c folder.c room.c origin.c),-D_GNU_SOURCE,ppuconfine -lseccomp -lnettle -ldl))
$(eval $(call ppu_tool,ppucc,tools/ppucc/ppucc.c tools/ppucc/options.c tools/ppucc/listing.c tools/ppucc/facts.c $(COMMAND_SOURCES),$(ASM_FLAGS),$(COMPILER_LIBS) ppuasm))

# Records of runs: who reads them shares the reader.
TRACE_FLAGS := -D_GNU_SOURCE
TRACE_SOURCES := $(addprefix tools/trace/,attach.c follow.c watch.c watch_profile.c watch_firmware.c mcu_counts.c stacks.c profile.c process.c record_file.c map.c timeline.c build.c \
	build_program.c build_device.c build_warp.c message.c load.c source.c) $(PROGRESS_SOURCES)
TRACE_COMMAND := $(addprefix tools/trace/,ppu-trace.c chrome.c door.c writer.c run.c start.c)
PROF_COMMAND := $(addprefix tools/prof/,ppu-prof.c annotate.c functions.c) $(addprefix tools/trace/,door.c writer.c run.c start.c)
TOP_COMMAND := $(addprefix tools/top/,ppu-top.c device.c figures.c sheet.c json.c screen.c)
$(eval $(call ppu_lib,pputrace,$(TRACE_SOURCES),$(TRACE_FLAGS)))
$(eval $(call ppu_tool,ppu-trace,$(TRACE_COMMAND),$(TRACE_FLAGS),pputrace -ljansson))
$(eval $(call ppu_tool,ppu-prof,$(PROF_COMMAND),$(TRACE_FLAGS),pputrace ppuasm))

# A plugin of QEMU counts what microcontrollers execute.
MCU_MODULE := $(BUILD)/plain/ppu-mcu.so
MCU_SOURCES := tools/mcu/ppu-mcu.c tools/mcu/symbols.c
MCU_CFLAGS := -D_GNU_SOURCE -fPIC -isystem tools/mcu/glib -isystem $(BUILD)/qemu/src/include/qemu
$(eval $(call ppu_unit,ppu-mcu,$(MCU_SOURCES),$(MCU_CFLAGS)))
$(eval $(call ppu_compile,plain,ppu-mcu,$(MCU_SOURCES),$(MCU_CFLAGS)))
$(call ppu_objects,plain,ppu-mcu,$(MCU_SOURCES)): | $(BUILD)/qemu/tree.stamp
$(MCU_MODULE): $(call ppu_objects,plain,ppu-mcu,$(MCU_SOURCES))
	$(call say,LD,$@)
	$(Q)$(CC) -shared -g -o $@.$(pid) $^ -pthread
	$(Q)mv $@.$(pid) $@
ALL_TARGETS += $(MCU_MODULE)

# The same for programs in the guest.
$(eval $(call guest_lib,pputrace,$(TRACE_SOURCES),$(TRACE_FLAGS)))
$(eval $(call guest_lib,ppuasm,$(ASM_SOURCES),$(ASM_FLAGS)))
$(eval $(call guest_program,ppu-trace,$(TRACE_COMMAND),$(TRACE_FLAGS),pputrace -ljansson))
$(eval $(call guest_program,ppu-prof,$(PROF_COMMAND),$(TRACE_FLAGS),pputrace ppuasm))
$(eval $(call guest_program,ppu-top,$(TOP_COMMAND),$(TRACE_FLAGS),pputrace ppu -ljansson -L$(GUEST_DIR)/sysroot/lib/$(GUEST_TRIPLET) -l:libncursesw.so.6 -l:libtinfo.so.6 -pthread))

# The page is part of the program.
REPORT_PAGE := $(BUILD)/report/page.o
$(REPORT_PAGE): tools/report/page.html
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)ld -r -b binary -z noexecstack -o $@.$(pid) $<
	$(Q)mv $@.$(pid) $@
PREREQS_ppu-report := $(REPORT_PAGE)
$(eval $(call ppu_tool,ppu-report,$(addprefix tools/report/,ppu-report.c page.c page_profile.c page_roofline.c page_stacks.c svg.c flame.c),$(TRACE_FLAGS),pputrace ppuasm -ljansson))

# Live view: finds devices as ppu-trace does, reads their state as libppu does.
$(eval $(call ppu_tool,ppu-top,$(TOP_COMMAND),$(TRACE_FLAGS),pputrace ppu -ljansson -lncursesw -ltinfo -pthread))

# The debugger of kernels.
DBG_SOURCES := $(addprefix tools/dbg/,commands.c show.c value.c motion.c back.c stretch.c frames.c points.c session.c tree.c files.c box.c info.c types.c) $(addprefix tools/trace/,door.c start.c)
DBG_LIBS := ppudbg pputrace ppu ppuasm -ldw -lelf -pthread
$(eval $(call ppu_lib,ppudbg,$(DBG_SOURCES),$(TRACE_FLAGS)))
$(eval $(call ppu_tool,ppu-dbg,tools/dbg/ppu-dbg.c,$(TRACE_FLAGS),$(DBG_LIBS)))

# The same in the guest, where libdw needs libraries that are in two folders.
GUEST_DW_LIBS := -ldw -lelf -Wl,-rpath-link,$(GUEST_DIR)/sysroot/lib/$(GUEST_TRIPLET)
$(eval $(call guest_lib,ppudbg,$(DBG_SOURCES),$(TRACE_FLAGS)))
$(eval $(call guest_program,ppu-dbg,tools/dbg/ppu-dbg.c,$(TRACE_FLAGS),ppudbg pputrace ppu ppuasm $(GUEST_DW_LIBS) -pthread))

# The same for editors, by the Debug Adapter Protocol.
DAP_SOURCES := $(addprefix tools/dap/,adapter.c requests.c threads.c tasks.c sources.c breaks.c variables.c console.c memory.c wire.c)
DAP_LIBS := $(DBG_LIBS) -ljansson -lnettle
$(eval $(call ppu_tool,ppu-dap,tools/dap/ppu-dap.c $(DAP_SOURCES),$(TRACE_FLAGS),$(DAP_LIBS)))
$(eval $(call guest_program,ppu-dap,tools/dap/ppu-dap.c $(DAP_SOURCES),$(TRACE_FLAGS),ppudbg pputrace ppu ppuasm $(GUEST_DW_LIBS) -ljansson -lnettle -pthread))
