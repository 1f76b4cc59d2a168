/* SPDX-License-Identifier: MIT */
/* Chooses the variant of a kernel that a launch uses (F1, F3, F9). */
#ifndef OPENCL_VARIANTS_VARIANT_CHOOSE_H
#define OPENCL_VARIANTS_VARIANT_CHOOSE_H

#include "opencl/api/captured_launch.h"

/*
 * Compares the memory behind the arguments as they are now, and gives the launch the variant for what is found: the
 * base variant while it is not there, for which nothing changes. `ppu_index`: the device, on which arguments have the
 * addresses in the launch's parameters. `name` gets the variant's name.
 */
void variant_choose(cl_kernel kernel, struct launch *launch, uint32_t ppu_index, char name[EVENT_VARIANT_BYTES]);

#endif
