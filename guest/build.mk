# SPDX-License-Identifier: MIT
#
# The Linux guest, and the ways to use it. GUEST says which one a command is about:
#   arm64          (the default) in our QEMU, which has the PPU in it
#   x86            in a stock QEMU that is the client of a served PPU (docs/vfio-user.md)
#   arm64-client   the arm64 guest in a stock QEMU, likewise
# IOMMU=off: its machine has none, as that of arm64-client always.
#
#   $(eval $(call guest_lib,NAME,SOURCES,CFLAGS))
#       build/guest/libNAME.a
#   $(eval $(call guest_program,NAME,SOURCES,CFLAGS,LIBS))
#       build/guest/programs/NAME, a program for the guest. LIBS are NAMEs given to guest_lib, or linker flags.
# Of the x86 guest these are in build/guest-x86.

GUEST := arm64
GUEST_DIR := $(BUILD)/guest
GUEST_ARCHITECTURE := arm64
GUEST_TRIPLET := aarch64-linux-gnu
ifeq ($(GUEST),x86)
GUEST_DIR := $(BUILD)/guest-x86
GUEST_ARCHITECTURE := amd64
GUEST_TRIPLET := x86_64-linux-gnu
else ifeq ($(filter arm64 arm64-client,$(GUEST)),)
$(error choose the guest: GUEST=$(GUEST): there are arm64, x86 and arm64-client)
endif
# tools/guest-run and the tests look at these.
export PPU_GUEST := $(GUEST)
IOMMU := $(if $(filter arm64-client,$(GUEST)),off,on)
export PPU_GUEST_IOMMU := $(IOMMU)
GUEST_CC := $(GUEST_TRIPLET)-gcc
GUEST_IMAGE := $(GUEST_DIR)/initramfs.cpio
# QEMU first: from nothing it takes longest.
GUEST_READY = $(QEMU) $(if $(filter arm64,$(GUEST)),,$(CLIENT_QEMU)) $(GUEST_IMAGE) $(BUILD)/firmware/picolibc/ppufw.elf
SHARE ?=

$(GUEST_IMAGE): $(wildcard guest/*) tools/setup/guest-packages include/ppu/regs.h
	$(call say,GUEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)guest/build $(GUEST_ARCHITECTURE) $(@D)

# The QEMUs of the guests that are clients: a link into the cache.
CLIENT_QEMU := $(BUILD)/qemu-client
$(CLIENT_QEMU): $(wildcard guest/qemu/*) tools/setup/qemu-source guest/firmware.txt | $(SETUP_STAMP)
	$(call say,GUEST,$@)
	$(Q)directory=$$(guest/qemu/build) && ln -sfnT "$$directory" $@ && touch -h $@

# What OpenCL programs need beside it: a link to the files.
GUEST_TOOLCHAIN := $(GUEST_DIR)/toolchain
$(GUEST_TOOLCHAIN): guest/toolchain.txt tools/setup/guest-packages
	$(call say,GUEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)tree=$$(tools/setup/guest-packages $(GUEST_ARCHITECTURE) toolchain.txt) && eval "$$tree" && ln -sfn "$$GUEST/root" $@

# gdb for the guest, and what it is linked with: a link to the files.
GUEST_DEBUGGER := $(GUEST_DIR)/debugger
$(GUEST_DEBUGGER): guest/debugger.txt tools/setup/guest-packages
	$(call say,GUEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)tree=$$(tools/setup/guest-packages $(GUEST_ARCHITECTURE) debugger.txt) && eval "$$tree" && ln -sfn "$$GUEST/root" $@

.PHONY: guest guest-run guest-shell client-qemu
client-qemu: $(CLIENT_QEMU) ## build the stock QEMUs of GUEST=x86 and GUEST=arm64-client
guest: $(GUEST_IMAGE) ## fetch the Linux guest and build its image
guest-run: $(GUEST_READY) $(if $(OPENCL),guest-opencl) ## run a Linux program in the guest (PROG=file, GUEST=arm64|x86|arm64-client, ARGS='...', SHARE=folder, OPENCL=1)
	$(Q)tools/guest-run $(if $(OPENCL),--opencl) $(if $(SHARE),--share '$(SHARE)') $(or $(PROG),$(error say which: make guest-run PROG=file)) $(ARGS)
guest-shell: $(GUEST_READY) ## a shell in the guest (SHARE=folder)
	$(Q)tools/guest-run --shell $(if $(SHARE),--share '$(SHARE)')

guest_objects = $(patsubst %,$(GUEST_DIR)/obj/$(1)/%.o,$(2))

# $(call guest_compile,NAME,SOURCES,CFLAGS); the sysroot comes with the image
define guest_compile
$(call ppu_record,$(GUEST_DIR)/record/$(1).flags,$(GUEST_CC) $(CFLAGS_COMMON) $(3))
$(call ppu_record,$(GUEST_DIR)/record/$(1).members,$(2) $(4))
$(call guest_objects,$(1),$(2)): $(GUEST_DIR)/obj/$(1)/%.o: % $(GUEST_DIR)/record/$(1).flags | $(GUEST_IMAGE)
	$$(call say,GUEST CC,$$<)
	$(Q)mkdir -p $$(@D)
	$(Q)$$(call ppu_ccache,$$<) $(GUEST_CC) $(CFLAGS_COMMON) -O2 $(3) -isystem $(GUEST_DIR)/sysroot/usr/include $$(DEPENDENCIES) -c $$< -o $$@.$$(pid)
	$(Q)$$(own_dependencies)
	$(Q)mv $$@.$$(pid) $$@
-include $(addsuffix .d,$(call guest_objects,$(1),$(2)))
endef

define guest_lib
$(call guest_compile,$(1),$(2),$(3))
$(GUEST_DIR)/lib$(1).a: $(call guest_objects,$(1),$(2)) $(GUEST_DIR)/record/$(1).members
	$$(call say,GUEST AR,$$@)
	$(Q)rm -f $$@.$$(pid)
	$(Q)$(AR) qcs $$@.$$(pid) $$(filter %.o,$$^)
	$(Q)mv $$@.$$(pid) $$@
endef

define guest_program
$(call guest_compile,$(1),$(2),$(3),$(4))
$(GUEST_DIR)/programs/$(1): $(call guest_objects,$(1),$(2)) $(patsubst %,$(GUEST_DIR)/lib%.a,$(filter-out -%,$(4))) $(GUEST_DIR)/record/$(1).members
	$$(call say,GUEST LD,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(GUEST_CC) -o $$@.$$(pid) $$(filter %.o %.a,$$^) -L$(GUEST_DIR)/sysroot/usr/lib/$(GUEST_TRIPLET) $(filter -%,$(4))
	$(Q)mv $$@.$$(pid) $$@
endef
