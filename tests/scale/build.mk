# SPDX-License-Identifier: MIT
# Several PPUs and several processes, by runtimes that are not installed by default (docs/scale.md).
TIMEOUT_scale-cluster := 240
$(eval $(call ppu_script_test,scale-cluster,tests/scale/test_cluster.py,$(if $(MPI_FOLDER),$(addprefix $(BUILD)/plain/tools/cluster-,stencil product)) $(BUILD)/opencl/ppu.icd $(QEMU) firmware))
TIMEOUT_scale-tiles := 240
$(eval $(call ppu_script_test,scale-tiles,tests/scale/test_tiles.py,$(if $(STARPU_FOLDER),$(BUILD)/plain/tools/tiles) $(BUILD)/opencl/ppu.icd $(QEMU) firmware))
