/* SPDX-License-Identifier: MIT */
/*
 * Opens the PPU of a program that knows nothing of PPUs: libppu's own choice, with the launcher and the firmware
 * that lie in the same build as this library, wherever the program was started.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define LEVELS 3u /* this library is build/plain/<file>: so many names from the top */

/* False: it cannot be said. */
static bool find_top(char top[PATH_MAX])
{
    Dl_info info;

    if (dladdr((void *)source_open, &info) == 0 || realpath(info.dli_fname, top) == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < LEVELS; i++) {
        char *slash = strrchr(top, '/');
        if (slash == NULL) {
            return false;
        }
        *slash = '\0';
    }
    return true;
}

enum ppu_err source_open(struct ppu_device **device, struct ppu_error *error)
{
    char top[PATH_MAX];
    char launcher[PATH_MAX + sizeof("/" PPU_DEFAULT_LAUNCHER)];
    char firmware[PATH_MAX + sizeof("/" PPU_DEFAULT_FIRMWARE)];

    if (!find_top(top)) {
        snprintf(top, sizeof(top), ".");
    }
    snprintf(launcher, sizeof(launcher), "%s/%s", top, PPU_DEFAULT_LAUNCHER);
    snprintf(firmware, sizeof(firmware), "%s/%s", top, PPU_DEFAULT_FIRMWARE);
    const struct ppu_open_options options = { .launcher = launcher, .firmware = firmware };
    return ppu_open_with(&options, device, error);
}
