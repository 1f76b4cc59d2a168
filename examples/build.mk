# SPDX-License-Identifier: MIT
# Programs to begin with: the smallest, one whose threads make work, and one with tasks of several commands. They run beside QEMU, and in the guest.
EXAMPLE_CFLAGS := -D_GNU_SOURCE -Iruntime/include
$(eval $(call ppu_tool,saxpy,examples/libppu/saxpy.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call ppu_tool,bfs,examples/libppu/bfs.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call ppu_tool,pieces,examples/libppu/pieces.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call ppu_tool,limits,examples/libppu/limits.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call ppu_tool,quicksort,examples/opencl/quicksort.c,,-lOpenCL))
$(eval $(call guest_program,saxpy,examples/libppu/saxpy.c,$(EXAMPLE_CFLAGS),ppu -pthread))
$(eval $(call guest_program,bfs,examples/libppu/bfs.c,$(EXAMPLE_CFLAGS),ppu -pthread))

ALL_TARGETS += $(BUILD)/kernels/bfs.ppu
$(BUILD)/kernels/bfs.ppu: examples/libppu/bfs.s device-lib/asm/abi.s device-lib/asm/copy.s device-lib/asm/nest.s device-lib/asm/workq.s $(BUILD)/plain/tools/ppu-as
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)cat $(filter %.s,$^) >$@.s
	$(Q)$(BUILD)/plain/tools/ppu-as -o $@ $@.s

ALL_TARGETS += $(BUILD)/kernels/limits.ppu
$(BUILD)/kernels/limits.ppu: examples/libppu/limits.s $(BUILD)/plain/tools/ppu-as
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(BUILD)/plain/tools/ppu-as -o $@ $<

.PHONY: quicksort
quicksort: $(BUILD)/plain/tools/quicksort $(BUILD)/opencl/ppu.icd $(QEMU) firmware ## quicksort in OpenCL: a kernel that enqueues itself
	$(Q)OCL_ICD_VENDORS=$(BUILD)/opencl/ppu.icd $(BUILD)/plain/tools/quicksort

.PHONY: bfs
bfs: $(BUILD)/plain/tools/bfs $(BUILD)/kernels/bfs.ppu $(QEMU) firmware ## breadth-first search: grids launched by the CPU, through a work queue, by a waiting thread
	$(Q)$(BUILD)/plain/tools/bfs

# What needs packages that are not installed by default: MPI, StarPU. Where they are, it is built and tested as all else is.
EXTRA_PACKAGES := tools/setup/install extra/cluster
MPI_FOLDER := $(patsubst %/mpi.h,%,$(firstword $(wildcard /usr/lib/*/openmpi/include/mpi.h)))
STARPU_FOLDER := $(patsubst %/starpu.h,%,$(firstword $(wildcard /usr/include/starpu/1.3/starpu.h)))
ifneq ($(MPI_FOLDER),)
$(foreach p,stencil product,$(eval $(call ppu_tool,cluster-$(p),examples/cluster/$(p).c examples/cluster/rank.c,-D_GNU_SOURCE -isystem $(MPI_FOLDER),-L$(MPI_FOLDER:/include=/lib) -lmpi -lOpenCL)))
endif
ifneq ($(STARPU_FOLDER),)
$(eval $(call ppu_tool,tiles,examples/starpu/tiles.c,-D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=300 -isystem $(STARPU_FOLDER),-lstarpu-1.3 -lOpenCL -lm))
endif

# The first make installs them, and a second one builds what was unknown before.
.PHONY: cluster tiles
cluster: $(BUILD)/opencl/ppu.icd $(QEMU) firmware ## MPI: a stencil and a product on 1, 2 and 4 ranks, each with a PPU of its own
	$(Q)$(EXTRA_PACKAGES)
	$(Q)+$(MAKE) $(BUILD)/plain/tools/cluster-stencil $(BUILD)/plain/tools/cluster-product
	$(Q)examples/cluster/scale

tiles: $(BUILD)/opencl/ppu.icd $(QEMU) firmware ## StarPU: a product and a Cholesky factorisation on 1, 2 and 4 PPUs of one machine
	$(Q)$(EXTRA_PACKAGES)
	$(Q)+$(MAKE) $(BUILD)/plain/tools/tiles
	$(Q)examples/starpu/scale
