/* SPDX-License-Identifier: MIT */
/* Writes what a test wants of its machine as properties of QEMU's device. */
#ifndef TESTS_API_PROPERTIES_H
#define TESTS_API_PROPERTIES_H

#include "tests/api/api.h"

enum { MACHINE_PROPERTIES_MAX = 160 };

void machine_properties(char *text, size_t bytes, const struct machine_config *config);

#endif
