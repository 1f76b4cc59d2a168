/* SPDX-License-Identifier: MIT */
/*
 * Says where libraries find what they start, when neither their caller nor the environment says it. These are places in
 * a checkout, from its top; an installation is compiled with absolute ones (packaging/build.mk). Not installed.
 */
#ifndef PPU_PATHS_H
#define PPU_PATHS_H

#ifndef PPU_PATH_LAUNCHER
#define PPU_PATH_LAUNCHER "tools/ppu-run"
#define PPU_PATH_FIRMWARE "build/firmware/picolibc/ppufw.bin"
#endif

#endif
