/* SPDX-License-Identifier: MIT */
#include "runtime/vfio/function.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/regs.h"
#include "runtime/error.h"

/* Copies a name; false: it does not fit. */
static bool copy_name(char *to, size_t bytes, const char *name)
{
    int length = snprintf(to, bytes, "%s", name);

    return length >= 0 && (size_t)length < bytes;
}

/* Content of a small file without its line end; false: there is no such file. */
static bool read_line(const char *path, char *line, size_t bytes)
{
    FILE *file = fopen(path, "re");

    if (!file) {
        return false;
    }
    bool read = fgets(line, (int)bytes, file);
    fclose(file);
    if (read) {
        line[strcspn(line, "\n")] = '\0';
    }
    return read;
}

/* Last part of the path that a symbolic link has; false: there is no such link. */
static bool link_name(const char *path, char *name, size_t bytes)
{
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof(target) - 1);

    if (length < 0) {
        return false;
    }
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    return copy_name(name, bytes, slash ? slash + 1 : target);
}

/* ---- sysfs ---- */

static bool number_is(const char *function, const char *file, unsigned long wanted)
{
    char path[PATH_MAX];
    char line[32];

    snprintf(path, sizeof(path), "%s/%s", function, file);
    return read_line(path, line, sizeof(line)) && strtoul(line, NULL, 16) == wanted;
}

static int iommu_group_of(const char *function)
{
    char path[PATH_MAX];
    char name[32];
    char *end;

    snprintf(path, sizeof(path), "%s/iommu_group", function);
    if (!link_name(path, name, sizeof(name))) {
        return VFIO_NO_GROUP;
    }
    long group = strtol(name, &end, 10);
    return *name != '\0' && *end == '\0' && group >= 0 && group <= INT_MAX ? (int)group : VFIO_NO_GROUP;
}

/* False: it is no PPU. */
static bool describe_function(const char *sysfs, const char *address, struct vfio_function *function)
{
    char path[PATH_MAX - 32];
    char driver[PATH_MAX];

    snprintf(path, sizeof(path), "%s/bus/pci/devices/%s", sysfs, address);
    if (!number_is(path, "vendor", PPU_PCI_VENDOR) || !number_is(path, "device", PPU_PCI_DEVICE) ||
        !copy_name(function->address, sizeof(function->address), address)) {
        return false;
    }
    snprintf(driver, sizeof(driver), "%s/driver", path);
    if (!link_name(driver, function->driver, sizeof(function->driver))) {
        function->driver[0] = '\0';
    }
    function->iommu_group = iommu_group_of(path);
    return true;
}

struct ppu_pci_address vfio_function_address(const struct vfio_function *function)
{
    const char *at = function->address;
    uint32_t number[4] = { 0, 0, 0, 0 };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(number) && *at != '\0'; i++) {
        char *end = NULL;
        number[i] = (uint32_t)strtoul(at, &end, 16);
        at = *end != '\0' ? end + 1 : end;
    }
    return (struct ppu_pci_address){ number[0], number[1], number[2], number[3] };
}

size_t vfio_functions(const char *sysfs, struct vfio_function *functions, size_t max)
{
    char path[PATH_MAX];
    struct dirent **entries = NULL;
    size_t found = 0;

    snprintf(path, sizeof(path), "%s/bus/pci/devices", sysfs);
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (found < max && describe_function(sysfs, entries[i]->d_name, &functions[found])) {
            found++;
        }
        free(entries[i]);
    }
    free(entries);
    return found;
}

enum ppu_err vfio_function_check(const struct vfio_function *function, struct ppu_error *error)
{
    const char *address = function->address;

    if (strcmp(function->driver, VFIO_DRIVER) != 0) {
        return error_set(error, PPU_ERR_TRANSPORT,
                         "open PPU %s: it has %s%s as its driver; bind it: echo " VFIO_DRIVER
                         " >/sys/bus/pci/devices/%s/driver_override; echo %s >/sys/bus/pci/drivers_probe",
                         address, function->driver[0] != '\0' ? "" : "nothing", function->driver, address, address);
    }
    if (function->iommu_group == VFIO_NO_GROUP) {
        return error_set(
            error, PPU_ERR_TRANSPORT,
            "open PPU %s: it is not behind an IOMMU, which " VFIO_DRIVER
            " needs; switch it on in the firmware or on the kernel's command line, or with ppu-run --smmu on; "
            "PPU_DEVICE=pci does without, for root",
            address);
    }
    return PPU_OK;
}

/* ---- proc ---- */

/* True when one of the links in `fds`, the file descriptors of a process, leads to `path`. */
static bool process_holds(const char *fds, const char *path)
{
    DIR *directory = opendir(fds);
    bool holds = false;
    struct dirent *entry;

    if (!directory) {
        return false; /* it has ended, or is another user's */
    }
    while (!holds && (entry = readdir(directory))) {
        char target[PATH_MAX];
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
        if (length > 0) {
            target[length] = '\0';
            holds = strcmp(target, path) == 0;
        }
    }
    closedir(directory);
    return holds;
}

bool vfio_find_holder(const char *proc, const char *path, struct vfio_holder *holder)
{
    DIR *directory = opendir(proc);
    bool found = false;
    struct dirent *entry;

    if (!directory) {
        return false;
    }
    while (!found && (entry = readdir(directory))) {
        char file[PATH_MAX];
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || *end != '\0') {
            continue;
        }
        snprintf(file, sizeof(file), "%s/%ld/fd", proc, pid);
        found = process_holds(file, path);
        if (found) {
            holder->pid = (pid_t)pid;
            snprintf(file, sizeof(file), "%s/%ld/comm", proc, pid);
            if (!read_line(file, holder->name, sizeof(holder->name))) {
                holder->name[0] = '\0';
            }
        }
    }
    closedir(directory);
    return found;
}
