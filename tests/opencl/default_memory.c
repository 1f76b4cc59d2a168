/* SPDX-License-Identifier: MIT */
/* Gives the joined machine as much memory as the default machine has: each of many contexts takes its part. */
#include "ppu/limits.h"
#include "tests/joined/joined.h"
#include "tests/opencl/source_joined.h"

void source_joined_adjust(struct joined_options *options)
{
    options->config.vram_bytes = PPU_DEFAULT_VRAM;
}
