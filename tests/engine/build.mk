# SPDX-License-Identifier: MIT

# The core with its real SMs; the machine around it is that of the device-core tests.
ENGINE_RIG := tests/engine/rig.c tests/device-core/board.c tests/device-core/translator.c tools/asm/file.c

# $(call engine_test,NAME,VARIANTS,MORE SOURCES)
engine_test = $(call ppu_test,engine-$(1),tests/engine/test_$(1).c $(3) $(ENGINE_RIG),,ppu-core ppuasm -pthread -lm,$(2))

# Real time passes in these, and the thread sanitizer takes its share.
TIMEOUT_engine-control := 240
TIMEOUT_engine-fuzz := 180
TIMEOUT_engine-running_changes := 180
TIMEOUT_engine-faults := 120
TIMEOUT_engine-snapshot := 120
TIMEOUT_engine-progress := 120
TIMEOUT_engine-cost := 180

$(eval $(call engine_test,kernels,asan tsan))
$(eval $(call engine_test,asm))
$(eval $(call engine_test,control,asan tsan))
$(eval $(call engine_test,faults,asan tsan))
$(eval $(call engine_test,running_changes))
$(eval $(call engine_test,system))
$(eval $(call engine_test,instructions,asan plain,tests/engine/models.c))
$(eval $(call engine_test,patterns,asan plain))
$(eval $(call engine_test,steady,asan plain))
$(eval $(call engine_test,first_registers,asan plain))
$(eval $(call engine_test,prologue,asan plain))
$(eval $(call engine_test,divergence))
$(eval $(call engine_test,recentre,asan tsan))
$(eval $(call engine_test,debugger,asan tsan plain,tests/engine/client.c))
$(eval $(call engine_test,reverse,asan plain,tests/engine/client.c))
$(eval $(call engine_test,profile,asan tsan))
$(eval $(call engine_test,save,asan tsan))
$(eval $(call engine_test,snapshot,,tests/engine/liar.c))
$(eval $(call engine_test,fuzz,asan plain,tests/engine/client.c tests/engine/generate.c tests/engine/observe.c tests/engine/model_cache.c tests/engine/reference.c tests/engine/models.c))
$(eval $(call engine_test,subvector,asan plain))
$(eval $(call engine_test,mode,asan plain))
$(eval $(call engine_test,isolation,asan plain))
TIMEOUT_engine-pause := 240
# With the address sanitizer it looks at no time.
SERIAL_engine-pause := plain
$(eval $(call engine_test,pause,asan plain,tests/engine/worst.c))
PAUSE := $(BUILD)/plain/tests/engine-pause
define engine_pause_level
SERIAL_engine-pause-level-$(1) := 1
$$(eval $$(call ppu_script_test,engine-pause-level-$(1),tests/engine/level.sh $(1) $(PAUSE),$(PAUSE)))
endef
$(foreach level,1 2 3 4,$(eval $(call engine_pause_level,$(level))))
SERIAL_engine-pause-tier := 1
PAUSE_TIER := $(TIER_MODULE) $(BUILD)/plain/tools/ppu-translator $(PAUSE)
$(eval $(call ppu_script_test,engine-pause-tier,env PPU_ENGINE_TIER=$(TIER_MODULE) $(PAUSE),$(PAUSE_TIER)))
$(eval $(call engine_test,pool,asan tsan plain))
$(eval $(call engine_test,work_clock,asan plain))
$(eval $(call engine_test,litmus))
$(eval $(call engine_test,pending_adds,asan plain))
$(eval $(call engine_test,in_place,asan tsan plain))
$(eval $(call engine_test,progress))
RUNTIME_engine-tier := $(TIER_MODULE) $(BUILD)/plain/tools/ppu-translator
TIMEOUT_engine-tier := 240
$(eval $(call engine_test,tier,plain,tests/engine/generate.c))
RUNTIME_engine-translator := $(TIER_MODULE) $(BUILD)/plain/tools/ppu-translator
$(eval $(call engine_test,translator,plain))
$(eval $(call engine_test,tier_queue,asan tsan plain))

