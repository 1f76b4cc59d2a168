# SPDX-License-Identifier: MIT
#
# Every folder says what it builds in its own build.mk, with the helpers below; this file knows how.
# Names of sources and -I flags are relative to the top of the checkout. Everything made goes to build/.
#
#   $(eval $(call ppu_lib,NAME,SOURCES,CFLAGS))
#       build/<variant>/libNAME.a, one for each variant (plain, asan, tsan, fuzz, coverage).
#   $(eval $(call ppu_part,NAME,LIBRARY,SOURCES))
#       build/<variant>/libNAME.a, with the objects that a library before it has of these sources.
#   $(eval $(call ppu_test,NAME,SOURCES,CFLAGS,LIBS,VARIANTS))
#       build/<variant>/tests/NAME, a cmocka program that `make test` runs. VARIANTS may be empty: asan.
#   $(eval $(call ppu_fuzz,NAME,SOURCES,CFLAGS,LIBS))
#       build/fuzz/tests/NAME, a libFuzzer program whose first source says what it is about (see tests/fuzz/README.md).
#       `make fuzz T=NAME TIME=seconds` runs it; `make test` replays its corpus and does 500 more runs, as fuzz-NAME.
#       FUZZ_OPTIONS_<name> = options of libFuzzer, FUZZ_LONG_<name> = those that `make fuzz` adds,
#       FUZZ_SEEDS_<name> = files that are inputs as they are, FUZZ_TEST_RUNS_<name> = runs of the test instead of 500,
#       FUZZ_RUNTIME_<name> = what `make fuzz` and its like make first, RUNTIME_fuzz-<name> = what the test does
#   $(eval $(call ppu_script_test,NAME,COMMAND,PREREQUISITES))
#       any command that prints TAP; `make test` runs it after PREREQUISITES are made.
#   $(eval $(call ppu_tool,NAME,SOURCES,CFLAGS,LIBS))
#       build/plain/tools/NAME.
#   $(eval $(call ppu_unit,NAME,SOURCES,CFLAGS))
#       only checked by `make lint`, with these flags, which clang must understand; for what a build.mk compiles itself.
#   $(eval $(call ppu_bench,NAME,COMMAND,PREREQUISITES))
#       any command that prints one JSON object a line (see tests/bench/run); `make bench` runs it.
#
# LIBS are NAMEs given to ppu_lib, or linker flags (-lm, -pthread). A test may be tuned by variables set before or after:
#   TIMEOUT_<name> = seconds   (default 60) on a fast processor; `make test PATIENCE=number` allows that many times as long
#   SERIAL_<name> = 1          runs while no other test runs (for tests that measure time); or the variants of which that is true
#   PREREQS_<name> = files     made before the program is linked (and so before it runs)
#   FLAGS_<source>, FLAGS_<variant>_<source> = more flags for one source, named by its path from the top
#   RUNTIME_<name> = targets   made before the program runs, for instance build/qemu-system-aarch64; set before the call
#   CHECK_TESTS += <names>     the tests that `make check` runs too, with % for any text; set before the call
#
# CFLAGS are part of the target: when they change, the target is built again. Objects are kept apart by NAME, so
# that one source may be built with different flags into two things.

MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
# A shell for each line of a recipe would be three more for each object. What follows a line that fails is not run: -e.
.ONESHELL:
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all

# `make` alone uses every processor; -j on the command line wins, and so does the make that this one belongs to.
ifeq ($(MAKELEVEL)$(filter -j% --jobs%,$(shell tr "\0" " " </proc/$$PPID/cmdline)),0)
MAKEFLAGS += --jobs=$(shell nproc)
endif

# The release, from the one file that says it.
VERSION := $(shell sed -nE 's/^.define PPU_VERSION "(.*)"$$/\1/p' include/ppu/version.h)

# Messages are the same everywhere. ccache distinguishes all these, also those that another makes ineffective.
export LC_ALL := C.UTF-8
export LANG := $(LC_ALL)
unexport LANGUAGE LC_CTYPE LC_MESSAGES
# A user always has a home.
export HOME := $(or $(HOME),$(shell unset HOME; echo ~))

