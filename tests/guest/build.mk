# SPDX-License-Identifier: MIT
#
# Tests that run in the Linux guest, all in one boot: those of libppu's interface (tests/api), and those of the vfio
# transport.

GUEST_TEST_FLAGS := $(API_CFLAGS)
GUEST_TESTS := vfio $(addprefix api-,$(API_TESTS))

$(eval $(call guest_lib,ppu,$(PPU_RUNTIME_SOURCES),$(PPU_RUNTIME_CFLAGS)))
$(eval $(call guest_program,vfio,tests/guest/test_vfio.c,$(GUEST_TEST_FLAGS),ppu -lcmocka -pthread))
$(foreach t,$(API_TESTS),$(eval $(call guest_program,api-$(t),tests/api/test_$(t).c tests/api/api.c tests/guest/machine_vfio.c,$(GUEST_TEST_FLAGS),ppu -lcmocka -pthread)))
