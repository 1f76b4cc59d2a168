/* SPDX-License-Identifier: MIT */
/* Reads the bitmap of doorbells that rang. */
#ifndef FIRMWARE_DOORBELL_H
#define FIRMWARE_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

void doorbell_init(void);

/* Takes at most `most` doorbells and tells their channels; true: there may be more. */
bool doorbell_events(uint32_t most);

#endif