CC := gcc
AR := ar
# What another checkout has compiled from the same sources with the same flags is taken from there.
CCACHE := ccache
export CCACHE_DIR := $(or $(PPU_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ppu)/ccache
export CCACHE_MAXSIZE := 4G
export CCACHE_NOHASHDIR := 1
# What has not been compiled before is compiled at once, instead of preprocessing first to look a second time. So the compiler
# must say all that it reads; of that make is told what is ours, as it would look at 100 dates for each object.
export CCACHE_DEPEND := 1
# It does not know of files that .incbin takes: sources with such are compiled without it.
INCBIN := compiler/frontend/library.c qemu-device/tier/translate.c
ppu_ccache = $(if $(filter $(INCBIN),$(1)),,$(CCACHE))
DEPENDENCIES = -MD -MP -MT $@ -MF $@.d
own_dependencies = sed -i -E 's|[ ][^ ]*/usr/[^ ]*||g; /^ ?\\$$/d; /^[^ ]*\/usr\/.*:$$/d' $@.d
BUILD := build
VARIANTS := plain asan tsan fuzz coverage

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Werror
# Includes name a file by its path from the top, or from include/.
CFLAGS_COMMON := -std=c11 $(WARNINGS) -fno-common -I. -Iinclude -fmacro-prefix-map=./=
CFLAGS_plain := -O2 -g
# What only sanitizers report needs the lines of functions, not their variables: a quarter less to compile and half to link.
# For a debugger: make DEBUG_INFO=-g.
DEBUG_INFO := -g1
CFLAGS_asan := $(DEBUG_INFO) -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
# What tests themselves do is no coverage.
CC_fuzz := clang-19
CFLAGS_fuzz := $(DEBUG_INFO) -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fsanitize-coverage-ignorelist=tests/fuzz/uncovered.txt -Wno-pass-failed
# A linker that takes a third of the time, where the demo does not need it.
LINKER := -fuse-ld=lld -B/usr/lib/llvm-19/bin
LDFLAGS_asan = $(CFLAGS_asan) $(LINKER)
# Clang's runtime of the thread sanitizer knows what gcc compiles, and takes half of the time that gcc's own takes.
LD_tsan := clang-19
LDFLAGS_tsan = $(CFLAGS_tsan) $(LINKER)
LDFLAGS_coverage = $(CFLAGS_coverage) $(LINKER)
LDFLAGS_fuzz := $(LINKER) -fsanitize=fuzzer,address,undefined
CFLAGS_tsan := $(DEBUG_INFO) -O1 -fno-omit-frame-pointer -fsanitize=thread
# Several threads may count one line.
CFLAGS_coverage := $(DEBUG_INFO) -O1 --coverage -fprofile-update=atomic -Wno-maybe-uninitialized

V ?= 0
T ?=
# How many times as long as TIMEOUT_<name> says a test may take: processors differ so much, and tests share them.
PATIENCE ?= 4
Q := $(if $(filter 1,$(V)),,@)
# $(call say,VERB,TARGET): the short line that stands for a command
say = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' '$(1)' '$(2)')

# Who only wants to see the machine run need not wait for what the tests and the compiler need.
GOALS := $(or $(MAKECMDGOALS),all)
SETUP_LIST := $(if $(filter-out demo qemu client-qemu guest guest-run guest-shell,$(GOALS)),,demo)
SETUP_STAMP := $(BUILD)/setup$(addprefix -,$(SETUP_LIST)).stamp
QEMU := $(BUILD)/qemu-system-aarch64

ALL_TARGETS :=
TEST_TARGETS :=
TEST_LINES :=
CHECK_TESTS :=
CHECK_TARGETS :=
CHECK_LINES :=
COVERAGE_TARGETS :=
COVERAGE_LINES :=
BENCH_TARGETS :=
BENCH_LINES :=
UNITS :=

FUZZ_LINES :=
FUZZ_PROGRAMS :=

ppu_objects = $(patsubst %,$(BUILD)/$(1)/obj/$(2)/%.o,$(3))
ppu_archives = $(patsubst %,$(BUILD)/$(1)/lib%.a,$(filter-out -%,$(2)))

# $(call ppu_record,FILE,TEXT): writes FILE when its content is not TEXT; done while reading, so that it costs no process
ppu_record = $(if $(and $(wildcard $(1)),$(call ppu_same,$(strip $(file <$(1))),$(strip $(2)))),,$(call ppu_folder,$(dir $(1)))$(file >$(1),$(strip $(2))))
# $(call ppu_folder,FOLDER): makes it, once
ppu_folder = $(if $(filter $(1),$(FOLDERS)),,$(shell mkdir -p $(1))$(eval FOLDERS += $(1)))
FOLDERS :=
ppu_same = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))

