/* SPDX-License-Identifier: MIT */
#include "tools/trace/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t read_start(uint32_t pid, const char *name, char *text, size_t room)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    FILE *file = fopen(path, "re");
    size_t bytes = file ? fread(text, 1, room - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    text[bytes] = 0;
    return bytes;
}

void process_command(uint32_t pid, char text[PROCESS_COMMAND_BYTES])
{
    size_t bytes = read_start(pid, "cmdline", text, PROCESS_COMMAND_BYTES);

    bytes = bytes > 0 ? bytes : read_start(pid, "comm", text, PROCESS_COMMAND_BYTES);
    while (bytes > 0 && (text[bytes - 1] == 0 || text[bytes - 1] == '\n')) {
        text[--bytes] = 0;
    }
    for (size_t i = 0; i < bytes; i++) {
        text[i] = text[i] == 0 ? ' ' : isprint((unsigned char)text[i]) ? text[i] : '?';
    }
}

bool process_is_there(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

void process_each(void (*found)(void *opaque, uint32_t pid), void *opaque)
{
    DIR *folder = opendir("/proc");

    if (!folder) {
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char *end = NULL;
        unsigned long pid = strtoul(entry->d_name, &end, 10);
        if (pid > 0 && *end == 0) {
            found(opaque, (uint32_t)pid);
        }
    }
    closedir(folder);
}
