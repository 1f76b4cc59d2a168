/* SPDX-License-Identifier: MIT */
/* Starts a program that translates hot loops, for a machine of a test. */
#ifndef TESTS_DEVICE_CORE_TRANSLATOR_H
#define TESTS_DEVICE_CORE_TRANSLATOR_H

#include <sys/types.h>

/*
 * The socket that leads to it (core_config.engine_tier_socket); it ends when that is closed. `module`: ppu-tier.so;
 * `pid`: NULL, or gets its number.
 */
int translator_start(const char *module, pid_t *pid);

#endif
