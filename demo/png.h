/* SPDX-License-Identifier: MIT */
/* Writes pictures that any viewer shows: PNG with a palette, not compressed. */
#ifndef DEMO_PNG_H
#define DEMO_PNG_H

#include <stdbool.h>
#include <stdint.h>

struct png_colour {
    uint8_t red, green, blue;
};

/* `pixels` are numbers of the 256 colours, row by row. False: the file cannot be written. */
bool png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
               const struct png_colour colours[256]);

#endif
