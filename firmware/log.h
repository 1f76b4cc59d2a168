/* SPDX-License-Identifier: MIT */
/* Writes text for a person to the log ring (ppu/boot.h) and to the device's log. Never on a hot path. */
#ifndef FIRMWARE_LOG_H
#define FIRMWARE_LOG_H

#define LOG_LINE_MAX 160u /* bytes a call; what is longer is cut */

/* Needs layout. */
void log_init(void);

void log_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
