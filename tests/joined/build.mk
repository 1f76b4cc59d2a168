# SPDX-License-Identifier: MIT
# The joined machine: a test links it with ppu, ppu-core and ppu-firmware-joined.
JOINED_CFLAGS := -D_GNU_SOURCE -Iruntime/include
JOINED_LIBS := ppu-joined ppu ppu-core ppu-firmware-joined -pthread -lm
$(eval $(call ppu_lib,ppu-joined,$(addprefix tests/joined/,joined.c host.c hal_host.c transport.c joined_image.c),$(JOINED_CFLAGS)))
