# SPDX-License-Identifier: MIT
# The server of vfio-user without QEMU: a function that only remembers, and clients of every kind.
CHECK_TESTS += remote-dma remote-server
$(eval $(call ppu_test,remote-dma,tests/remote/test_dma.c,-D_GNU_SOURCE,ppu-remote,asan))
$(eval $(call ppu_test,remote-server,tests/remote/test_server.c tests/remote/client.c,-D_GNU_SOURCE,ppu-remote,asan))

# A server in QEMU. ASan sees the client's side.
RUNTIME_remote-life := $(QEMU) firmware $(addprefix $(BUILD)/kernels/,counter.ppu fair.ppu)
TIMEOUT_remote-life := 120
$(eval $(call ppu_test,remote-life,tests/remote/test_life.c tests/remote/client.c tests/remote/served.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread,asan))

$(eval $(call ppu_script_test,remote-listen,tests/remote/test_listen.py,$(QEMU)))

# What a person in front of the machine uses, beside a server.
TIMEOUT_remote-tools := 240
$(eval $(call ppu_script_test,remote-tools,tests/remote/test_tools.py,$(QEMU) firmware $(addprefix $(BUILD)/plain/tools/,ppu-trace ppu-prof ppu-top saxpy quicksort) $(BUILD)/plain/tests/top-worker $(BUILD)/plain/tests/user $(BUILD)/opencl/ppu.icd $(addprefix $(BUILD)/kernels/,spin.ppu saxpy.ppu counter.ppu)))
