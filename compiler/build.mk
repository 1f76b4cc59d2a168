# SPDX-License-Identifier: MIT
# The compiler: a library over LLVM-C, with the device library (built-in functions as bitcode) inside.
LLVM_PREFIX ?= /usr/lib/llvm-19
LLVM_CFLAGS := -isystem $(LLVM_PREFIX)/include -D_GNU_SOURCE
LLVM_LIBS := -L$(LLVM_PREFIX)/lib -lLLVM-19

DEVICE_LIBRARY := $(BUILD)/device-lib/library.shards
CORE_LIBRARY := $(BUILD)/device-lib/core.bc
ADDRESS_LIBRARY := $(BUILD)/device-lib/sanitize/address.bc
ARGUMENT_LIBRARY := $(BUILD)/device-lib/sanitize/argument.bc
RACE_LIBRARY := $(BUILD)/device-lib/sanitize/race.bc
RACE_NESTED_LIBRARY := $(BUILD)/device-lib/sanitize/race_nested.bc
UNINIT_LIBRARY := $(BUILD)/device-lib/sanitize/uninit.bc
LIBRARIES := $(DEVICE_LIBRARY) $(CORE_LIBRARY) $(ADDRESS_LIBRARY) $(ARGUMENT_LIBRARY) $(RACE_LIBRARY) $(RACE_NESTED_LIBRARY) $(UNINIT_LIBRARY)
CORE_MODULES := $(foreach m,workitem sync printf copy enqueue event ndrange workq,$(BUILD)/device-lib/$(m).bc)
DEVICE_MODULES := $(patsubst device-lib/opencl/%.cl,$(BUILD)/device-lib/%.bc,$(wildcard device-lib/opencl/*.cl))
HALF_MODULES := $(patsubst device-lib/opencl/%.cl,$(BUILD)/device-lib/%.bc,$(wildcard device-lib/opencl/fp16/*.cl))
LIBCLC := /usr/lib/clc/nvptx64--.bc

COMPILER_CFLAGS := $(LLVM_CFLAGS) -DLIBRARY_FILE='"$(DEVICE_LIBRARY)"' -DCORE_FILE='"$(CORE_LIBRARY)"' -DADDRESS_FILE='"$(ADDRESS_LIBRARY)"' -DARGUMENT_FILE='"$(ARGUMENT_LIBRARY)"' -DRACE_FILE='"$(RACE_LIBRARY)"' -DRACE_NESTED_FILE='"$(RACE_NESTED_LIBRARY)"' -DUNINIT_FILE='"$(UNINIT_LIBRARY)"'
COMPILER_SOURCES := $(sort $(filter-out compiler/foreign/% compiler/forkserver/%,$(wildcard $(addprefix compiler/,*.c */*.c */*/*.c))))
COMPILER_LIBS := ppucompiler $(LLVM_LIBS) -pthread

$(eval $(call ppu_lib,ppucompiler,$(COMPILER_SOURCES),$(COMPILER_CFLAGS)))
$(eval $(call ppu_tool,mklibrary,tools/mklibrary/mklibrary.c tools/mklibrary/shards.c compiler/irpass/define_arithmetic.c,$(LLVM_CFLAGS),$(LLVM_LIBS)))

$(foreach v,$(VARIANTS),$(eval $(call ppu_objects,$(v),ppucompiler,compiler/frontend/library.c): $(LIBRARIES)))

# Long functions that are written into kernels again and again are optimised before.
$(foreach m,enqueue event ndrange workq address argument race race_nested uninit,$(eval LIBRARY_PASSES_$(m) := -fno-vectorize -fno-slp-vectorize))

# Functions of half call those of float, which are declared when all of clang's header is read.
$(HALF_MODULES): LIBRARY_HEADER := -cl-no-stdinc -Xclang -finclude-default-header

$(BUILD)/device-lib/%.bc: device-lib/opencl/%.cl $(wildcard device-lib/opencl/*.h device-lib/opencl/*/*.h include/ppu/*.h) device-lib/opencl/sanitize/race.cl include/ppu/isa.def compiler/build.mk
	$(call say,CL,$<)
	$(Q)mkdir -p $(@D)
	$(Q)clang-19 -x cl -target spir64 -cl-std=CL3.0 -O2 -ffreestanding $(or $(LIBRARY_PASSES_$(*F)),-Xclang -disable-llvm-passes) -Wall -Werror -Wno-atomic-alignment $(LIBRARY_HEADER) \
		-Iinclude -Idevice-lib/opencl -emit-llvm -c -o $@.$(pid) $<
	$(Q)mv $@.$(pid) $@

$(DEVICE_LIBRARY): $(BUILD)/plain/tools/mklibrary $(DEVICE_MODULES) $(HALF_MODULES) $(LIBCLC)
	$(call say,LIBRARY,$@)
	$(Q)$< $@.$(pid) $(LIBCLC) $(DEVICE_MODULES) $(HALF_MODULES)
	$(Q)mv $@.$(pid) $@

$(CORE_LIBRARY): $(BUILD)/plain/tools/mklibrary $(CORE_MODULES)
	$(call say,LIBRARY,$@)
	$(Q)$< $@.$(pid) - $(CORE_MODULES)
	$(Q)mv $@.$(pid) $@

