/* SPDX-License-Identifier: MIT */
/* Prints what the demo reports: sections of lines, each with a label; checks end with a verdict and are counted. */
#ifndef DEMO_REPORT_H
#define DEMO_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu.h"

struct report {
    uint32_t checks;
    uint32_t failed;
};

void report_section(const char *title);
__attribute__((format(printf, 2, 3))) void report_line(const char *label, const char *format, ...);
/* A line that ends with "ok" or "FAILED". */
__attribute__((format(printf, 4, 5))) void report_check(struct report *report, bool ok, const char *label,
                                                        const char *format, ...);
/* The verdict over all checks; true: none failed. */
bool report_end(const struct report *report);

/* Ends the program, with the library's words, when `err` is not PPU_OK: without `what` the demo cannot go on. */
void need(enum ppu_err err, const char *what);

/* A number with a comma before every three digits. */
struct grouped {
    char text[32];
};
struct grouped grouped(uint64_t number);

#endif
