/* SPDX-License-Identifier: MIT */
/* Makes the compiler part of the program, for tests with sanitizers. */
#include "tests/opencl/compiler_joined.h"

#include <stdio.h>
#include <string.h>

#include "opencl/build/compiler_dl.h"
#include "tests/opencl/apart.h"

__attribute__((weak)) bool compiler_joined_within(void)
{
    return false;
}

/* As ppu_compile(), with apart_bitcode(). */
static enum ppu_compile_status compile_apart(const char *source, size_t len_bytes,
                                             const struct ppu_compile_options *options, struct ppu_compiled *image)
{
    struct ppu_compiled bitcode;
    enum ppu_compile_status status = ppu_compile_source(source, len_bytes, options, &bitcode);

    if (status != PPU_COMPILE_OK) {
        *image = bitcode;
        return status;
    }
    status = apart_bitcode(bitcode.bytes, bitcode.len_bytes, options, image);
    if (status == PPU_COMPILE_OK && bitcode.log[0] != 0) { /* warnings */
        free(image->log);
        image->log = strdup(bitcode.log);
    }
    ppu_compiled_free(&bitcode);
    return status;
}

const struct compiler *compiler_get(void)
{
    static const struct compiler within = { ppu_compile,        ppu_compile_source,        ppu_compile_bitcode,
                                            ppu_compile_link,   ppu_compile_check_options, ppu_compile_read_target,
                                            ppu_compile_prepare };
    static const struct compiler apart = { compile_apart,      ppu_compile_source,        apart_bitcode,
                                           ppu_compile_link,   ppu_compile_check_options, ppu_compile_read_target,
                                           ppu_compile_prepare };

    return compiler_joined_within() ? &within : &apart;
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
