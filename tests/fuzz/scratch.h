/* SPDX-License-Identifier: MIT */
/* Gives a target a folder for the user's cache, which is there for one input only: libFuzzer ends without a word. */
#ifndef TESTS_FUZZ_SCRATCH_H
#define TESTS_FUZZ_SCRATCH_H

/* Once, before inputs: chooses a name for it, and sets PPU_CACHE. */
void scratch_choose(void);
/* Makes it; from cache_folder_open(below). */
int scratch_open(const char *below);
/* Removes it, with what is in it. */
void scratch_close(int folder, const char *below);

#endif
