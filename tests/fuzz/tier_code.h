/* SPDX-License-Identifier: MIT */
/* Makes programs of the parts that the tier translates: straight code, loops of several kinds, rows of memory. */
#ifndef TESTS_FUZZ_TIER_CODE_H
#define TESTS_FUZZ_TIER_CODE_H

#include "tests/fuzz/attacker.h"

#define TIER_CODE_VREGS 16u /* that its task must have, at least */

/*
 * The attacker's parameters and code, of the next part of the input. Its task has been made. Straight code has no
 * loops, and mostly none of what a CTA needs a place on the SM for.
 */
void tier_code_make(struct attacker *attacker, bool is_straight);

#endif
