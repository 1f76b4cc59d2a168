# SPDX-License-Identifier: MIT

CHECK_TESTS += runtime-%

# Parts of libppu that need no device.
$(foreach t,addresses range error time why,$(eval $(call ppu_test,runtime-$(t),tests/runtime/test_$(t).c,-Iruntime/include,ppu -pthread,asan)))
