/* SPDX-License-Identifier: MIT */
#include "tools/trace/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 4096u
#define SOURCE_MOST (16u << 20)

static const char *first_folder;

void source_look_in(const char *folder)
{
    first_folder = folder;
}

char *source_read(const char *path)
{
    FILE *file = fopen(path, "re");
    struct stat status;
    char *text = NULL;

    if (file && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= (off_t)SOURCE_MOST) {
        text = calloc(1, (size_t)status.st_size + 1);
        if (text && fread(text, 1, (size_t)status.st_size, file) != (size_t)status.st_size) {
            free(text);
            text = NULL;
        }
    } else if (file) {
        errno = EINVAL;
    }
    if (file) {
        fclose(file);
    }
    return text;
}

/* The name as it is, then in the folder with its path, then without it. */
char *source_of(const struct profile_program *program)
{
    const char *name = program->view.text + program->view.header->source;
    const char *slash = strrchr(name, '/');
    char path[PATH_BYTES];
    char *text = NULL;

    if (*name == 0) {
        return NULL;
    }
    for (uint32_t i = 0; first_folder && !text && i < 2; i++) {
        int bytes = snprintf(path, sizeof(path), "%s/%s", first_folder, i == 0 ? name : slash ? slash + 1 : name);
        text = bytes < (int)sizeof(path) ? source_read(path) : NULL;
    }
    return text ? text : source_read(name);
}
