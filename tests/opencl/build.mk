# SPDX-License-Identifier: MIT
# OpenCL from a program's side: through the ICD loader on QEMU, and linked with the joined machine, sanitizers on.
CL_TEST_CFLAGS := -D_GNU_SOURCE
# Those below have rules of their own.
CL_OWN := allocation_failures cache channels confine foreign narrow_device no_subvector overlap patience two_devices work_group
CL_TESTS := $(filter-out $(CL_OWN),$(patsubst tests/opencl/test_%.c,%,$(wildcard tests/opencl/test_*.c)))
CL_SOURCE_CFLAGS := $(JOINED_CFLAGS)

$(eval $(call ppu_lib,cl-source-joined,tests/opencl/source_joined.c tests/opencl/compiler_joined.c tests/opencl/apart.c,$(CL_SOURCE_CFLAGS)))
$(eval $(call ppu_tool,compile-apart,tests/opencl/apart_program.c,,$(COMPILER_LIBS)))
# What this program answers is kept in a folder, which is emptied when there is another program.
CL_APART := $(BUILD)/apart/.program
$(CL_APART): $(BUILD)/plain/tools/compile-apart
	$(Q)rm -rf $(@D) && mkdir -p $(@D) && touch $@

CL_TEST_SOURCES_alias := tests/opencl/store.c
CL_TEST_SOURCES_build := tests/opencl/store.c
CL_TEST_SOURCES_objects := tests/opencl/default_memory.c
CL_TEST_SOURCES_enqueue := tests/opencl/enqueue_run.c
CL_TEST_SOURCES_workq := tests/opencl/enqueue_run.c
CL_TEST_SOURCES_taskq := tests/opencl/enqueue_run.c

TIMEOUT_opencl-alias-native := 240
TIMEOUT_opencl-sanitizer-native := 300
TIMEOUT_opencl-enqueue-native := 120

# $(call cl_test,NAME)
define cl_test
TIMEOUT_opencl-$(1)-joined := 240
RUNTIME_opencl-$(1)-joined := $$(OPENCL_FOREIGN) $$(OPENCL_FORKSERVER) $$(CL_APART)
$$(eval $$(call ppu_test,opencl-$(1)-joined,tests/opencl/test_$(1).c tests/opencl/fixture.c $(CL_TEST_SOURCES_$(1)),$(CL_TEST_CFLAGS),cl-source-joined $(OPENCL_LIBS) $(JOINED_LIBS),asan tsan))
$$(eval $$(call ppu_program,plain,opencl-$(1)-native,tests/opencl/test_$(1).c tests/opencl/fixture.c $(CL_TEST_SOURCES_$(1)),$(CL_TEST_CFLAGS),-lOpenCL -pthread -lcmocka -lm,$(BUILD)/plain/tests/opencl-$(1)-native))
$$(eval $$(call ppu_script_test,opencl-$(1)-native,OCL_ICD_VENDORS=$(BUILD)/opencl/ppu.icd $(BUILD)/plain/tests/opencl-$(1)-native,$(BUILD)/plain/tests/opencl-$(1)-native $(BUILD)/opencl/ppu.icd $(QEMU) firmware))
endef
$(foreach t,$(CL_TESTS),$(eval $(call cl_test,$(t))))

# Some of them with kernels that check themselves.
TIMEOUT_opencl-checked := 900
CL_CHECKED := enqueue groups pipes atomics subgroups language objects image_kernels order semaphore command_buffer threads transfer segments \
	program taskq workq build il printf image_objects
$(eval $(call ppu_script_test,opencl-checked,tests/opencl/test_checked.py,$(CL_CHECKED:%=$(BUILD)/plain/tests/opencl-%-native) $(BUILD)/opencl/ppu.icd $(QEMU) firmware))

# The same with the PPU in a server of vfio-user.
TIMEOUT_opencl-program-vfio-user := 120
$(eval $(call ppu_script_test,opencl-program-vfio-user,OCL_ICD_VENDORS=$(BUILD)/opencl/ppu.icd tests/opencl/served.py 1 $(BUILD)/plain/tests/opencl-program-native,$(BUILD)/plain/tests/opencl-program-native $(BUILD)/opencl/ppu.icd $(QEMU) firmware))

