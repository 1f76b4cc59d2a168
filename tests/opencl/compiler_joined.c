/* SPDX-License-Identifier: MIT */
/* Makes the compiler part of the program, for tests with sanitizers. */
#include <stdio.h>

#include "opencl/build/compiler_dl.h"

const struct compiler *compiler_get(void)
{
    static const struct compiler compiler = { ppu_compile,        ppu_compile_source,        ppu_compile_bitcode,
                                              ppu_compile_link,   ppu_compile_check_options, ppu_compile_read_target,
                                              ppu_compile_prepare };

    return &compiler;
}

/* The one that users run: what limits it leaves no room for sanitizers. */
bool foreign_path(char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "build/plain/ppu-foreign") < PATH_MAX;
}

const char *fork_server_path(void)
{
    return "build/plain/ppu-forkserver.so";
}

const char *compiler_trouble(void)
{
    return "";
}

bool compiler_path(char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "/proc/self/exe") < PATH_MAX;
}