$(eval $(call engine_test,cache,asan tsan plain,tests/engine/model_cache.c))

# The engine for each level of the host's instruction set but the best, which the tests above have.
# Each level runs half of the random programs, and a fifth with the address sanitizer, which takes five times as long.
# $(call engine_level_test,NAME,VARIANT,LEVEL)
engine_level_programs = $(addprefix $(BUILD)/$(1)/tests/engine-,instructions patterns steady first_registers prologue pending_adds fuzz cache subvector isolation debugger)
define engine_level_test
TIMEOUT_engine-$(1)-$(3) := 480
$$(eval $$(call ppu_script_test,engine-$(1)-$(3),PPU_SHORT=$(if $(filter asan,$(2)),5,2) tests/engine/level.sh $(3) $(call engine_level_programs,$(2)),$(call engine_level_programs,$(2))))
endef
$(foreach level,1 2 3 4,$(eval $(call engine_level_test,level,plain,$(level)))$(eval $(call engine_level_test,asan-level,asan,$(level))))

$(eval $(call ppu_tool,bench-divergence,tests/engine/bench_divergence.c $(ENGINE_RIG),,ppu-core ppuasm -pthread -lm -lcmocka))
$(eval $(call ppu_bench,divergence,$(BUILD)/plain/tools/bench-divergence,$(BUILD)/plain/tools/bench-divergence))

# What a stop of the machine waits for.
$(eval $(call ppu_tool,bench-pause,tests/engine/bench_pause.c tests/engine/worst.c $(ENGINE_RIG),,ppu-core ppuasm -pthread -lm -lcmocka))
$(eval $(call ppu_bench,pause,$(BUILD)/plain/tools/bench-pause,$(BUILD)/plain/tools/bench-pause))
$(eval $(call ppu_tool,bench-lock,tests/engine/bench_lock.c tests/engine/worst.c $(ENGINE_RIG),,ppu-core ppuasm -pthread -lm -lcmocka))
$(eval $(call ppu_bench,lock,$(BUILD)/plain/tools/bench-lock,$(BUILD)/plain/tools/bench-lock))

# What divergence costs: the engine beside one that cannot diverge, and token queues of few entries.
COST := $(addprefix $(BUILD)/plain/tools/,bench-uniform bench-uniform-only bench-divergence)
$(eval $(call ppu_tool,bench-uniform,tests/engine/bench_uniform.c $(ENGINE_RIG),,ppu-core ppuasm -pthread -lm -lcmocka))
$(eval $(call ppu_tool,bench-uniform-only,tests/engine/bench_uniform.c tests/engine/uniform_branch.c $(ENGINE_RIG),,ppu-core ppuasm -pthread -lm -lcmocka))
$(eval $(call ppu_script_test,engine-cost,tests/engine/cost.py $(COST),$(COST)))
$(eval $(call ppu_bench,cost,tests/engine/cost.py --bench $(COST),$(COST)))

# What counting costs: the engine of level 3, the best that callgrind shows a program, beside one that does not count.
$(eval $(call ppu_tool,bench-counted,tests/engine/bench_counters.c $(ENGINE_RIG),,ppu-core ppuasm -pthread -lm -lcmocka))
UNCOUNTED := qemu-device/core/engine/slow.c qemu-device/core/engine/memory.c qemu-device/core/engine/inner/v3.c qemu-device/core/sm/counters.c
$(eval $(call ppu_tool,bench-uncounted,tests/engine/bench_counters.c $(UNCOUNTED) $(ENGINE_RIG),-DENGINE_UNCOUNTED -ffp-contract=off,ppu-core ppuasm -pthread -lm -lcmocka))
COUNTED := $(addprefix $(BUILD)/plain/tools/,bench-counted bench-uncounted)
TIMEOUT_engine-counters_cost := 180
$(eval $(call ppu_script_test,engine-counters_cost,tests/engine/counters_cost.py $(COUNTED),$(COUNTED)))
$(eval $(call ppu_bench,counters_cost,tests/engine/counters_cost.py --bench $(COUNTED),$(COUNTED)))
