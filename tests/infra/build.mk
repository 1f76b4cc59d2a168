# SPDX-License-Identifier: MIT

CHECK_TESTS += rooms names dialect documents commit-msg

TIMEOUT_test-runner := 180
$(eval $(call ppu_script_test,test-runner,tests/infra/test_run.py))

$(eval $(call ppu_script_test,tree,tools/check/lint,))

$(eval $(call ppu_script_test,bench-runner,tests/infra/test_bench.py))

$(eval $(call ppu_script_test,requirements-report,tests/infra/test_requirements.py))

# It takes files of QEMU from the cache.
TIMEOUT_setup := 240
$(eval $(call ppu_script_test,setup,tests/infra/test_setup.py,$(QEMU)))

$(eval $(call ppu_script_test,fuzz-runner,tests/infra/test_fuzz.py))

# make on a machine that lacks everything
TIMEOUT_first-make = 600
$(eval $(call ppu_script_test,first-make,tests/infra/test_first_make.py,))

$(eval $(call ppu_script_test,commit-msg,tests/infra/test_commit_msg.py,))
$(eval $(call ppu_script_test,coverage,tests/infra/test_coverage.py,))
$(eval $(call ppu_script_test,assembler-commands,tests/infra/test_assembler.py $(addprefix $(BUILD)/plain/tools/,ppu-as ppu-dis),$(addprefix $(BUILD)/plain/tools/,ppu-as ppu-dis)))
# the commands of README.md in roots of their own; here the roots are made up
TIMEOUT_fresh = 600
$(eval $(call ppu_script_test,fresh,tests/infra/test_fresh.py,))

$(eval $(call ppu_script_test,ci,tests/infra/test_ci.py,))

TIMEOUT_installation = 120
$(eval $(call ppu_script_test,installation,tests/infra/test_installation.py,$(QEMU) firmware $(addprefix $(BUILD)/plain/tools/,saxpy squares ppu-confine ppu-translator $(INSTALLED_PROGRAMS)) $(BUILD)/kernels/saxpy.ppu $(BUILD)/opencl/ppu.icd))

TIMEOUT_broken = 120
$(eval $(call ppu_script_test,broken,tests/infra/test_broken.py,$(QEMU) firmware $(addprefix $(BUILD)/plain/tools/,saxpy squares ppucc ppu-confine ppu-translator) $(BUILD)/plain/ppu-tier.so $(BUILD)/kernels/saxpy.ppu $(BUILD)/opencl/ppu.icd))

# Two kinds of start of one program.
TIMEOUT_raised-privileges := 120
$(eval $(call ppu_script_test,raised-privileges,tests/infra/test_raised.py,$(QEMU) firmware $(BUILD)/plain/tools/squares $(BUILD)/opencl/ppu.icd))

$(eval $(call ppu_script_test,readme,tests/infra/test_readme.py,))
$(eval $(call ppu_script_test,documents,tests/infra/test_documents.py,))
# It runs no device: the programs and cmake are made up.
TIMEOUT_conformance-runner := 400
$(eval $(call ppu_script_test,conformance-runner,tests/infra/test_conformance.py,))
$(eval $(call ppu_script_test,rooms,tests/infra/test_rooms.py,))
$(eval $(call ppu_script_test,names,tests/infra/test_names.py,))
$(eval $(call ppu_script_test,fault-rows,tests/infra/test_fault_rows.py,))
$(eval $(call ppu_script_test,dialect,tests/infra/test_dialect.py,))
TIMEOUT_flags := 120
$(eval $(call ppu_script_test,flags,tests/infra/test_flags.py,))

# What is installed runs machines of its own.
TIMEOUT_install = 600
$(eval $(call ppu_script_test,install,tests/infra/test_install.py,$(INSTALL_READY)))

# What the sanitizers must find, in the variants of a program as any test has them.
SEEDED_CFLAGS := -D_GNU_SOURCE
$(eval $(call ppu_unit,seeded,tests/infra/seeded.c,$(SEEDED_CFLAGS)))
$(foreach v,asan tsan,$(eval $(call ppu_program,$(v),seeded,tests/infra/seeded.c,$(SEEDED_CFLAGS),-pthread,$(BUILD)/$(v)/tests/seeded)))
$(eval $(call ppu_script_test,sanitizers,tests/infra/test_sanitizers.py,$(BUILD)/asan/tests/seeded $(BUILD)/tsan/tests/seeded))

# Debian's own checker of packages.
TIMEOUT_packages = 600
$(eval $(call ppu_script_test,packages,tests/infra/test_packages.py,$(INSTALL_READY)))

# The services are not here: only what their files say is run.
TIMEOUT_ci-examples = 120
$(eval $(call ppu_script_test,ci-examples,tests/infra/test_ci_examples.py,$(BUILD)/opencl/ppu.icd $(QEMU) firmware))

$(eval $(call ppu_script_test,client-qemu,tests/infra/test_client_qemu.py,))

$(eval $(call ppu_script_test,ccache,tests/infra/test_ccache.py,))
