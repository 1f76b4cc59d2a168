/* SPDX-License-Identifier: MIT */
/* What hal_mcu.c has for the start-up code alone. */
#ifndef FW_HAL_MCU_H
#define FW_HAL_MCU_H

#include <stdint.h>

/* Vector of every interrupt line of the device: acknowledges it and notes the event. */
void hal_interrupt(void);

void hal_interrupts_enable(void);

/* Where hal_crash() was called; line 0: it was not. */
extern const char *hal_crash_file;
extern uint32_t hal_crash_line;

#endif
