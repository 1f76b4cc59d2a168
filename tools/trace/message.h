/* SPDX-License-Identifier: MIT */
/* Says what went wrong, for the commands that read records. */
#ifndef TOOLS_TRACE_MESSAGE_H
#define TOOLS_TRACE_MESSAGE_H

#define STATUS_WRONG 2 /* an option is wrong, or nothing can be recorded or shown */

/* Names the command; messages begin with it. A watched file that is taken away ends the command with a sentence. */
void message_begin(const char *command, char **argv);
/* "COMMAND: sentence" on standard error. */
void message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and ends with STATUS_WRONG. */
_Noreturn void message_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* An option of the command line that getopt_long refused. */
_Noreturn void message_bad_option(void);
/* Prints "COMMAND (PPU) VERSION" and ends. */
_Noreturn void message_version(void);
/* Prints the text and ends. */
_Noreturn void message_help(const char *text);
/* A whole number between bounds, or an end with a sentence. */
unsigned long message_number(const char *option, const char *text, unsigned long least, unsigned long most);

#endif
