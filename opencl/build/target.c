/* SPDX-License-Identifier: MIT */
#include "opencl/build/target.h"

#include <inttypes.h>
#include <stdio.h>

#include "opencl/api/device.h"
#include "opencl/build/compiler_dl.h"
#include "ppu/regs.h"

uint32_t target_threshold(const struct _cl_context *context)
{
    uint64_t value = context->device->info->mode_vregs;

    /* A policy that cannot be asked for is as it was when the device was opened. */
    ppu_device_query(context->device->ppu, PPU_KEY_POLICY, PPU_POLICY_MODE_VREGS, &value);
    return (uint32_t)value;
}

struct ppu_compile_options target_options(const struct _cl_context *context, uint32_t threshold, const char *options)
{
    const struct ppu_device_info *info = context->device->info;
    bool enters = true;

    for (uint32_t i = 0; i < context->device_count; i++) {
        enters &= (context->devices[i]->info->features & PPU_FEATURE_SUBVECTOR) != 0;
    }

    return (struct ppu_compile_options){ .options = options,
                                         .fork_server = fork_server_path(),
                                         .wave = BUILD_WAVE,
                                         .subvector = { .form = enters ? PPU_SEGMENTS_ENTER : PPU_SEGMENTS_OFF,
                                                        .no_mode = !enters,
                                                        .threshold_kind = PPU_THRESHOLD_DEVICE,
                                                        .threshold = threshold,
                                                        .sm_vregs = info->sm_vregs,
                                                        .sm_warps = info->sm_warps } };
}

void target_text(const struct ppu_compile_options *options, char text[TARGET_TEXT_BYTES])
{
    const struct ppu_compile_subvector *subvector = &options->subvector;

    snprintf(text, TARGET_TEXT_BYTES, "%" PRIu32 " %u %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32, options->wave,
             (unsigned)subvector->form, subvector->threshold, subvector->sm_vregs, subvector->sm_warps,
             options->sanitize);
}
