/* SPDX-License-Identifier: MIT */
/* The compiler lies in the same folder as this library, wherever that is. */
#include "opencl/build/compiler_dl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMPILER_FILE "libppu-compiler.so"
#define FOREIGN_FILE "ppu-foreign"
#define FORK_SERVER_FILE "ppu-forkserver.so"

static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static struct compiler the_compiler;
static bool complete;

/* A file beside this library. */
static bool find_file(char path[PATH_MAX], const char *name)
{
    Dl_info info;

    if (dladdr((void *)compiler_path, &info) == 0) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    return snprintf(path, PATH_MAX, "%.*s%s", folder, info.dli_fname, name) < PATH_MAX;
}

bool compiler_path(char path[PATH_MAX])
{
    return find_file(path, COMPILER_FILE);
}

bool foreign_path(char path[PATH_MAX])
{
    return find_file(path, FOREIGN_FILE);
}

static char fork_server[PATH_MAX];

static void find_fork_server(void)
{
    if (!find_file(fork_server, FORK_SERVER_FILE) || access(fork_server, R_OK) != 0) {
        fork_server[0] = '\0';
    }
}

const char *fork_server_path(void)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;

    pthread_once(&found, find_fork_server);
    return fork_server[0] != '\0' ? fork_server : NULL;
}

/* ISO C has no cast from an object's address to a function's. */
static bool find_symbol(void *library, const char *name, void *to)
{
    void *function = dlsym(library, name);

    memcpy(to, &function, sizeof(function));
    return function;
}

static char trouble[PATH_MAX + 200];

const char *compiler_trouble(void)
{
    return trouble;
}

static void load_compiler(void)
{
    char path[PATH_MAX];
    void *library = compiler_path(path) ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;

    complete = library && find_symbol(library, "ppu_compile", &the_compiler.compile) &&
               find_symbol(library, "ppu_compile_source", &the_compiler.compile_source) &&
               find_symbol(library, "ppu_compile_bitcode", &the_compiler.compile_bitcode) &&
               find_symbol(library, "ppu_compile_link", &the_compiler.link) &&
               find_symbol(library, "ppu_compile_check_options", &the_compiler.check_options) &&
               find_symbol(library, "ppu_compile_read_target", &the_compiler.read_target) &&
               find_symbol(library, "ppu_compile_prepare", &the_compiler.prepare);
    if (!complete) {
        const char *why = dlerror();
        snprintf(trouble, sizeof(trouble), "load the compiler: %s; it belongs into the folder of the ICD",
                 why ? why : "its place is not known");
        fprintf(stderr, "OpenCL on the PPU: %s\n", trouble);
    }
}

const struct compiler *compiler_get(void)
{
    pthread_once(&loaded, load_compiler);
    return complete ? &the_compiler : NULL;
}
