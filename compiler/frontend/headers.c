/* SPDX-License-Identifier: MIT */
#include "compiler/frontend/headers.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FOLDERS 8

/* Inside the folder: not absolute, not empty, no way up. */
static bool is_inside(const char *name)
{
    const char *at = name;

    if (*name == '\0' || *name == '/') {
        return false;
    }
    for (; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0')) {
            return false;
        }
    }
    return name[strlen(name) - 1] != '/';
}

static bool make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) {
            return false;
        }
    }
    return true;
}

static bool write_file(const char *path, const void *text, size_t len_bytes)
{
    FILE *file = fopen(path, "wb");

    if (!file) {
        return false;
    }
    bool written = fwrite(text, 1, len_bytes, file) == len_bytes;
    return (fclose(file) == 0) & written;
}

static char *join_text(const char *first, const char *between, const char *second)
{
    char *joined = NULL;

    return asprintf(&joined, "%s%s%s", first, between, second) >= 0 ? joined : NULL;
}

static enum ppu_compile_status write_header(const struct headers *headers, const struct ppu_compile_header *header,
                                            struct bytes *log)
{
    if (!is_inside(header->name)) {
        bytes_print(log, "error: take the header '%s': its name is absolute, empty, or leads out of a folder\n",
                    header->name);
        return PPU_COMPILE_BAD_SOURCE;
    }
    char *path = join_text(headers->folder, "/", header->name);
    if (!path) {
        return PPU_COMPILE_NO_MEMORY;
    }
    bool written = make_folders(path, strlen(headers->folder) + 1) && write_file(path, header->text, header->len_bytes);
    if (!written) {
        bytes_print(log, "error: write the header '%s' for clang: %s\n", path, strerror(errno));
    }
    free(path);
    return written ? PPU_COMPILE_OK : PPU_COMPILE_NO_TOOL;
}

/* A path from the root is for clang neither an option nor a file of options. */
static const char *temporary_folder(void)
{
    const char *where = secure_getenv("TMPDIR");

    return where && *where == '/' ? where : "/tmp";
}

static enum ppu_compile_status make_folder(struct headers *headers, struct bytes *log)
{
    headers->folder = join_text(temporary_folder(), "/", "ppu-headers-XXXXXX");
    if (!headers->folder) {
        return PPU_COMPILE_NO_MEMORY;
    }
    if (!mkdtemp(headers->folder)) {
        bytes_print(log, "error: make the temporary folder '%s' for headers: %s; TMPDIR names another\n",
                    headers->folder, strerror(errno));
        free(headers->folder);
        headers->folder = NULL;
        return PPU_COMPILE_NO_TOOL;
    }
    /* Not one that a program would give a header of its own. */
    headers->source = join_text(headers->folder, "/", ".source.cl");
    headers->option = join_text("-I", "", headers->folder);
    return headers->source && headers->option ? PPU_COMPILE_OK : PPU_COMPILE_NO_MEMORY;
}

enum ppu_compile_status headers_write(struct headers *headers, const struct ppu_compile_options *options,
                                      struct bytes *log)
{
    enum ppu_compile_status status = PPU_COMPILE_OK;

    *headers = (struct headers){ NULL, NULL, NULL };
    if (options->header_count > 0) {
        status = make_folder(headers, log);
    }
    for (uint32_t i = 0; i < options->header_count && status == PPU_COMPILE_OK; i++) {
        status = write_header(headers, &options->headers[i], log);
    }
    return status;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

void headers_remove(struct headers *headers)
{
    if (headers->folder) {
        nftw(headers->folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    }
    free(headers->folder);
    free(headers->source);
    free(headers->option);
}
