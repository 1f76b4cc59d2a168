# SPDX-License-Identifier: MIT
#
# The Linux guest in build/guest/, and the ways to use it.
#
#   $(eval $(call guest_program,NAME,SOURCES,CFLAGS,LDFLAGS))
#       build/guest/programs/NAME, a program for the guest.

GUEST_CC := aarch64-linux-gnu-gcc
GUEST := $(BUILD)/guest
GUEST_IMAGE := $(GUEST)/initramfs.cpio
GUEST_READY = $(GUEST_IMAGE) $(QEMU) firmware
SHARE ?=

$(GUEST_IMAGE): $(wildcard boot/guest/*) tools/setup/guest-packages include/ppu/regs.h | $(SETUP_STAMP)
	$(call say,GUEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)boot/guest/build $(@D)

.PHONY: guest guest-run guest-shell
guest: $(GUEST_IMAGE) ## fetch the Linux guest and build its image
guest-run: $(GUEST_READY) ## run an arm64 Linux program in the guest (PROG=file, ARGS='...', SHARE=folder)
	$(Q)tools/guest-run $(if $(SHARE),--share '$(SHARE)') $(or $(PROG),$(error say which: make guest-run PROG=file)) $(ARGS)
guest-shell: $(GUEST_READY) ## a shell in the guest (SHARE=folder)
	$(Q)tools/guest-run --shell $(if $(SHARE),--share '$(SHARE)')

# The sysroot comes with the image.
define guest_program
$(call ppu_record,$(GUEST)/obj/$(1)/flags,$(GUEST_CC) $(3) $(4))
$(patsubst %,$(GUEST)/obj/$(1)/%.o,$(2)): $(GUEST)/obj/$(1)/%.o: % $(GUEST)/obj/$(1)/flags | $(GUEST_IMAGE)
	$$(call say,GUEST CC,$$<)
	$(Q)mkdir -p $$(@D)
	$(Q)$(GUEST_CC) $(CFLAGS_COMMON) -O2 $(3) -isystem $(GUEST)/sysroot/usr/include -MMD -MP -MT $$@ -MF $$@.d -c $$< -o $$@.$$(pid)
	$(Q)mv $$@.$$(pid) $$@
-include $(patsubst %,$(GUEST)/obj/$(1)/%.o.d,$(2))
$(GUEST)/programs/$(1): $(patsubst %,$(GUEST)/obj/$(1)/%.o,$(2))
	$$(call say,GUEST LD,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(GUEST_CC) -o $$@.$$(pid) $$^ -L$(GUEST)/sysroot/usr/lib/aarch64-linux-gnu $(4)
	$(Q)mv $$@.$$(pid) $$@
endef
