/* SPDX-License-Identifier: MIT */
/*
 * Names the release of libraries, tools and packages. Interfaces have numbers of their own (base.h). The only place
 * that knows it: make reads it as $(VERSION). Programs say it when asked with --version.
 */
#ifndef PPU_VERSION_H
#define PPU_VERSION_H

#define PPU_VERSION "1.0.0"

#endif
