# SPDX-License-Identifier: MIT
# Benchmarks on QEMU with the native transport.
BENCH_KERNELS := $(addprefix $(BUILD)/kernels/,counter.ppu pressure.ppu creator.ppu fair.ppu)
define native_bench
$$(eval $$(call ppu_tool,bench-$(1),tests/bench/$(1).c tests/bench/bench.c $(2),-D_GNU_SOURCE -Iruntime/include,ppu -pthread))
$$(eval $$(call ppu_bench,$(1),$(BUILD)/plain/tools/bench-$(1),$(BUILD)/plain/tools/bench-$(1) $(QEMU) firmware $(BENCH_KERNELS)))
endef
$(eval $(call native_bench,native))
$(eval $(call native_bench,fair,tests/api/hostile.c))
$(eval $(call native_bench,sched))
$(eval $(call native_bench,memory))
$(eval $(call native_bench,p2p))
$(eval $(call native_bench,scale))
$(eval $(call native_bench,vfu,tests/remote/served.c))
$(eval $(call native_bench,workq))
$(eval $(call native_bench,firmware,tests/bench/crowd.c))

# Launches by threads: how many, beside QEMU; against the CPU's, in the guest.
NESTED_BENCH_SOURCES := tests/bench/nested.c tests/bench/bench.c
NESTED_BENCH_CFLAGS := -D_GNU_SOURCE -Iruntime/include
$(eval $(call ppu_tool,bench-nested,$(NESTED_BENCH_SOURCES),$(NESTED_BENCH_CFLAGS),ppu -pthread))
$(eval $(call guest_program,bench-nested,$(NESTED_BENCH_SOURCES),$(NESTED_BENCH_CFLAGS),ppu -pthread))
$(eval $(call ppu_bench,nested,PPU_DEVICE=native $(BUILD)/plain/tools/bench-nested rate $(BUILD)/kernels,$(BUILD)/plain/tools/bench-nested $(QEMU) firmware $(BENCH_KERNELS)))

# Who launches what only the grid before knows.
$(eval $(call ppu_bench,top,tests/bench/top.py,$(BUILD)/plain/tools/ppu-top $(BUILD)/plain/tests/top-worker $(BUILD)/kernels/spin.ppu $(QEMU) firmware))
$(eval $(call ppu_bench,bfs,tests/bench/bfs.py,$(BUILD)/plain/tools/bfs $(BUILD)/kernels/bfs.ppu $(QEMU) firmware))

# In the Linux guest.
GUEST_BENCH_SOURCES := tests/bench/guest.c tests/bench/bench.c demo/latency.c demo/user.c demo/report.c
GUEST_BENCH_CFLAGS := -D_GNU_SOURCE -Iruntime/include
$(eval $(call guest_program,bench-guest,$(GUEST_BENCH_SOURCES),$(GUEST_BENCH_CFLAGS),ppu -pthread))
$(eval $(call ppu_unit,bench-guest,tests/bench/guest.c,$(GUEST_BENCH_CFLAGS)))
$(eval $(call ppu_bench,guest,tests/bench/guest.py,$(DEMO_READY) $(BENCH_KERNELS) $(addprefix $(GUEST_DIR)/programs/,bench-guest bench-nested)))

# OpenCL, in both places.
OPENCL_BENCH_CFLAGS := -D_GNU_SOURCE
$(eval $(call ppu_tool,bench-opencl,tests/bench/opencl.c,$(OPENCL_BENCH_CFLAGS),-lOpenCL))
$(eval $(call guest_program,bench-opencl,tests/bench/opencl.c,$(OPENCL_BENCH_CFLAGS) $(GUEST_OPENCL_HEADERS),$(GUEST_OPENCL_LIBS) -lOpenCL))
$(call guest_objects,bench-opencl,tests/bench/opencl.c): | $(GUEST_TOOLCHAIN)
$(eval $(call ppu_bench,opencl,tests/bench/opencl.py,$(BUILD)/plain/tools/bench-opencl $(BUILD)/opencl/ppu.icd $(QEMU) firmware $(GUEST_READY) guest-opencl $(GUEST_DIR)/programs/bench-opencl))

# The engine beside other implementations of OpenCL (apt install pocl-opencl-icd oclgrind; the set-up does).
$(eval $(call ppu_tool,bench-kernels,tests/bench/kernels.c tests/bench/platform.c,-D_GNU_SOURCE,-lOpenCL))
$(eval $(call ppu_bench,engine,tests/bench/engine.py,$(BUILD)/plain/tools/bench-kernels $(BUILD)/opencl/ppu.icd $(QEMU) $(TIER_MODULE) $(BUILD)/plain/tools/ppu-translator firmware))
$(eval $(call ppu_bench,sanitize,tests/bench/sanitize.py,$(BUILD)/plain/tools/bench-kernels $(BUILD)/opencl/ppu.icd $(QEMU) firmware))
$(eval $(call ppu_tool,bench-set,tests/bench/set.c tests/bench/platform.c,-D_GNU_SOURCE,-lOpenCL))
$(eval $(call ppu_bench,set,tests/bench/set.py,$(BUILD)/plain/tools/bench-set $(BUILD)/opencl/ppu.icd $(QEMU) $(TIER_MODULE) $(BUILD)/plain/tools/ppu-translator firmware))

# How compilation grows with a kernel.
$(eval $(call ppu_bench,compiler,tests/bench/compile.py,$(BUILD)/plain/tools/ppucc))

# Images, beside pocl.
$(eval $(call ppu_tool,bench-images,tests/bench/images.c tests/bench/platform.c,-D_GNU_SOURCE,-lOpenCL))
$(eval $(call ppu_bench,images,tests/bench/images.py,$(BUILD)/plain/tools/bench-images $(BUILD)/opencl/ppu.icd $(QEMU) firmware))

# Records and reports.
$(eval $(call ppu_tool,bench-trace,tests/bench/trace.c,-D_GNU_SOURCE,pputrace))
$(eval $(call ppu_bench,trace,tests/bench/trace.py,$(addprefix $(BUILD)/plain/tools/,bench-trace ppu-trace ppu-report bfs quicksort) $(BUILD)/opencl/ppu.icd $(BUILD)/kernels/bfs.ppu $(QEMU) firmware))

# From nothing: minutes, and the network. Only when asked for: make bench COLD=1, or that alone: make bench COLD=1 T=setup
ifeq ($(COLD),1)
$(eval $(call ppu_bench,setup,tests/bench/setup.py,))
endif