# The second set of kernels that are measured (tests/bench/set.c), at sizes that only tell whether results are right.
TIMEOUT_opencl-set := 300
$(eval $(call ppu_script_test,opencl-set,tests/bench/set.py --check,$(BUILD)/plain/tools/bench-set $(BUILD)/opencl/ppu.icd $(QEMU) firmware))
$(eval $(call ppu_script_test,opencl-error-codes,tests/opencl/test_error_codes.py,))
$(eval $(call ppu_script_test,opencl-entries,tests/opencl/test_entries.py,))
# In the guest, where clang takes a second to start: some tests by `make test`, all by `make test-guest`, and what clinfo
# tells in both places.
CL_GUEST_SHORT := image_objects il
# Seconds of those that take more than a few minutes.
CL_GUEST_LONG := enqueue sanitizer segments shapes taskq workq
CL_GUEST_SECONDS := 1800
# $(call cl_guest_test,NAME)
define cl_guest_test
$$(eval $$(call guest_program,opencl-$(1),tests/opencl/test_$(1).c tests/opencl/fixture.c $(CL_TEST_SOURCES_$(1)),$(CL_TEST_CFLAGS) $$(GUEST_OPENCL_HEADERS),$$(GUEST_OPENCL_LIBS) -lOpenCL -lcmocka -pthread -lm))
$$(call guest_objects,opencl-$(1),tests/opencl/test_$(1).c tests/opencl/fixture.c $(CL_TEST_SOURCES_$(1))): | $(GUEST_TOOLCHAIN)
endef
$(foreach t,$(CL_TESTS),$(eval $(call cl_guest_test,$(t))))
TIMEOUT_opencl-guest-suites := 400
$(eval $(call ppu_script_test,opencl-guest-suites,tests/opencl/guest_suites $(CL_GUEST_SHORT),$(BUILD)/opencl/ppu.icd $(GUEST_READY) guest-opencl $(CL_GUEST_SHORT:%=$(GUEST_DIR)/programs/opencl-%)))
.PHONY: test-guest
test-guest: $(BUILD)/opencl/ppu.icd $(GUEST_READY) guest-opencl $(CL_TESTS:%=$(GUEST_DIR)/programs/opencl-%) ## run the tests of OpenCL in the guest (an hour)
	$(Q)tests/opencl/guest_suites $(filter-out $(CL_GUEST_LONG),$(CL_TESTS)) $(CL_GUEST_LONG:%=%:$(CL_GUEST_SECONDS))
TIMEOUT_opencl-guest := 400
$(eval $(call ppu_script_test,opencl-guest,tests/opencl/test_clinfo.py,$(BUILD)/opencl/ppu.icd $(GUEST_READY) guest-opencl $(GUEST_DIR)/programs/opencl-program))
TIMEOUT_opencl-tutorial := 550
$(eval $(call ppu_script_test,opencl-tutorial,tests/opencl/test_tutorial.py,$(BUILD)/opencl/ppu.icd $(BUILD)/plain/tools/squares $(BUILD)/plain/tools/nested $(BUILD)/plain/tools/levels $(BUILD)/plain/tools/variants $(BUILD)/plain/tools/waves $(BUILD)/plain/tools/locks $(BUILD)/plain/tools/entries $(QEMU) firmware $(GUEST_READY) guest-opencl $(GUEST_DIR)/programs/squares $(GUEST_DIR)/programs/nested $(GUEST_DIR)/programs/levels $(GUEST_DIR)/programs/variants $(GUEST_DIR)/programs/waves $(GUEST_DIR)/programs/locks $(GUEST_DIR)/programs/entries))

.PHONY: opencl-programs
opencl-programs: $(BUILD)/opencl/ppu.icd $(QEMU) firmware ## run OpenCL programs from elsewhere that are installed (WORDS='...': some)
	$(Q)tests/opencl/programs $(WORDS)

.PHONY: cts
cts: $(BUILD)/opencl/ppu.icd $(QEMU) firmware ## run OpenCL's conformance suite that lies in CTS=folder (T='words': some tests of it, MINUTES=: for each at most, LEFT=1: what did not pass, POCL=1: times beside pocl's too, POCL='subtests': only these times)
	$(Q)tests/opencl/conformance $(if $(MINUTES),--minutes $(MINUTES)) $(if $(LEFT),--left) $(if $(filter-out 1,$(POCL)),--compare '$(POCL)',$(if $(POCL),--pocl)) $(if $(CTS),$(CTS) $(T))

.PHONY: cts-full
cts-full: $(BUILD)/opencl/ppu.icd $(QEMU) firmware ## run with all inputs what cts runs in a short mode, a day or two, and go on with that (CTS=folder, T='words': some of it, MINUTES=: until then)
	$(Q)tests/opencl/conformance --full $(if $(MINUTES),--minutes $(MINUTES)) $(if $(CTS),$(CTS) $(T))

.PHONY: cts-guest
cts-guest: $(BUILD)/opencl/ppu.icd $(GUEST_READY) guest-opencl ## run a shorter list of OpenCL's conformance suite in the guest (CTS=folder, T='words': some tests of it)
	$(Q)tests/opencl/conformance --guest $(if $(CTS),$(CTS) $(T))

# Places of arguments, without a device.
$(eval $(call ppu_test,opencl-overlap,tests/opencl/test_overlap.c opencl/variants/overlap.c,,))

