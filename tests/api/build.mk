# SPDX-License-Identifier: MIT
# Tests of libppu's interface: the same sources on the joined machine (sanitizers on) and on QEMU, with both builds of the firmware.
API_CFLAGS := -D_GNU_SOURCE -Iinclude -Iruntime -Iruntime/include -Itests/api
API_TESTS := $(patsubst tests/api/test_%.c,%,$(wildcard tests/api/test_*.c))
API_NATIVE_FILES := $(QEMU) firmware

# $(call api_test,NAME)
define api_test
RUNTIME_api-$(1)-joined := $(KERNELS)
TIMEOUT_api-$(1)-joined := 240
$$(eval $$(call ppu_test,api-$(1)-joined,tests/api/test_$(1).c tests/api/api.c tests/api/machine_joined.c,$(API_CFLAGS) -Iqemu-device/core -Itests/joined,$(JOINED_LIBS),asan tsan))
$$(eval $$(call ppu_program,plain,api-$(1)-native,tests/api/test_$(1).c tests/api/api.c tests/api/machine_native.c,$(API_CFLAGS),ppu -pthread -lcmocka,$(BUILD)/plain/tests/api-$(1)-native))
$$(eval $$(call ppu_unit,api-$(1)-native,tests/api/machine_native.c,$(API_CFLAGS)))
$$(foreach libc,picolibc newlib,$$(eval TIMEOUT_api-$(1)-$$(libc) := 120)$$(eval $$(call ppu_script_test,api-$(1)-$$(libc),PPU_FIRMWARE=$(BUILD)/firmware/$$(libc)/ppufw.bin $(BUILD)/plain/tests/api-$(1)-native,$(BUILD)/plain/tests/api-$(1)-native $(API_NATIVE_FILES) $(KERNELS))))
endef
$(foreach t,$(API_TESTS),$(eval $(call api_test,$(t))))
