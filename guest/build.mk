# SPDX-License-Identifier: MIT
#
# The Linux guest in build/guest/, and the ways to use it.
#
#   $(eval $(call guest_lib,NAME,SOURCES,CFLAGS))
#       build/guest/libNAME.a
#   $(eval $(call guest_program,NAME,SOURCES,CFLAGS,LIBS))
#       build/guest/programs/NAME, a program for the guest. LIBS are NAMEs given to guest_lib, or linker flags.

GUEST_CC := aarch64-linux-gnu-gcc
GUEST := $(BUILD)/guest
GUEST_IMAGE := $(GUEST)/initramfs.cpio
# QEMU first: from nothing it takes longest.
GUEST_READY = $(QEMU) $(GUEST_IMAGE) $(BUILD)/firmware/picolibc/ppufw.elf
SHARE ?=

$(GUEST_IMAGE): $(wildcard guest/*) tools/setup/guest-packages include/ppu/regs.h
	$(call say,GUEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)guest/build $(@D)

# What OpenCL programs need beside it: a link to the files.
GUEST_TOOLCHAIN := $(GUEST)/toolchain
$(GUEST_TOOLCHAIN): guest/toolchain.txt tools/setup/guest-packages
	$(call say,GUEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)tree=$$(tools/setup/guest-packages toolchain.txt) && eval "$$tree" && ln -sfn "$$GUEST/root" $@

.PHONY: guest guest-run guest-shell
guest: $(GUEST_IMAGE) ## fetch the Linux guest and build its image
guest-run: $(GUEST_READY) $(if $(OPENCL),guest-opencl) ## run an arm64 Linux program in the guest (PROG=file, ARGS='...', SHARE=folder, OPENCL=1)
	$(Q)tools/guest-run $(if $(OPENCL),--opencl) $(if $(SHARE),--share '$(SHARE)') $(or $(PROG),$(error say which: make guest-run PROG=file)) $(ARGS)
guest-shell: $(GUEST_READY) ## a shell in the guest (SHARE=folder)
	$(Q)tools/guest-run --shell $(if $(SHARE),--share '$(SHARE)')

guest_objects = $(patsubst %,$(GUEST)/obj/$(1)/%.o,$(2))

# $(call guest_compile,NAME,SOURCES,CFLAGS); the sysroot comes with the image
define guest_compile
$(call ppu_record,$(GUEST)/record/$(1).flags,$(GUEST_CC) $(CFLAGS_COMMON) $(3))
$(call ppu_record,$(GUEST)/record/$(1).members,$(2) $(4))
$(call guest_objects,$(1),$(2)): $(GUEST)/obj/$(1)/%.o: % $(GUEST)/record/$(1).flags | $(GUEST_IMAGE)
	$$(call say,GUEST CC,$$<)
	$(Q)mkdir -p $$(@D)
	$(Q)$(GUEST_CC) $(CFLAGS_COMMON) -O2 $(3) -isystem $(GUEST)/sysroot/usr/include -MMD -MP -MT $$@ -MF $$@.d -c $$< -o $$@.$$(pid)
	$(Q)mv $$@.$$(pid) $$@
-include $(addsuffix .d,$(call guest_objects,$(1),$(2)))
endef

define guest_lib
$(call guest_compile,$(1),$(2),$(3))
$(GUEST)/lib$(1).a: $(call guest_objects,$(1),$(2)) $(GUEST)/record/$(1).members
	$$(call say,GUEST AR,$$@)
	$(Q)rm -f $$@.$$(pid)
	$(Q)$(AR) qcs $$@.$$(pid) $$(filter %.o,$$^)
	$(Q)mv $$@.$$(pid) $$@
endef

define guest_program
$(call guest_compile,$(1),$(2),$(3),$(4))
$(GUEST)/programs/$(1): $(call guest_objects,$(1),$(2)) $(patsubst %,$(GUEST)/lib%.a,$(filter-out -%,$(4))) $(GUEST)/record/$(1).members
	$$(call say,GUEST LD,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(GUEST_CC) -o $$@.$$(pid) $$(filter %.o %.a,$$^) -L$(GUEST)/sysroot/usr/lib/aarch64-linux-gnu $(filter -%,$(4))
	$(Q)mv $$@.$$(pid) $$@
endef
