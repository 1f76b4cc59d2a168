/* SPDX-License-Identifier: MIT */
/* Makes programs of the parts that the tier translates: straight code, loops of several kinds, rows of memory. */
#ifndef TESTS_FUZZ_TIER_CODE_H
#define TESTS_FUZZ_TIER_CODE_H

#include "tests/fuzz/attacker.h"

#define TIER_CODE_VREGS 16u /* that its task must have, at least */

/* The attacker's parameters and code, of the next part of the input. Its task has been made. */
void tier_code_make(struct attacker *attacker);

#endif
