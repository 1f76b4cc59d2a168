/* SPDX-License-Identifier: MIT */
/*
 * Makes a file that libppu accepts as a firmware image. Where the firmware runs in this process, what is loaded is not
 * executed.
 */
#ifndef TESTS_JOINED_JOINED_IMAGE_H
#define TESTS_JOINED_JOINED_IMAGE_H

#include <stddef.h>

/* Makes the file and writes its name; it exists as long as its descriptor, which is returned.
 * Negative: it cannot be. */
int joined_image_file(char *path, size_t size);

#endif
