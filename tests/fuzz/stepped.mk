# SPDX-License-Identifier: MIT
# The stepped machine, for targets that include this file and link STEPPED_LIBS.
ifndef STEPPED_LIBS
STEPPED_CFLAGS := -D_GNU_SOURCE -Iruntime/include
STEPPED_SOURCES := tests/fuzz/stepped.c tests/fuzz/input.c tests/joined/host.c tests/joined/joined_image.c
STEPPED_LIBS := -Wl,-u,engine_level fuzz-firmware stepped-engine ppu-core ppu ppuasm -pthread -lm

# The firmware tells before each access to a shared word, and all that it writes is one section.
$(eval $(call ppu_unit,fuzz-firmware,$(FIRMWARE_SOURCES),-DSHARED_STEP=stepped_shared))
$(eval $(call ppu_compile,fuzz,fuzz-firmware,$(FIRMWARE_SOURCES),-DSHARED_STEP=stepped_shared))
$(BUILD)/fuzz/libfuzz-firmware.a: $(call ppu_objects,fuzz,fuzz-firmware,$(FIRMWARE_SOURCES)) tests/fuzz/firmware.ld
	$(call say,AR,$@)
	$(Q)ld -r --force-group-allocation -T tests/fuzz/firmware.ld -o $(@:.a=.o.$(pid)) $(filter %.o,$^)
	$(Q)objcopy --keep-global-symbol=firmware_main $(@:.a=.o.$(pid)) $(@:.a=.o)
	$(Q)rm -f $(@:.a=.o.$(pid)) $@
	$(Q)$(AR) rcs $@ $(@:.a=.o)

# What instructions do is the surface of the target engine. With coverage of it half of what these targets found new was there.
STEPPED_ENGINE := $(wildcard qemu-device/core/engine/*.c qemu-device/core/engine/inner/*.c)
$(eval $(call ppu_compile,fuzz,stepped-engine,$(STEPPED_ENGINE),-ffp-contract=off -fno-sanitize=fuzzer-no-link -Wno-unused-command-line-argument))
$(BUILD)/fuzz/libstepped-engine.a: $(call ppu_objects,fuzz,stepped-engine,$(STEPPED_ENGINE))
	$(call say,AR,$@)
	$(Q)ld -r -o $(@:.a=.o.$(pid)) $^
	$(Q)mv $(@:.a=.o.$(pid)) $(@:.a=.o)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(@:.a=.o)
endif
