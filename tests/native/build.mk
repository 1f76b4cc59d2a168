# SPDX-License-Identifier: MIT
# The native transport: ASan sees libppu's side, QEMU is built as always.
RUNTIME_native-machine := $(QEMU) firmware $(BUILD)/kernels/counter.ppu
TIMEOUT_native-machine := 120
$(eval $(call ppu_test,native-machine,tests/native/test_machine.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread,asan))

RUNTIME_native-large := $(QEMU) firmware $(BUILD)/kernels/counter.ppu
TIMEOUT_native-large := 120
$(eval $(call ppu_test,native-large,tests/native/test_large.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread,plain))

RUNTIME_native-peer := $(QEMU) firmware $(BUILD)/kernels/saxpy.ppu
$(eval $(call ppu_test,native-peer,tests/native/test_peer.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread,asan))

# Two counted runs differed once beside other tests: where the clock went on is not known.
SERIAL_native-environment := 1
RUNTIME_native-environment := $(QEMU) firmware $(BUILD)/kernels/counter.ppu
$(eval $(call ppu_test,native-environment,tests/native/test_environment.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread,asan))

# No QEMU: a thread is the device.
$(eval $(call ppu_test,native-mailbox,tests/native/test_mailbox.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread,asan tsan))

RUNTIME_native-snapshot := $(QEMU) firmware $(addprefix $(BUILD)/kernels/,accumulate.ppu tree.ppu creator.ppu taskq.ppu)
TIMEOUT_native-snapshot := 180
$(eval $(call ppu_test,native-snapshot,tests/native/test_snapshot.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread,asan))

TIMEOUT_native-crowd := 150
$(eval $(call ppu_script_test,native-crowd,tests/native/test_crowd.py,$(QEMU) firmware $(addprefix $(BUILD)/plain/tools/,saxpy squares quicksort) $(BUILD)/opencl/ppu.icd $(BUILD)/kernels/saxpy.ppu))

TIMEOUT_native-examples := 120
$(eval $(call ppu_script_test,native-examples,tests/native/test_examples.py,$(QEMU) firmware $(BUILD)/plain/tools/saxpy $(BUILD)/plain/tools/bfs $(BUILD)/plain/tools/pieces $(BUILD)/plain/tools/quicksort $(BUILD)/opencl/ppu.icd $(BUILD)/kernels/saxpy.ppu $(BUILD)/kernels/bfs.ppu))
