/* SPDX-License-Identifier: MIT */
/* Does what the commands for programs have in common: begin, files, messages. */
#ifndef TOOLS_ASM_COMMAND_H
#define TOOLS_ASM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names the command for messages and --version, and replaces arguments @FILE. Wrong options end it with status 1. */
void command_begin(const char *name, int *argc, char ***argv);

/* "NAME: error: sentence" on standard error; false. */
bool command_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Lines "place: error: sentence" on standard error; with colours on a terminal that is not told to be without. */
void command_print_diagnostics(const char *lines);

/* Room for one more element of a list that lives as long as the process. */
void *command_grow(void *list, uint32_t count, size_t size);

/* A file, or standard input for "-", with a zero after its end; NULL: errno says why. */
char *command_read(const char *path, size_t *len_bytes);

/*
 * Shows "WHAT FILE" while the command works on `path` (progress_begin()), until a message is printed. A command that
 * waits for somebody to type shows nothing.
 */
void command_show_progress(const char *what, const char *path);

/* All of a file, or of standard output for "-"; no file is left after an error, which is told. */
bool command_write(const char *path, const void *bytes, size_t len_bytes);

/* Where the output goes that nobody named: `input` with another ending; "a" with it for standard input. */
char *command_output_name(const char *input, const char *ending);

#endif
