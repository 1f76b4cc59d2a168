/* SPDX-License-Identifier: MIT */
/* The compiler lies in the same folder as this library, wherever that is. */
#include "compiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define COMPILER_FILE "libppu-compiler.so"

static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static struct compiler the_compiler;
static bool complete;

bool compiler_path(char path[PATH_MAX])
{
    Dl_info info;

    if (dladdr((void *)compiler_path, &info) == 0) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash != NULL ? (int)(slash + 1 - info.dli_fname) : 0;
    return snprintf(path, PATH_MAX, "%.*s" COMPILER_FILE, folder, info.dli_fname) < PATH_MAX;
}

/* ISO C has no cast from an object's address to a function's. */
static bool find(void *library, const char *name, void *place)
{
    void *function = dlsym(library, name);

    memcpy(place, &function, sizeof(function));
    return function != NULL;
}

static void load(void)
{
    char path[PATH_MAX];
    void *library = compiler_path(path) ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;

    complete = library != NULL && find(library, "ppu_compile", &the_compiler.compile) &&
               find(library, "ppu_compile_source", &the_compiler.compile_source) &&
               find(library, "ppu_compile_bitcode", &the_compiler.compile_bitcode) &&
               find(library, "ppu_compile_link", &the_compiler.link) &&
               find(library, "ppu_compile_prepare", &the_compiler.prepare);
    if (!complete) {
        const char *why = dlerror();
        fprintf(stderr, "OpenCL on the PPU: no compiler: %s\n", why != NULL ? why : "its place is not known");
    }
}

const struct compiler *compiler_get(void)
{
    pthread_once(&loaded, load);
    return complete ? &the_compiler : NULL;
}
