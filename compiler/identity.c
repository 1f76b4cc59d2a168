/* SPDX-License-Identifier: MIT */
/* What the compiler consists of: files, as they are now. */
#include "ppu_compiler.h"

#include <dlfcn.h>
#include <limits.h>
#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool write_file(FILE *to, const char *path)
{
    struct stat file;

    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) {
        return false;
    }
    fprintf(to, "%s %lld %lld.%09ld\n", path, (long long)file.st_size, (long long)file.st_mtim.tv_sec,
            file.st_mtim.tv_nsec);
    return true;
}

/* The file that a function was loaded from. */
static bool write_file_of(FILE *to, void *function)
{
    Dl_info info;

    return dladdr(function, &info) != 0 && write_file(to, info.dli_fname);
}

static bool write_program(FILE *to, const char *name)
{
    const char *folders = getenv("PATH");
    char path[PATH_MAX];

    if (strchr(name, '/') != NULL || folders == NULL) {
        return write_file(to, name);
    }
    while (*folders != '\0') {
        int length = (int)strcspn(folders, ":");
        if (snprintf(path, sizeof(path), "%.*s/%s", length, folders, name) < PATH_MAX && write_file(to, path)) {
            return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

char *ppu_compile_identity(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);

    if (to == NULL) {
        return NULL;
    }
    bool known = write_file_of(to, (void *)ppu_compile_identity) && write_file_of(to, (void *)LLVMContextCreate) &&
                 write_program(to, ppu_compile_clang(NULL));
    if ((fclose(to) != 0) | !known) {
        free(text);
        text = NULL;
    }
    return text;
}
