/* SPDX-License-Identifier: MIT */
/* Gives the joined machine as much memory as the default machine has: each of many contexts takes its part. */
#include "ppu/limits.h"
#include "tests/opencl/source_joined.h"

uint64_t source_joined_vram_bytes = PPU_DEFAULT_VRAM;
