/* SPDX-License-Identifier: MIT */
/* Publishes error records for the host (ppu/fault.h). */
#ifndef FIRMWARE_FAULT_H
#define FIRMWARE_FAULT_H

#include "ppu/fault.h"

/* Needs layout. */
void fault_init(void);

/*
 * Writes the record into the error ring and raises the error vector. Fills in head and time. A
 * ring the host does not empty loses the record and counts it.
 */
void fault_report(struct ppu_error_record *record);

#endif
