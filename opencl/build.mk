# SPDX-License-Identifier: MIT
# OpenCL: a library that an ICD loader loads, and the same as an archive for tests.
OPENCL_CFLAGS := -D_GNU_SOURCE -Iruntime/include
OPENCL_NEEDS := -lnettle -lm
OPENCL_LIBS := ppu-opencl $(COMPILER_LIBS) $(OPENCL_NEEDS)
OPENCL_SOURCES := $(sort $(wildcard opencl/*/*.c cache/*.c))
OPENCL_CALLS := $(BUILD)/opencl/calls.inc
OPENCL_CALLERS := opencl/api/calls.c opencl/api/icd.c
OPENCL_LIBRARY := $(BUILD)/plain/libppu-opencl.so
OPENCL_COMPILER := $(BUILD)/plain/libppu-compiler.so
OPENCL_VENDOR := $(BUILD)/opencl/ppu.icd

# Without the files that open a device and load the compiler, which tests do their way.
OPENCL_OWN := opencl/submit/open_ppu.c opencl/build/compiler_dl.c
$(eval $(call ppu_lib,ppu-opencl,$(filter-out $(OPENCL_OWN),$(OPENCL_SOURCES)),$(OPENCL_CFLAGS)))
$(foreach v,$(VARIANTS),$(eval $(call ppu_objects,$(v),ppu-opencl,$(OPENCL_CALLERS)): | $(OPENCL_CALLS)))
$(OPENCL_CALLS): tools/mkcalls/mkcalls opencl/api/entry.def
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$< opencl/api/entry.def /usr/include/CL/cl_icd.h $@.$(pid)
	$(Q)mv $@.$(pid) $@
$(eval $(call ppu_unit,opencl-own,$(OPENCL_OWN),$(OPENCL_CFLAGS)))

# -Bsymbolic: the ICD loader has functions of the same names.
# A shared library needs objects of its own, libppu's too.
$(eval $(call ppu_compile,plain,opencl-shared,$(OPENCL_SOURCES),$(OPENCL_CFLAGS) -fPIC))
$(eval $(call ppu_objects,plain,opencl-shared,$(OPENCL_CALLERS)): | $(OPENCL_CALLS))
$(eval $(call ppu_compile,plain,opencl-shared-compiler,$(COMPILER_SOURCES),$(COMPILER_CFLAGS) -fPIC))
$(eval $(call ppu_objects,plain,opencl-shared-compiler,compiler/frontend/library.c): $(LIBRARIES))
$(eval $(call ppu_compile,plain,opencl-shared-ppu,$(PPU_RUNTIME_SOURCES),$(PPU_RUNTIME_CFLAGS) -fPIC))
OPENCL_SHARED_OBJECTS := $(call ppu_objects,plain,opencl-shared,$(OPENCL_SOURCES)) $(call ppu_objects,plain,opencl-shared-ppu,$(PPU_RUNTIME_SOURCES))
OPENCL_COMPILER_OBJECTS := $(call ppu_objects,plain,opencl-shared-compiler,$(COMPILER_SOURCES))
OPENCL_LDFLAGS := -shared -g -Wl,-Bsymbolic
$(OPENCL_LIBRARY): $(OPENCL_SHARED_OBJECTS) opencl/export.map
	$(call say,LD,$@)
	$(Q)$(CC) $(OPENCL_LDFLAGS) -o $@.$(pid) $(OPENCL_SHARED_OBJECTS) -Wl,--version-script=opencl/export.map -Wl,--no-undefined $(OPENCL_NEEDS) -pthread
	$(Q)mv $@.$(pid) $@
$(OPENCL_COMPILER): $(OPENCL_COMPILER_OBJECTS) opencl/compiler.map
	$(call say,LD,$@)
	$(Q)$(CC) $(OPENCL_LDFLAGS) -o $@.$(pid) $(OPENCL_COMPILER_OBJECTS) -Wl,--version-script=opencl/compiler.map -Wl,--no-undefined $(LLVM_LIBS) -pthread
	$(Q)mv $@.$(pid) $@

# The process for modules that come from elsewhere finds the compiler beside itself.
FOREIGN_SOURCES := $(sort $(wildcard compiler/foreign/*.c))
FOREIGN_CFLAGS := -D_GNU_SOURCE
FOREIGN_NEEDS := -l:libppu-compiler.so -lseccomp -Wl,-rpath,'$$ORIGIN'
OPENCL_FOREIGN := $(BUILD)/plain/ppu-foreign
$(eval $(call ppu_unit,ppu-foreign,$(FOREIGN_SOURCES),$(FOREIGN_CFLAGS)))
$(eval $(call ppu_compile,plain,ppu-foreign,$(FOREIGN_SOURCES),$(FOREIGN_CFLAGS)))
$(OPENCL_FOREIGN): $(call ppu_objects,plain,ppu-foreign,$(FOREIGN_SOURCES)) $(OPENCL_COMPILER)
	$(call say,LD,$@)
	$(Q)$(CC) -g -o $@.$(pid) $(filter %.o,$^) -L$(BUILD)/plain $(FOREIGN_NEEDS)
	$(Q)mv $@.$(pid) $@

# What clang has preloaded when it is to load once and fork for each build.
FORKSERVER_SOURCES := $(sort $(wildcard compiler/forkserver/*.c))
FORKSERVER_CFLAGS := -D_GNU_SOURCE -fPIC
FORKSERVER_LDFLAGS := -shared -g -Wl,--no-undefined
OPENCL_FORKSERVER := $(BUILD)/plain/ppu-forkserver.so
$(eval $(call ppu_unit,ppu-forkserver,$(FORKSERVER_SOURCES),$(FORKSERVER_CFLAGS)))
$(eval $(call ppu_compile,plain,ppu-forkserver,$(FORKSERVER_SOURCES),$(FORKSERVER_CFLAGS)))
$(OPENCL_FORKSERVER): $(call ppu_objects,plain,ppu-forkserver,$(FORKSERVER_SOURCES))
	$(call say,LD,$@)
	$(Q)$(CC) $(FORKSERVER_LDFLAGS) -o $@.$(pid) $^
	$(Q)mv $@.$(pid) $@

# OCL_ICD_VENDORS=<this file>
$(OPENCL_VENDOR): $(OPENCL_LIBRARY) $(OPENCL_COMPILER) $(OPENCL_FOREIGN) $(OPENCL_FORKSERVER)
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' '$(abspath $(OPENCL_LIBRARY))' >$@.$(pid)
	$(Q)mv $@.$(pid) $@
ALL_TARGETS += $(OPENCL_VENDOR)

# The same for the guest, where the folder is /opencl, beside /toolchain.
GUEST_OPENCL := $(GUEST_DIR)/opencl
GUEST_OPENCL_HEADERS := -isystem $(GUEST_TOOLCHAIN)/usr/include
GUEST_OPENCL_LIBS := -L$(GUEST_TOOLCHAIN)/usr/lib/$(GUEST_TRIPLET)
$(eval $(call guest_compile,opencl,$(OPENCL_SOURCES),$(OPENCL_CFLAGS) $(GUEST_OPENCL_HEADERS) -fPIC))
$(eval $(call guest_compile,opencl-compiler,$(COMPILER_SOURCES),$(COMPILER_CFLAGS) -fPIC))
$(eval $(call guest_compile,opencl-ppu,$(PPU_RUNTIME_SOURCES),$(PPU_RUNTIME_CFLAGS) -fPIC))
GUEST_OPENCL_OBJECTS := $(call guest_objects,opencl,$(OPENCL_SOURCES)) $(call guest_objects,opencl-ppu,$(PPU_RUNTIME_SOURCES))
GUEST_COMPILER_OBJECTS := $(call guest_objects,opencl-compiler,$(COMPILER_SOURCES))
$(call guest_objects,opencl,$(OPENCL_SOURCES)): | $(GUEST_TOOLCHAIN) $(OPENCL_CALLS)
$(call guest_objects,opencl-compiler,compiler/frontend/library.c): $(LIBRARIES)
$(GUEST_OPENCL)/libppu-opencl.so: $(GUEST_OPENCL_OBJECTS) opencl/export.map
	$(call say,GUEST LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(GUEST_CC) $(OPENCL_LDFLAGS) -o $@.$(pid) $(GUEST_OPENCL_OBJECTS) -Wl,--version-script=opencl/export.map $(GUEST_OPENCL_LIBS) $(OPENCL_NEEDS) -pthread
	$(Q)mv $@.$(pid) $@
$(GUEST_OPENCL)/libppu-compiler.so: $(GUEST_COMPILER_OBJECTS) opencl/compiler.map $(GUEST_TOOLCHAIN)
	$(call say,GUEST LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(GUEST_CC) $(OPENCL_LDFLAGS) -o $@.$(pid) $(GUEST_COMPILER_OBJECTS) -Wl,--version-script=opencl/compiler.map $(GUEST_OPENCL_LIBS) -lLLVM-19 -pthread
	$(Q)mv $@.$(pid) $@
$(eval $(call guest_compile,ppu-foreign,$(FOREIGN_SOURCES),$(FOREIGN_CFLAGS) $(GUEST_OPENCL_HEADERS)))
GUEST_FOREIGN_OBJECTS := $(call guest_objects,ppu-foreign,$(FOREIGN_SOURCES))
$(GUEST_FOREIGN_OBJECTS): | $(GUEST_TOOLCHAIN)
$(GUEST_OPENCL)/ppu-foreign: $(GUEST_FOREIGN_OBJECTS) $(GUEST_OPENCL)/libppu-compiler.so
	$(call say,GUEST LD,$@)
	$(Q)$(GUEST_CC) -g -o $@.$(pid) $(GUEST_FOREIGN_OBJECTS) -L$(GUEST_OPENCL) $(GUEST_OPENCL_LIBS) $(FOREIGN_NEEDS) -Wl,--allow-shlib-undefined
	$(Q)mv $@.$(pid) $@
$(eval $(call guest_compile,ppu-forkserver,$(FORKSERVER_SOURCES),$(FORKSERVER_CFLAGS)))
$(GUEST_OPENCL)/ppu-forkserver.so: $(call guest_objects,ppu-forkserver,$(FORKSERVER_SOURCES))
	$(call say,GUEST LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(GUEST_CC) $(FORKSERVER_LDFLAGS) -o $@.$(pid) $^
	$(Q)mv $@.$(pid) $@
$(GUEST_OPENCL)/env: opencl/guest-env $(GUEST_OPENCL)/ppu-forkserver.so $(GUEST_OPENCL)/libppu-opencl.so $(GUEST_OPENCL)/libppu-compiler.so $(GUEST_OPENCL)/ppu-foreign $(GUEST_TOOLCHAIN) $(BUILD)/firmware/picolibc/ppufw.bin
	$(Q)cp $(BUILD)/firmware/picolibc/ppufw.bin $(GUEST_OPENCL)
	$(Q)echo /opencl/libppu-opencl.so >$(GUEST_OPENCL)/ppu.icd
	$(Q)cp $< $@
.PHONY: guest-opencl
guest-opencl: $(GUEST_OPENCL)/env ## OpenCL for the guest: library, loader, compiler

# The programs of docs/tutorial.md, for both places.
# $(call cl_example,NAME)
define cl_example
$$(eval $$(call ppu_tool,$(1),examples/opencl/$(1).c,,-lOpenCL))
$$(eval $$(call guest_program,$(1),examples/opencl/$(1).c,$$(GUEST_OPENCL_HEADERS),$$(GUEST_OPENCL_LIBS) -lOpenCL))
$$(call guest_objects,$(1),examples/opencl/$(1).c): | $$(GUEST_TOOLCHAIN)
endef
$(eval $(call cl_example,squares))
$(eval $(call cl_example,nested))
$(eval $(call cl_example,levels))
$(eval $(call cl_example,variants))
$(eval $(call cl_example,waves))
$(eval $(call cl_example,locks))
$(eval $(call cl_example,entries))
