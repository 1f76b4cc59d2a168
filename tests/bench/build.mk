# SPDX-License-Identifier: MIT
# Benchmarks on QEMU with the native transport.
define native_bench
$$(eval $$(call ppu_tool,bench-$(1),tests/bench/$(1).c tests/bench/bench.c,-D_GNU_SOURCE -Iinclude -Iruntime -Iruntime/include -Itests/bench,ppu -pthread))
$$(eval $$(call ppu_bench,$(1),$(BUILD)/plain/tools/bench-$(1),$(BUILD)/plain/tools/bench-$(1) $(QEMU) firmware $(BUILD)/kernels/counter.ppu))
endef
$(foreach b,native firmware,$(eval $(call native_bench,$(b))))
