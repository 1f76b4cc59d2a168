/* SPDX-License-Identifier: MIT */
/* Reads what kernels shall check of themselves (docs/spec/sanitizers.md), and counts what was reported. */
#ifndef OPENCL_API_SANITIZE_H
#define OPENCL_API_SANITIZE_H

#include <stdbool.h>

#define SANITIZE_VARIABLE "PPU_SANITIZE"
#define SANITIZE_EXIT_VARIABLE "PPU_SANITIZE_EXIT" /* exit status of a program with reports, 1 to 255 */

/* Reads the variables, once; before the program makes anything. */
void sanitize_begin(void);
/* The build options with what the variables add; to be freed. NULL: no memory. */
char *sanitize_options(const char *options);
/* True when some build has asked for races. */
bool sanitize_finds_races(void);
/* One more site was reported: the end of the program tells how many. */
void sanitize_count_site(void);

#endif
