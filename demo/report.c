/* SPDX-License-Identifier: MIT */
#include "demo/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLUMNS 22
#define TEXT_COLUMNS 62 /* up to the verdict */

void report_section(const char *title)
{
    printf("\n%s\n", title);
}

__attribute__((format(printf, 2, 0))) static int print_line(const char *label, const char *format, va_list arguments)
{
    printf("  %-*s", LABEL_COLUMNS, label);
    return vprintf(format, arguments);
}

void report_line(const char *label, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line(label, format, arguments);
    va_end(arguments);
    putchar('\n');
}

void report_check(struct report *report, bool ok, const char *label, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int columns = print_line(label, format, arguments);
    va_end(arguments);
    printf("%*s  %s\n", columns < TEXT_COLUMNS ? TEXT_COLUMNS - columns : 0, "", ok ? "ok" : "FAILED");
    report->checks++;
    report->failed += !ok;
}

bool report_end(const struct report *report)
{
    bool passed = report->failed == 0;

    printf("\n%s: %" PRIu32 " checks, %" PRIu32 " failed\n", passed ? "PASSED" : "FAILED", report->checks,
           report->failed);
    return passed;
}

void need(enum ppu_err err, const char *what)
{
    if (err != PPU_OK) {
        fflush(stdout);
        fprintf(stderr, "demo: %s: %s\n", what, ppu_error_text(err));
        exit(EXIT_FAILURE);
    }
}

struct grouped grouped(uint64_t number)
{
    struct grouped result = { "" };
    char digits[24];
    int count = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    char *to = result.text;

    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return result;
}
