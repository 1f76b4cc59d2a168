/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the program that translates loops, which is a process of its own, and maps the code that it answers. */
#ifndef QEMU_DEVICE_CORE_TIER_TRANSLATOR_H
#define QEMU_DEVICE_CORE_TIER_TRANSLATOR_H

#include "qemu-device/core/tier/request.h"

struct tier_translation;
struct tier_unit;

/* Does not wait for the reply. False: the program has gone. */
bool translator_ask(int socket, uint64_t tag, const struct tier_unit *unit, enum tier_how how);
/* Waits for a reply, of which its code stays in the socket. False: the program has gone, or it is none. */
bool translator_hear(int socket, struct tier_reply *reply);
/*
 * Takes the rest of a reply to what was asked. With TIER_MADE, *out has code, which translation_free() gives back. The
 * result; -1: the program has gone, or answers what is no answer to that.
 */
int translator_take(int socket, const struct tier_answer *answer, const struct tier_unit *unit, enum tier_how how,
                    struct tier_translation *out);
void translation_free(struct tier_translation *translation);

#endif
