/* SPDX-License-Identifier: MIT */
#include "demo/inventory.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "demo/report.h"
#include "ppu/macros.h"
#include "ppu/regs.h"

#define DEVICES "/sys/bus/pci/devices"
#define MIB (1024u * 1024u)

static const struct {
    unsigned bar;
    const char *holds;
} bars[] = {
    { PPU_BAR_REGS, "registers, interrupt table, windows to the microcontroller" },
    { PPU_BAR_DOORBELLS, "doorbells" },
    { PPU_BAR_VRAM, "VRAM" },
};

/* Reads a number that sysfs shows as 0x...; 0: there is none. */
static unsigned long attribute(const char *address, const char *name)
{
    char path[PATH_MAX], text[32] = "";

    snprintf(path, sizeof(path), DEVICES "/%s/%s", address, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        return 0;
    }
    bool read = fgets(text, sizeof(text), file);
    fclose(file);
    return read ? strtoul(text, NULL, 16) : 0;
}

/* Last part of what the link `name` points to, "none" without it. */
static const char *link_end(const char *address, const char *name, char target[PATH_MAX])
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), DEVICES "/%s/%s", address, name);
    ssize_t length = readlink(path, target, PATH_MAX - 1);
    if (length <= 0) {
        return "none";
    }
    target[length] = '\0';
    return strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
}

static void show_bars(const char *address)
{
    char path[PATH_MAX], line[128];
    unsigned bar = 0;

    snprintf(path, sizeof(path), DEVICES "/%s/resource", address);
    FILE *file = fopen(path, "r");
    for (; file && fgets(line, sizeof(line), file); bar++) {
        char *end;
        uint64_t first = strtoull(line, &end, 16), last = strtoull(end, NULL, 16);
        for (size_t i = 0; last > first && i < PPU_ARRAY_SIZE(bars); i++) {
            if (bars[i].bar == bar) {
                char label[16];
                snprintf(label, sizeof(label), "BAR%u", bar);
                report_line(label, "%4" PRIu64 " MiB at 0x%010" PRIx64 "  %s", (last - first + 1) / MIB, first,
                            bars[i].holds);
            }
        }
    }
    if (file) {
        fclose(file);
    }
}

/* The line of lspci for the function. */
static void show_function(const char *address)
{
    char command[64], line[256];

    snprintf(command, sizeof(command), "lspci -s %.16s 2>&1", address);
    FILE *output = popen(command, "r");
    if (output && fgets(line, sizeof(line), output)) {
        line[strcspn(line, "\n")] = '\0';
        report_line("lspci", "%s", line);
    }
    if (output) {
        pclose(output);
    }
}

static int is_ppu(const struct dirent *entry)
{
    return attribute(entry->d_name, "vendor") == PPU_PCI_VENDOR && attribute(entry->d_name, "device") == PPU_PCI_DEVICE;
}

void inventory_show(void)
{
    struct dirent **found = NULL;
    struct utsname name;
    int count = scandir(DEVICES, &found, is_ppu, alphasort);

    report_section("The machine");
    if (uname(&name) == 0) {
        report_line("system", "%s %s on %s, %ld CPU", name.sysname, name.release, name.machine,
                    sysconf(_SC_NPROCESSORS_ONLN));
    }
    for (int i = 0; i < count; i++) {
        char target[PATH_MAX];
        const char *address = found[i]->d_name;
        show_function(address);
        show_bars(address);
        report_line("driver", "%s", link_end(address, "driver", target));
        report_line("IOMMU group", "%s", link_end(address, "iommu_group", target));
        free(found[i]);
    }
    free(found);
}