# Shapes of work-groups, without a device.
$(eval $(call ppu_test,opencl-work-group,tests/opencl/test_work_group.c opencl/submit/work_group.c,-D_GNU_SOURCE,))

# What waiting for a variant is worth, without a device.
$(eval $(call ppu_test,opencl-patience,tests/opencl/test_patience.c opencl/variants/variant_patience.c,,))

# What queues are to the device.
RUNTIME_opencl-channels := $(CL_APART)
$(eval $(call ppu_test,opencl-channels,tests/opencl/test_channels.c tests/opencl/fixture.c,$(CL_TEST_CFLAGS) -Iruntime/include,cl-source-joined $(OPENCL_LIBS) $(JOINED_LIBS),asan tsan))

# Two devices: natively, as a joined machine has one.
$(eval $(call ppu_unit,opencl-two_devices,tests/opencl/test_two_devices.c,$(CL_TEST_CFLAGS)))
$(eval $(call ppu_program,plain,opencl-two_devices,tests/opencl/test_two_devices.c tests/opencl/fixture.c,$(CL_TEST_CFLAGS),-lOpenCL -pthread -lcmocka,$(BUILD)/plain/tests/opencl-two_devices))
$(eval $(call ppu_script_test,opencl-two_devices,PPU_DEVICES=2 OCL_ICD_VENDORS=$(BUILD)/opencl/ppu.icd $(BUILD)/plain/tests/opencl-two_devices,$(BUILD)/plain/tests/opencl-two_devices $(BUILD)/opencl/ppu.icd $(QEMU) firmware))
$(eval $(call ppu_script_test,opencl-two_devices-vfio-user,OCL_ICD_VENDORS=$(BUILD)/opencl/ppu.icd tests/opencl/served.py 2 $(BUILD)/plain/tests/opencl-two_devices,$(BUILD)/plain/tests/opencl-two_devices $(BUILD)/opencl/ppu.icd $(QEMU) firmware))

# The cache alone, with calls of the system that fail.
CL_CACHE_WRAPPED := $(foreach f,write renameat fstat close getrandom secure_getenv,-Wl,--wrap=$(f))
$(eval $(call ppu_test,opencl-cache,tests/opencl/test_cache.c opencl/build/cache.c cache/entry.c cache/folder.c cache/room.c cache/origin.c,$(CL_TEST_CFLAGS),-lnettle -pthread $(CL_CACHE_WRAPPED)))

# The process that compiles modules from elsewhere: how it ends, and what it may do.
$(eval $(call ppu_test,opencl-foreign,tests/opencl/test_foreign.c opencl/build/foreign.c,$(CL_TEST_CFLAGS) -DFOREIGN_PATIENCE_MS=1000,))
$(eval $(call ppu_test,opencl-confine,tests/opencl/test_confine.c compiler/foreign/confine.c,$(CL_TEST_CFLAGS),-lseccomp,plain))

# A device without sub-vector mode.
RUNTIME_opencl-no_subvector := $(CL_APART)
$(eval $(call ppu_test,opencl-no_subvector,tests/opencl/test_no_subvector.c tests/opencl/fixture.c,$(CL_TEST_CFLAGS) $(JOINED_CFLAGS),cl-source-joined $(OPENCL_LIBS) $(JOINED_LIBS)))

# A device with few registers.
RUNTIME_opencl-narrow_device := $(CL_APART)
$(eval $(call ppu_test,opencl-narrow_device,tests/opencl/test_narrow_device.c tests/opencl/fixture.c,$(CL_TEST_CFLAGS) $(JOINED_CFLAGS),cl-source-joined $(OPENCL_LIBS) $(JOINED_LIBS)))

# Where allocations fail: only what is linked into one program can be made to.
TIMEOUT_opencl-allocation_failures := 120
CL_WRAPPED := $(foreach f,malloc calloc realloc strdup,-Wl,--wrap=$(f))
$(eval $(call ppu_test,opencl-allocation_failures,tests/opencl/test_allocation_failures.c tests/opencl/fixture.c,$(CL_TEST_CFLAGS),cl-source-joined $(OPENCL_LIBS) $(JOINED_LIBS) $(CL_WRAPPED)))

# Programs that end while a thread compiles.
TIMEOUT_opencl-exit := 240
$(eval $(call ppu_unit,opencl-exit,tests/opencl/exit_program.c,-D_GNU_SOURCE))
$(eval $(call ppu_program,plain,opencl-exit,tests/opencl/exit_program.c,-D_GNU_SOURCE,-rdynamic -lOpenCL -ldl -pthread,$(BUILD)/plain/tests/opencl-exit))
$(eval $(call ppu_script_test,opencl-exit,tests/opencl/test_exit.py,$(BUILD)/plain/tests/opencl-exit $(BUILD)/opencl/ppu.icd $(QEMU) firmware))