# Outputs get their names when they are complete, so that two runs of make in one checkout do no harm.
pid := $(shell echo $$PPID)

# $(call ppu_compile,VARIANT,NAME,SOURCES,CFLAGS)
define ppu_compile
$(call ppu_record,$(BUILD)/$(1)/record/$(2).flags,$(CFLAGS_COMMON) $(CFLAGS_$(1)) $(4))
$(call ppu_objects,$(1),$(2),$(3)): $(BUILD)/$(1)/obj/$(2)/%.o: % $(BUILD)/$(1)/record/$(2).flags
	$$(call say,CC,$$< ($(1)))
	$(Q)[ -d $$(@D) ] || mkdir -p $$(@D)
	$(Q)$$(call ppu_ccache,$$<) $(or $(CC_$(1)),$(CC)) $(CFLAGS_COMMON) $(CFLAGS_$(1)) $(4) $$(FLAGS_$$<) $$(FLAGS_$(1)_$$<) $$(DEPENDENCIES) -c $$< -o $$@.$$(pid)
	$(Q)$$(own_dependencies)
	$(Q)mv $$@.$$(pid) $$@
-include $(addsuffix .d,$(call ppu_objects,$(1),$(2),$(3)))
COMPILED += $(call ppu_objects,$(1),$(2),$(3))
endef
COMPILED :=

# $(call ppu_source_flags,VARIABLE,OBJECTS): objects of a source follow its own flags too, FLAGS_<source> or FLAGS_<variant>_<source>
define ppu_source_flags
$(call ppu_record,$(BUILD)/record/$(1),$($(1)))
$(2): $(BUILD)/record/$(1)
endef
# $(call ppu_objects_of,SOURCE), or <variant>_<source>
ppu_objects_of = $(or $(filter $(BUILD)/%/$(1).o,$(COMPILED)),$(filter $(BUILD)/$(firstword $(subst _, ,$(1)))/%/$(patsubst $(firstword $(subst _, ,$(1)))_%,%,$(1)).o,$(COMPILED)))

# $(call ppu_archive,VARIANT,NAME,SOURCES,CFLAGS): members may have the same name, hence q
define ppu_archive
$(call ppu_compile,$(1),$(2),$(3),$(4))
$(call ppu_pack,$(1),$(2),$(2),$(3))
$(call ppu_record,$(BUILD)/$(1)/record/$(2).members,$(3))
endef

# $(call ppu_pack,VARIANT,NAME,LIBRARY,SOURCES): an archive of the objects that LIBRARY has of SOURCES
define ppu_pack
$(BUILD)/$(1)/lib$(2).a: $(call ppu_objects,$(1),$(3),$(4)) $(BUILD)/$(1)/record/$(3).members
	$$(call say,AR,$$@)
	$(Q)rm -f $$@.$$(pid)
	$(Q)$(AR) qcs $$@.$$(pid) $$(filter %.o,$$^)
	$(Q)mv $$@.$$(pid) $$@
endef

