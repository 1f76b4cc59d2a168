# SPDX-License-Identifier: MIT
# The reader of recorders and records, and the tools that are made of it.
TRACE_TEST_CFLAGS := -D_GNU_SOURCE
$(eval $(call ppu_test,trace-follow,tests/trace/test_follow.c,$(TRACE_TEST_CFLAGS),pputrace -pthread,asan tsan))
$(eval $(call ppu_test,trace-record,tests/trace/test_record.c,$(TRACE_TEST_CFLAGS),pputrace,asan))

# Both sides in one process: libppu records, the reader reads.
RUNTIME_trace-recorder := $(BUILD)/kernels/counter.ppu $(BUILD)/kernels/nested.ppu
$(eval $(call ppu_test,trace-recorder,tests/trace/test_recorder.c tests/api/api.c tests/api/script.c tests/api/machine_joined.c,$(API_JOINED_CFLAGS),pputrace $(JOINED_LIBS),asan tsan))

TIMEOUT_trace-command := 180
$(eval $(call ppu_script_test,trace-command,tests/trace/test_trace.py,$(QEMU) firmware $(MCU_MODULE) $(BUILD)/plain/tools/ppu-report $(BUILD)/plain/tools/ppu-trace $(BUILD)/plain/tools/saxpy $(BUILD)/plain/tools/bfs $(BUILD)/plain/tools/quicksort $(BUILD)/plain/tools/demo $(DEMO_KERNELS) $(BUILD)/opencl/ppu.icd $(BUILD)/plain/tests/top-worker $(BUILD)/kernels/saxpy.ppu $(BUILD)/kernels/spin.ppu $(BUILD)/kernels/bfs.ppu))
TIMEOUT_trace-report := 180
$(eval $(call ppu_script_test,trace-report,tests/trace/test_report.py,$(QEMU) firmware $(MCU_MODULE) $(addprefix $(BUILD)/plain/tools/,ppu-trace ppu-report ppu-prof bench-trace bfs saxpy limits quicksort) $(BUILD)/opencl/ppu.icd $(BUILD)/kernels/limits.ppu $(BUILD)/kernels/saxpy.ppu $(BUILD)/kernels/bfs.ppu))
TIMEOUT_trace-prof := 180
$(eval $(call ppu_script_test,trace-prof,tests/trace/test_prof.py,$(QEMU) firmware $(MCU_MODULE) $(addprefix $(BUILD)/plain/tools/,ppu-prof saxpy bfs quicksort) $(BUILD)/opencl/ppu.icd $(BUILD)/kernels/saxpy.ppu $(BUILD)/kernels/bfs.ppu))
