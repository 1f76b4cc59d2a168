# SPDX-License-Identifier: MIT
# Tests of libppu's interface: the same sources on the joined machine (sanitizers on) and on QEMU, with both builds of the firmware.
API_CFLAGS := -D_GNU_SOURCE -Iruntime/include
API_JOINED_CFLAGS := $(API_CFLAGS)
# Those that need more than the interface are only on the joined machine.
API_OWN := channel_reuse lost_answers
API_TESTS := $(filter-out $(API_OWN),$(patsubst tests/api/test_%.c,%,$(wildcard tests/api/test_*.c)))
API_KERNELS := $(patsubst tests/kernels/%.s,$(BUILD)/kernels/%.ppu,$(wildcard tests/kernels/*.s))
API_KERNELS += $(BUILD)/kernels/mandelbrot.ppu
API_KERNELS += $(patsubst tests/compiler/kernels/%.cl,$(BUILD)/kernels/cl-%.ppu,$(wildcard tests/compiler/kernels/*.cl))

# $(call api_sources,NAME,MACHINE)
API_MORE_fair := tests/api/hostile.c
api_sources = tests/api/test_$(1).c $(API_MORE_$(1)) tests/api/api.c tests/api/script.c $(API_MACHINE_$(2))
API_MACHINE_joined := tests/api/machine_joined.c
API_MACHINE_native := $(addprefix tests/api/,machine_native.c properties.c process.c)
API_MACHINE_vfio_user := $(addprefix tests/api/,machine_vfio_user.c properties.c process.c kept.c) tests/remote/served.c
API_MACHINE_guest := tests/guest/machine_vfio.c $(addprefix tests/api/,process.c kept.c)

# $(call api_joined_test,NAME)
define api_joined_test
RUNTIME_api-$(1)-joined := $(API_KERNELS)
TIMEOUT_api-$(1)-joined := 240
$$(eval $$(call ppu_test,api-$(1)-joined,$(call api_sources,$(1),joined),$(API_JOINED_CFLAGS),$(JOINED_LIBS),asan tsan))
endef

# They measure shares of time.
$(foreach m,joined picolibc newlib vfio-user,$(eval SERIAL_api-fair-$(m) := 1))

# $(call api_native_program,NAME)
define api_native_program
$$(eval $$(call ppu_unit,api-$(1)-native,$(API_MACHINE_native),$(API_CFLAGS)))
$$(eval $$(call ppu_program,plain,api-$(1)-native,$(call api_sources,$(1),native),$(API_CFLAGS),ppu -pthread -lcmocka,$(BUILD)/plain/tests/api-$(1)-native))
endef

# $(call api_vfio_user_test,NAME): with the PPU in a server of vfio-user
define api_vfio_user_test
$$(eval $$(call ppu_unit,api-$(1)-vfio-user,$(API_MACHINE_vfio_user),$(API_CFLAGS)))
$$(eval $$(call ppu_program,plain,api-$(1)-vfio-user,$(call api_sources,$(1),vfio_user),$(API_CFLAGS),ppu -pthread -lcmocka,$(BUILD)/plain/tests/api-$(1)-vfio-user))
TIMEOUT_api-$(1)-vfio-user := 120
$$(eval $$(call ppu_script_test,api-$(1)-vfio-user,$(BUILD)/plain/tests/api-$(1)-vfio-user,$(BUILD)/plain/tests/api-$(1)-vfio-user $(QEMU) firmware $(API_KERNELS)))
endef

# $(call api_native_test,NAME,LIBC)
define api_native_test
TIMEOUT_api-$(1)-$(2) := 120
$$(eval $$(call ppu_script_test,api-$(1)-$(2),PPU_FIRMWARE=$(BUILD)/firmware/$(2)/ppufw.bin $(BUILD)/plain/tests/api-$(1)-native,$(BUILD)/plain/tests/api-$(1)-native $(QEMU) firmware $(API_KERNELS)))
endef

$(foreach t,$(API_TESTS),$(eval $(call api_joined_test,$(t))))
$(foreach t,$(API_TESTS),$(eval $(call api_native_program,$(t))))
$(foreach t,$(API_TESTS),$(eval $(call api_native_test,$(t),picolibc)))
$(foreach t,$(API_TESTS),$(eval $(call api_native_test,$(t),newlib)))
$(foreach t,$(API_TESTS),$(eval $(call api_vfio_user_test,$(t))))

# Where another thread comes between two steps of libppu.
API_REUSE_WRAPPED := -Wl,--wrap=admin_call
$(eval $(call ppu_test,api-channel_reuse,tests/api/test_channel_reuse.c tests/api/api.c tests/api/script.c tests/api/machine_joined.c,$(API_JOINED_CFLAGS),$(JOINED_LIBS) $(API_REUSE_WRAPPED),asan tsan))

# Where the firmware does not answer.
TIMEOUT_api-lost_answers := 240
RUNTIME_api-lost_answers := $(BUILD)/kernels/faults.ppu
$(eval $(call ppu_test,api-lost_answers,tests/api/test_lost_answers.c tests/api/api.c tests/api/script.c tests/api/machine_joined.c,$(API_JOINED_CFLAGS),$(JOINED_LIBS) $(API_REUSE_WRAPPED),asan tsan))

# Where there is no machine at all. What the guest runs is built for this computer.
$(eval $(call ppu_program,plain,api-memory-vfio,$(call api_sources,memory,guest),$(API_CFLAGS),ppu -pthread -lcmocka,$(BUILD)/plain/tests/api-memory-vfio))
$(eval $(call ppu_script_test,api-absent,tests/api/test_absent.py,$(addprefix $(BUILD)/plain/tests/api-memory-,native vfio-user vfio) $(QEMU) firmware))
