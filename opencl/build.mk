# SPDX-License-Identifier: MIT
# OpenCL: a library that an ICD loader loads, and the same as an archive for tests.
include runtime/build.mk compiler/build.mk

OPENCL_CFLAGS := -D_GNU_SOURCE -Iopencl -Iruntime/include -Iinclude -Icompiler
OPENCL_SOURCES := $(sort $(wildcard opencl/*.c))
OPENCL_LIBRARY := $(BUILD)/plain/libppu-opencl.so
OPENCL_VENDOR := $(BUILD)/opencl/ppu.icd

# Without the file that opens a device, which tests do their way.
$(eval $(call ppu_lib,ppu-opencl,$(filter-out opencl/source.c,$(OPENCL_SOURCES)),$(OPENCL_CFLAGS)))
$(eval $(call ppu_unit,opencl-source,opencl/source.c,$(OPENCL_CFLAGS)))

# -Bsymbolic: the ICD loader has functions of the same names.
# A shared library needs objects of its own, libppu's too.
$(eval $(call ppu_compile,plain,opencl-shared,$(OPENCL_SOURCES),$(OPENCL_CFLAGS) -fPIC))
$(eval $(call ppu_compile,plain,opencl-shared-compiler,$(COMPILER_SOURCES),$(COMPILER_CFLAGS) -fPIC))
$(eval $(call ppu_objects,plain,opencl-shared-compiler,compiler/library.c): $(DEVICE_LIBRARY) $(CORE_LIBRARY))
$(eval $(call ppu_compile,plain,opencl-shared-ppu,$(PPU_RUNTIME_SOURCES),$(PPU_RUNTIME_CFLAGS) -fPIC))
OPENCL_SHARED_OBJECTS := $(call ppu_objects,plain,opencl-shared-compiler,$(COMPILER_SOURCES)) $(call ppu_objects,plain,opencl-shared,$(OPENCL_SOURCES)) $(call ppu_objects,plain,opencl-shared-ppu,$(PPU_RUNTIME_SOURCES))
$(OPENCL_LIBRARY): $(OPENCL_SHARED_OBJECTS) opencl/export.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -g -o $@.$(pid) $(OPENCL_SHARED_OBJECTS) -Wl,--version-script=opencl/export.map -Wl,--no-undefined -Wl,-Bsymbolic $(LLVM_LIBS) -pthread
	$(Q)mv $@.$(pid) $@

# OCL_ICD_VENDORS=<this file>
$(OPENCL_VENDOR): $(OPENCL_LIBRARY)
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' '$(abspath $(OPENCL_LIBRARY))' >$@.$(pid)
	$(Q)mv $@.$(pid) $@
ALL_TARGETS += $(OPENCL_VENDOR)
