/* SPDX-License-Identifier: MIT */
/* Keeps translations in the user's cache, by loop, processor and what has made them. */
#ifndef TOOLS_TRANSLATOR_STORE_H
#define TOOLS_TRANSLATOR_STORE_H

#include <stdbool.h>

#include "qemu-device/core/tier/request.h"
#include "qemu-device/core/tier/unit.h"

/* `folder`: from cache_folder_open(STORE_FOLDER); -1: nothing is kept. */
#define STORE_FOLDER "loops"

/* True: what was answered before, with *code of answer->bytes, to be freed. */
bool store_find(int folder, const char *module, const struct tier_unit *unit, struct tier_answer *answer,
                uint8_t **code);
void store_keep(int folder, const char *module, const struct tier_unit *unit, const struct tier_answer *answer,
                const uint8_t *code);

#endif
