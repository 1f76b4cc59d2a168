/* SPDX-License-Identifier: MIT */
/* Raises MSI-X vectors at the host. */
#ifndef FIRMWARE_VECTOR_H
#define FIRMWARE_VECTOR_H

#include <stdint.h>

/* `channel`: on whose behalf, or PPU_NO_CHANNEL. */
void vector_raise(uint32_t vector, uint32_t channel, uint32_t correlation);

#endif
