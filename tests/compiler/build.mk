# SPDX-License-Identifier: MIT

# Kernels are compiled and run on a device core with its real SMs.
COMPILER_DEVICE := tests/compiler/device.c tests/compiler/kept.c tests/compiler/compare.c tests/engine/rig.c tests/engine/reference.c tests/engine/models.c tests/device-core/board.c tests/device-core/translator.c tools/asm/file.c
COMPILER_TEST_FLAGS := $(LLVM_CFLAGS)

# $(call compiler_test,NAME)
define compiler_test
TIMEOUT_compiler-$(1) := 240
$$(eval $$(call ppu_test,compiler-$(1),tests/compiler/test_$(1).c $$(SOURCES_compiler-$(1)) $$(COMPILER_DEVICE),$$(COMPILER_TEST_FLAGS),ppu-core ppuasm $$(COMPILER_LIBS) -lm -ldl))
endef

$(eval $(call ppu_tool,pocl_run,tests/compiler/pocl_run.c,,-lOpenCL))
RUNTIME_compiler-random := $(BUILD)/plain/tools/pocl_run

SOURCES_compiler-builtins := tests/compiler/builtins.c

$(eval $(call compiler_test,kernels))
$(eval $(call compiler_test,builtins))
$(eval $(call compiler_test,random))
$(eval $(call compiler_test,errors))
SOURCES_compiler-options := tests/compiler/allowed.c
RUNTIME_compiler-options := $(OPENCL_FORKSERVER)
$(eval $(call compiler_test,options))
$(eval $(call compiler_test,library))
$(eval $(call compiler_test,language))
SOURCES_compiler-passes := tools/ppucc/facts.c
$(eval $(call compiler_test,passes))
$(eval $(call compiler_test,integers))
$(eval $(call compiler_test,wide))
$(eval $(call compiler_test,flow))
$(eval $(call compiler_test,functions))
SOURCES_compiler-exits := tests/compiler/exits.c
$(eval $(call compiler_test,exits))
$(eval $(call compiler_test,verifier))
$(eval $(call compiler_test,addresses))
$(eval $(call compiler_test,large))
# Debug information is read by what the debugger reads it with.
SOURCES_compiler-debug := tools/dbg/info.c tools/dbg/types.c
$(eval $(call ppu_test,compiler-debug,tests/compiler/test_debug.c $(SOURCES_compiler-debug) $(COMPILER_DEVICE),$(COMPILER_TEST_FLAGS),ppu-core ppuasm $(COMPILER_LIBS) -ldw -lelf -lm -ldl))
SOURCES_compiler-variants := tools/ppucc/facts.c
$(eval $(call compiler_test,variants))
SOURCES_compiler-pressure := tests/compiler/pressure.c
$(eval $(call compiler_test,segments))
$(eval $(call compiler_test,pressure))
SOURCES_compiler-locality := tests/compiler/locality.c
$(eval $(call compiler_test,locality))

# Clang by a server that forks, a program in its place, and a server that does not wait long.
$(eval $(call ppu_tool,served-program,tests/compiler/served_program.c,-D_GNU_SOURCE,))
QUICK_FORKSERVER := $(BUILD)/plain/ppu-forkserver-quick.so
$(eval $(call ppu_compile,plain,ppu-forkserver-quick,$(FORKSERVER_SOURCES),$(FORKSERVER_CFLAGS) -DFORKSERVER_IDLE_MS=100))
$(QUICK_FORKSERVER): $(call ppu_objects,plain,ppu-forkserver-quick,$(FORKSERVER_SOURCES))
	$(call say,LD,$@)
	$(Q)$(CC) $(FORKSERVER_LDFLAGS) -o $@.$(pid) $^
	$(Q)mv $@.$(pid) $@
RUNTIME_compiler-fork-server := $(OPENCL_FORKSERVER) $(QUICK_FORKSERVER) $(BUILD)/plain/tools/served-program
$(eval $(call ppu_test,compiler-fork-server,tests/compiler/test_fork_server.c,$(COMPILER_TEST_FLAGS),$(COMPILER_LIBS),asan tsan))

# What the runtime finds out about a launch, and the compiler makes of it.
TIMEOUT_compiler-alias := 240
$(eval $(call ppu_test,compiler-alias,tests/compiler/test_alias.c opencl/variants/overlap.c $(COMPILER_DEVICE),$(COMPILER_TEST_FLAGS),ppu-core ppuasm $(COMPILER_LIBS) -lm -ldl))

$(eval $(call ppu_tool,bench-compiler,tests/compiler/bench_compiler.c tests/compiler/exits.c $(COMPILER_DEVICE),$(COMPILER_TEST_FLAGS),ppu-core ppuasm $(COMPILER_LIBS) -lm -lcmocka))
$(eval $(call ppu_bench,compiler,$(BUILD)/plain/tools/bench-compiler,$(BUILD)/plain/tools/bench-compiler))
$(eval $(call ppu_tool,bench-subvector,tests/compiler/bench_subvector.c tests/compiler/pressure.c tests/compiler/locality.c $(COMPILER_DEVICE),$(COMPILER_TEST_FLAGS),ppu-core ppuasm $(COMPILER_LIBS) -lm -lcmocka))
$(eval $(call ppu_bench,subvector,$(BUILD)/plain/tools/bench-subvector,$(BUILD)/plain/tools/bench-subvector))
$(eval $(call ppu_tool,bench-alias,tests/compiler/bench_alias.c opencl/variants/overlap.c opencl/variants/variant_key.c $(COMPILER_DEVICE),$(COMPILER_TEST_FLAGS),ppu-core ppuasm $(COMPILER_LIBS) -lm -lcmocka))
$(eval $(call ppu_bench,alias,$(BUILD)/plain/tools/bench-alias,$(BUILD)/plain/tools/bench-alias))
TIMEOUT_compiler-ppucc := 120
$(eval $(call ppu_script_test,compiler-ppucc,tests/compiler/test_ppucc.py $(BUILD)/plain/tools/ppucc $(BUILD)/plain/tools/ppu-dis,$(BUILD)/plain/tools/ppucc $(BUILD)/plain/tools/ppu-dis))
OPENCL_HEADER := $(LLVM_PREFIX)/lib/clang/19/include/opencl-c.h
$(eval $(call ppu_script_test,compiler-specification,tests/compiler/test_specification.py $(OPENCL_HEADER)))

# Every float through the built-in functions takes hours; the test takes every so manyth.
EVERY_FLOAT := $(BUILD)/plain/tools/every-float
FLAGS_tests/compiler/quick.c := -O3 -ffast-math
FLAGS_tests/compiler/every_float.c := -O3
$(eval $(call ppu_tool,every-float,tests/compiler/every_float.c tests/compiler/builtins.c tests/compiler/quick.c $(COMPILER_DEVICE),$(COMPILER_TEST_FLAGS),ppu-core ppuasm $(COMPILER_LIBS) -lcmocka -lmvec -lm))
$(eval $(call ppu_script_test,compiler-every-float,$(EVERY_FLOAT) --step 16411,$(EVERY_FLOAT)))

.PHONY: ulp
ulp: $(EVERY_FLOAT) $(BUILD)/asan/tests/compiler-builtins ## every float through the built-in functions, then docs/spec/ulp.md (hours; goes on where it was; BUILTIN=name: this one)
	$(Q)nice -n 19 $(EVERY_FLOAT) --results tests/compiler/every_float.txt $(BUILTIN)
	$(Q)PPU_ULP=docs/spec/ulp.md $(BUILD)/asan/tests/compiler-builtins