# $(call ppu_program,VARIANT,NAME,SOURCES,CFLAGS,LIBS,PATH)
define ppu_program
$(call ppu_compile,$(1),$(2),$(3),$(4))
$(call ppu_record,$(BUILD)/$(1)/record/$(2).members,$(3) $(5))
$(6): $(call ppu_objects,$(1),$(2),$(3)) $(call ppu_archives,$(1),$(5)) $(BUILD)/$(1)/record/$(2).members $$(PREREQS_$(2))
	$$(call say,LD,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(or $(LD_$(1)),$(CC_$(1)),$(CC)) $(or $(LDFLAGS_$(1)),$(CFLAGS_$(1))) -o $$@.$$(pid) $$(filter %.o,$$^) -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group $(filter -%,$(5))
	$(Q)mv $$@.$$(pid) $$@
endef

# for tools/check/lint, which looks at every source with the flags it is built with
define ppu_unit
UNITS += $(1)
UNIT_SOURCES_$(1) := $(2)
UNIT_FLAGS_$(1) := $(3)
endef

define ppu_lib
$(call ppu_unit,$(1),$(2),$(3))
$(foreach v,$(VARIANTS),$(call ppu_archive,$(v),$(1),$(2),$(3))
)
ALL_TARGETS += $(BUILD)/plain/lib$(1).a
endef

define ppu_part
$(foreach v,$(VARIANTS),$(call ppu_pack,$(v),$(1),$(2),$(3))
)
endef

define ppu_test
$(call ppu_unit,$(1),$(2),$(3))
$(call ppu_program,coverage,$(1),$(2),$(3),$(4) -lcmocka,$(BUILD)/coverage/tests/$(1))
$(call ppu_add_coverage,$(1),$(BUILD)/coverage/tests/$(1),$(1) (coverage),$(BUILD)/coverage/tests/$(1) $(RUNTIME_$(1)))
$(foreach v,$(or $(strip $(5)),asan),$(call ppu_program,$(v),$(1),$(2),$(3),$(4) -lcmocka,$(BUILD)/$(v)/tests/$(1))
$(call ppu_register_test,$(1),$(BUILD)/$(v)/tests/$(1),$(1) ($(v)),$(BUILD)/$(v)/tests/$(1) $(RUNTIME_$(1)))
)
endef

define ppu_fuzz
$(call ppu_unit,fuzz-$(1),$(2),$(3))
$(call ppu_program,fuzz,fuzz-$(1),$(2),$(3),$(4),$(BUILD)/fuzz/tests/$(1))
FUZZ_PROGRAMS += $(BUILD)/fuzz/tests/$(1)
FUZZ_LINES += $(1)$(tab)$(BUILD)/fuzz/tests/$(1)$(tab)$(firstword $(2))$(tab)$(FUZZ_OPTIONS_$(1))$(tab)$(FUZZ_LONG_$(1))$(tab)$(FUZZ_SEEDS_$(1))$$(newline)
TIMEOUT_fuzz-$(1) := $(or $(TIMEOUT_fuzz-$(1)),180)
$(call ppu_register_test,fuzz-$(1),tests/fuzz/run test $(FUZZ_TEST_RUNS_$(1):%=--runs %) $(1),fuzz-$(1),$(BUILD)/fuzz/tests/$(1) $(BUILD)/fuzz.list $(RUNTIME_fuzz-$(1)))
endef

define ppu_script_test
$(call ppu_register_test,$(1),$(2),$(1),$(3))
endef

# $(call ppu_register_test,NAME,COMMAND,SHOWN_NAME,PREREQUISITES); with T=word only those with the word in their name
define ppu_register_test
$(if $(if $(T),$(findstring $(T),$(3)),all),$(call ppu_add_test,$(1),$(2),$(3),$(4)))
endef
define ppu_add_test
TEST_TARGETS += $(4)
TEST_LINES += $$(call ppu_test_line,$(1),$(2),$(3))
$(if $(findstring (tsan),$(3)),,$(if $(filter $(CHECK_TESTS),$(1)),$(call ppu_add_check,$(1),$(2),$(3),$(4))))
endef
define ppu_add_check
CHECK_TARGETS += $(4)
CHECK_LINES += $$(call ppu_test_line,$(1),$(2),$(3))
endef

define ppu_add_coverage
$(if $(if $(T),$(findstring $(T),$(3)),all),COVERAGE_TARGETS += $(4)
COVERAGE_LINES += $$(call ppu_test_line,$(1),$(2),$(3)))
endef

define newline


endef
tab := $(shell printf '\t')
ppu_test_line = $(3)$(tab)$(or $(TIMEOUT_$(1)),60)$(tab)$(if $(call ppu_serial,$(1),$(3)),serial,parallel)$(tab)$(2)$(newline)
ppu_serial = $(or $(filter 1,$(SERIAL_$(1))),$(foreach v,$(SERIAL_$(1)),$(findstring ($(v)),$(2))))

define ppu_tool
$(call ppu_unit,$(1),$(2),$(3))
$(call ppu_program,plain,$(1),$(2),$(3),$(4),$(BUILD)/plain/tools/$(1))
ALL_TARGETS += $(BUILD)/plain/tools/$(1)
endef

define ppu_bench
$(if $(if $(T),$(findstring $(T),$(1)),all),BENCH_TARGETS += $(3)
BENCH_LINES += $(1)$(tab)$(2)$$(newline))
endef

# Each after those whose variables it uses.
PARTS := boot guest firmware qemu-device runtime compiler opencl tools device-lib demo examples experiments docs packaging
TEST_PARTS := joined kernels api trace top bench compiler dap dbg debug device-core engine experiments firmware qemu fuzz guest infra model native opencl random remote runtime scale vfio
include $(PARTS:%=%/build.mk) $(TEST_PARTS:%=tests/%/build.mk)

$(foreach flags,$(filter FLAGS_%.c,$(.VARIABLES)),$(eval $(call ppu_source_flags,$(flags),$(call ppu_objects_of,$(flags:FLAGS_%=%)))))

.PHONY: all
all: firmware qemu $(ALL_TARGETS) ## build the firmware, QEMU with the device, the libraries and the tools (same as plain `make`)

.PHONY: setup
setup: ## install the Debian packages that are missing (asks for root only when some are)
	$(Q)tools/setup/install
# QEMU needs the packages of the demo alone: it is compiled while the others come.
$(SETUP_STAMP): $(wildcard tools/setup/*.list) tools/setup/install
	$(Q)+tools/setup/install $(or $(SETUP_LIST),-- $(MAKE) qemu)
	$(Q)mkdir -p $(@D)
	$(Q)touch $@
# The stamp is a part of the Makefile: when make has made it, it begins again. So nothing outside the checkout, be it a
# prerequisite, a command or what $(shell) says, is looked at before set-up has run; and no rule needs to ask for it.
ifneq ($(filter-out clean help setup,$(GOALS)),)
include $(SETUP_STAMP)
endif

.PHONY: firmware
firmware: ## build the firmware images

.PHONY: qemu
qemu: $(QEMU) ## build QEMU with the PPU in it (QEMU_SRC=dir: from your own QEMU tree)

# ninja knows what is out of date inside QEMU; make only decides whether to ask it.
$(call ppu_record,$(BUILD)/qemu-source.txt,$(QEMU_SRC))
export QEMU_SRC
$(QEMU): $(BUILD)/plain/libppu-core.a $(BUILD)/plain/libppu-remote.a $(shell find qemu-device -type f) $(wildcard include/ppu/*) tools/setup/qemu-source
$(BUILD)/qemu/tree.stamp:
	$(Q)qemu-device/overlay/build tree
# Fetching and configuring QEMU keep one processor busy, the device's core another.
$(BUILD)/qemu/prepared: | $(BUILD)/qemu/tree.stamp
	$(Q)qemu-device/overlay/build prepare
# What translates loops beside it is of the same build, where it is built: the demo has no LLVM.
$(QEMU): $(BUILD)/qemu-source.txt $(if $(QEMU_SRC),FORCE) $(BUILD)/plain/tools/ppu-confine | $(BUILD)/qemu/prepared $(wildcard $(TIER_MODULE) $(BUILD)/plain/tools/ppu-translator)
	$(call say,QEMU,$@)
	$(Q)qemu-device/overlay/build

# Lists that programs read, one line for each entry; a list that stays the same keeps its date.
LIST_tests = $(TEST_LINES)
LIST_check = $(CHECK_LINES)
LIST_coverage = $(COVERAGE_LINES)
LIST_fuzz = $(FUZZ_LINES)
define LIST_lint
tree$(tab)60$(tab)parallel$(tab)tools/check/lint
analysers$(tab)1800$(tab)parallel$(tab)tools/check/lint $(BUILD)/units.list

endef
# NAME, source, flags
LIST_units = $(foreach u,$(UNITS),$(foreach s,$(UNIT_SOURCES_$(u)),$(u)$(tab)$(s)$(tab)$(strip $(CFLAGS_COMMON) $(UNIT_FLAGS_$(u)))$(newline)))
$(patsubst %,$(BUILD)/%.list,tests check coverage fuzz lint units): $(BUILD)/%.list: FORCE
	$(Q)$(file >$@.new,$(LIST_$*))cmp -s $@.new $@ && rm $@.new || mv $@.new $@

.PHONY: test
test: $(TEST_TARGETS) $(BUILD)/tests.list ## build and run every test (T=word: only those with the word in their name)
	$(Q)tests/run --patience $(PATIENCE) --list $(BUILD)/tests.list --results $(BUILD)/test-results.json

.PHONY: check
check: $(CHECK_TARGETS) $(BUILD)/check.list ## run the fast tests and the checks of the tree, without QEMU
	$(Q)git diff --name-only -z --diff-filter=d HEAD -- '*.c' '*.h' '*.c.inc' | xargs -0 -r clang-format-14 --dry-run -Werror
	$(Q)tests/run --patience $(PATIENCE) --list $(BUILD)/check.list --results $(BUILD)/check-results.json

.PHONY: coverage
coverage: $(COVERAGE_TARGETS) $(BUILD)/coverage.list ## which lines the C tests run: a table, and build/coverage/report/index.html (T=word)
	$(Q)find $(BUILD)/coverage -name '*.gcda' -delete
	$(Q)tests/run --patience $(PATIENCE) --list $(BUILD)/coverage.list --results $(BUILD)/coverage-results.json
	$(Q)tools/check/coverage $(BUILD)/coverage

.PHONY: requirements
requirements: $(TEST_TARGETS) $(BUILD)/tests.list ## run the tests, then print one line for each requirement A1 to F9
	$(Q)rm -f $(BUILD)/test-results.json # those of an earlier run say nothing of this one
	$(Q)tests/run --patience $(PATIENCE) --list $(BUILD)/tests.list --results $(BUILD)/test-results.json || true
	$(Q)tools/requirements $(if $(T),--partial) docs/spec/requirements.md $(BUILD)/test-results.json

.PHONY: bench
bench: $(BENCH_TARGETS) ## run the benchmarks: a table, and build/bench.json (T=word; COLD=1: the set-up from nothing too)
	$(Q)$(file >$(BUILD)/bench.list,$(BENCH_LINES))tests/bench/run --list $(BUILD)/bench.list --results $(BUILD)/bench.json

# Without T= there is nothing to build: the targets are listed.
FUZZ_CHOSEN := $(filter $(if $(filter all,$(T)),%,$(addprefix $(BUILD)/fuzz/tests/,$(T))),$(FUZZ_PROGRAMS))
FUZZ_WANTED := $(if $(filter fuzz%,$(MAKECMDGOALS)),$(FUZZ_CHOSEN) $(foreach target,$(notdir $(FUZZ_CHOSEN)),$(FUZZ_RUNTIME_$(target))))
.PHONY: fuzz
fuzz: $(FUZZ_WANTED) $(BUILD)/fuzz.list ## fuzz T=target (or several, or all) for TIME=seconds with JOBS=processes; without T: list them
	$(Q)tests/fuzz/run $(if $(T),fuzz --time $(or $(TIME),60) --jobs $(or $(JOBS),1) $(T),list)

.PHONY: fuzz-corpus
fuzz-corpus: $(FUZZ_WANTED) $(BUILD)/fuzz.list ## write the smallest corpus of T=target with the coverage found so far to tests/fuzz/corpus
	$(Q)tests/fuzz/run corpus $(T)

.PHONY: fuzz-report
fuzz-report: $(BUILD)/fuzz.list ## what fuzzing has done so far, as the table of docs/security.md (SAVE=1: keep it in the tree)
	$(Q)tests/fuzz/run report $(if $(SAVE),--save)

.PHONY: fresh
fresh: deb ## run what README.md says on a minimal Debian 12, each command first (needs root; COLD=1: without the caches)
	$(Q)tools/fresh/run $(if $(filter 1,$(COLD)),--cold,--others) --user --packages $(BUILD)/deb $(FRESH)

.PHONY: lint
# The analysers look at our files inside QEMU with the flags that QEMU's build uses. With an empty cache they take minutes.
lint: $(BUILD)/lint.list $(BUILD)/units.list $(QEMU) $(OPENCL_CALLS) ## check the tree, and ask other compilers and static analysers
	$(Q)qemu-device/overlay/build objects
	$(Q)tests/run --patience $(PATIENCE) --list $(BUILD)/lint.list --results $(BUILD)/lint-results.json

.PHONY: format
format: ## format every C file as .clang-format says
	$(Q)git ls-files -z '*.c' '*.h' '*.c.inc' | xargs -0 clang-format-14 -i

.PHONY: compile_commands.json
compile_commands.json: $(BUILD)/units.list ## write it for clangd and other tools
	$(Q)tools/check/compile-commands $< $@

.PHONY: hooks
hooks: ## let git check the form of commit messages in this checkout
	$(Q)ln -sf "$(CURDIR)/tools/check/commit-msg" "$$(git rev-parse --git-path hooks)/commit-msg"

.PHONY: clean
clean: ## remove build/ (the cache of the QEMU build outside the checkout stays)
	$(Q)rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z_.-]+):[^#]*## (.*)/\1\t\2/p' $(filter-out %.d,$(MAKEFILE_LIST)) | sort | while IFS=$$'\t' read -r target text; do printf '  make %-21s %s\n' "$$target" "$$text"; done

.PHONY: FORCE
FORCE:
