/* SPDX-License-Identifier: MIT */
/* Computes the Mandelbrot set by grids that launch grids (demo/mandelbrot.s), without the CPU in between. */
#ifndef DEMO_MANDELBROT_H
#define DEMO_MANDELBROT_H

#include "demo/report.h"
#include "demo/user.h"

/* Draws, compares every pixel with the CPU's, shows the tree's statistics. `path` of the picture;
 * NULL: none is kept. */
void mandelbrot_show(struct report *report, const struct user *user, const char *path);

#endif
