/* SPDX-License-Identifier: MIT */
/* The compiler of tests with sanitizers is part of the program. */
#include <stdio.h>

#include "compiler.h"

const struct compiler *compiler_get(void)
{
    static const struct compiler compiler = { ppu_compile, ppu_compile_source, ppu_compile_bitcode, ppu_compile_link,
                                              ppu_compile_prepare };

    return &compiler;
}

bool compiler_path(char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "/proc/self/exe") < PATH_MAX;
}
