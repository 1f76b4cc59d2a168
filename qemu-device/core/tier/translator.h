/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the program that translates loops, which is a process of its own, and maps the code that it answers. */
#ifndef QEMU_DEVICE_CORE_TIER_TRANSLATOR_H
#define QEMU_DEVICE_CORE_TIER_TRANSLATOR_H

#include "qemu-device/core/tier/request.h"

struct tier_translation;
struct tier_unit;

/*
 * Waits for the answer. With TIER_MADE, *out has code, which translation_free() gives back. -1: the program has gone,
 * or answers what is no answer.
 */
int translator_ask(int socket, const struct tier_unit *unit, enum tier_how how, struct tier_translation *out);
void translation_free(struct tier_translation *translation);

#endif
