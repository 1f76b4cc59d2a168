# SPDX-License-Identifier: MIT

CHECK_TESTS += $(addprefix firmware-,$(filter-out image mutations,$(patsubst tests/firmware/test_%.c,%,$(wildcard tests/firmware/test_*.c))))

# The firmware's own sources on a device that the test drives step by step.

firmware_test = $(call ppu_test,firmware-$(1),tests/firmware/test_$(1).c $(addprefix tests/firmware/,mock_hal.c coroutine.c stream.c) $(2),$(3),ppu-firmware)

$(eval $(call firmware_test,channel))
$(eval $(call firmware_test,commands))
$(eval $(call firmware_test,list_orders,tests/firmware/orders.c))
$(eval $(call firmware_test,tmd))
$(eval $(call firmware_test,tmdq,firmware/tmdq.c tests/firmware/orders.c,-DSHARED_STEP=tmdq_step))
$(eval $(call firmware_test,workq,firmware/workq.c tests/firmware/orders.c,-DSHARED_STEP=orders_step))
$(eval $(call firmware_test,taskq_feed,firmware/taskq.c tests/firmware/orders.c,-DSHARED_STEP=orders_step))
$(eval $(call firmware_test,cta_groups,firmware/nest.c tests/firmware/orders.c,-DSHARED_STEP=orders_step))
FLAGS_tests/firmware/test_bound.c := -fno-sanitize-coverage=trace-pc
$(eval $(call firmware_test,bound,firmware/wdu.c firmware/watchdog.c firmware/tmu.c,-fsanitize-coverage=trace-pc))
$(eval $(call firmware_test,timer))
$(eval $(call firmware_test,ring))
$(eval $(call firmware_test,layout))
$(eval $(call firmware_test,watchdog))
$(eval $(call firmware_test,admin))
$(eval $(call firmware_test,taskq))
$(eval $(call firmware_test,policy))
$(eval $(call firmware_test,quota))
$(eval $(call firmware_test,share))
$(eval $(call firmware_test,places))
$(eval $(call firmware_test,rank))
$(eval $(call firmware_test,levels))
$(eval $(call firmware_test,recentre))

FIRMWARE_IMAGES := $(BUILD)/firmware/picolibc $(BUILD)/firmware/newlib
$(eval $(call ppu_script_test,firmware-image,tests/firmware/test_image.py $(FIRMWARE_IMAGES),$(addsuffix /ppufw.elf,$(FIRMWARE_IMAGES))))

TIMEOUT_firmware-mutations = 300
$(eval $(call ppu_script_test,firmware-mutations,tests/firmware/test_mutations.py $(BUILD)/mutations $(BUILD)/plain/libppu-firmware.a,$(BUILD)/plain/libppu-firmware.a))
