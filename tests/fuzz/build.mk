# SPDX-License-Identifier: MIT
#
# Fuzz targets (README.md): a target is <target>.c and <target>.mk, which calls ppu_fuzz.

include $(filter-out %/build.mk,$(wildcard tests/fuzz/*.mk))
