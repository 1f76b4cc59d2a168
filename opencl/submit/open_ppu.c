/* SPDX-License-Identifier: MIT */
/*
 * Opens the PPU of a program that knows nothing of PPUs. The choice is libppu's own, with the launcher and the firmware
 * of the same installation, or of the same build, as this library. It does not matter where the program was started.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/device.h"
#include "ppu/macros.h"
#include "ppu/paths.h"

#define SERVED "vfio-user:"
#define LEVELS 3u /* this library is build/plain/<file>: so many names from the top */

/* False: it cannot be said. */
static bool find_top(char top[PATH_MAX])
{
    Dl_info info;

    if (dladdr((void *)source_open, &info) == 0 || !realpath(info.dli_fname, top)) {
        return false;
    }
    for (uint32_t i = 0; i < LEVELS; i++) {
        char *slash = strrchr(top, '/');
        if (!slash) {
            return false;
        }
        *slash = '\0';
    }
    return true;
}

/* The sockets of PPUs that are served, with commas between them; NULL: PPU_DEVICE names none. */
static const char *sockets(void)
{
    const char *wanted = secure_getenv("PPU_DEVICE");

    return wanted && strncmp(wanted, SERVED, strlen(SERVED)) == 0 ? wanted + strlen(SERVED) : NULL;
}

static uint32_t socket_count(const char *names)
{
    uint32_t count = 1;

    for (; (names = strchr(names, ',')); names++) {
        count++;
    }
    return count;
}

/* PPU_DEVICES says it, else the list of sockets. */
uint32_t source_count(void)
{
    const char *text = secure_getenv("PPU_DEVICES"), *names = sockets();
    unsigned long count = text ? strtoul(text, NULL, 10) : names ? socket_count(names) : 1;

    return count > 1 ? (uint32_t)PPU_MIN(count, MAX_DEVICES) : 1;
}

/* Says what libppu needs to know where the environment does not say it. */
struct files {
    char launcher[PATH_MAX + sizeof("/" PPU_PATH_LAUNCHER)];
    char firmware[PATH_MAX + sizeof("/" PPU_PATH_FIRMWARE)];
};

/* A place in an installation is absolute; one in a checkout is found from its top. */
static void find_file(char *file, size_t size, const char *path)
{
    char top[PATH_MAX];

    if (path[0] == '/') {
        snprintf(file, size, "%s", path);
    } else {
        snprintf(file, size, "%s/%s", find_top(top) ? top : ".", path);
    }
}

static void find_files(struct files *files)
{
    find_file(files->launcher, sizeof(files->launcher), PPU_PATH_LAUNCHER);
    find_file(files->firmware, sizeof(files->firmware), PPU_PATH_FIRMWARE);
}

static const char *unless_set(const char *variable, const char *path)
{
    return secure_getenv(variable) ? NULL : path;
}

static enum ppu_err open_served(const char *names, uint32_t index, struct ppu_transport **transport,
                                struct ppu_error *error)
{
    const uint32_t count = socket_count(names);
    char path[PATH_MAX];

    if (index >= count) {
        snprintf(error->text, sizeof(error->text), "open PPU %u of %u: PPU_DEVICE names %u sockets", index + 1,
                 source_count(), count);
        return error->code = PPU_ERR_BAD_ARG;
    }
    for (; index > 0; index--) {
        names = strchr(names, ',') + 1;
    }
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(names, ","), names);
    return ppu_vfio_user_transport(path, transport, error);
}

static enum ppu_err open_transport(const struct files *files, uint32_t index, struct ppu_transport **transport,
                                   struct ppu_error *error)
{
    static struct ppu_machine *machine; /* with all of them; ends with the process */
    const struct ppu_machine_options options = {
        .launcher = unless_set("PPU_RUN", files->launcher),
        .ppus = source_count(),
    };
    const char *wanted = secure_getenv("PPU_DEVICE");
    bool starts_machine = wanted && *wanted != '\0' ? strcmp(wanted, "native") == 0 : !ppu_vfio_present();
    enum ppu_err err = PPU_OK;

    if (sockets()) {
        return open_served(sockets(), index, transport, error);
    }
    if (wanted && strcmp(wanted, "pci") == 0) {
        return ppu_pci_transport(NULL, transport, error); /* likewise */
    }
    if (!starts_machine) {
        return ppu_vfio_transport(NULL, transport, error); /* the next that is free */
    }
    if (!machine) {
        err = ppu_machine_start(&options, &machine, error);
    }
    return err == PPU_OK ? ppu_machine_transport(machine, index, transport, error) : err;
}

enum ppu_err source_open(uint32_t index, struct ppu_device **device, struct ppu_error *error)
{
    struct files files = { .launcher = "", .firmware = "" };
    struct ppu_transport *transport = NULL;

    find_files(&files);
    if (source_count() == 1) {
        const struct ppu_open_options options = { .launcher = files.launcher, .firmware = files.firmware };
        return ppu_open_with(&options, device, error);
    }
    const struct ppu_device_options options = { .firmware = unless_set("PPU_FIRMWARE", files.firmware) };
    enum ppu_err err = open_transport(&files, index, &transport, error);
    return err == PPU_OK ? ppu_device_open(transport, &options, device, error) : err;
}
