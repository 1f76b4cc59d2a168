/* SPDX-License-Identifier: MIT */
/*
 * Opens the folder in which the user's programs keep what they made for each other. It is opened once for each use, by
 * owner and mode, and from then on known by its descriptor alone. No link in it is followed.
 */
#ifndef CACHE_FOLDER_H
#define CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a file. */
struct cache_folder_part {
    const void *at;
    size_t bytes;
};

/*
 * The folder `below` of $PPU_CACHE, else of $XDG_CACHE_HOME/ppu, else of ~/.cache/ppu, made when it is not there. -1:
 * PPU_CACHE is "off", the program has raised privileges, or the folder cannot be had. One that is not the user's alone,
 * or a link, is not used, which standard error says once.
 */
int cache_folder_open(const char *below);
void cache_folder_close(int folder);
/*
 * The content of a file, to be freed. NULL: it is not there, no file, larger than `most`, or not the user's alone to
 * write; when it is `secret`, to read as well.
 */
uint8_t *cache_folder_read(int folder, const char *name, size_t most, bool secret, size_t *bytes);
/* The file has this content, or what it had before: others may read it at any time. False: as before. */
bool cache_folder_write(int folder, const char *name, const struct cache_folder_part *parts, uint32_t count);

#endif
