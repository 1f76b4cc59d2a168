/* SPDX-License-Identifier: MIT */
/* Describes errors in full: a code, what the firmware recorded, a sentence. */
#ifndef RUNTIME_ERROR_H
#define RUNTIME_ERROR_H

#include "ppu.h"
#include "ppu/boot.h"

/* Fills *error (may be NULL) with a code and a formatted sentence. */
void error_fill(struct ppu_error *error, enum ppu_err code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, and is the code: a macro, so that static analysers see that a failure stays one. */
#define error_set(error, code, ...) (error_fill(error, code, __VA_ARGS__), (code))
/* Says in a sentence what the record says in numbers. */
void error_from_record(struct ppu_error *error, const struct ppu_error_record *record);
/* Describes an admin request that the firmware refused: `operation` names it. */
void error_from_reply(struct ppu_error *error, const char *operation, uint16_t status, uint32_t payload);
/* Says where the firmware stopped. */
void error_from_crash(struct ppu_error *error, const struct ppu_crash_record *crash);

#endif
