# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_firmware-image := -max_len=1024
$(eval $(call ppu_fuzz,firmware-image,tests/fuzz/firmware-image.c tests/fuzz/input.c boot/image.c runtime/firmware.c runtime/machine_clock.c runtime/error.c runtime/file.c,-D_GNU_SOURCE -Iruntime/include,))
