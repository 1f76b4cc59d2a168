/* SPDX-License-Identifier: MIT */
/* Reads response files: an argument @FILE stands for the words of that file. */
#ifndef TOOLS_ASM_RESPONSE_H
#define TOOLS_ASM_RESPONSE_H

/*
 * Replaces each @FILE of *argv by its words, also those inside, until the process ends. Blanks part words; quotes of
 * both kinds keep them together, a backslash takes the next character as it is. A file that is not there stays a word,
 * as with binutils and clang. NULL, or why it cannot be done.
 */
const char *response_expand(int *argc, char ***argv);

#endif
