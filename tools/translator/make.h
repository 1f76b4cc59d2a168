/* SPDX-License-Identifier: MIT */
/*
 * Makes code of a loop by LLVM. Each loop has a process of its own, which is forked when LLVM is loaded: what goes
 * wrong in it is the end of that process alone, and it can keep nothing.
 */
#ifndef TOOLS_TRANSLATOR_MAKE_H
#define TOOLS_TRANSLATOR_MAKE_H

#include "qemu-device/core/tier/request.h"
#include "qemu-device/core/tier/unit.h"

/*
 * With TIER_MADE, *code has answer->bytes, to be freed. The module is loaded the first time. `always`: as TIER_ALWAYS.
 */
void make_code(const char *module, const struct tier_unit *unit, bool always, struct tier_answer *answer,
               uint8_t **code);

#endif
