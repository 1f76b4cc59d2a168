/* SPDX-License-Identifier: MIT */
/* Takes the doorbells that rang. */
#ifndef FIRMWARE_DOORBELL_H
#define FIRMWARE_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

/* Takes at most `most` doorbells and tells their channels; true: there may be more. */
bool doorbell_events(uint32_t most);

#endif
